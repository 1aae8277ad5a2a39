"""Mails, addresses, what a mailbox offers, and the drafts that are kept here where there is none."""

import re
import unicodedata
from collections.abc import Sequence
from dataclasses import dataclass
from datetime import date, datetime
from typing import Annotated, Any, Protocol

from pydantic import AfterValidator, BaseModel, ConfigDict, Field, StringConstraints
from sqlalchemy import JSON, Column, Connection, Index, String, Table, delete, insert, select

from kinkeeper.core.addresses import is_mail_address
from kinkeeper.core.errors import InputError, NotFoundError
from kinkeeper.store.schema import Instant, metadata

_MESSAGE_ID = re.compile(r"<[!-;=?-~]{1,500}>")
_SEPARATORS = {"Cc", "Zl", "Zp"}

LONGEST_BODY = 50_000
MOST_RECIPIENTS = 50


def is_message_id(text: str) -> bool:
    """Whether a text is the id of a mail, in its angle brackets."""
    return _MESSAGE_ID.fullmatch(text) is not None


def domain_of(address: str) -> str:
    """Return what stands behind the @."""
    return address.rpartition("@")[2]


def one_line(text: str) -> str:
    """Return a text as one line: every control character and line separator becomes a space."""
    spaced = "".join(" " if unicodedata.category(char) in _SEPARATORS else char for char in text)
    return " ".join(spaced.split())


def _address(text: str) -> str:
    if not is_mail_address(text):
        raise ValueError("this is not an email address like name@example.org")
    return text


def _in_one_line(text: str) -> str:
    if text != one_line(text):
        raise ValueError("must be one line without control characters")
    return text


def _message_id(text: str) -> str:
    if not is_message_id(text):
        raise ValueError("this is not the id of an email")
    return text


EmailAddress = Annotated[str, AfterValidator(_address)]
Line = Annotated[str, AfterValidator(_in_one_line)]
ShortLine = Annotated[Line, StringConstraints(max_length=200)]
MessageId = Annotated[str, AfterValidator(_message_id)]


class Address(BaseModel):
    """Somebody who gets or sends mail.

    Attributes:
        address: name@host.
        name: As shown beside it; empty where nobody knows.
    """

    model_config = ConfigDict(frozen=True, extra="forbid")

    address: EmailAddress
    name: ShortLine = ""

    @property
    def shown(self) -> str:
        """For people: the address always stands in it."""
        return f"{self.name} <{self.address}>" if self.name else self.address


class Mail(BaseModel):
    """A mail to be written or sent.

    Attributes:
        to: Who gets it.
        unaddressed: Names of those whose address nobody knows; only a draft may have such.
        subject: One line.
        body: Plain text.
        from_name: Who writes, shown beside the household's address.
        reply_to: Where answers go, where that is another address than the household's.
        in_reply_to: Message-ID of the mail that it answers, if any.
        references: Message-IDs of the conversation it continues, oldest first.
    """

    model_config = ConfigDict(frozen=True, extra="forbid")

    to: tuple[Address, ...] = Field(default=(), max_length=MOST_RECIPIENTS)
    unaddressed: tuple[ShortLine, ...] = ()
    subject: Annotated[Line, StringConstraints(max_length=300)]
    body: Annotated[str, StringConstraints(max_length=LONGEST_BODY)]
    from_name: ShortLine = ""
    reply_to: Address | None = None
    in_reply_to: MessageId | None = None
    references: tuple[MessageId, ...] = ()

    @property
    def recipients(self) -> tuple[str, ...]:
        """Those it is for, as people read them."""
        return (*(each.shown for each in self.to), *self.unaddressed)

    @property
    def shown(self) -> dict[str, Any]:
        """What people are shown of it: "to", "subject" and "body"."""
        return {"to": list(self.recipients), "subject": self.subject, "body": self.body}


def parse_address(text: str) -> Address:
    """Return the address that somebody wrote, as `name@host` or `Name <name@host>`."""
    name, bracket, rest = text.strip().rpartition("<")
    found = rest.rstrip(">").strip() if bracket else text.strip()
    if not is_mail_address(found):
        raise InputError(f"{one_line(text)!r} is not an email address like name@example.org")
    return Address(address=found, name=one_line(name.strip().strip('"'))[:200] if bracket else "")


# What is read in a mailbox: values, and what a mailbox offers. All of it is other people's text.


@dataclass(frozen=True, slots=True, kw_only=True)
class ReceivedMail:
    """A mail in the mailbox, as far as it is read.

    Attributes:
        message_id: As its sender gave it, where it is one.
        sender: Who it says it is from; nobody has proven that.
        answer_to: Where its sender wants answers.
        subject: One line.
        at: When it arrived, aware.
        text: Beginning of its plain text.
        references: Message-IDs of its conversation, oldest first.
    """

    message_id: str | None
    sender: Address
    answer_to: Address
    subject: str
    at: datetime
    text: str
    references: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True, kw_only=True)
class MailQuery:
    """What is looked for; everything given must fit.

    Attributes:
        sender: Part of the name or address of who wrote it.
        words: Each stands somewhere in it.
        is_unread: Whether only unread mails count.
        since: First day, local.
        before: Day after the last, local.
    """

    sender: str = ""
    words: tuple[str, ...] = ()
    is_unread: bool = False
    since: date | None = None
    before: date | None = None


class MailReader(Protocol):
    """Reads the household's mailbox; changes nothing in it, not even what counts as read."""

    async def search(self, query: MailQuery, *, limit: int) -> Sequence[ReceivedMail]:
        """Return the latest mails that fit, latest first."""
        ...

    async def correspondents(self, name: str) -> Sequence[Address]:
        """Return whom mail was written to, or who wrote, under a name; those written to first, each once.

        Args:
            name: Part of a name or address.
        """
        ...


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
            household=household,
            id=draft.id,
            mail=draft.mail.model_dump(mode="json"),
            written_by=draft.written_by,
            written_at=draft.written_at,
        )
    )


def remove_draft(conn: Connection, household: str, draft_id: str) -> None:
    """Remove a draft."""
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
            id=row.id,
            mail=Mail.model_validate(row.mail),
            written_by=row.written_by,
            written_at=row.written_at,
        )
        for row in conn.execute(query)
    ]
