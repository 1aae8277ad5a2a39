"""daily digests.

Adds two tables; nothing that is stored changes.
"""

import sqlalchemy as sa
from alembic import op

revision = "0005"
down_revision = "0004"
branch_labels = None
depends_on = None


def upgrade() -> None:
    """Apply this revision."""
    op.create_table(
        "digest_times",
        sa.Column("household", sa.String(length=64), nullable=False),
        sa.Column("member", sa.String(length=64), nullable=False),
        sa.Column("at", sa.String(length=5), nullable=True),
        sa.Column("set_at", sa.String(length=27), nullable=False),
        sa.PrimaryKeyConstraint("household", "member"),
    )
    op.create_table(
        "digests",
        sa.Column("household", sa.String(length=64), nullable=False),
        sa.Column("member", sa.String(length=64), nullable=False),
        sa.Column("day", sa.String(length=10), nullable=False),
        sa.Column("sent_at", sa.String(length=27), nullable=False),
        sa.Column("lines", sa.Integer(), nullable=False),
        sa.Column("actions", sa.JSON(), nullable=False),
        sa.PrimaryKeyConstraint("household", "member", "day"),
    )
