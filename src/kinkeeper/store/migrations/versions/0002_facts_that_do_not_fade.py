"""facts that do not fade.

Until this revision every fact faded. What still does is decided by the words of its statements; until
a fact is settled again, its category decides. Facts that had faded already come back with the next
nightly upkeep, which decides by their words and lists them in its report.
"""

import sqlalchemy as sa
from alembic import op

revision = "0002"
down_revision = "0001"
branch_labels = None
depends_on = None

_BELIEVED_OF_RECURRING = 0.5
_NEVER = "9000-01-01T00:00:00.000000Z"


def upgrade() -> None:
    """Apply this revision."""
    with op.batch_alter_table("facts", schema=None) as batch_op:
        batch_op.add_column(
            sa.Column("is_transient", sa.Boolean(), server_default=sa.false(), nullable=False)
        )
    facts = sa.table(
        "facts",
        sa.column("household", sa.String),
        sa.column("id", sa.String),
        sa.column("category", sa.String),
        sa.column("status", sa.String),
        sa.column("is_transient", sa.Boolean),
        sa.column("valid_to", sa.String),
        sa.column("due_at", sa.String),
    )
    statements = sa.table(
        "statements",
        sa.column("household", sa.String),
        sa.column("fact_id", sa.String),
        sa.column("origin", sa.String),
        sa.column("confidence", sa.Float),
    )
    # Only the nightly upkeep makes statements that are believed so little, of what was told repeatedly.
    is_recurring = sa.exists().where(
        statements.c.household == facts.c.household,
        statements.c.fact_id == facts.c.id,
        statements.c.origin != "imported",
        statements.c.confidence == _BELIEVED_OF_RECURRING,
    )
    fades = sa.and_(
        sa.or_(facts.c.category.in_(["emotional", "project-active"]), is_recurring),
        facts.c.status != "deprecated",
    )
    op.execute(facts.update().where(fades).values(is_transient=sa.true()))
    op.execute(
        facts.update()
        .where(facts.c.is_transient.is_(sa.false()))
        .values(due_at=sa.func.coalesce(facts.c.valid_to, _NEVER))
    )
