"""roles of logins on threads and turns.

Adds two columns; nothing that is stored changes. Existing threads and turns are those of their member's full rights.
"""

import sqlalchemy as sa
from alembic import op

revision = "0006"
down_revision = "0005"
branch_labels = None
depends_on = None


def upgrade() -> None:
    """Apply this revision."""
    for table in ("threads", "turns"):
        op.add_column(table, sa.Column("login", sa.String(length=16), nullable=True))
