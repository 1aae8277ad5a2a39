"""names of threads, and how often a reminder could not be said.

Adds two columns; nothing that is stored changes. Existing threads keep their ids, by which their members find them.
"""

import sqlalchemy as sa
from alembic import op

revision = "0008"
down_revision = "0007"
branch_labels = None
depends_on = None


def upgrade() -> None:
    """Apply this revision."""
    op.add_column("threads", sa.Column("name", sa.String(length=64), nullable=True))
    op.add_column("task_reminders", sa.Column("failures", sa.Integer(), nullable=True))
