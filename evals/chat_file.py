"""Whole chats of a household with what a careful person would keep of each message, read from text.

A file names its household and days; a message is a line, what should come of it stands indented below::

    household evals/data/households/strangers/iyengar.toml

    == 2026-11-16 Mon
    07:10 divya #a: Ramesh pls drop the twins to school today
      > card kind=care child=aarav,anvi day=11-16
    07:12 ramesh reply #a: ok madam
      > card kind=care who=ramesh
      > to #a

`#a` names a message; `reply #a`, `react #a` and `edit #a` point at one. Nothing below a message means that
nothing is kept of it and nothing said.
"""

import re
from collections.abc import Mapping
from dataclasses import dataclass, field
from datetime import date, datetime, time
from pathlib import Path
from typing import Final
from zoneinfo import ZoneInfo

from kinkeeper.core.errors import InputError
from kinkeeper.core.messages import InboundMessage, MessageKind
from kinkeeper.household.file import load_household
from kinkeeper.observer.speaker import REPLAY

_HOUSEHOLD: Final = re.compile(r"household (?P<path>\S+)")
_DAY: Final = re.compile(r"== (?P<day>\d{4}-\d\d-\d\d) (?P<weekday>\w{3})")
_MESSAGE: Final = re.compile(
    r"(?P<clock>\d\d:\d\d) (?P<sender>[^ :]+)(?: (?P<verb>reply|react|edit) #(?P<target>\w+))?"
    r"(?: #(?P<name>\w+))?: (?P<text>.+)"
)
_LABEL: Final = re.compile(r"  > (?P<verb>card|may card|maybe|to|speaks|may speak)\b ?(?P<rest>.*)")
_KINDS: Final = {"react": MessageKind.REACTION, "edit": MessageKind.EDIT}

SLOTS: Final = {
    "kind": "type",
    "who": "assigned_to",
    "child": "child",
    "activity": "activity",
    "day": "dates",
    "time": "times",
}
"""Slots of a label by the field of an action that they are compared with."""

_TYPES: Final = {
    "care": "care_assignment",
    "event": "event_create",
    "change": "schedule_change",
    "upkeep": "maintenance_update",
}


@dataclass(frozen=True, slots=True, kw_only=True)
class WantedSpeech:
    """An unprompted message that should come.

    Attributes:
        rule: The rule that speaks.
        is_deferred: Whether it comes only after the grace of a question.
        is_optional: Whether silence is right, too.
    """

    rule: str
    is_deferred: bool = False
    is_optional: bool = False


@dataclass(slots=True, kw_only=True)
class Labelled:
    """A message and what should come of it.

    Attributes:
        message: As a channel hands it over.
        cards: Each with its slots: a set of values by slot, empty where it must have none; a slot that
            is left out is not judged. Of several kinds each is right.
        allowed: Cards that may come as well.
        is_open: Whether cards may come or not.
        source: Id of the message it answers, where that is judged.
        speech: What should be said about it.
    """

    message: InboundMessage
    cards: list[Mapping[str, frozenset[str]]] = field(default_factory=list)
    allowed: list[Mapping[str, frozenset[str]]] = field(default_factory=list)
    is_open: bool = False
    source: str | None = None
    speech: list[WantedSpeech] = field(default_factory=list)


@dataclass(frozen=True, slots=True, kw_only=True)
class LabelledChat:
    """One chat of one household.

    Attributes:
        name: Of its file.
        household: Path of the household file, from the root of the repository.
        messages: In order.
    """

    name: str
    household: Path
    messages: tuple[Labelled, ...]


def load_chat(path: Path, root: Path = Path()) -> LabelledChat:
    """Return the chat of a file.

    Args:
        path: The chat.
        root: The repository, from which the household is named.

    Raises:
        InputError: A line cannot be read, a day is not the weekday it says, or a name is unknown.
    """
    reading = _Reading(path.stem, root)
    for number, line in enumerate(path.read_text(encoding="utf-8").splitlines(), start=1):
        if not line.strip():
            continue
        try:
            reading.take(line)
        except (ValueError, KeyError, IndexError) as error:
            raise InputError(f"{path}:{number}: cannot be read ({error!r})") from error
    return LabelledChat(
        name=path.stem, household=reading.household, messages=tuple(reading.messages)
    )


class _Reading:
    """The lines of a file, one after the other."""

    def __init__(self, name: str, root: Path) -> None:
        self._name = name
        self._root = root
        self._zone = ZoneInfo("UTC")
        self._day = date.min
        self._ids: dict[str, str] = {}
        self.household = Path()
        self.messages: list[Labelled] = []

    def take(self, line: str) -> None:
        if label := _LABEL.fullmatch(line):
            self._label(self.messages[-1], label["verb"], label["rest"])
        elif message := _MESSAGE.fullmatch(line):
            self.messages.append(Labelled(message=self._message(message)))
        elif day := _DAY.fullmatch(line):
            self._day = date.fromisoformat(day["day"])
            if f"{self._day:%a}" != day["weekday"]:
                raise ValueError(f"{self._day} is a {self._day:%A}")
        elif household := _HOUSEHOLD.fullmatch(line):
            self.household = Path(household["path"])
            self._zone = load_household(self._root / self.household).zone
        else:
            raise ValueError("neither a message nor a label")

    def _message(self, found: re.Match[str]) -> InboundMessage:
        message_id = f"{self._name}-{len(self.messages) + 1}"
        if found["name"]:
            self._ids[found["name"]] = message_id
        target = self._ids[found["target"]] if found["target"] else None
        is_reply = found["verb"] == "reply"
        sent_at = datetime.combine(self._day, time.fromisoformat(found["clock"]), self._zone)
        if self.messages:
            sent_at = max(sent_at, self.messages[-1].message.sent_at)
        return InboundMessage(
            channel=REPLAY,
            chat_id=self._name,
            message_id=message_id,
            sender=found["sender"],
            text=found["text"].replace("\\n", "\n"),
            sent_at=sent_at,
            reply_to=target if is_reply else None,
            target=None if is_reply else target,
            kind=_KINDS.get(found["verb"] or "", MessageKind.TEXT),
        )

    def _label(self, of: Labelled, verb: str, rest: str) -> None:
        match verb:
            case "card" | "may card":
                cards = of.cards if verb == "card" else of.allowed
                cards.append(dict(self._slot(item) for item in _items(rest)))
            case "maybe":
                of.is_open = True
            case "to":
                of.source = self._ids[rest.removeprefix("#")]
            case _:
                rule, *when = rest.split()
                of.speech.append(
                    WantedSpeech(
                        rule=rule, is_deferred="later" in when, is_optional=verb != "speaks"
                    )
                )

    def _slot(self, item: str) -> tuple[str, frozenset[str]]:
        name, _, given = item.partition("=")
        values = [value for value in given.split(",") if value]
        if name == "kind":
            values = [_TYPES[value] for value in values]
        elif name == "day":
            values = [f"{self._day.year}-{value}" for value in values]
        return SLOTS[name], frozenset(values)


def _items(rest: str) -> list[str]:
    """Return the slots of a label; a value goes on until the next slot ("activity=eye doctor child=")."""
    return [item.strip() for item in re.split(r" (?=\w+=)", rest) if item.strip()]
