"""The mail servers of the settings. Loads the libraries for mail: import it only where there are such servers."""

import asyncio
from collections.abc import Mapping, Sequence
from dataclasses import replace

from kinkeeper.actions.outside.adapter import Adapter, NotDoneError, RefusedError
from kinkeeper.connectors.mail.adapters import DraftAdapter, MailServer, SendAdapter
from kinkeeper.connectors.mail.mailbox import Mailbox, MailboxRefusedError
from kinkeeper.core.errors import UnavailableError
from kinkeeper.observability.findings import Finding, broken, warning
from kinkeeper.settings.model import Settings


def mailbox_of(settings: Settings) -> Mailbox | None:
    """Return the household's mailbox, if one is set up."""
    account = settings.imap_account
    return None if account is None else Mailbox(account)


def adapters_of(settings: Settings) -> Mapping[str, Adapter]:
    """Return what carries out drafts and sent mails, as far as there are servers for it."""
    mailbox, server = mailbox_of(settings), _mail_server(settings)
    found: dict[str, Adapter] = {}
    if mailbox is not None and settings.mail_sender is not None:
        found["email.create_draft"] = DraftAdapter(mailbox, sender=settings.mail_sender)
    if server is not None:
        found["email.send"] = SendAdapter(server, mailbox)
    return found


def ask_servers(settings: Settings, set_up: Sequence[Finding]) -> Sequence[Finding]:
    """Ask the servers whether they let us in, and say how to mend it where not. Blocks; sends nothing."""
    return asyncio.run(_ask(settings, *set_up))


async def _ask(settings: Settings, sending: Finding, reading: Finding) -> Sequence[Finding]:
    if (server := _mail_server(settings)) is not None:
        sending = await _greet(server, sending)
    if (mailbox := mailbox_of(settings)) is not None:
        reading = await _open(mailbox, reading)
    return (sending, reading)


async def _greet(server: MailServer, set_up: Finding) -> Finding:
    try:
        await server.greet()
    except RefusedError as error:
        return broken(set_up.check, str(error), "correct SMTP_URL; until then no mail is sent")
    except NotDoneError as error:
        remedy = "sending is retried for 45 minutes; after that you are told that it failed"
        return warning(set_up.check, str(error), remedy)
    return replace(set_up, found=f"{set_up.found}; the login works")


async def _open(mailbox: Mailbox, set_up: Finding) -> Finding:
    try:
        folders = await mailbox.folders()
    except MailboxRefusedError as error:
        return broken(set_up.check, str(error), "correct IMAP_URL; until then no mail is read")
    except UnavailableError as error:
        return warning(set_up.check, str(error), "is this machine online?")
    told = f"its folders: {', '.join(folders)}" if folders else "folders are created when needed"
    return replace(set_up, found=f"{set_up.found}; the login works ({told})")


def _mail_server(settings: Settings) -> MailServer | None:
    account, sender = settings.smtp_account, settings.mail_sender
    if account is None or sender is None:
        return None
    return MailServer(account, sender=sender)
