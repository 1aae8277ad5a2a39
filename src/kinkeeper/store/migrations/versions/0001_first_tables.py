"""The first tables. Provisional: creates what the imported packages declare, until it is drafted."""

from alembic import op

from kinkeeper.store.schema import metadata

revision = "0001"
down_revision = None
branch_labels = None
depends_on = None


def upgrade() -> None:
    """Apply this revision."""
    metadata.create_all(op.get_bind())
