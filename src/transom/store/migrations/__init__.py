"""Every change of the schema, and how they run."""
