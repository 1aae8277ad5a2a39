"""What can be asked about mail: drafts, sending, answering, searching.

What stands in mails is other people's text: it is shown, never followed. A mail is sent only after a yes to
exactly this text for exactly these addresses.
"""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import Any

from pydantic import Field

from kinkeeper.actions.consent import Stakes
from kinkeeper.actions.effects.outside import CreateDraft, KeepDraft, SendMail
from kinkeeper.actions.model import ActionType
from kinkeeper.actions.requests.model import Asked, Card, Found, Parameters, Prepared, RequestKind
from kinkeeper.core.errors import DeniedError, NotFoundError, UnavailableError, UnclearError
from kinkeeper.language.text import shorten
from kinkeeper.mail import lookup
from kinkeeper.mail.lookup import read_query
from kinkeeper.mail.model import (
    LONGEST_BODY,
    MOST_RECIPIENTS,
    Address,
    Mail,
    MailQuery,
    MailReader,
    ReceivedMail,
    one_line,
)

NO_MAILBOX = "no mailbox is set up here (IMAP_URL)"
NO_SENDING = "No mail server is set up here (SMTP_URL): this cannot be sent, but its text is kept."

_LONGEST_SUBJECT = 200
_LONGEST_SUMMARY = 140
_MOST_FOUND = 10
_MOST_OPTIONS = 6
_MOST_REFERENCES = 20


class WriteParameters(Parameters):
    """A mail as it is asked for.

    Attributes:
        to: Addresses or names.
        subject: One line; the beginning of the body where empty.
        body: Plain text.
    """

    to: str | list[str] = Field(description="Addresses or names, as the person said them.")
    subject: str = Field(default="", description="One line.")
    body: str = Field(default="", max_length=LONGEST_BODY, description="The email as plain text.")


class ReplyParameters(Parameters):
    """An answer as it is asked for.

    Attributes:
        sender_name: Who sent the email to reply to.
        body: Plain text of the answer.
    """

    sender_name: str = Field(min_length=1, description="Who sent the email to reply to.")
    body: str = Field(min_length=1, max_length=LONGEST_BODY, description="Plain text.")


class SearchParameters(Parameters):
    """What is looked for in the mailbox.

    Attributes:
        query: A few words; "from NAME", days and "unread" are understood.
    """

    query: str = Field(description='A few words; "from NAME", days and "unread" are understood.')


@dataclass(frozen=True, slots=True, kw_only=True)
class Recipients:
    """Whom a mail is for.

    Attributes:
        addresses: Each once.
        unaddressed: Names of those who are meant and whose address nobody knows.
        unknown: Names that could be anybody's.
    """

    addresses: tuple[Address, ...]
    unaddressed: tuple[str, ...]
    unknown: tuple[lookup.Found, ...]


class EmailRequests:
    """Prepares mails and looks into the mailbox.

    Args:
        mailbox: The household's; None where none is set up.
        can_send: Whether a server for sending is set up.
    """

    def __init__(self, mailbox: MailReader | None, *, can_send: bool) -> None:
        self._mailbox = mailbox
        self._can_send = can_send

    async def create_draft(self, wanted: WriteParameters, asked: Asked) -> Prepared:
        """Prepare a draft; one whose recipient nobody knows has no address yet."""
        found = await self._recipients(wanted.to, asked)
        if found.unknown and any(each.options for each in found.unknown):
            raise _which(found.unknown)
        unaddressed = (*found.unaddressed, *(each.name for each in found.unknown))
        mail = _mail(wanted, found.addresses, asked, unaddressed=unaddressed)
        is_here = self._mailbox is None
        effect = KeepDraft(mail=mail) if is_here else CreateDraft(mail=mail)
        return Prepared(
            type=ActionType.EMAIL,
            summary=_summary("Draft", mail),
            effects=(effect.frozen(),),
            shown=mail.shown,
            result=mail.shown
            | {"where": "here" if is_here else "mailbox", "unaddressed": list(unaddressed)},
        )

    async def send_email(self, wanted: WriteParameters, asked: Asked) -> Prepared:
        """Prepare a mail to be sent."""
        found = await self._recipients(wanted.to, asked)
        if found.unknown:
            raise _which(found.unknown)
        if found.unaddressed:
            raise UnclearError(_address_wanted(found.unaddressed))
        return self._to_send(_mail(wanted, found.addresses, asked))

    async def reply_to_email(self, wanted: ReplyParameters, asked: Asked) -> Prepared:
        """Prepare an answer to the latest mail of somebody."""
        original = await self._latest_from(wanted.sender_name, asked)
        subject = original.subject
        if not subject.casefold().startswith("re:"):
            subject = f"Re: {subject}".strip()
        known = original.references[-_MOST_REFERENCES:]
        mail = Mail(
            to=(original.answer_to,),
            subject=shorten(subject, _LONGEST_SUBJECT),
            body=wanted.body,
            from_name=one_line(asked.member.name)[:200],
            reply_to=_reply_to(asked),
            in_reply_to=original.message_id,
            references=(*known, original.message_id) if original.message_id else known,
        )
        note = {}
        if original.answer_to.address.casefold() != original.sender.address.casefold():
            note["note"] = (
                f"{original.sender.shown} wants replies sent to {original.answer_to.address}."
            )
        return self._to_send(mail, {"answers": _line_of(original, asked), **note})

    async def search(self, wanted: SearchParameters, asked: Asked) -> Found:
        """Look into the mailbox."""
        mailbox = self._readable(asked)
        now = asked.now.astimezone(asked.household.zone)
        query = read_query(wanted.query, now, locale=asked.household.locale)
        mails = await mailbox.search(query, limit=_MOST_FOUND)
        lines = [_line_of(each, asked) for each in mails]
        title = f"Mails: {shorten(one_line(wanted.query), 60)}"
        items = tuple(
            {
                "text": each["subject"],
                "when": each["at"],
                "detail": f"{each['from']}: {each['text']}",
            }
            for each in lines
        )
        return Found(
            result={"mails": lines, "query": wanted.query},
            card=Card(kind="mails", title=title, items=items),
        )

    async def _recipients(self, to: str | Sequence[str], asked: Asked) -> Recipients:
        found = lookup.find_recipients(asked.household, asked.member, to)
        if not found:
            raise UnclearError("Who is the email for?")
        addresses = {each.address.casefold(): each for one in found for each in one.addresses}
        unknown = []
        for each in found:
            if each.is_known:
                continue
            known = () if each.options else await self._corresponding(each.name, asked)
            if len(known) == 1:
                addresses.setdefault(known[0].address.casefold(), known[0])
            else:
                options = each.options or tuple(one.shown for one in known[:_MOST_OPTIONS])
                unknown.append(lookup.Found(name=each.name, options=options))
        if len(addresses) > MOST_RECIPIENTS:
            raise UnclearError(f"That is more than {MOST_RECIPIENTS} people. Who do you mean?")
        return Recipients(
            addresses=tuple(addresses.values()),
            unaddressed=tuple(dict.fromkeys(name for each in found for name in each.missing)),
            unknown=tuple(unknown),
        )

    async def _corresponding(self, name: str, asked: Asked) -> Sequence[Address]:
        """Return whose mails in the mailbox have that name; a mailbox out of reach knows nobody."""
        if self._mailbox is None or not asked.member.is_adult:
            return ()
        try:
            return await self._mailbox.correspondents(name)
        except UnavailableError:
            return ()

    async def _latest_from(self, name: str, asked: Asked) -> ReceivedMail:
        mailbox = self._readable(asked)
        found = lookup.contact_named(asked.household, asked.member, name)
        addresses = [each.address for each in found.addresses] or [one_line(name)]
        mails = [
            mail
            for address in addresses
            for mail in await mailbox.search(MailQuery(sender=address), limit=_MOST_FOUND)
        ]
        if not mails:
            raise NotFoundError(f"there is no email from {one_line(name)} in the mailbox")
        senders = {mail.sender.address.casefold(): mail.sender.shown for mail in mails}
        if len(senders) > 1 and not found.addresses:
            options = tuple(senders.values())[:_MOST_OPTIONS]
            raise UnclearError(f"Whose email do you mean: {_either(options)}?", options=options)
        return max(mails, key=lambda mail: mail.at)

    def _readable(self, asked: Asked) -> MailReader:
        if not asked.member.is_adult:
            raise DeniedError("only adults can read the family's mailbox")
        if self._mailbox is None:
            raise UnavailableError(f"I can't read the mailbox: {NO_MAILBOX}.")
        return self._mailbox

    def _to_send(self, mail: Mail, more: dict[str, Any] | None = None) -> Prepared:
        shown = mail.shown | (more or {})
        if not self._can_send:
            shown["note"] = NO_SENDING
        return Prepared(
            type=ActionType.EMAIL,
            summary=_summary("Send", mail),
            effects=(SendMail(mail=mail).frozen(),),
            shown=shown,
            result=mail.shown,
        )


def email_requests(mailbox: MailReader | None, *, can_send: bool) -> tuple[RequestKind, ...]:
    """Return the rows about mail.

    Args:
        mailbox: The household's; None where none is set up.
        can_send: Whether a server for sending is set up.
    """
    requests = EmailRequests(mailbox, can_send=can_send)
    return (
        RequestKind(
            domain="email",
            name="create_draft",
            parameters=WriteParameters,
            description="Write a draft of an email without sending it.",
            stakes=Stakes.LOW,
            progress="Writing the draft…",
            prepare=requests.create_draft,
        ),
        RequestKind(
            domain="email",
            name="send_email",
            parameters=WriteParameters,
            description="Send an email to people.",
            stakes=Stakes.HIGH,
            progress="Preparing the mail…",
            prepare=requests.send_email,
        ),
        RequestKind(
            domain="email",
            name="reply_to_email",
            parameters=ReplyParameters,
            description="Reply to somebody's latest email.",
            stakes=Stakes.HIGH,
            progress="Looking for the mail…",
            prepare=requests.reply_to_email,
        ),
        RequestKind(
            domain="email",
            name="search",
            parameters=SearchParameters,
            description="Search the inbox for emails by sender, words or day.",
            stakes=Stakes.LOW,
            progress="Searching your mail…",
            read=requests.search,
        ),
    )


def _mail(
    wanted: WriteParameters,
    to: tuple[Address, ...],
    asked: Asked,
    *,
    unaddressed: Iterable[str] = (),
) -> Mail:
    subject, body = one_line(wanted.subject), wanted.body.strip()
    if not subject and not body:
        raise UnclearError("What should the email say?")
    return Mail(
        to=to,
        unaddressed=tuple(one_line(each)[:200] for each in unaddressed),
        subject=shorten(subject or one_line(body), _LONGEST_SUBJECT if subject else 60),
        body=body,
        from_name=one_line(asked.member.name)[:200],
        reply_to=_reply_to(asked),
    )


def _reply_to(asked: Asked) -> Address | None:
    email = asked.member.email
    return Address(address=email, name=one_line(asked.member.name)) if email else None


def _summary(verb: str, mail: Mail) -> str:
    """Return one line; every recipient stands on the card, here some may stand for all."""
    people = [each.name or each.address for each in mail.to] + list(mail.unaddressed)
    told = ", ".join(people[:3]) + (f" and {len(people) - 3} more" if len(people) > 3 else "")  # noqa: PLR2004 - as many as a line takes
    return shorten(f"{verb} “{mail.subject}” to {told}", _LONGEST_SUMMARY)


def _line_of(mail: ReceivedMail, asked: Asked) -> dict[str, str]:
    return {
        "from": mail.sender.shown,
        "subject": mail.subject,
        "at": mail.at.astimezone(asked.household.zone).isoformat(),
        "text": mail.text,
    }


def _which(unknown: Sequence[lookup.Found]) -> UnclearError:
    unclear = next((each for each in unknown if each.options), None)
    if unclear is None:
        return UnclearError(_address_wanted([each.name for each in unknown]))
    question = f"Which {unclear.name} do you mean: {_either(unclear.options)}?"
    return UnclearError(question, options=unclear.options)


def _address_wanted(names: Sequence[str]) -> str:
    return f"I don't know an email address for {_either(names, 'and')}. What is it?"


def _either(options: Sequence[str], word: str = "or") -> str:
    if len(options) == 1:
        return options[0]
    return f"{', '.join(options[:-1])} {word} {options[-1]}"
