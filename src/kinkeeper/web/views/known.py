"""What is remembered, as people read it: by person and topic, each with why it is believed. Pure."""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from urllib.parse import quote

from kinkeeper.household.viewers import HOUSEHOLD_SCOPE
from kinkeeper.memory.confidence import OFFERED, confidence_now
from kinkeeper.memory.model import Category, Fact, Origin, Statement
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
            id=fact.id, href=fact_href(fact.id), line=fact.narrative, details=tuple(fact.details),
            topic=heading(self.category(fact, whose, evidence), whose), because=said[-1] if said else None,
            often=self._often(fact), learnt=_learnt(fact), doubt=_doubt(fact),
            fading=_fading(fact, self.wording.now), holds=self._holds(fact),
            audience=self.people.audience(fact.scope), is_private=fact.scope != HOUSEHOLD_SCOPE,
        )  # fmt: skip

    def question(self, pair: Undecided) -> OpenQuestion:
        """Return two facts as a question.

        Args:
            pair: Which, seen by whoever reads the page.
        """
        return OpenQuestion(
            href=f"/memory/questions/{quote(pair.id, safe='')}",
            older=self.told(pair.older), newer=self.told(pair.newer),
            audience=self.people.audience(pair.older.scope),
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
