"""Carries out drafts and sent mails; one that may have gone out is never sent again."""

from collections.abc import Mapping
from typing import Any

import structlog

from kinkeeper.actions.effects.email import CreateDraft, SendMail
from kinkeeper.actions.effects.outside import Verb
from kinkeeper.actions.outside.adapter import (
    NotDoneError,
    PointOfNoReturn,
    RefusedError,
    Trace,
    Work,
)
from kinkeeper.connectors.mail.mailbox import Mailbox, MailboxRefusedError
from kinkeeper.connectors.mail.message import mail_bytes, message_id
from kinkeeper.connectors.mail.smtp import MailServer
from kinkeeper.core.errors import InvariantError, UnavailableError
from kinkeeper.mail.model import Mail

log = structlog.get_logger()


class DraftAdapter:
    """Puts drafts into the mailbox and removes them.

    Args:
        mailbox: The household's.
        sender: The address that mails are sent from.
    """

    def __init__(self, mailbox: Mailbox, *, sender: str) -> None:
        self._mailbox = mailbox
        self._sender = sender

    async def call(self, work: Work, point_of_no_return: PointOfNoReturn) -> Mapping[str, Any]:
        """Put the draft in, or remove it.

        Args:
            work: What.
            point_of_no_return: Awaited before.

        Returns:
            Its Message-ID.

        Raises:
            NotDoneError: The mailbox cannot be reached.
            RefusedError: It does not let us in.
        """
        own_id = message_id(work.id, self._sender)
        await point_of_no_return()
        try:
            if work.verb is Verb.UNDO:
                await self._mailbox.remove_draft(own_id)
            else:
                await self._mailbox.add_draft(_message(work, self._sender), own_id)
        except MailboxRefusedError as error:
            raise RefusedError(str(error)) from error
        return {"message_id": own_id}

    async def was_done(self, work: Work) -> Trace:
        """Look among the drafts.

        Raises:
            NotDoneError: The mailbox cannot be reached.
        """
        try:
            is_there = await self._mailbox.has_draft(message_id(work.id, self._sender))
        except UnavailableError as error:
            raise NotDoneError(str(error)) from error
        return Trace.DONE if is_there is (work.verb is Verb.DO) else Trace.NOT_DONE


class SendAdapter:
    """Sends mails, and keeps a copy in the mailbox.

    Args:
        server: For sending.
        mailbox: The household's; None where none is set up.
    """

    def __init__(self, server: MailServer, mailbox: Mailbox | None) -> None:
        self._server = server
        self._mailbox = mailbox

    async def call(self, work: Work, point_of_no_return: PointOfNoReturn) -> Mapping[str, Any]:
        """Send the mail.

        Args:
            work: What.
            point_of_no_return: Awaited before the text is handed over.

        Returns:
            What the server said, and whether a copy is kept.

        Raises:
            NotDoneError: It was surely not sent; a later try may succeed.
            RefusedError: It was surely not sent, and never will be.
        """
        message, own_id = (
            _message(work, self._server.sender),
            message_id(work.id, self._server.sender),
        )
        to = [each.address for each in _mail(work).to]
        said = await self._server.send(message, to, point_of_no_return)
        return {
            "message_id": own_id, "server": said, "is_copied": await self._copy(message, own_id),
        }  # fmt: skip

    async def was_done(self, work: Work) -> Trace:
        """Look among the sent mails; that it is not there says nothing.

        Raises:
            NotDoneError: The mailbox cannot be reached.
        """
        if self._mailbox is None:
            return Trace.UNKNOWN
        try:
            is_there = await self._mailbox.has_sent(message_id(work.id, self._server.sender))
        except UnavailableError as error:
            raise NotDoneError(str(error)) from error
        return Trace.DONE if is_there else Trace.UNKNOWN

    async def _copy(self, message: bytes, own_id: str) -> bool:
        if self._mailbox is None:
            return False
        try:
            await self._mailbox.add_sent(message, own_id)
        except UnavailableError as error:
            log.warning("mail.copy.missing", reason=str(error))
            return False
        return True


def _message(work: Work, sender: str) -> bytes:
    return mail_bytes(_mail(work), sender=sender, change_id=work.id, at=work.at)


def _mail(work: Work) -> Mail:
    if not isinstance(work.effect, SendMail | CreateDraft):
        raise InvariantError(f"{work.effect.effect} is not a mail effect")
    return work.effect.mail
