"""What the page of memory shows: shelves by person and topic, and the answer to a question. Pure."""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from datetime import date, datetime
from urllib.parse import urlencode

from kinkeeper.memory.model import Category, Fact, Statement
from kinkeeper.web.views.day_text import Wording
from kinkeeper.web.views.known import TOPICS, Evidence, KnownFact, Recollection, heading
from kinkeeper.web.views.people import EVERYBODY, Person

# What is remembered, by person and topic, as much at once as one reads. Pure.

A_SHELF = 24
"""Most things shown of one person beside others."""

A_PAGE = 120
"""Most things shown at once of one person alone."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Topic:
    """What is remembered of one person under one heading.

    Attributes:
        facts: In order.
    """

    name: str
    facts: tuple[KnownFact, ...]


@dataclass(frozen=True, slots=True, kw_only=True)
class Shelf:
    """What is remembered of one person.

    Attributes:
        person: Whose; everybody's where it is of nobody in particular.
        topics: Those that hold something.
        count: How many facts there are of this person.
        newer: Address of the page before; empty on the first.
        older: Address of the page that follows; empty on the last.
    """

    person: Person
    topics: tuple[Topic, ...]
    count: int
    newer: str
    older: str


@dataclass(frozen=True, slots=True)
class ShelfView:
    """Which part of what is remembered is shown.

    Attributes:
        of: Id of the one person it is of; empty for everyone beside each other.
        page: Of that person's, from 1; the newest come first.
        on: ISO date of the day as of whose end memory is shown; empty for now.
    """

    of: str = ""
    page: int = 1
    on: str = ""

    @property
    def part(self) -> tuple[int, int]:
        """First place shown of each person, and the one after the last."""
        if not self.of:
            return 0, A_SHELF
        return (self.page - 1) * A_PAGE, self.page * A_PAGE

    @property
    def newer(self) -> str:
        """Address of the page before; empty on the first."""
        return self._href(self.of, self.page - 1) if self.of and self.page > 1 else ""

    def older(self, person: str) -> str:
        """Return the address of what follows: the next page, or all of a person."""
        return self._href(person, self.page + 1 if self.of else 1)

    def _href(self, person: str, page: int) -> str:
        asked = {"of": person, "page": page if page > 1 else "", "on": self.on}
        return f"/memory?{urlencode({name: value for name, value in asked.items() if value})}"


_ALL = ShelfView()


def shelves(
    recollection: Recollection,
    facts: Iterable[Fact],
    evidence: Mapping[str, Sequence[Statement]],
    view: ShelfView = _ALL,
) -> tuple[Shelf, ...]:
    """Return facts by person and topic: members in household order, everybody's last.

    Args:
        facts: In the order wanted within a topic.
        evidence: Statements by fact id.
    """
    of_whom: dict[str, list[Fact]] = {}
    for fact in facts:
        whose = recollection.whose(fact, evidence.get(fact.id, ()))
        of_whom.setdefault(whose.id, []).append(fact)
    return tuple(
        _shelf(recollection, person, of_whom[person.id], evidence, view)
        for person in (*recollection.people.members.values(), EVERYBODY)
        if person.id in of_whom and view.of in {"", person.id}
    )


def _shelf(  # noqa: PLR0917 - whose, what, why, and how much of it
    recollection: Recollection,
    person: Person,
    facts: Sequence[Fact],
    evidence: Mapping[str, Sequence[Statement]],
    view: ShelfView,
) -> Shelf:
    begin, end = view.part
    found: dict[Category, list[KnownFact]] = {}
    for fact in facts[begin:end]:
        said = evidence.get(fact.id, ())
        category = recollection.category(fact, person, said)
        found.setdefault(category, []).append(recollection.known(fact, said))
    return Shelf(
        person=person, count=len(facts), newer=view.newer,
        older=view.older(person.id) if end < len(facts) else "",
        topics=tuple(
            Topic(name=heading(category, person), facts=tuple(found[category]))
            for category in TOPICS
            if category in found
        ),
    )  # fmt: skip


# What somebody asks memory on its page, and how it is answered in one line. Pure.


@dataclass(frozen=True, slots=True, kw_only=True)
class Asked:
    """What is asked.

    Attributes:
        text: To search for; empty shows all.
        day: ISO date as of whose end memory is shown; empty for now.
        first: ISO date of the first thing remembered, or today.
        today: ISO date.
        sentence: What is shown, in words; empty where it is simply all.
        nothing: What is said where nothing is found.
    """

    text: str
    day: str
    first: str
    today: str
    sentence: str = ""
    nothing: str = ""


@dataclass(frozen=True, slots=True, kw_only=True)
class Answer:
    """One thing found: something remembered, or what was said.

    Attributes:
        turn: The words, if it is what was said.
    """

    fact: KnownFact | None = None
    turn: Evidence | None = None


def shown_day(wanted: str, wording: Wording) -> date | None:
    """Return the past day that is asked for; None for today, days to come, and what is no day.

    Args:
        wanted: ISO date as a form sends it, which may be empty.
    """
    try:
        day = date.fromisoformat(wanted)
    except ValueError:
        return None
    return day if day < wording.today else None


def asked_for(
    text: str, day: date | None, *, first: datetime | None, count: int, wording: Wording
) -> Asked:
    """Return what was asked, with its answer in one line.

    Args:
        day: Past day as of whose end memory is shown, if one.
        first: When the first thing was remembered, if any.
        count: How many things are shown.
    """
    began = wording.local(first).date() if first else wording.today
    return Asked(
        text=text, day=day.isoformat() if day else "",
        first=min(began, day or began).isoformat(), today=wording.today.isoformat(),
        sentence=_sentence(text, day, count, wording), nothing=_nothing(text, day, wording),
    )  # fmt: skip


def _sentence(text: str, day: date | None, count: int, wording: Wording) -> str:
    if not text and day is None:
        return ""
    number = "One thing" if count == 1 else f"{count or 'No'} things"
    what = f"{number} found" if text else f"{number} remembered"
    return f"{what}, as of {wording.long_day(day)}." if day else f"{what}."


def _nothing(text: str, day: date | None, wording: Wording) -> str:
    if text:
        return "Nothing in memory matches this."
    if day is not None:
        return f"There were no memories yet on {wording.long_day(day)}."
    return "No memories yet."
