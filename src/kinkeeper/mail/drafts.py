"""Drafts that are kept here because no mailbox is set up."""

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime

from sqlalchemy import JSON, Column, Connection, Index, String, Table, delete, insert, select

from kinkeeper.core.errors import NotFoundError
from kinkeeper.mail.model import Mail
from kinkeeper.store.schema import Instant, metadata

# Table of the drafts that are kept here, for households without a mailbox.

mail_drafts = Table(
    "mail_drafts",
    metadata,
    Column("household", String(64), primary_key=True),
    Column("id", String(36), primary_key=True),
    Column("mail", JSON, nullable=False),
    Column("written_by", String(64), nullable=False),
    Column("written_at", Instant, nullable=False),
    Index("ix_mail_drafts_written", "household", "written_at"),
)


_drafts = mail_drafts.c


@dataclass(frozen=True, slots=True, kw_only=True)
class Draft:
    """A draft.

    Attributes:
        id: Of the change that wrote it.
        mail: What it says, and for whom.
        written_by: Member id.
    """

    id: str
    mail: Mail
    written_by: str
    written_at: datetime


def keep_draft(conn: Connection, household: str, draft: Draft) -> None:
    """Write a draft, in the transaction that executes an action."""
    conn.execute(
        insert(mail_drafts).values(
            household=household, id=draft.id, mail=draft.mail.model_dump(mode="json"),
            written_by=draft.written_by, written_at=draft.written_at,
        )
    )  # fmt: skip


def remove_draft(conn: Connection, household: str, draft_id: str) -> None:
    """Remove a draft.

    Raises:
        NotFoundError: There is no such draft.
    """
    mine = (_drafts.household == household, _drafts.id == draft_id)
    if conn.execute(delete(mail_drafts).where(*mine)).rowcount == 0:
        raise NotFoundError("this draft no longer exists")


def list_drafts(conn: Connection, household: str) -> Sequence[Draft]:
    """Return the drafts of a household, oldest first."""
    query = (
        select(mail_drafts)
        .where(_drafts.household == household)
        .order_by(_drafts.written_at, _drafts.id)
    )
    return [
        Draft(
            id=row.id, mail=Mail.model_validate(row.mail), written_by=row.written_by,
            written_at=row.written_at,
        )
        for row in conn.execute(query)
    ]  # fmt: skip
