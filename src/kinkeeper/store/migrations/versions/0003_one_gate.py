"""statements that need a confirmation, and tokens of programs.

Adds three columns; nothing that is stored changes. Existing tokens keep what they may do.
"""

import sqlalchemy as sa
from alembic import op

revision = "0003"
down_revision = "0002"
branch_labels = None
depends_on = None


def upgrade() -> None:
    """Apply this revision."""
    op.add_column("episodes", sa.Column("asked_scope", sa.String(), nullable=True))
    op.add_column("episodes", sa.Column("asked_origin", sa.String(length=16), nullable=True))
    op.add_column(
        "access_keys",
        sa.Column("is_program", sa.Boolean(), server_default=sa.false(), nullable=False),
    )
