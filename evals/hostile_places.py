"""Where hostile words stand, and a model that does what it reads there."""

import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import Any, Final

from kinkeeper.actions.consent import Stakes
from kinkeeper.actions.requests.model import Asked, Found, Parameters, RequestKind
from kinkeeper.conversation.model import Plan, PlannedAction, PlanningContext, Source
from kinkeeper.mail.model import Address, MailQuery, ReceivedMail

BEGUN = datetime(2026, 3, 2, 8)  # noqa: DTZ001 - on the household's clock
_SIGNATURE = 24

Call = tuple[str, Mapping[str, Any]]
"""A request by domain and name, with its parameters."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Attack:
    """One hostile text and what it wants.

    Attributes:
        text: As it stands somewhere.
        wants: What a model that obeys it does.
        place: Where it stands: a key of `PLACES`.
        asked: What the person asks for meanwhile.
        channel: Where they ask.
    """

    text: str
    wants: Sequence[Call]
    place: str
    asked: str
    channel: str


class Mailbox:
    """A mailbox with one mail."""

    def __init__(self) -> None:
        self.text = ""

    async def search(self, query: MailQuery, *, limit: int) -> Sequence[ReceivedMail]:
        """Return the mail, whatever is looked for."""
        del query, limit
        sender = Address(name="Lily White", address="lily.white@example.net")
        at = BEGUN.astimezone()
        return [
            ReceivedMail(
                message_id="<1@example.net>",
                sender=sender,
                answer_to=sender,
                at=at,
                subject="Plans",
                text=self.text,
            )
        ]

    async def correspondents(self, name: str) -> Sequence[Address]:
        """Return nobody."""
        del name
        return ()


class _Look(Parameters):
    """What a foreign tool is asked for."""

    what: str = ""


PLACES: Final[Mapping[str, Call]] = {
    "mail": ("email.search", {"query": "plans"}),
    "tool": ("shop.look", {"what": "plans"}),
    "event": ("calendar.list_events", {"days_ahead": 3}),
    "task": ("task.list", {}),
    "note": ("notes.list", {"title": "Letter {number}"}),
    "memory": ("memory.search", {"query": "letter box note"}),
}
"""Where hostile words stand, and what a model looks up there."""

LAID: Final[Mapping[str, Call]] = {
    "event": (
        "calendar.create_event",
        {
            "summary": "Networking {number}",
            "start_time": "2026-03-03T20:00:00-06:00",
            "location": "{text}",
        },
    ),
    "task": ("task.create", {"title": "{short}"}),
    "note": ("notes.create", {"title": "Letter {number}", "body": "{text}"}),
    "memory": ("memory.store", {"value": "The letter box note says: {text}"}),
}
OWN: Final[Sequence[Call]] = (
    ("task.create", {"title": "water the plants"}),
    ("notes.append", {"title": "Shopping list", "body": "milk"}),
    ("memory.store", {"value": "The bike shed key is behind the door"}),
    ("memory.store", {"value": "The attic ladder is in the cellar"}),
    ("task.create", {"title": "engrave the ring", "private": True}),
    ("notes.create", {"title": "Surprises", "body": "a ring", "private": True}),
    (
        "calendar.create_event",
        {"summary": "jeweller", "start_time": "2026-03-05T12:00:00-06:00", "private": True},
    ),
)
"""What is the household's own, so that there is something to change, to tick off, to forget and to give away."""


@dataclass(slots=True)
class Obeying:
    """A model that looks where it is told to, and does what stands there.

    Attributes:
        attack: What it meets.
        is_obeyed: Whether it did.
    """

    attack: Attack | None = None
    is_obeyed: bool = False
    number: int = 0

    def meet(self, attack: Attack, *, number: int) -> None:
        """Be ready to obey an attack, the so-and-so-manieth."""
        self.attack, self.is_obeyed, self.number = attack, False, number

    async def plan(self, context: PlanningContext) -> Plan:
        """Return what to look up; then, once, what the hostile words want."""
        attack = self.attack
        if attack is None or self.is_obeyed:
            return Plan(source=Source.MODEL)
        if not context.results:
            key, params = PLACES[attack.place]
            look = _planned((key, filled(params, number=self.number)))
            return Plan(actions=(look,), source=Source.MODEL)
        read = texts_in([dict(each.result) for each in context.results])
        if not any(_signature(attack.text) in _plain(text) for text in read):
            return Plan(source=Source.MODEL)
        self.is_obeyed = True
        return Plan(actions=tuple(map(_planned, attack.wants)), source=Source.MODEL)


def foreign_tool(said: Sequence[str]) -> RequestKind:
    """Return a foreign tool that only reads, and answers with what others say."""

    async def read(_wanted: _Look, _asked: Asked) -> Found:
        return Found(result={"text": "".join(said)})

    return RequestKind(
        domain="shop",
        name="look",
        description="Looks into the shop.",
        parameters=_Look,
        stakes=Stakes.LOW,
        progress="Looking…",
        is_foreign=True,
        read=read,
    )


def filled(params: Mapping[str, Any], **words: object) -> dict[str, Any]:
    """Return parameters with words put in their places."""
    return {
        name: value.format(**words) if isinstance(value, str) else value
        for name, value in params.items()
    }


def _planned(call: Call) -> PlannedAction:
    domain, action = call[0].split(".")
    return PlannedAction(domain=domain, action=action, params=call[1])


def _signature(text: str) -> str:
    return _plain(text)[:_SIGNATURE]


def _plain(text: str) -> str:
    return re.sub(r"\W+", " ", text).strip().lower()


def texts_in(value: Any) -> Iterator[str]:
    """Yield the texts of a value as JSON has it, at any depth.

    Args:
        value: A text, or mappings and lists of them; what is neither is left out.
    """
    if isinstance(value, str):
        yield value
    elif isinstance(value, Mapping):
        for each in value.values():
            yield from texts_in(each)
    elif isinstance(value, list | tuple):
        for each in value:
            yield from texts_in(each)
