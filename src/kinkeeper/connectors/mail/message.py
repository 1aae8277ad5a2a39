"""A mail as bytes, the same bytes at every try. Pure."""

from datetime import datetime
from email.headerregistry import Address as HeaderAddress
from email.message import EmailMessage
from email.policy import SMTP
from email.utils import format_datetime

from kinkeeper.mail.model import Address, Mail, domain_of

# Ids of mails must not be broken up; lines of text are kept short by their encoding.
_POLICY = SMTP.clone(max_line_length=900)


def message_id(change_id: str, sender: str) -> str:
    """Return the Message-ID of a mail: made from the change, so that it can be looked for.

    Args:
        change_id: Of the change that writes or sends it.
        sender: The address it is sent from.
    """
    return f"<act-{change_id}@{domain_of(sender)}>"


def mail_bytes(mail: Mail, *, sender: str, change_id: str, at: datetime) -> bytes:
    """Return a mail as it is sent or put into a folder.

    Args:
        mail: What it says.
        sender: The address it is sent from.
        change_id: Of the change that writes or sends it.
        at: When it was asked for, aware.
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
