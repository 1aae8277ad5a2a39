"""Random chains of what a family tells: facts that follow each other, are put right, end, or are said again."""

import hashlib
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from datetime import UTC, datetime, timedelta
from tempfile import TemporaryDirectory
from typing import NamedTuple, TypeVar

from kinkeeper.household.viewers import HOUSEHOLD_SCOPE, person_scope
from kinkeeper.memory.model import Category, Correction, Episode, Observation, Origin
from kinkeeper.store.store import Store

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
        category: What it is about.
    """

    told: Sequence[str]
    changed: Sequence[str]
    ended: Sequence[str]
    values: Sequence[str]
    category: Category = Category.IDENTITY


SINGLE: Mapping[str, Slot] = {
    "home": Slot(
        ["I live in {}.", "My home is in {}."],
        ["I moved to {}.", "I live in {} now."],
        ["I no longer live in {}."],
        ["York", "Leeds", "Hull", "Bath", "Derby", "Truro"],
    ),
    "employer": Slot(
        ["I work for {}.", "I work at {}."],
        ["I now work for {}.", "I switched to {} for work, I work at {}."],
        ["I no longer work for {}."],
        ["Siemens", "Tesco", "Lidl", "Ocado", "Asda"],
    ),
    "car": Slot(
        ["My car is a {}."],
        ["My car is now a {}."],
        ["I no longer have the {}."],
        ["Volvo", "Skoda", "Honda", "Fiat"],
    ),
}
"""Slots that hold one value."""

FURTHER: Mapping[str, Slot] = {
    "school": Slot(
        ["Leo goes to {}.", "Leo's school is {}."],
        ["Leo goes to {} now.", "Leo has switched to {}."],
        ["Leo no longer goes to {}."],
        ["Ashfield", "Brookdale", "Thornhill"],
    ),
    "friend": Slot(
        ["My best friend is {}."],
        ["My best friend is now {}."],
        ["{} is no longer my best friend."],
        ["Tariq", "Odile", "Wanda"],
        Category.RELATIONSHIP,
    ),
    "budget": Slot(
        ["Our food budget is {} a week."],
        ["Our food budget is now {} a week."],
        ["We no longer have a food budget of {}."],
        ["£140", "£175", "£190"],
        Category.CONSTRAINT,
    ),
    "goal": Slot(
        ["My goal is to run {}."],
        ["My goal is now to run {}."],
        ["I gave up the plan to run {}."],
        ["marathons", "triathlons", "relays"],
        Category.GOAL,
    ),
    "project": Slot(
        ["I am working on the {}."],
        ["I am now working on the {} instead."],
        ["I am done with the {}."],
        ["greenhouse", "treehouse", "staircase"],
        Category.PROJECT_ACTIVE,
    ),
    "router": Slot(
        ["The router runs on {}."],
        ["The router runs on {} now."],
        ["The router no longer runs on {}."],
        ["OpenWrt", "DDWRT"],
        Category.TECHNICAL,
    ),
}
"""Slots of other categories, of other people and of things: what they amount to is the relation step's to tell."""

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
_MEMBERS = ("john", "john", "john", "sarah")
_EARLIER, _LATER = timedelta(days=20), timedelta(days=10)


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


class Claim(NamedTuple):
    """What a sentence tells, as it was planted.

    Attributes:
        of: What it tells about its speaker: a slot, or one of what holds beside others.
        value: What it is.
        holds: Whether it is so, else that it is so no more.
    """

    of: str
    value: str
    holds: bool


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
        is_private: Whether only who says it may recall it.
        claims: What its observations tell, one each.
    """

    text: str
    observations: Sequence[Observation]
    at: datetime
    member: str
    session: str
    answered: str
    is_private: bool
    claims: Sequence[Claim]

    def as_episode(self, household: str, place: int) -> Episode:
        """Return the turn as memory keeps it.

        Args:
            household: Tenant key.
            place: In its chain.
        """
        return Episode(
            household=household,
            id=f"{household}-{place}",
            session=self.session,
            text=self.text,
            member=self.member,
            speaker=self.member,
            said_at=self.at,
            origin=Origin.SAID,
            scope=person_scope(self.member) if self.is_private else HOUSEHOLD_SCOPE,
        )


class _Sentence(NamedTuple):
    """Something told, changed, ended or set right.

    Attributes:
        text: As said.
        category: What it is about.
        claim: What it tells.
        begins: Since when it holds, after it was said; None where it does not say.
        lasts: How long it holds, where it says so.
        correction: What it sets right.
    """

    text: str
    category: Category
    claim: Claim
    begins: timedelta | None = None
    lasts: timedelta | None = None
    correction: Correction | None = None


def in_files(chains: int, *, a_file: int) -> Iterator[tuple[Store, range]]:
    """Yield the numbers of chains part by part, each with an empty database that is gone afterwards.

    Args:
        chains: How many, > 0.
        a_file: Most that share a database, > 0: what others remember is not looked through anyway.
    """
    for first in range(0, chains, a_file):
        with (
            TemporaryDirectory(prefix="kinkeeper-eval-") as folder,
            Store.open(f"{folder}/memory.sqlite") as store,
        ):
            yield store, range(first, min(first + a_file, chains))


def draws_of(number: int, *, seed: int) -> "Draws":
    """Return what decides one chain, the same whichever others are told.

    Args:
        number: Of the chain.
        seed: Of all chains.
    """
    return Draws(seed * 1_000_003 + number)


def chain(draws: Draws) -> list[Told]:
    """Return the turns of a chain, in the order in which they arrive, which is not that of their times.

    Args:
        draws: Decide what is said.
    """
    return [_turn(draws, place) for place in range(draws.between(2, 6))]


def plain_chain(draws: Draws) -> list[Told]:
    """Return the turns of a chain in which nothing is private or set right, so that what holds when is known.

    Args:
        draws: Decide what is said.
    """
    return [
        replace(
            turn,
            is_private=False,
            observations=[replace(each, correction=None) for each in turn.observations],
        )
        for turn in chain(draws)
    ]


def values() -> frozenset[str]:
    """Return every word that fills a slot: where none of what holds names it, it is outdated."""
    several = [slot.values for slot in (*SINGLE.values(), *FURTHER.values())]
    return frozenset(word for some in (*several, MANY[2], _PLACES) for word in some)


def _turn(draws: Draws, number: int) -> Told:
    text, observations, claims = draws.choice(_CHATTER), [], []
    at = BEGUN + timedelta(days=draws.between(0, DAYS), minutes=number)
    for _ in range(draws.between(1, 3)):
        said = _sentence(draws)
        observations.append(
            Observation(
                text=said.text,
                start=len(text),
                end=len(text) + len(said.text),
                category=said.category,
                title=said.text,
                narrative=said.text,
                valid_from=None if said.begins is None else at + said.begins,
                valid_to=None if said.lasts is None else at + said.lasts,
                correction=said.correction,
            )
        )
        claims.append(said.claim)
        text += said.text + " "
    answered = draws.choice(["", "", f"Noted: {observations[-1].text}", "All right."])
    return Told(
        text=text.rstrip(),
        observations=observations,
        at=at,
        answered=answered,
        member=draws.choice(_MEMBERS),
        session=draws.choice("ssst"),
        is_private=not draws.below(2 * _ONE_IN),
        claims=claims,
    )


def _sentence(draws: Draws) -> _Sentence:
    kind = draws.below(2 * _ONE_IN)
    if kind == 0:
        form, about = draws.choice(FELT), draws.choice(_ABOUT)
        return _Sentence(form.format(about), Category.EMOTIONAL, Claim(about, form, holds=True))
    if kind == 1:
        form, place = draws.choice(DATED), draws.choice(_PLACES)
        return _Sentence(
            form.format(place),
            Category.IDENTITY,
            Claim(form, place, holds=True),
            lasts=timedelta(days=draws.between(1, DAYS // 2)),
        )
    if kind <= 3:  # noqa: PLR2004 - two more of ten
        told, ended, likes = MANY
        form, liked = draws.choice([*told, *ended]), draws.choice(likes)
        return _Sentence(
            form.format(liked),
            Category.PREFERENCE,
            Claim(liked, liked, holds=form in told),
            correction=_correction(draws),
        )
    slots = SINGLE if kind <= 7 else FURTHER  # noqa: PLR2004 - four of ten, then two
    return _filled(draws, draws.choice(sorted(slots)))


def _filled(draws: Draws, name: str) -> _Sentence:
    slot = {**SINGLE, **FURTHER}[name]
    form = draws.choice([*slot.told, *slot.changed, *slot.changed, *slot.ended])
    wrong = draws.choice(slot.told).replace("{}", draws.choice(slot.values))
    begins = draws.choice([None, None, None, None, -_EARLIER, _LATER])
    value = draws.choice(slot.values)
    return _Sentence(
        form.replace("{}", value),
        slot.category,
        Claim(name, value, holds=form not in slot.ended),
        begins=begins,
        correction=_correction(draws, wrong),
    )


def _correction(draws: Draws, wrong: str | None = None) -> Correction | None:
    """Return nothing, mostly; else that a sentence sets something right, or that it only takes it back."""
    if wrong and not draws.below(2 * _ONE_IN):
        return Correction(corrects=wrong, is_retraction=not draws.below(2))
    return draws.choice([None, None, None, Correction()])
