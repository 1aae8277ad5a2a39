"""Effects on mail: a draft kept here or put into the mailbox, a mail sent. What was sent cannot be taken back."""

from typing import Literal

from sqlalchemy import Connection

from kinkeeper.actions.effects.contract import Effect, Execution
from kinkeeper.actions.effects.outside import call_outside, take_back_outside
from kinkeeper.core.errors import InputError
from kinkeeper.mail import drafts
from kinkeeper.mail.model import Mail


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
        draft = drafts.Draft(
            id=execution.change_id, mail=self.mail, written_by=execution.decided_by,
            written_at=execution.at,
        )  # fmt: skip
        drafts.keep_draft(conn, execution.household, draft)


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
    drafts.remove_draft(conn, execution.household, execution.change_id)


def undo_created(conn: Connection, execution: Execution) -> None:
    """Queue that a draft is removed from the mailbox."""
    take_back_outside(conn, execution)
