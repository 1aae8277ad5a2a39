"""What is remembered, as people read it: by person and topic, each with why it is believed. Pure."""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from urllib.parse import quote

from kinkeeper.household.viewing import HOUSEHOLD_SCOPE
from kinkeeper.memory.bearing import is_shared
from kinkeeper.memory.confidence import OFFERED, confidence_now
from kinkeeper.memory.model import Category, Fact, Origin, Statement
from kinkeeper.memory.undecided import Undecided
from kinkeeper.web.views.people import EVERYBODY, People, Person
from kinkeeper.web.views.wording import Wording

TOPICS: Mapping[Category, str] = {
    Category.IDENTITY: "Who they are",
    Category.RELATIONSHIP: "People in their life",
    Category.CONSTRAINT: "Rules and limits",
    Category.PREFERENCE: "How they like it",
    Category.GOAL: "What they want",
    Category.PROJECT_ACTIVE: "What they are busy with",
    Category.EMOTIONAL: "How they feel",
    Category.TECHNICAL: "How things work",
}
"""Headings, in the order shown."""

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
        text: As said.
        speaker: Who said it.
        at: When, in few words.
        spoken: When, in full.
        iso: When, for machines.
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
        id: Of the fact.
        href: Its own page.
        line: The sentence.
        details: Further ones.
        topic: Heading it belongs under.
        because: The latest sentence it rests on; None where the words are gone.
        often: How often it was said, in words.
        learnt: How it came to be known, in words.
        doubt: What makes it uncertain, in words; empty where nothing does.
        holds: Since when or until when it holds, in words; empty where nobody said.
        is_private: Whether only one person sees it.
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
    holds: str
    is_private: bool


@dataclass(frozen=True, slots=True, kw_only=True)
class OpenQuestion:
    """Two things of which a person is asked whether both hold.

    Attributes:
        href: Where the answer goes.
        older: What was said first.
        newer: What was said later.
        is_private: Whether only one person sees them.
    """

    href: str
    older: Evidence
    newer: Evidence
    is_private: bool


@dataclass(frozen=True, slots=True, kw_only=True)
class Topic:
    """What is remembered of one person under one heading.

    Attributes:
        name: The heading.
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
    """

    person: Person
    topics: tuple[Topic, ...]


@dataclass(frozen=True, slots=True)
class Recollection:
    """Puts what is remembered into words, for one household.

    Attributes:
        people: As drawn.
        wording: For moments.
    """

    people: People
    wording: Wording

    def shelves(
        self, facts: Iterable[Fact], evidence: Mapping[str, Sequence[Statement]]
    ) -> tuple[Shelf, ...]:
        """Return facts by person and topic: members in household order, everybody's last.

        Args:
            facts: In the order wanted within a topic.
            evidence: Statements by fact id.
        """
        sorted_in: dict[str, dict[Category, list[KnownFact]]] = {}
        for fact in facts:
            said = evidence.get(fact.id, ())
            topics = sorted_in.setdefault(self.whose(fact, said).id, {})
            topics.setdefault(fact.category, []).append(self.known(fact, said))
        return tuple(
            Shelf(person=person, topics=_topics(sorted_in[person.id]))
            for person in (*self.people.members.values(), EVERYBODY)
            if person.id in sorted_in
        )

    def known(self, fact: Fact, evidence: Sequence[Statement]) -> KnownFact:
        """Return one fact in words.

        Args:
            fact: Which.
            evidence: Statements it rests on.
        """
        said = self.evidence(evidence)
        return KnownFact(
            id=fact.id, href=fact_href(fact.id), line=fact.narrative, details=tuple(fact.details),
            topic=TOPICS[fact.category], because=said[-1] if said else None,
            often=self._often(fact), learnt=_learnt(fact), doubt=_doubt(fact, self.wording.now),
            holds=self._holds(fact), is_private=fact.scope != HOUSEHOLD_SCOPE,
        )  # fmt: skip

    def question(self, pair: Undecided) -> OpenQuestion:
        """Return two facts as a question.

        Args:
            pair: Which, seen by whoever reads the page.
        """
        return OpenQuestion(
            href=f"/memory/questions/{quote(pair.id, safe='')}",
            older=self.told(pair.older), newer=self.told(pair.newer),
            is_private=pair.older.scope != HOUSEHOLD_SCOPE,
        )  # fmt: skip

    def told(self, fact: Fact) -> Evidence:
        """Return a fact as what somebody said."""
        return Evidence(
            text=fact.narrative, speaker=self.speaker(fact.speaker),
            at=self.wording.moment(fact.said_at), spoken=self.wording.long_moment(fact.said_at),
            iso=self.wording.local(fact.said_at).isoformat(timespec="seconds"),
        )  # fmt: skip

    def evidence(self, statements: Iterable[Statement]) -> tuple[Evidence, ...]:
        """Return the sentences something rests on, oldest first."""
        return tuple(
            Evidence(
                text=each.text, speaker=self.speaker(each.speaker),
                at=self.wording.moment(each.said_at),
                spoken=self.wording.long_moment(each.said_at),
                iso=self.wording.local(each.said_at).isoformat(timespec="seconds"),
            )
            for each in sorted(statements, key=lambda each: (each.said_at, each.id))
        )  # fmt: skip

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

        Args:
            fact: Which.
            evidence: Statements it rests on.
        """
        tellers = {each.speaker for each in evidence if each.speaker}
        is_all_s = fact.scope == HOUSEHOLD_SCOPE and is_shared(fact.narrative)
        if fact.subject in tellers and is_all_s:
            return EVERYBODY
        names = [fact.subject.split("/")[0], fact.scope.removeprefix(_PERSON_SCOPE)]
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
        return f"{since} {until}".strip().capitalize()


def fact_href(fact_id: str) -> str:
    """Return the address of a fact's own page."""
    return f"/memory/facts/{quote(fact_id, safe='')}"


def _topics(found: Mapping[Category, Sequence[KnownFact]]) -> tuple[Topic, ...]:
    return tuple(
        Topic(name=name, facts=tuple(found[category]))
        for category, name in TOPICS.items()
        if category in found
    )


def _learnt(fact: Fact) -> str:
    if fact.is_edited:
        return "written by a person"
    return _LEARNT.get(fact.origin, "of unknown origin")


def _doubt(fact: Fact, now: datetime) -> str:
    if fact.doubted_by is not None:
        return "Somebody says otherwise; it stays as it is until an adult decides."
    if fact.is_contradicted:
        return "Something else that was said does not fit this."
    confidence = confidence_now(fact, now)
    if confidence <= OFFERED:
        return "Hardly sure any more; it comes up only where somebody searches."
    return "" if confidence >= _SURE else "Not quite sure."
