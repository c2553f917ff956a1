"""The changes of the schema, oldest first."""
