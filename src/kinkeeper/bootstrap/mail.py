"""The household's mail by the settings: what can be asked, what carries it out, and how it stands.

The settings name one account. Where one process serves several households, whose it is would be a guess:
then it is nobody's.
"""

from collections.abc import Mapping, Sequence

from kinkeeper.actions.outside.adapter import Adapter
from kinkeeper.actions.requests.email import email_requests
from kinkeeper.actions.requests.model import RequestKind
from kinkeeper.connectors.mail.absent import NotSetUp
from kinkeeper.household.model import Household
from kinkeeper.observability.findings import Finding, ok, warning
from kinkeeper.settings.model import Settings

SENDING, READING = "mail server", "mailbox"
_NO_MAILBOX = "no mailbox is set up here (IMAP_URL)"
_NO_SERVER = "no mail server is set up here (SMTP_URL), so nothing was sent; the text is kept"
_SEVERAL = "SMTP_URL and IMAP_URL work with one household only, and there are several here; mail is switched off"


def mail_requests(settings: Settings, *, is_only_household: bool) -> tuple[RequestKind, ...]:
    """Return what can be asked about mail; without an account drafts are kept here.

    Args:
        settings: In force.
        is_only_household: Whether this installation serves one household.
    """
    if not is_only_household or not _is_set_up(settings):
        return email_requests(None, can_send=False)
    from kinkeeper.bootstrap.mail_servers import mailbox_of  # noqa: PLC0415 - loads the libraries for mail

    return email_requests(mailbox_of(settings), can_send=settings.smtp_url is not None)


def mail_adapters(settings: Settings, *, is_only_household: bool) -> Mapping[str, Adapter]:
    """Return what carries out drafts and sent mails, by the names of the effects.

    Args:
        settings: In force.
        is_only_household: Whether this installation serves one household.
    """
    absent = {"email.create_draft": NotSetUp(_NO_MAILBOX), "email.send": NotSetUp(_NO_SERVER)}
    if not is_only_household or not _is_set_up(settings):
        return absent
    from kinkeeper.bootstrap.mail_servers import adapters_of  # noqa: PLC0415 - as above

    return {**absent, **adapters_of(settings)}


def mail_findings(settings: Settings, households: Sequence[Household]) -> Sequence[Finding]:
    """Return what is set up for mail, without asking a server.

    Args:
        settings: In force.
        households: All of this installation.
    """
    if not _is_set_up(settings):
        return (
            ok(
                SENDING,
                "not set up; set SMTP_URL and IMAP_URL to send and search mail. Drafts are kept here",
            ),
        )
    if len(households) > 1:
        return (warning(SENDING, _SEVERAL, "run the household that owns the mailbox separately"),)
    sending, reading = settings.smtp_account, settings.imap_account
    sent = (
        f"sends at {sending.host} as {settings.mail_sender}"
        if sending
        else "none; set SMTP_URL to use one"
    )
    read = (
        f"at {reading.host}" if reading else "none; set IMAP_URL to use one. Drafts are kept here"
    )
    return (ok(SENDING, sent), ok(READING, read))


def mail_server_findings(settings: Settings, households: Sequence[Household]) -> Sequence[Finding]:
    """Ask the mail servers whether they let us in, and say how to mend it where not. Blocks; sends nothing.

    Args:
        settings: In force.
        households: All of this installation.
    """
    set_up = mail_findings(settings, households)
    if len(set_up) == 1:
        return set_up
    from kinkeeper.bootstrap.mail_servers import ask_servers  # noqa: PLC0415 - as above

    return ask_servers(settings, set_up)


def _is_set_up(settings: Settings) -> bool:
    return settings.smtp_url is not None or settings.imap_url is not None
