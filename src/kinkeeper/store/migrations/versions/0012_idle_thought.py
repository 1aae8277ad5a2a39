"""idle thought: cycles, remarks, questions kept for later, and who wants none.

Adds four tables; nothing that is stored changes.
"""

import sqlalchemy as sa
from alembic import op

revision = "0012"
down_revision = "0011"
branch_labels = None
depends_on = None


def upgrade() -> None:
    """Apply this revision."""
    op.create_table(
        "drift_choices",
        sa.Column("household", sa.String(length=64), nullable=False),
        sa.Column("member", sa.String(length=64), nullable=False),
        sa.Column("is_on", sa.Boolean(), nullable=False),
        sa.Column("set_at", sa.String(length=27), nullable=False),
        sa.PrimaryKeyConstraint("household", "member"),
    )
    op.create_table(
        "drift_cycles",
        sa.Column("household", sa.String(length=64), nullable=False),
        sa.Column("id", sa.String(length=64), nullable=False),
        sa.Column("at", sa.String(length=27), nullable=False),
        sa.Column("member", sa.String(length=64), nullable=False),
        sa.Column("seed", sa.Integer(), nullable=False),
        sa.Column("seeds", sa.JSON(), nullable=False),
        sa.Column("activated", sa.JSON(), nullable=False),
        sa.Column("matter", sa.String(length=64), nullable=True),
        sa.Column("news", sa.String(length=64), nullable=True),
        sa.Column("worth", sa.Float(), nullable=False),
        sa.Column("action", sa.String(length=32), nullable=False),
        sa.Column("scores", sa.JSON(), nullable=False),
        sa.Column("effect", sa.String(length=32), nullable=False),
        sa.PrimaryKeyConstraint("household", "id"),
    )
    op.create_index("ix_drift_cycles_at", "drift_cycles", ["household", "at"])
    op.create_table(
        "drift_questions",
        sa.Column("household", sa.String(length=64), nullable=False),
        sa.Column("member", sa.String(length=64), nullable=False),
        sa.Column("news", sa.String(length=64), nullable=False),
        sa.Column("planted_at", sa.String(length=27), nullable=False),
        sa.Column("matter", sa.String(length=64), nullable=False),
        sa.Column("explored_at", sa.String(length=27), nullable=False),
        sa.Column("explorations", sa.Integer(), nullable=False),
        sa.Column("settled_at", sa.String(length=27), nullable=True),
        sa.PrimaryKeyConstraint("household", "member", "news", "planted_at"),
    )
    op.create_table(
        "drift_remarks",
        sa.Column("household", sa.String(length=64), nullable=False),
        sa.Column("id", sa.String(length=64), nullable=False),
        sa.Column("member", sa.String(length=64), nullable=False),
        sa.Column("matter", sa.String(length=64), nullable=False),
        sa.Column("news", sa.String(length=64), nullable=False),
        sa.Column("text", sa.Text(), nullable=False),
        sa.Column("evidence", sa.JSON(), nullable=False),
        sa.Column("score", sa.Float(), nullable=False),
        sa.Column("state", sa.String(length=16), nullable=False),
        sa.Column("made_at", sa.String(length=27), nullable=False),
        sa.Column("until", sa.String(length=27), nullable=False),
        sa.Column("told_at", sa.String(length=27), nullable=True),
        sa.Column("thread_id", sa.String(length=128), nullable=True),
        sa.Column("settled_at", sa.String(length=27), nullable=True),
        sa.PrimaryKeyConstraint("household", "id"),
    )
    op.create_index("ix_drift_remarks_made", "drift_remarks", ["household", "made_at"])
