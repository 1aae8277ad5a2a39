"""arrangements of a chat, and what its messages say once resolved.

Adds a table and a column; nothing that is stored changes. What was said before is not folded: arrangements begin with the next message.
"""

import sqlalchemy as sa
from alembic import op

import kinkeeper.store.schema

revision = "0010"
down_revision = "0009"
branch_labels = None
depends_on = None


def upgrade() -> None:
    """Apply this revision."""
    op.create_table(
        "arrangements",
        sa.Column("household", sa.String(length=64), nullable=False),
        sa.Column("chat_id", sa.String(length=128), nullable=False),
        sa.Column("id", sa.String(length=160), nullable=False),
        sa.Column("kind", sa.String(length=16), nullable=False),
        sa.Column("status", sa.String(length=16), nullable=False),
        sa.Column("action_id", sa.String(length=64), nullable=True),
        sa.Column("versions", sa.JSON(), nullable=False),
        sa.Column("changed_at", kinkeeper.store.schema.Instant(), nullable=False),
        sa.Column("until", kinkeeper.store.schema.Instant(), nullable=False),
        sa.PrimaryKeyConstraint("household", "chat_id", "id"),
    )
    op.create_index("ix_arrangements_until", "arrangements", ["household", "chat_id", "until"])
    op.add_column("observer_messages", sa.Column("told", sa.JSON(), nullable=True))
