"""How a migration runs: in the transaction that it is handed, so that a schema is never half of two."""

from alembic import context

from transom.store.schema import METADATA, VERSION_TABLE

context.configure(connection=context.config.attributes["connection"], target_metadata=METADATA, version_table=VERSION_TABLE)
context.run_migrations()
