"""Sends mails by SMTP and keeps drafts, the same bytes at every try; what may have gone out is never sent again."""

import ssl
from collections.abc import AsyncIterator, Mapping, Sequence
from contextlib import asynccontextmanager, suppress
from datetime import datetime
from email.headerregistry import Address as HeaderAddress
from email.message import EmailMessage
from email.policy import SMTP
from email.utils import format_datetime
from typing import Any

import aiosmtplib
import structlog

from kinkeeper.actions.effects.outside import CreateDraft, SendMail, Verb
from kinkeeper.actions.outside.adapter import (
    NotDoneError,
    PointOfNoReturn,
    RefusedError,
    Trace,
    Work,
)
from kinkeeper.connectors.mail.account import Account
from kinkeeper.connectors.mail.mailbox import Mailbox, MailboxRefusedError
from kinkeeper.core.errors import InvariantError, UnavailableError
from kinkeeper.mail.model import Address, Mail, domain_of, one_line

_TIMEOUT_SECONDS = 20.0
_LEAVE_SECONDS = 2.0
_PERMANENT = 500
_LONGEST_WORDS = 200


class MailServer:
    """A server that takes mails in.

    Args:
        account: Where, and who we are.
    """

    def __init__(self, account: Account, *, sender: str) -> None:
        self._account = account
        self.sender = sender

    async def send(
        self, message: bytes, to: Sequence[str], point_of_no_return: PointOfNoReturn
    ) -> str:
        """Send a mail.

        Args:
            to: The addresses it goes to.
            point_of_no_return: Awaited once the server takes everybody, before it gets the text.

        Returns:
            What the server said when it took it.

        Raises:
            NotDoneError: It was surely not sent; a later try may succeed.
            RefusedError: It was surely not sent, and never will be.
            aiosmtplib.SMTPException: The connection broke behind the point of no return.
            OSError: As before.
        """
        async with self._entered() as client:
            await self._offer(client, to)
            await point_of_no_return()
            try:
                taken = await client.data(message)
            except aiosmtplib.SMTPResponseException as error:
                raise _refusal(error.code, error.message) from error
        return one_line(taken.message)[:_LONGEST_WORDS]

    async def greet(self) -> None:
        """Log in and leave again."""
        async with self._entered():
            pass

    @asynccontextmanager
    async def _entered(self) -> AsyncIterator[aiosmtplib.SMTP]:
        """Yield a connection that is logged in; whatever happens, take leave and close it."""
        account = self._account
        client = aiosmtplib.SMTP(
            hostname=account.host,
            port=account.port,
            timeout=_TIMEOUT_SECONDS,
            use_tls=account.is_tls_at_once,
            start_tls=account.is_tls_later,
            tls_context=ssl.create_default_context(),
            local_hostname=domain_of(self.sender),
        )
        try:
            await self._log_in(client)
            yield client
        finally:
            with suppress(aiosmtplib.SMTPException, OSError):
                await client.quit(timeout=_LEAVE_SECONDS)
            client.close()

    async def _log_in(self, client: aiosmtplib.SMTP) -> None:
        try:
            await client.connect()
            if self._account.username:
                await client.login(self._account.username, self._account.password)
        except aiosmtplib.SMTPAuthenticationError as error:
            raise RefusedError("the mail server rejected the login; check SMTP_URL") from error
        except aiosmtplib.SMTPNotSupported as error:
            raise RefusedError(
                "the mail server does not offer login over TLS; check SMTP_URL"
            ) from error
        except (aiosmtplib.SMTPException, OSError) as error:
            raise NotDoneError(
                f"the mail server cannot be reached ({type(error).__name__})"
            ) from error

    async def _offer(self, client: aiosmtplib.SMTP, to: Sequence[str]) -> None:
        """Name the sender and everybody it is for; if one of them is refused, nobody gets it."""
        try:
            await client.mail(self.sender)
            for address in to:
                await client.rcpt(address)
        except aiosmtplib.SMTPRecipientRefused as error:
            raise _refusal(error.code, f"{error.recipient}: {error.message}") from error
        except aiosmtplib.SMTPResponseException as error:
            raise _refusal(error.code, error.message) from error
        except (aiosmtplib.SMTPException, OSError) as error:
            raise NotDoneError("the connection to the mail server was lost") from error


def _refusal(code: int, words: str) -> NotDoneError | RefusedError:
    kind = RefusedError if code >= _PERMANENT else NotDoneError
    return kind(f"the mail server said: {code} {one_line(words)[:_LONGEST_WORDS]}")


# A mail as bytes, the same bytes at every try. Pure.

# Ids of mails must not be broken up; lines of text are kept short by their encoding.
_POLICY = SMTP.clone(max_line_length=900)


def message_id(change_id: str, sender: str) -> str:
    """Return the Message-ID of a mail: made from the change, so that it can be looked for.

    Args:
        change_id: Of the change that writes or sends it.
    """
    return f"<act-{change_id}@{domain_of(sender)}>"


def mail_bytes(mail: Mail, *, sender: str, change_id: str, at: datetime) -> bytes:
    """Return a mail as it is sent or put into a folder.

    Args:
        change_id: Of the change that writes or sends it.
    """
    message = EmailMessage()
    message["From"] = _shown(Address(address=sender, name=mail.from_name))
    if mail.to:
        message["To"] = [_shown(each) for each in mail.to]
    if mail.reply_to is not None and mail.reply_to.address.casefold() != sender.casefold():
        message["Reply-To"] = _shown(mail.reply_to)
    message["Subject"] = mail.subject
    message["Date"] = format_datetime(at)
    message["Message-ID"] = message_id(change_id, sender)
    if mail.in_reply_to:
        message["In-Reply-To"] = mail.in_reply_to
    if mail.references:
        message["References"] = " ".join(mail.references)
    message.set_content(mail.body, charset="utf-8", cte="quoted-printable")
    return message.as_bytes(policy=_POLICY)


def _shown(address: Address) -> HeaderAddress:
    return HeaderAddress(display_name=address.name, addr_spec=address.address)


log = structlog.get_logger()


class DraftAdapter:
    """Puts drafts into the mailbox and removes them."""

    def __init__(self, mailbox: Mailbox, *, sender: str) -> None:
        self._mailbox = mailbox
        self._sender = sender

    async def call(self, work: Work, point_of_no_return: PointOfNoReturn) -> Mapping[str, Any]:
        """Put the draft in, or remove it.

        Args:
            point_of_no_return: Awaited before.

        Returns:
            Its Message-ID.
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
        """Look among the drafts."""
        try:
            is_there = await self._mailbox.has_draft(message_id(work.id, self._sender))
        except UnavailableError as error:
            raise NotDoneError(str(error)) from error
        return Trace.DONE if is_there is (work.verb is Verb.DO) else Trace.NOT_DONE


class SendAdapter:
    """Sends mails, and keeps a copy in the mailbox.

    Args:
        mailbox: The household's; None where none is set up.
    """

    def __init__(self, server: MailServer, mailbox: Mailbox | None) -> None:
        self._server = server
        self._mailbox = mailbox

    async def call(self, work: Work, point_of_no_return: PointOfNoReturn) -> Mapping[str, Any]:
        """Send the mail.

        Args:
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
            "message_id": own_id,
            "server": said,
            "is_copied": await self._copy(message, own_id),
        }

    async def was_done(self, work: Work) -> Trace:
        """Look among the sent mails; that it is not there says nothing."""
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
