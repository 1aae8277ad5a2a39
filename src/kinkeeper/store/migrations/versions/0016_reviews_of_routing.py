"""reviews of routing: what a strong model later said about how a message was routed.

Adds one table; nothing that is stored changes.
"""

import sqlalchemy as sa
from alembic import op

revision = "0016"
down_revision = "0015"
branch_labels = None
depends_on = None


def upgrade() -> None:
    """Apply this revision."""
    op.create_table(
        "routing_reviews",
        sa.Column("household", sa.String(length=64), nullable=False),
        sa.Column("turn", sa.String(length=36), nullable=False),
        sa.Column("route", sa.String(length=16), nullable=True),
        sa.Column("agrees", sa.Integer(), nullable=True),
        sa.Column("model", sa.String(length=128), nullable=False),
        sa.Column("prompt", sa.Integer(), nullable=False),
        sa.Column("at", sa.String(length=27), nullable=False),
        sa.PrimaryKeyConstraint("household", "turn", name=op.f("pk_routing_reviews")),
    )
    with op.batch_alter_table("routing_reviews", schema=None) as batch_op:
        batch_op.create_index("ix_routing_reviews_at", ["household", "at"], unique=False)
