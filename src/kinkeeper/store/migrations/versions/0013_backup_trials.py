"""what trying the nightly backups has shown.

Adds one table; nothing that is stored changes.
"""

import sqlalchemy as sa
from alembic import op

revision = "0013"
down_revision = "0012"
branch_labels = None
depends_on = None


def upgrade() -> None:
    """Apply this revision."""
    op.create_table(
        "backup_trials",
        sa.Column("file", sa.String(length=255), nullable=False),
        sa.Column("at", sa.String(length=27), nullable=False),
        sa.Column("tables", sa.Integer(), nullable=False),
        sa.Column("compared", sa.Integer(), nullable=False),
        sa.Column("row_count", sa.Integer(), nullable=False),
        sa.Column("digest", sa.String(length=64), nullable=False),
        sa.Column("is_tried", sa.Boolean(), nullable=False),
        sa.Column("problem", sa.Text(), nullable=False),
        sa.PrimaryKeyConstraint("file", "at"),
    )
