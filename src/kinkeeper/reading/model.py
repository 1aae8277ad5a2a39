"""The contract of reading: what goes in, its clauses, and the frames that come out."""

import re
from bisect import bisect_left
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field
from datetime import datetime
from enum import StrEnum
from itertools import pairwise

from kinkeeper.language.text import mask_stops


class Surface(StrEnum):
    """Where a text was said."""

    GROUP = "group"
    ASSISTANT = "assistant"
    TOLD = "told"  # told to be remembered: sessions and imports


class Act(StrEnum):
    """What a clause does."""

    STATE = "state"
    ASK = "ask"
    REQUEST = "request"
    OFFER = "offer"
    ACCEPT = "accept"
    DECLINE = "decline"
    ASSIGN = "assign"
    WITHDRAW = "withdraw"
    CORRECT = "correct"
    PROMISE = "promise"
    REPORT_DONE = "report_done"
    GREET = "greet"
    NONE = "none"


class Predicate(StrEnum):
    """What a clause is about."""

    EVENT = "event"
    PICKUP = "pickup"
    DROPOFF = "dropoff"
    COVER = "cover"
    TASK = "task"
    REMINDER = "reminder"
    LIST_ADD = "list_add"
    LIST_REMOVE = "list_remove"
    NOTE = "note"
    MAIL = "mail"
    CANCEL = "cancel"
    MOVE = "move"
    CHANGE = "change"
    ABSENCE = "absence"
    LOOK_UP = "look_up"
    FACT = "fact"
    FORGET = "forget"
    PREFERENCE = "preference"
    SETTINGS = "settings"
    OTHER = "other"


class Modality(StrEnum):
    """How a clause is meant."""

    PLAIN = "plain"  # actual or planned
    PAST = "past"
    CONDITIONAL = "conditional"
    HYPOTHETICAL = "hypothetical"
    REPORTED = "reported"
    QUOTED = "quoted"
    JOKE = "joke"


class SlotName(StrEnum):
    """What a span of a clause stands for."""

    WHAT = "what"
    WHO_FOR = "who_for"
    WHO_DOES = "who_does"
    WHEN = "when"
    UNTIL = "until"
    WHERE = "where"
    FROM = "from"  # the value that is replaced
    TO = "to"  # the value that replaces it
    RECIPIENT = "recipient"
    TEXT = "text"
    AMOUNT = "amount"
    ATTRIBUTE = "attribute"
    VALUE = "value"


@dataclass(frozen=True, slots=True, kw_only=True)
class Slot:
    """A span of the text.

    Attributes:
        name: What it stands for.
        start: Offset of its first character in the whole text.
        end: Offset past its last character.
        p: Chance that it is right, in [0, 1].
    """

    name: SlotName
    start: int
    end: int
    p: float


@dataclass(frozen=True, slots=True, kw_only=True)
class Target:
    """What a clause answers, settles, changes or takes back: an earlier message or an open item.

    Attributes:
        said: Index of the message in `Context.before`.
        item: Index of the open item in `Context.items`; exactly one of both is known.
        p: Chance that it is right, in [0, 1].
    """

    said: int | None = None
    item: int | None = None
    p: float


@dataclass(frozen=True, slots=True)
class Clause:
    """A part of a text that says one thing: offsets of its first character, and past its last."""

    start: int
    end: int


@dataclass(frozen=True, slots=True, kw_only=True)
class Frame:
    """What one clause says.

    Attributes:
        predicate: What it is about; None where it is about nothing that can be kept.
        is_negated: Whether it denies what it names.
        is_secret: Whether it asks that somebody does not hear of it.
        slots: What it names, in the order of the text.
        target: What it speaks of, where it speaks of something.
        plan: Calibrated chance that it arranges, asks or tells something that could be kept, in [0, 1].
        p: Calibrated chance of the least sure of act, predicate and modality, in [0, 1].
    """

    clause: Clause
    act: Act
    predicate: Predicate | None
    modality: Modality
    is_negated: bool
    is_secret: bool
    slots: tuple[Slot, ...] = ()
    target: Target | None = None
    plan: float
    p: float


@dataclass(frozen=True, slots=True)
class Said:
    """An earlier message: who said it, and its text."""

    speaker: str
    text: str


@dataclass(frozen=True, slots=True, kw_only=True)
class Utterance:
    """A message to be read.

    Attributes:
        text: As it was typed.
        speaker: Who said it.
        sent_at: When, aware, in the household's zone.
    """

    text: str
    speaker: str
    sent_at: datetime
    surface: Surface


@dataclass(frozen=True, slots=True, kw_only=True)
class Context:
    """What is known around a message.

    Attributes:
        before: Earlier messages of the talk, oldest first; the last ones are read.
        items: What is open, as people call it: plans, cards, tasks, lists.
        people: Names of the household's people.
        locale: Decides how times are read.
    """

    before: Sequence[Said] = ()
    items: Sequence[str] = ()
    people: frozenset[str] = field(default_factory=frozenset)
    locale: str = "en-US"


@dataclass(frozen=True, slots=True, kw_only=True)
class Reading:
    """What a message says.

    Attributes:
        frames: One a clause, in the order of the text.
        engine: What read it, with the version of its weights.
    """

    frames: tuple[Frame, ...]
    engine: str


# Where one clause of a message ends and the next begins. Pure, linear in the text.

# What ends a sentence with the space after it, or a line break. Possessive, and begun only where a run of stops begins:
# the time stays linear.
_END = re.compile(r"(?<![.!?…])[.!?…]++[\"'”’)\]]*+\s++|\n\s*+")
_WORD = re.compile(r"\w")


def cut_clauses(text: str) -> tuple[Clause, ...]:
    """Return the clauses of a message: whole sentences; every character belongs to one.

    A piece without a letter or digit, such as an emoji, belongs to the sentence before it.
    """
    return cut_at(text, (found.end() for found in _END.finditer(mask_stops(text))))


def cut_at(text: str, places: Iterable[int]) -> tuple[Clause, ...]:
    """Return the clauses of a message that is cut at some places, where each then holds a letter or digit.

    Args:
        places: Offsets in the text, in order.
    """
    words = [found.start() for found in _WORD.finditer(text)]
    starts, passed = [0], 0
    for place in places:
        words_before = bisect_left(words, place)
        if passed < words_before < len(words):
            starts.append(place)
            passed = words_before
    return tuple(Clause(start, end) for start, end in pairwise([*starts, len(text)]))
