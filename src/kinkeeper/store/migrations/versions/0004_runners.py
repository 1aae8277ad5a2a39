"""runners.

Which processes work on a database server, and which of them claimed a row of work. Only new columns and a new
table; nothing that is stored changes.
"""

import sqlalchemy as sa
from alembic import op

revision = "0004"
down_revision = "0003"
branch_labels = None
depends_on = None

_WORK = ("conversation_encodings", "observer_messages", "outside_work", "turns")


def upgrade() -> None:
    """Apply this revision."""
    op.create_table(
        "runners",
        sa.Column("id", sa.String(length=64), nullable=False),
        sa.Column("role", sa.String(length=16), nullable=False),
        sa.Column("version", sa.String(length=32), nullable=False),
        sa.Column("started_at", sa.String(length=27), nullable=False),
        sa.Column("beat_at", sa.String(length=27), nullable=False),
        sa.PrimaryKeyConstraint("id", name=op.f("pk_runners")),
    )
    for table in _WORK:
        op.add_column(table, sa.Column("runner", sa.String(length=64), nullable=True))
