"""Sending over SMTP: to all or to nobody, with a word before the step that cannot be taken back."""

import ssl
from collections.abc import AsyncIterator, Sequence
from contextlib import asynccontextmanager, suppress

from aiosmtplib import (
    SMTP,
    SMTPAuthenticationError,
    SMTPException,
    SMTPNotSupported,
    SMTPRecipientRefused,
    SMTPResponseException,
)

from kinkeeper.actions.outside.adapter import NotDoneError, PointOfNoReturn, RefusedError
from kinkeeper.connectors.mail.account import Account
from kinkeeper.mail.model import domain_of, one_line

_TIMEOUT_SECONDS = 20.0
_LEAVE_SECONDS = 2.0
_PERMANENT = 500
_LONGEST_WORDS = 200


class MailServer:
    """A server that takes mails in.

    Args:
        account: Where, and who we are.
        sender: The address that mails are sent from.
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
            SMTPException: The connection broke behind the point of no return.
            OSError: As before.
        """
        async with self._entered() as client:
            await self._offer(client, to)
            await point_of_no_return()
            try:
                taken = await client.data(message)
            except SMTPResponseException as error:
                raise _refusal(error.code, error.message) from error
        return one_line(taken.message)[:_LONGEST_WORDS]

    async def greet(self) -> None:
        """Log in and leave again.

        Raises:
            NotDoneError: The server cannot be reached.
            RefusedError: It does not let us in.
        """
        async with self._entered():
            pass

    @asynccontextmanager
    async def _entered(self) -> AsyncIterator[SMTP]:
        """Yield a connection that is logged in; whatever happens, take leave and close it."""
        account = self._account
        client = SMTP(
            hostname=account.host, port=account.port, timeout=_TIMEOUT_SECONDS,
            use_tls=account.is_tls_at_once, start_tls=account.is_tls_later,
            tls_context=ssl.create_default_context(), local_hostname=domain_of(self.sender),
        )  # fmt: skip
        try:
            await self._log_in(client)
            yield client
        finally:
            with suppress(SMTPException, OSError):
                await client.quit(timeout=_LEAVE_SECONDS)
            client.close()

    async def _log_in(self, client: SMTP) -> None:
        try:
            await client.connect()
            if self._account.username:
                await client.login(self._account.username, self._account.password)
        except SMTPAuthenticationError as error:
            raise RefusedError("the mail server rejected the login; check SMTP_URL") from error
        except SMTPNotSupported as error:
            raise RefusedError(
                "the mail server does not offer login over TLS; check SMTP_URL"
            ) from error
        except (SMTPException, OSError) as error:
            raise NotDoneError(
                f"the mail server cannot be reached ({type(error).__name__})"
            ) from error

    async def _offer(self, client: SMTP, to: Sequence[str]) -> None:
        """Name the sender and everybody it is for; if one of them is refused, nobody gets it."""
        try:
            await client.mail(self.sender)
            for address in to:
                await client.rcpt(address)
        except SMTPRecipientRefused as error:
            raise _refusal(error.code, f"{error.recipient}: {error.message}") from error
        except SMTPResponseException as error:
            raise _refusal(error.code, error.message) from error
        except (SMTPException, OSError) as error:
            raise NotDoneError("the connection to the mail server was lost") from error


def _refusal(code: int, words: str) -> NotDoneError | RefusedError:
    kind = RefusedError if code >= _PERMANENT else NotDoneError
    return kind(f"the mail server said: {code} {one_line(words)[:_LONGEST_WORDS]}")
