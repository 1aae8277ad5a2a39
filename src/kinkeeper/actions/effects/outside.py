"""Effects outside the database, mails and foreign tools: queued when executed, carried out by a worker.

The row is written in the transaction that executes the action, so that a yes and what follows from it
are never apart.
"""

from collections.abc import Mapping
from enum import StrEnum
from typing import Any, Literal

from pydantic import Field
from sqlalchemy import Column, Connection, Index, String, Table, insert

from kinkeeper.actions.effects.contract import Effect, Execution
from kinkeeper.core.errors import InputError
from kinkeeper.core.ids import canonical_json
from kinkeeper.jobs.leases import work_columns
from kinkeeper.mail import model
from kinkeeper.mail.model import Mail
from kinkeeper.store.commits import touch
from kinkeeper.store.schema import Instant, metadata

# Table of what confirmed actions have still to do outside the database: mails, calls of foreign
# tools.

# What is to be done stands in the action, frozen and hashed; a row only says how far it is. `called_at` is
# written before the step that may have an effect outside: without it, surely nothing happened.
outside_work = Table(
    "outside_work",
    metadata,
    Column("household", String(64), primary_key=True),
    Column("id", String(36), primary_key=True),
    Column("verb", String(8), primary_key=True),
    Column("action_id", String(36), nullable=False),
    Column("decided_by", String(64), nullable=False),
    Column("queued_at", Instant, nullable=False),
    Column("called_at", Instant),
    *work_columns(),
    Index("ix_outside_work_due", "household", "state", "due_at"),
    Index("ix_outside_work_action", "household", "action_id"),
)


TOPIC = "outside"
"""What commits say that leave something to be done outside."""


class Verb(StrEnum):
    """What is to be done with an effect."""

    DO = "do"
    UNDO = "undo"


def call_outside(conn: Connection, execution: Execution) -> None:
    """Queue an effect, to be done once the transaction commits.

    Args:
        conn: In the transaction that executes the action.
        execution: Of the one effect that the action has.
    """
    _queue(conn, execution, Verb.DO)


def take_back_outside(conn: Connection, execution: Execution) -> None:
    """Queue that an effect is to be taken back.

    Args:
        conn: In the transaction that takes the action back.
        execution: Names the change that is taken back.
    """
    _queue(conn, execution, Verb.UNDO)


def _queue(conn: Connection, execution: Execution, verb: Verb) -> None:
    conn.execute(
        insert(outside_work).values(
            household=execution.household,
            id=execution.change_id,
            verb=verb.value,
            action_id=execution.action_id,
            decided_by=execution.decided_by,
            queued_at=execution.at,
            due_at=execution.at,
        )
    )
    touch(conn, TOPIC, execution.household)


# Effects on mail: a draft kept here or put into the mailbox, a mail sent. What was sent cannot be
# taken back.


class _MailEffect(Effect):
    """Something done with a mail.

    Attributes:
        mail: All of it, as a person is shown it.
    """

    mail: Mail

    def check(self, household: str) -> None:
        """Accept it; its fields check themselves."""


class KeepDraft(_MailEffect):
    """Keep a draft here, where no mailbox is set up."""

    effect: Literal["email.keep_draft"] = "email.keep_draft"

    def apply(self, conn: Connection, execution: Execution) -> None:
        """Write it."""
        draft = model.Draft(
            id=execution.change_id,
            mail=self.mail,
            written_by=execution.decided_by,
            written_at=execution.at,
        )
        model.keep_draft(conn, execution.household, draft)


class CreateDraft(_MailEffect):
    """Put a draft into the drafts of the mailbox."""

    effect: Literal["email.create_draft"] = "email.create_draft"

    def apply(self, conn: Connection, execution: Execution) -> None:
        """Queue it."""
        call_outside(conn, execution)


class SendMail(_MailEffect):
    """Send a mail."""

    effect: Literal["email.send"] = "email.send"

    def check(self, household: str) -> None:
        """Refuse a mail that does not say for whom it is."""
        if not self.mail.to or self.mail.unaddressed:
            raise InputError("every recipient needs an email address")

    def apply(self, conn: Connection, execution: Execution) -> None:
        """Queue it."""
        call_outside(conn, execution)


def undo_kept(conn: Connection, execution: Execution) -> None:
    """Remove a draft that is kept here.

    Raises:
        NotFoundError: It is not there any more.
    """
    model.remove_draft(conn, execution.household, execution.change_id)


def undo_created(conn: Connection, execution: Execution) -> None:
    """Queue that a draft is removed from the mailbox."""
    take_back_outside(conn, execution)


# The effect on what foreign tools reach: nothing of it is ours, so it is high in stakes and has no
# undo.

_MOST = 100_000


class CallTool(Effect):
    """Call a foreign tool with exactly these arguments.

    Attributes:
        server: Its server, as the settings name it.
        tool: Its name there.
        definition: Digest of how it described itself when a person was asked; another one is another tool.
        arguments: Verbatim.
    """

    effect: Literal["tools.call"] = "tools.call"
    server: str = Field(min_length=1)
    tool: str = Field(min_length=1)
    definition: str = Field(min_length=1)
    arguments: Mapping[str, Any]

    def check(self, household: str) -> None:
        """Refuse arguments of unbearable length."""
        if len(canonical_json(self.arguments)) > _MOST:
            raise InputError(f"the arguments for {self.tool} are longer than {_MOST} characters")

    def apply(self, conn: Connection, execution: Execution) -> None:
        """Queue it."""
        call_outside(conn, execution)
