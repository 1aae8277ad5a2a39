"""What is remembered and what was said, as people read it: by person and topic, by day, and as an answer. Pure."""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from datetime import date, datetime
from itertools import groupby
from urllib.parse import quote, urlencode

from kinkeeper.household.viewers import HOUSEHOLD_SCOPE
from kinkeeper.memory.confidence import OFFERED, confidence_now
from kinkeeper.memory.model import Category, Episode, Fact, Origin, Statement
from kinkeeper.memory.statement_match import is_shared, own_voice
from kinkeeper.memory.statements.names import names_in
from kinkeeper.memory.undecided import Undecided
from kinkeeper.web.views.day_text import Wording
from kinkeeper.web.views.people import EVERYBODY, People, Person

TOPICS: Mapping[Category, str] = {
    Category.IDENTITY: "Who they are",
    Category.RELATIONSHIP: "People they know",
    Category.CONSTRAINT: "Allergies, rules and limits",
    Category.PREFERENCE: "Preferences",
    Category.GOAL: "Goals",
    Category.PROJECT_ACTIVE: "Current projects",
    Category.EMOTIONAL: "How they feel",
    Category.TECHNICAL: "How things work",
}
"""Headings under a person, in the order shown."""

_TOPICS_OF_ALL: Mapping[Category, str] = {
    Category.IDENTITY: "The home",
    Category.RELATIONSHIP: "People and animals",
    Category.PREFERENCE: "Preferences",
    Category.GOAL: "Goals",
    Category.PROJECT_ACTIVE: "Current projects",
    Category.EMOTIONAL: "How it feels",
}
"""Headings under everybody, where they differ."""

_PERSON_SCOPE = "person:"
_SURE = 0.65
_LEARNT = {
    Origin.SAID: "said to the assistant",
    Origin.OBSERVED: "heard in the chat, and confirmed",
    Origin.IMPORTED: "imported",
    Origin.INFERRED: "concluded from several conversations",
}


@dataclass(frozen=True, slots=True, kw_only=True)
class Evidence:
    """One sentence that something rests on.

    Attributes:
        speaker: Who said it.
        at: When, in few words.
        spoken: When, in full.
    """

    text: str
    speaker: Person
    at: str
    spoken: str
    iso: str


@dataclass(frozen=True, slots=True, kw_only=True)
class KnownFact:
    """One remembered thing.

    Attributes:
        href: Its own page.
        topic: Heading it belongs under.
        because: The latest sentence it rests on; None where the words are gone.
        often: How often it was said, in words.
        learnt: How it came to be known, in words.
        doubt: What speaks against it, in words; empty where nothing does.
        fading: How far it has faded, in words; empty where it has not.
        holds: Since when or until when it holds, in words; empty where nobody said.
        audience: Who may see it, in words; empty where the whole household may.
        is_private: Whether it is not the whole household's.
    """

    id: str
    href: str
    line: str
    details: tuple[str, ...]
    topic: str
    because: Evidence | None
    often: str
    learnt: str
    doubt: str
    fading: str
    holds: str
    audience: str
    is_private: bool


@dataclass(frozen=True, slots=True, kw_only=True)
class OpenQuestion:
    """Two things of which a person is asked whether both hold.

    Attributes:
        href: Where the answer goes.
        older: What was said first.
        newer: What was said later.
        audience: Who may see them, in words; empty where the whole household may.
    """

    href: str
    older: Evidence
    newer: Evidence
    audience: str


@dataclass(frozen=True, slots=True)
class Recollection:
    """Puts what is remembered into words, for one household."""

    people: People
    wording: Wording

    def category(self, fact: Fact, person: Person, said: Sequence[Statement]) -> Category:
        """Return what a fact is under, seen from the person it is put under: to another it may be of a relative."""
        is_own = person is not EVERYBODY and self._member(fact.subject) == person
        told = {each.speaker for each in said}
        if fact.category is not Category.RELATIONSHIP or not is_own or fact.subject in told:
            return fact.category
        own_names = names_in(person.name) | names_in(f"{person.name}'s name is {person.name}")
        return fact.category if names_in(fact.narrative) - own_names else Category.IDENTITY

    def known(self, fact: Fact, evidence: Sequence[Statement]) -> KnownFact:
        """Return one fact in words."""
        said, whose = self.evidence(evidence), self.whose(fact, evidence)
        return KnownFact(
            id=fact.id,
            href=fact_href(fact.id),
            line=fact.narrative,
            details=tuple(fact.details),
            topic=heading(self.category(fact, whose, evidence), whose),
            because=said[-1] if said else None,
            often=self._often(fact),
            learnt=_learnt(fact),
            doubt=_doubt(fact),
            fading=_fading(fact, self.wording.now),
            holds=self._holds(fact),
            audience=self.people.audience(fact.scope),
            is_private=fact.scope != HOUSEHOLD_SCOPE,
        )

    def question(self, pair: Undecided) -> OpenQuestion:
        """Return two facts as a question.

        Args:
            pair: Which, seen by whoever reads the page.
        """
        return OpenQuestion(
            href=f"/memory/questions/{quote(pair.id, safe='')}",
            older=self.told(pair.older),
            newer=self.told(pair.newer),
            audience=self.people.audience(pair.older.scope),
        )

    def told(self, fact: Fact) -> Evidence:
        """Return a fact as what somebody said."""
        return Evidence(
            text=fact.narrative,
            speaker=self.speaker(fact.speaker),
            at=self.wording.moment(fact.said_at),
            spoken=self.wording.long_moment(fact.said_at),
            iso=self.wording.local(fact.said_at).isoformat(timespec="seconds"),
        )

    def evidence(self, statements: Iterable[Statement]) -> tuple[Evidence, ...]:
        """Return the sentences something rests on, oldest first."""
        return tuple(
            Evidence(
                text=each.text,
                speaker=self.speaker(each.speaker),
                at=self.wording.moment(each.said_at),
                spoken=self.wording.long_moment(each.said_at),
                iso=self.wording.local(each.said_at).isoformat(timespec="seconds"),
            )
            for each in sorted(statements, key=lambda each: (each.said_at, each.id))
        )

    def speaker(self, name: str | None) -> Person:
        """Return who spoke: a member by id or name, else somebody under the name as sent."""
        if not name:
            return Person(id="", name="somebody", initials="?", tint=0, pattern=0)
        return self._member(name) or Person(
            id=name, name=name, initials=name[:1].upper(), tint=0, pattern=0
        )

    def whose(self, fact: Fact, evidence: Sequence[Statement]) -> Person:
        """Return whom a fact is put under: the member it is about, else who told it, else everybody.

        What is told of "the" gate or "our" car is everybody's, whoever tells it.
        """
        tellers = {each.speaker for each in evidence if each.speaker}
        is_all_s = fact.scope == HOUSEHOLD_SCOPE and is_shared(fact.narrative)
        if fact.subject in tellers and is_all_s:
            return EVERYBODY
        begins = fact.narrative.partition(" ")[0].strip(",:").removesuffix("'s")
        names = [fact.subject.split("/")[0], fact.scope.removeprefix(_PERSON_SCOPE)]
        if fact.subject in tellers and not own_voice(fact.narrative, fact.subject):
            # "Lindiwe swells up": of whom nothing more is read is whom it begins with.
            names.insert(0, begins)
        if len(tellers) == 1:
            names += tellers
        found = (self._member(name) for name in names)
        return next((member for member in found if member is not None), EVERYBODY)

    def _member(self, name: str) -> Person | None:
        known = self.people.members.get(name)
        if known is not None:
            return known
        folded = name.casefold()
        named = [each for each in self.people.members.values() if each.name.casefold() == folded]
        return named[0] if len(named) == 1 else None

    def _often(self, fact: Fact) -> str:
        last = self.wording.day(self.wording.local(fact.last_evidence_at).date())
        if fact.evidence_count <= 1:
            return f"Said once, {last}."
        return f"Said {fact.evidence_count} times, last {last}."

    def _holds(self, fact: Fact) -> str:
        def day(instant: datetime) -> str:
            return self.wording.short_day(self.wording.local(instant).date())

        since = f"since {day(fact.valid_from)}" if fact.valid_from else ""
        until = f"until {day(fact.valid_to)}" if fact.valid_to else ""
        told = f"{since} {until}".strip()
        return told[:1].upper() + told[1:]


def fact_href(fact_id: str) -> str:
    """Return the address of a fact's own page."""
    return f"/memory/facts/{quote(fact_id, safe='')}"


def heading(category: Category, person: Person) -> str:
    """Return the heading under which things of a category stand, of a person or of everybody."""
    return (_TOPICS_OF_ALL if person is EVERYBODY else TOPICS).get(category, TOPICS[category])


def _learnt(fact: Fact) -> str:
    if fact.is_edited:
        return "written by a person"
    return _LEARNT.get(fact.origin, "of unknown origin")


def _doubt(fact: Fact) -> str:
    if fact.doubted_by is not None:
        return "Someone has contradicted this. It stays until an adult decides."
    if fact.is_contradicted:
        return "This conflicts with something else that was said."
    return ""


def _fading(fact: Fact, now: datetime) -> str:
    confidence = confidence_now(fact, now)
    if confidence <= OFFERED:
        return "Only found by searching."
    return "" if confidence >= _SURE else "Not certain."


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
        person=person,
        count=len(facts),
        newer=view.newer,
        older=view.older(person.id) if end < len(facts) else "",
        topics=tuple(
            Topic(name=heading(category, person), facts=tuple(found[category]))
            for category in TOPICS
            if category in found
        ),
    )


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
        text=text,
        day=day.isoformat() if day else "",
        first=min(began, day or began).isoformat(),
        today=wording.today.isoformat(),
        sentence=_sentence(text, day, count, wording),
        nothing=_nothing(text, day, wording),
    )


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


Span = tuple[int, int]
"""First character and the one after the last."""

_LONGEST_SHOWN = 600
_ERASED = "… \n"


@dataclass(frozen=True, slots=True, kw_only=True)
class Piece:
    """A stretch of words.

    Attributes:
        is_outdated: Whether what they say holds no more.
    """

    text: str
    is_outdated: bool


@dataclass(frozen=True, slots=True, kw_only=True)
class Turn:
    """One thing that was said.

    Attributes:
        title: One line, for summaries; else empty.
        rest: What follows where it is long, to be unfolded.
        spoken: When, in full.
        channel: Where it was said; empty where unknown.
        audience: Who may see it, in words; empty where the whole household may.
    """

    id: str
    speaker: Person
    title: str
    pieces: tuple[Piece, ...]
    rest: tuple[Piece, ...]
    clock: str
    spoken: str
    iso: str
    channel: str
    audience: str


@dataclass(frozen=True, slots=True, kw_only=True)
class Day:
    """What was said on one local day, newest first.

    Attributes:
        label: The day in few words.
        long_label: The day in full.
        iso: The day, for machines.
        turns: At least one.
    """

    label: str
    long_label: str
    iso: str
    turns: tuple[Turn, ...]


def days_of(
    episodes: Iterable[Episode], outdated: Mapping[str, Sequence[Span]], recollection: Recollection
) -> tuple[Day, ...]:
    """Return episodes by local day.

    Args:
        episodes: Newest first.
        outdated: Spans by episode id whose words hold no more.
    """
    wording = recollection.wording
    told = (each for each in episodes if each.text.strip(_ERASED))
    by_day = groupby(told, key=lambda each: wording.local(each.said_at).date())
    return tuple(
        Day(
            label=wording.heading(day),
            long_label=wording.long_day(day),
            iso=day.isoformat(),
            turns=tuple(_turn(each, outdated.get(each.id, ()), recollection) for each in of_day),
        )
        for day, of_day in by_day
    )


def pieces_of(text: str, outdated: Iterable[Span]) -> tuple[Piece, ...]:
    """Cut a text where words begin and end to be outdated; together the pieces are the text.

    Args:
        outdated: Spans, in any order; they may overlap.
    """
    pieces, place = [], 0
    for start, end in sorted(outdated):
        first, last = max(start, place), min(end, len(text))
        if first >= last:
            continue
        pieces += [
            Piece(text=text[place:first], is_outdated=False),
            Piece(text=text[first:last], is_outdated=True),
        ]
        place = last
    pieces.append(Piece(text=text[place:], is_outdated=False))
    return tuple(each for each in pieces if each.text)


def _turn(episode: Episode, outdated: Sequence[Span], recollection: Recollection) -> Turn:
    wording = recollection.wording
    text = episode.text
    cut = len(text)
    if cut > _LONGEST_SHOWN:
        cut = text.rfind(" ", 0, _LONGEST_SHOWN) + 1 or _LONGEST_SHOWN
    beyond = [(start - cut, end - cut) for start, end in outdated if end > cut]
    return Turn(
        id=episode.id,
        speaker=recollection.speaker(episode.member or episode.speaker),
        title=episode.title or "",
        pieces=pieces_of(text[:cut], outdated),
        rest=pieces_of(text[cut:], [(max(start, 0), end) for start, end in beyond]),
        clock=wording.clock(episode.said_at),
        spoken=wording.long_moment(episode.said_at),
        iso=wording.local(episode.said_at).isoformat(timespec="seconds"),
        channel="" if episode.channel == "unknown" else episode.channel,
        audience=recollection.people.audience(episode.scope),
    )
