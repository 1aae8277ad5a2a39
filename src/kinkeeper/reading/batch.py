"""A stretch of group talk as a model is shown it: the last messages, what is open, the calendar, the household. Pure.

Messages and things have short ids of this batch alone ("m3", "a1"), so that an answer can point to nothing that it was
not shown.
"""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from datetime import date, datetime, timedelta
from itertools import pairwise
from typing import Final

from kinkeeper.reading.times import NamedTimeWords

WINDOW: Final = 15
"""Messages of a batch, those before it included."""

MOST_NEW: Final = 9
"""Of these new ones: the others show what they answer."""

_MOST_THINGS: Final = 40
DAYS_SHOWN: Final = timedelta(days=14)
"""Of the calendar."""

SILENCE: Final = timedelta(minutes=1)
"""After which a stretch of talk is over."""

_MOST_BYTES: Final = 1500
_LONGEST_TITLE: Final = 80
_ESCAPED: Final = 12
"""Most bytes that a character takes where a prompt has to escape it."""

_STRUCTURAL: Final = frozenset("<>[]{}|`#")

Shown = str | int | bool | None | Sequence["Shown"] | Mapping[str, "Shown"]
"""What a prompt is filled with."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Heard:
    """A message of the talk.

    Attributes:
        speaker: Who said it, as the household calls them.
        text: As it was typed.
        sent_at: When, aware, in the household's zone.
        is_secret: Whether it is kept from somebody; what is read from it then is, too.
    """

    speaker: str
    text: str
    sent_at: datetime
    is_secret: bool = False


@dataclass(frozen=True, slots=True, kw_only=True)
class Thing:
    """Something known: an open arrangement, or an event of the calendar.

    Attributes:
        key: What the caller calls it.
        at: When: a day, or a local moment, aware; None where nobody said.
        who: Whom it concerns, by display name.
        by: Who does it, by display name.
        is_secret: Whether it is kept from somebody.
    """

    key: str
    title: str
    at: datetime | date | None = None
    who: tuple[str, ...] = ()
    by: tuple[str, ...] = ()
    is_secret: bool = False

    @property
    def day(self) -> date | None:
        """The day it is on."""
        return self.at.date() if isinstance(self.at, datetime) else self.at


@dataclass(frozen=True, slots=True, kw_only=True)
class Batch:
    """What a model reads at a time.

    Attributes:
        messages: The last of the talk, oldest first; at most `WINDOW` are shown.
        new: How many of the last are to be read, > 0; those before them only show what they answer.
        events: The calendar; the 14 days from the last message are shown.
        people: Other words for each member, by display name.
        locale: Decides how times are read.
    """

    messages: Sequence[Heard]
    new: int
    arrangements: Sequence[Thing] = ()
    events: Sequence[Thing] = ()
    people: Mapping[str, Sequence[str]]
    locale: str = "en-US"
    named_times: Sequence[NamedTimeWords] = ()

    @property
    def heard(self) -> Mapping[str, Heard]:
        """The messages shown by short id, oldest first."""
        window = self.messages[-WINDOW:]
        return {f"m{number}": each for number, each in enumerate(window, 1)}

    @property
    def things(self) -> Mapping[str, Thing]:
        """What is open, and what is in the calendar, by short id."""
        first = self.messages[-1].sent_at.date()
        soon = [
            each
            for each in self.events
            if each.day is not None and first <= each.day < first + DAYS_SHOWN
        ]
        numbered = (("a", self.arrangements[-_MOST_THINGS:]), ("e", soon[:_MOST_THINGS]))
        return {
            f"{letter}{number}": each
            for letter, things in numbered
            for number, each in enumerate(things, 1)
        }

    @property
    def new_ids(self) -> Sequence[str]:
        """Short ids of the messages to be read, oldest first."""
        return list(self.heard)[-self.new :]


def cut_batches(messages: Sequence[Heard]) -> Iterator[tuple[Sequence[Heard], int]]:
    """Yield a talk in the stretches that a model reads at a time: cut where nobody writes for a minute, and when full.

    Args:
        messages: All of the talk, oldest first.

    Yields:
        The messages up to the end of a stretch, at most `WINDOW`, and how many of them are new.
    """
    begun = 0
    for end, (last, then) in enumerate(pairwise([*messages, None]), 1):
        is_over = then is None or last is None or then.sent_at - last.sent_at >= SILENCE
        if is_over or end - begun == MOST_NEW:
            yield messages[max(0, end - WINDOW) : end], end - begun
            begun = end


def shown(batch: Batch) -> dict[str, Shown]:
    """Return what a prompt is filled with: what changes least first, the messages to be read last."""
    heard, things = batch.heard, batch.things
    lines = {
        key: {
            "id": key,
            "at": spoken(each.sent_at),
            "from": shortened(each.speaker),
            "text": shown_text(each),
        }
        for key, each in heard.items()
    }
    new = set(batch.new_ids)
    return {
        "household": {
            shortened(name): [shortened(each) for each in also]
            for name, also in batch.people.items()
        },
        "calendar": [_thing(key, each) for key, each in things.items() if key.startswith("e")],
        "open": [_thing(key, each) for key, each in things.items() if key.startswith("a")],
        "earlier": [line for key, line in lines.items() if key not in new],
        "talk": [line for key, line in lines.items() if key in new],
    }


def shown_text(heard: Heard) -> str:
    """Return as much of a message as is shown: whatever it holds, it takes a bounded part of the prompt."""
    spent = 0
    for place, character in enumerate(heard.text):
        spent += _bytes(character)
        if spent > _MOST_BYTES:
            return heard.text[:place]
    return heard.text


def shortened(name: str) -> str:
    """Return a title or a name as it is shown."""
    return name[:_LONGEST_TITLE]


def spoken(at: datetime | date) -> str:
    """Return a day or a moment with its weekday."""
    return f"{at:%a %Y-%m-%d %H:%M}" if isinstance(at, datetime) else f"{at:%a %Y-%m-%d}"


def _bytes(character: str) -> int:
    is_plain = character.isalnum() or (character.isascii() and character.isprintable())
    return (
        len(character.encode("utf-8", "replace"))
        if is_plain and character not in _STRUCTURAL
        else _ESCAPED
    )


def _thing(key: str, thing: Thing) -> dict[str, Shown]:
    return {
        "id": key,
        "title": shortened(thing.title),
        "at": spoken(thing.at) if thing.at else None,
        "who": [shortened(each) for each in thing.who],
        "by": [shortened(each) for each in thing.by],
    }
