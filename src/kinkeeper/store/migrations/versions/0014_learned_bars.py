"""learned bars: how sure a reader must be before it shows something, as a household's decisions moved it.

Adds one table; nothing that is stored changes.
"""

import sqlalchemy as sa
from alembic import op

revision = "0014"
down_revision = "0013"
branch_labels = None
depends_on = None


def upgrade() -> None:
    """Apply this revision."""
    op.create_table(
        "learned_bars",
        sa.Column("household", sa.String(length=64), nullable=False),
        sa.Column("id", sa.Integer(), autoincrement=False, nullable=False),
        sa.Column("bar", sa.String(length=16), nullable=False),
        sa.Column("cause", sa.String(length=16), nullable=False),
        sa.Column("offset", sa.Float(), nullable=False),
        sa.Column("back_to", sa.Float(), nullable=False),
        sa.Column("why", sa.JSON(), nullable=False),
        sa.Column("at", sa.String(length=27), nullable=False),
        sa.Column("outcome", sa.String(length=16), nullable=True),
        sa.Column("judged_on", sa.JSON(), nullable=True),
        sa.Column("judged_at", sa.String(length=27), nullable=True),
        sa.PrimaryKeyConstraint("household", "id"),
    )
    op.create_index("ix_learned_bars_bar", "learned_bars", ["household", "bar", "id"])
