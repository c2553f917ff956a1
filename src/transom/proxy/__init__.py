"""The proxy: unmodified clients through a `base_url`. It needs the extra `proxy`, and nothing outside this folder imports it.

The rule: what transom made no decision about passes byte for byte; no content and no credential is stored or logged; nothing is
connected to but the upstreams of the table.
"""
