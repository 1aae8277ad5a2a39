"""web use: how often a cycle of the work on goals read pages and searched the web.

Adds one column; nothing that is stored changes.
"""

import sqlalchemy as sa
from alembic import op

revision = "0015"
down_revision = "0014"
branch_labels = None
depends_on = None


def upgrade() -> None:
    """Apply this revision."""
    op.add_column("goal_cycles", sa.Column("web", sa.JSON(), nullable=True))
