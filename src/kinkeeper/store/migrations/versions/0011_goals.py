"""goals, and the cycles of the work on them.

Adds two tables; nothing that is stored changes.
"""

import sqlalchemy as sa
from alembic import op

import kinkeeper.store.schema

revision = "0011"
down_revision = "0010"
branch_labels = None
depends_on = None


def upgrade() -> None:
    """Apply this revision."""
    op.create_table(
        "goals",
        sa.Column("household", sa.String(length=64), nullable=False),
        sa.Column("id", sa.String(length=64), nullable=False),
        sa.Column("scope", sa.String(), nullable=False),
        sa.Column("member", sa.String(length=64), nullable=False),
        sa.Column("kind", sa.String(length=8), nullable=False),
        sa.Column("text", sa.Text(), nullable=False),
        sa.Column("priority", sa.Integer(), nullable=False),
        sa.Column("status", sa.String(length=16), nullable=False),
        sa.Column("thread_id", sa.String(length=128), nullable=True),
        sa.Column("next_at", kinkeeper.store.schema.Instant(), nullable=True),
        sa.Column("created_at", kinkeeper.store.schema.Instant(), nullable=False),
        sa.Column("expires_at", kinkeeper.store.schema.Instant(), nullable=False),
        sa.Column("changed_at", kinkeeper.store.schema.Instant(), nullable=False),
        sa.Column("progress", sa.JSON(), nullable=False),
        sa.PrimaryKeyConstraint("household", "id"),
    )
    op.create_index("ix_goals_status", "goals", ["household", "status"])
    op.create_table(
        "goal_cycles",
        sa.Column("household", sa.String(length=64), nullable=False),
        sa.Column("id", sa.String(length=16), nullable=False),
        sa.Column("goal_id", sa.String(length=64), nullable=True),
        sa.Column("steps", sa.Integer(), nullable=False),
        sa.Column("told", sa.Integer(), nullable=False),
        sa.Column("ended_at", kinkeeper.store.schema.Instant(), nullable=True),
        sa.Column("state", sa.String(length=16), nullable=False),
        sa.Column("attempt", sa.Integer(), nullable=False),
        sa.Column("failures", sa.Integer(), nullable=False),
        sa.Column("epoch", sa.Integer(), nullable=False),
        sa.Column("begun", sa.Integer(), nullable=False),
        sa.Column("lease_until", kinkeeper.store.schema.Instant(), nullable=True),
        sa.Column("runner", sa.String(length=64), nullable=True),
        sa.Column("due_at", kinkeeper.store.schema.Instant(), nullable=False),
        sa.Column("error", sa.Text(), nullable=True),
        sa.PrimaryKeyConstraint("household", "id"),
    )
