"""Work with mails, as the worker hands it to adapters."""

from datetime import UTC, datetime

from kinkeeper.actions.effects.contract import Effect
from kinkeeper.actions.effects.outside import CreateDraft, SendMail, Verb
from kinkeeper.actions.outside.adapter import Work
from kinkeeper.core.ids import stable_id
from kinkeeper.mail.model import Address, Mail

AT = datetime(2026, 5, 11, 9, 0, tzinfo=UTC)
MAIL = Mail(
    to=(Address(address="ana@school.example", name="Ána Ruiz"), Address(address="li@work.example")),
    subject="Träp on Friday 🚌",
    body="Hello Ána,\nwe come at five.\n.\n\nInes",
    from_name="Ines",
    reply_to=Address(address="ines@home.example"),
)


def work(effect: Effect, name: str = "first", verb: Verb = Verb.DO) -> Work:
    return Work(
        household="vienna",
        id=stable_id("mail", name),
        action_id=stable_id("action", name),
        effect=effect,
        verb=verb,
        decided_by="ines",
        at=AT,
    )


def sending(mail: Mail = MAIL, name: str = "first") -> Work:
    return work(SendMail(mail=mail), name)


def drafting(mail: Mail = MAIL, name: str = "first", verb: Verb = Verb.DO) -> Work:
    return work(CreateDraft(mail=mail), name, verb)
