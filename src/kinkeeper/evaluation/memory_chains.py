"""Random chains of what a family tells: facts that follow each other, are put right, end, or are said again."""

import hashlib
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from typing import NamedTuple, TypeVar

from kinkeeper.memory.model import Category, Correction, Observation

BEGUN = datetime(2026, 1, 5, 8, tzinfo=UTC)
"""When the first sentence of a chain may be said."""

DAYS = 60
"""Days over which a chain is told, in any order."""

_CHATTER = ("By the way: ", "Ha, listen. ", "", "")
_ONE_IN = 5

T = TypeVar("T")


class Slot(NamedTuple):
    """What somebody tells of one thing.

    Attributes:
        told: Ways to say it.
        changed: Ways to say that it is different now.
        ended: Ways to say that it is over.
        values: What it may be.
    """

    told: Sequence[str]
    changed: Sequence[str]
    ended: Sequence[str]
    values: Sequence[str]


SINGLE: Mapping[str, Slot] = {
    "home": Slot(
        ["I live in {}.", "My home is in {}."], ["I moved to {}.", "I live in {} now."],
        ["I no longer live in {}."], ["York", "Leeds", "Hull", "Bath", "Derby", "Truro"],
    ),
    "employer": Slot(
        ["I work for {}.", "I work at {}."], ["I now work for {}.", "I switched to {} for work, I work at {}."],
        ["I no longer work for {}."], ["Siemens", "Tesco", "Lidl", "Ocado", "Asda"],
    ),
    "car": Slot(
        ["My car is a {}."], ["My car is now a {}."], ["I no longer have the {}."],
        ["Volvo", "Skoda", "Honda", "Fiat"],
    ),
}  # fmt: skip
"""Slots that hold one value."""

MANY = (
    ["I love {}.", "I really like {}."],
    ["I don't like {} any more."],
    ["sushi", "tennis", "jazz", "olives"],
)
"""What holds beside others of its kind: ways to tell it, ways to end it, values."""

FELT = ("I am so worried about {}.", "I feel really happy about {}.")
DATED = ("I am staying in {} until then.", "For the time being my desk is in {}.")
_ABOUT = ("the exam", "the new job", "the operation")
_PLACES = ("Oslo", "Porto", "Ghent")


class Draws:
    """Draws that are the same in every run: digests of a seed and a counter.

    Args:
        seed: Any number.
    """

    def __init__(self, seed: int) -> None:
        self._seed = seed
        self._count = 0

    def below(self, end: int) -> int:
        """Return a number of [0, end)."""
        self._count += 1
        digest = hashlib.sha256(f"{self._seed} {self._count}".encode()).digest()
        return int.from_bytes(digest[:8], "big") % end

    def between(self, first: int, last: int) -> int:
        """Return a number of [first, last]."""
        return first + self.below(last - first + 1)

    def choice(self, among: Sequence[T]) -> T:
        """Return one of some."""
        return among[self.below(len(among))]


@dataclass(frozen=True, slots=True, kw_only=True)
class Told:
    """One turn of a talk.

    Attributes:
        text: All of it.
        observations: What is in it, with places in the text.
        at: When, aware.
        member: Who says it.
        session: In which talk.
        answered: What the assistant answered; empty where nothing.
    """

    text: str
    observations: Sequence[Observation]
    at: datetime
    member: str
    session: str
    answered: str


def chain(draws: Draws) -> list[Told]:
    """Return the turns of a chain, in the order in which they arrive, which is not that of their times.

    Args:
        draws: Decide what is said.
    """
    return [_turn(draws, place) for place in range(draws.between(2, 6))]


def values() -> frozenset[str]:
    """Return every word that fills a slot: where none of what holds names it, it is outdated."""
    several = [slot.values for slot in SINGLE.values()]
    return frozenset(word for some in (*several, MANY[2], _PLACES) for word in some)


def _turn(draws: Draws, number: int) -> Told:
    text, observations = draws.choice(_CHATTER), []
    at = BEGUN + timedelta(days=draws.between(0, DAYS), minutes=number)
    for _ in range(draws.between(1, 3)):
        said, category, lasts = _sentence(draws)
        observations.append(
            Observation(
                text=said, start=len(text), end=len(text) + len(said), category=category,
                title=said, narrative=said,
                valid_to=at + lasts if lasts else None,
                correction=draws.choice([None, None, None, Correction()]),
            )
        )  # fmt: skip
        text += said + " "
    answered = draws.choice(["", "", f"Noted: {observations[-1].text}", "All right."])
    return Told(
        text=text.rstrip(), observations=observations, at=at, answered=answered,
        member=draws.choice(["john", "john", "john", "sarah"]), session=draws.choice("ssst"),
    )  # fmt: skip


def _sentence(draws: Draws) -> tuple[str, Category, timedelta | None]:
    """Return something told, changed or ended, and how long it holds where that is said."""
    kind = draws.below(2 * _ONE_IN)
    if kind == 0:
        return draws.choice(FELT).format(draws.choice(_ABOUT)), Category.EMOTIONAL, None
    if kind == 1:
        text = draws.choice(DATED).format(draws.choice(_PLACES))
        return text, Category.IDENTITY, timedelta(days=draws.between(1, DAYS // 2))
    if kind <= 3:  # noqa: PLR2004 - two more of ten
        told, ended, liked = MANY
        return draws.choice([*told, *ended]).format(draws.choice(liked)), Category.PREFERENCE, None
    slot = SINGLE[draws.choice(sorted(SINGLE))]
    form = draws.choice([*slot.told, *slot.changed, *slot.changed, *slot.ended])
    return form.replace("{}", draws.choice(slot.values)), Category.IDENTITY, None
