"""The first schema."""

import sqlalchemy as sa
from alembic import op

revision = "0001"
down_revision = None


def upgrade() -> None:
    """Make the tables."""
    op.create_table(
        "transom_blobs",
        sa.Column("tenant", sa.String(length=255), nullable=False),
        sa.Column("digest", sa.LargeBinary(length=32), nullable=False),
        sa.Column("data", sa.LargeBinary(), nullable=False),
        sa.PrimaryKeyConstraint("tenant", "digest"),
    )
    op.create_table(
        "transom_calibrations",
        sa.Column("tenant", sa.String(length=255), nullable=False),
        sa.Column("session", sa.String(length=32), nullable=False),
        sa.Column("card", sa.String(length=255), nullable=False),
        sa.Column("record", sa.Text(), nullable=False),
        sa.PrimaryKeyConstraint("tenant", "session", "card"),
    )
    op.create_table(
        "transom_calls",
        sa.Column("tenant", sa.String(length=255), nullable=False),
        sa.Column("session", sa.String(length=32), nullable=False),
        sa.Column("seq", sa.Integer(), autoincrement=False, nullable=False),
        sa.Column("number", sa.Integer(), autoincrement=False, nullable=False),
        sa.Column("path", sa.Text(), nullable=False),
        sa.Column("given", sa.Text(), nullable=False),
        sa.Column("name", sa.Text(), nullable=False),
        sa.Column("times", sa.Integer(), autoincrement=False, nullable=False),
        sa.PrimaryKeyConstraint("tenant", "session", "seq", "number"),
    )
    op.create_index("transom_calls_by_given", "transom_calls", ["tenant", "session", "given"], unique=False)
    op.create_index("transom_calls_by_name", "transom_calls", ["tenant", "session", "name"], unique=False)
    op.create_table(
        "transom_folds",
        sa.Column("tenant", sa.String(length=255), nullable=False),
        sa.Column("session", sa.String(length=32), nullable=False),
        sa.Column("key", sa.String(length=255), nullable=False),
        sa.Column("body", sa.LargeBinary(), nullable=False),
        sa.PrimaryKeyConstraint("tenant", "session", "key"),
    )
    op.create_table(
        "transom_messages",
        sa.Column("tenant", sa.String(length=255), nullable=False),
        sa.Column("session", sa.String(length=32), nullable=False),
        sa.Column("seq", sa.Integer(), autoincrement=False, nullable=False),
        sa.Column("body", sa.LargeBinary(), nullable=False),
        sa.Column("digest", sa.LargeBinary(), nullable=False),
        sa.Column("key", sa.LargeBinary(), nullable=False),
        sa.Column("role", sa.Text(), nullable=False),
        sa.Column("model", sa.Text(), nullable=False),
        sa.Column("api", sa.Text(), nullable=False),
        sa.Column("facts", sa.Text(), nullable=False),
        sa.Column("stored", sa.Text(), nullable=False),
        sa.PrimaryKeyConstraint("tenant", "session", "seq"),
    )
    op.create_table(
        "transom_payloads",
        sa.Column("tenant", sa.String(length=255), nullable=False),
        sa.Column("session", sa.String(length=32), nullable=False),
        sa.Column("seq", sa.Integer(), autoincrement=False, nullable=False),
        sa.Column("number", sa.Integer(), autoincrement=False, nullable=False),
        sa.Column("path", sa.Text(), nullable=False),
        sa.Column("digest", sa.LargeBinary(), nullable=False),
        sa.Column("prefix", sa.Text(), nullable=False),
        sa.Column("encoding", sa.Text(), nullable=False),
        sa.PrimaryKeyConstraint("tenant", "session", "seq", "number"),
    )
    op.create_index("transom_payloads_by_digest", "transom_payloads", ["tenant", "digest"], unique=False)
    op.create_table(
        "transom_sessions",
        sa.Column("tenant", sa.String(length=255), nullable=False),
        sa.Column("name", sa.String(length=255), nullable=False),
        sa.Column("session", sa.String(length=32), nullable=False),
        sa.Column("api", sa.Text(), nullable=False),
        sa.Column("model", sa.Text(), nullable=False),
        sa.Column("count", sa.Integer(), autoincrement=False, nullable=False),
        sa.Column("key", sa.LargeBinary(), nullable=False),
        sa.Column("kinds", sa.Text(), nullable=False),
        sa.Column("version", sa.Integer(), autoincrement=False, nullable=False),
        sa.Column("slot", sa.LargeBinary(), nullable=False),
        sa.Column("created", sa.Text(), nullable=False),
        sa.Column("changed", sa.Text(), nullable=False),
        sa.PrimaryKeyConstraint("tenant", "name"),
    )
    op.create_table(
        "transom_states",
        sa.Column("tenant", sa.String(length=255), nullable=False),
        sa.Column("session", sa.String(length=32), nullable=False),
        sa.Column("version", sa.Integer(), autoincrement=False, nullable=False),
        sa.Column("count", sa.Integer(), autoincrement=False, nullable=False),
        sa.Column("body", sa.LargeBinary(), nullable=False),
        sa.PrimaryKeyConstraint("tenant", "session", "version"),
    )


def downgrade() -> None:
    """There is nothing before."""
