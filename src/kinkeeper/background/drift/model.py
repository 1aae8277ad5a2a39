"""What is observed of a household, and the moment it is observed in: frozen values, and how they are told. Pure."""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from datetime import date, datetime, timedelta
from enum import StrEnum
from typing import Final

from kinkeeper.calendar.model import Change, EventState, Occurrence
from kinkeeper.core.ids import stable_id
from kinkeeper.household.model import Household, Member, Role
from kinkeeper.household.viewers import is_hidden_from, is_project
from kinkeeper.language.name_match import telling_stems
from kinkeeper.language.text import shorten
from kinkeeper.memory.model import Fact
from kinkeeper.notes.model import Note
from kinkeeper.reading.times import time_text
from kinkeeper.tasks.model import Task, TaskStatus

LOOK_BACK: Final = timedelta(days=35)
"""As far back as the calendar keeps its occurrences."""
LOOK_AHEAD: Final = timedelta(days=21)
TWO_WEEKS: Final = timedelta(days=14)
A_WEEK: Final = timedelta(days=7)
RUNNING: Final = 3
"""From how many times running something is a habit."""

_LONGEST_TITLE = 60


class Matter(StrEnum):
    """What an observation is about."""

    OWNER_MISSING = "nobody has a job that recurs"
    BIRTHDAY = "a birthday without a plan"
    DEADLINE = "a deadline that nobody has"
    HABIT = "a habit that changed"
    SLIPPING = "a task that keeps slipping"
    FOOD = "a limit beside something to eat"
    BY_HAND = "something asked for again and again"
    FEELING = "something that weighed on somebody"
    PLACE = "an activity without a place"
    HOUR = "a plan without an hour"


CURIOUS: Final = frozenset({Matter.PLACE, Matter.HOUR})
"""What is asked, once, because nobody wrote it down, and not told because it matters now."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Evidence:
    """What an observation rests on.

    Attributes:
        kind: "event", "task", "note" or "fact".
        words: What it is called or says.
    """

    kind: str
    id: str
    words: str


@dataclass(frozen=True, slots=True, kw_only=True)
class Observation:
    """Something that the household's own rows show.

    Attributes:
        key: The same key is the same news.
        text: What its person is told, in one or two short sentences.
        person: Member id of the one whom it is for.
        score: How much they would want to hear it, in [0, 1].
        until: Aware; it matters no more from then on.
        evidence: At least one.
        about: Stems of what it is about, people included.
        once: Ids of the evidence of which nothing more is said in this matter for a while, once something was.
        goal: What could be looked for because of it; empty where looking helps nobody.
    """

    matter: Matter
    key: str
    text: str
    person: str
    score: float
    until: datetime
    evidence: tuple[Evidence, ...]
    about: frozenset[str]
    once: frozenset[str] = frozenset()
    goal: str = ""

    @property
    def news(self) -> str:
        """Return an id of what is told, without its words."""
        return stable_id("drift", self.person, self.key)


@dataclass(frozen=True, slots=True, kw_only=True)
class Snapshot:
    """What one member sees of their household at one moment.

    Attributes:
        member: Whose view it is.
        now: Aware.
        occurrences: Of LOOK_BACK and LOOK_AHEAD around now, with what open proposals would change.
        tasks: Open and done.
        put_off: By task id, how often its deadline was moved to a later time.
        facts: That hold now.
    """

    household: Household
    member: Member
    now: datetime
    occurrences: Sequence[Occurrence] = ()
    tasks: Sequence[Task] = ()
    put_off: Mapping[str, int] = field(default_factory=dict)
    notes: Sequence[Note] = ()
    facts: Sequence[Fact] = ()

    @property
    def today(self) -> date:
        """The local day."""
        return self.now.astimezone(self.household.zone).date()

    @property
    def open_tasks(self) -> Sequence[Task]:
        """Tasks that are still to be done."""
        return [task for task in self.tasks if task.status is TaskStatus.OPEN]

    @property
    def ahead(self) -> Sequence[Occurrence]:
        """What is still to take place."""
        return [
            each
            for each in self.occurrences
            if takes_place(each) and each.interval.start > self.now
        ]

    def day(self, instant: datetime) -> str:
        """Return the local day of an instant as the household writes it: "Mon 16 Mar"."""
        local = instant.astimezone(self.household.zone).date()
        return time_text.day(local, today=self.today, locale=self.household.locale)

    def on(self, instant: datetime) -> str:
        """Return the local day of an instant as a sentence goes on with it: "tomorrow", "on Mon 16 Mar"."""
        day = self.day(instant)
        return f"on {day}" if " " in day else day

    def name(self, member_id: str) -> str:
        """Return what a member is called; the one who is told is "you"."""
        return (
            "you" if member_id == self.member.id else self.household.names.get(member_id, member_id)
        )

    def person_for(
        self, scopes: Iterable[str], *preferred: str | None, but: Iterable[str] = ()
    ) -> str | None:
        """Return who should hear something: somebody in charge who may see all that it rests on.

        Args:
            scopes: Of all that it rests on.
            preferred: Member ids, the best first; those who are no parents, guardians or helpers are passed over.
            but: Member ids of those who should not be the one.
        """
        household, shown = self.household, {*scopes}
        in_charge = [
            each.id for each in household.members if each.role in {Role.PARENT, Role.GUARDIAN}
        ]
        adults = {each.id for each in household.adults}
        wanted = (*(each for each in preferred if each in adults), household.owner, *in_charge)
        return next(
            (
                each
                for each in wanted
                if each is not None
                and each in adults
                and each not in but
                and not any(is_project(scope) or is_hidden_from(scope, each) for scope in shown)
            ),
            None,
        )


def takes_place(occurrence: Occurrence) -> bool:
    """Whether an occurrence takes place, and no open proposal would call it off."""
    is_off = any(each.change is Change.CANCEL for each in occurrence.waiting)
    return occurrence.state is EventState.CONFIRMED and not is_off


def of_event(occurrence: Occurrence) -> Evidence:
    """Return an occurrence's event as evidence."""
    return Evidence(kind="event", id=occurrence.event.id, words=occurrence.event.summary)


def of_task(task: Task) -> Evidence:
    """Return a task as evidence."""
    return Evidence(kind="task", id=task.id, words=task.title)


def of_fact(fact: Fact) -> Evidence:
    """Return a fact as evidence."""
    return Evidence(kind="fact", id=fact.id, words=fact.narrative)


def about(snapshot: Snapshot, *words: str, people: Iterable[str] = ()) -> frozenset[str]:
    """Return the stems of words and of what members are called."""
    names = [snapshot.household.names.get(each, each) for each in people]
    return telling_stems(" ".join((*words, *names)))


def quoted(title: str) -> str:
    """Return a title as a sentence quotes it."""
    return f"“{shorten(title, _LONGEST_TITLE)}”"
