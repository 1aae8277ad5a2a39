"""stretches of group talk that a model reads.

Adds one table; nothing that is stored changes.
"""

import sqlalchemy as sa
from alembic import op

revision = "0009"
down_revision = "0008"
branch_labels = None
depends_on = None


def upgrade() -> None:
    """Apply this revision."""
    op.create_table(
        "talk_stretches",
        sa.Column("household", sa.String(length=64), nullable=False),
        sa.Column("first", sa.String(length=20), nullable=False),
        sa.Column("chat_id", sa.String(length=128), nullable=False),
        sa.Column("last", sa.String(length=20), nullable=False),
        sa.Column("messages", sa.Integer(), nullable=False),
        sa.Column("outcome", sa.String(length=24), nullable=True),
        sa.Column("engine", sa.String(length=128), nullable=True),
        sa.Column("effects", sa.JSON(), nullable=True),
        sa.Column("created_at", sa.String(length=27), nullable=False),
        sa.Column("state", sa.String(length=16), nullable=False),
        sa.Column("attempt", sa.Integer(), nullable=False),
        sa.Column("failures", sa.Integer(), nullable=False),
        sa.Column("epoch", sa.Integer(), nullable=False),
        sa.Column("begun", sa.Integer(), nullable=False),
        sa.Column("lease_until", sa.String(length=27), nullable=True),
        sa.Column("runner", sa.String(length=64), nullable=True),
        sa.Column("due_at", sa.String(length=27), nullable=False),
        sa.Column("error", sa.Text(), nullable=True),
        sa.PrimaryKeyConstraint("household", "first", name=op.f("pk_talk_stretches")),
    )
    op.create_index("ix_talk_stretches_state", "talk_stretches", ["state", "household", "chat_id"])
    op.create_index("ix_talk_stretches_created", "talk_stretches", ["household", "created_at"])
