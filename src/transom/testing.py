"""What a test of an agent can use in place of a provider. It needs the extra `proxy`."""
