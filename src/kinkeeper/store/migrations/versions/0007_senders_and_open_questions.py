"""the process that sends a message, and indexes of questions by their end.

Adds a column and replaces an index; nothing that is stored changes.
"""

import sqlalchemy as sa
from alembic import op

revision = "0007"
down_revision = "0006"
branch_labels = None
depends_on = None


def upgrade() -> None:
    """Apply this revision."""
    op.add_column("outbox", sa.Column("runner", sa.String(length=64), nullable=True))
    op.drop_index("ix_open_questions_chat", table_name="open_questions")
    op.create_index("ix_open_questions_until", "open_questions", ["household", "chat_id", "until"])
    op.create_index(
        "ix_open_questions_message", "open_questions", ["household", "chat_id", "message_id"]
    )
