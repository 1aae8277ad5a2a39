"""Somebody takes on a job that belongs to something in the calendar: which one, found by its words, its children and its day. Pure."""

from collections.abc import Sequence
from dataclasses import dataclass, replace
from datetime import timedelta
from functools import cached_property
from typing import Any, Final

from kinkeeper.conversation.planning.case import Case, Step, Thing, action, case_of, standing_events
from kinkeeper.conversation.planning.event_updates import News, Told
from kinkeeper.conversation.planning.people import doers, members_in, without_people
from kinkeeper.conversation.planning.plan_times import Window
from kinkeeper.conversation.planning.referents import target
from kinkeeper.conversation.planning.told_changes import of_known, which_one
from kinkeeper.conversation.planning.told_events import Meant, day_of, first_of_each
from kinkeeper.language.text import tokenise
from kinkeeper.reading.job_claims import JobClaim, JobName, job_asked_in, job_claim_in, job_name
from kinkeeper.reading.replies import is_question, only_takes_on

_DAY: Final = timedelta(days=1)
_FRESH: Final = timedelta(minutes=10)
"""How long a bare "I'll do it" may answer the question before it."""


def claimed(clause: str, case: Case) -> list[Step] | None:
    """Return what puts somebody in charge of what stands in the calendar; None where a clause gives nobody a job there.

    Args:
        clause: With marks, without politeness.
    """
    claim = claim_in(clause, case)
    if claim is None:
        return None
    people = doers(claim.who, case)
    grown_up = {each.id for each in case.household.adults}
    is_of_all = claim.may_be_own and len(people) > 1  # "we've got soccer" says who goes
    if not people or is_of_all or not grown_up.issuperset(people):
        return None
    job = _Job(claim, people, _job_before(clause, case), case)
    return job.refused() if claim.is_refused else job.steps()


def claim_in(clause: str, case: Case) -> JobClaim | None:
    """Return what a clause says of who does a job now or on some days to come; None for questions, habits and what is not sure."""
    said, people = case.message.words(clause), case.household.members_by_word
    claim = job_claim_in(clause, people)
    if claim is None or case.grammar.aside["unsure"].search(clause):
        return None
    is_asked = "?" in case.message.sentence(clause) and case.message.text.rstrip().endswith("?")
    if is_asked or is_question(tokenise(said), said, people):
        return None
    spans = case.message.times(clause)
    is_habit = any(each.recurrence for each in spans)
    return None if is_habit or any(each.until <= case.now for each in spans) else claim


def claimed_before(case: Case) -> list[Step] | None:
    """Return what puts the speaker in charge of what was just asked about; None where a message is no answer to that.

    "I'll do it" answers "who takes Leo to judo?" as well as "what is on tomorrow?", where that is one thing.
    """
    context = case.context
    before = context.history[-1] if context.history else None
    if before is None or context.open_edit or case.now - before.at > _FRESH:
        return None
    if not (before.text.rstrip().endswith("?") and only_takes_on(context.text)):
        return None
    told = case_of(
        replace(context, text=f"I'll {job_asked_in(before.text) or 'do it'}"), case.vocabulary
    )
    return claimed(told.message.text, told)


def is_of_nothing_said(case: Case) -> bool:
    """Whether somebody takes on "it" or "her", and nothing was spoken of that it could be."""
    claim = claim_in(case.message.text, case)
    if claim is None or case.context.history or not only_takes_on(case.context.text):
        return False
    name = job_name(claim.what)
    return not (name.about or name.has_job or case.message.times(claim.what))


def _job_before(clause: str, case: Case) -> str:
    """Return the words for the job that the clause before one names: of "I'll take Leo on Monday and Ann on Friday"."""
    head, found, _ = case.message.text.partition(clause)
    if not found or not head.strip():
        return ""
    begins = max(
        (each.end() for each in case.grammar.joints.finditer(head.rstrip(" ,;.&"))), default=0
    )
    claim = claim_in(head[begins:].removesuffix(" and ").strip(" ,;.&"), case)
    return claim.what if claim is not None else ""


@dataclass(frozen=True)
class _Job:
    """One job that somebody takes on.

    Attributes:
        before: The words for the job that the clause before names, with marks.
    """

    claim: JobClaim
    people: tuple[str, ...]
    before: str
    case: Case

    def steps(self) -> list[Step] | None:
        """Return the requests; None where nothing in the calendar is meant."""
        found = self.meant.events if self.told.about else self._unnamed()
        if not found:
            return None
        if self.told.about and self.meant.is_out_of_view():
            return self.meant.look()
        chosen = self._on_day(found)
        if not chosen:
            is_named = self._name.has_job or bool(self.children)
            is_sure = is_named and bool(self.told.about) and not self.claim.may_be_own
            return self.meant.look() if is_sure and not self.meant.has_looked else None
        changes = {"responsible": [*self.people]}
        if len({each.id for each in chosen}) > 1:
            return [which_one(chosen, action("calendar", "update_event", {"changes": changes}))]
        return [self._given(each, changes) for each in chosen[:1]]

    def refused(self) -> list[Step] | None:
        """Return what takes them off it; None where nothing in the calendar is meant."""
        return of_known(replace(self.told, news=News.WITHOUT, of=(), is_charge=True), self.case)

    @cached_property
    def told(self) -> Told:
        """What is told, as news of who is in charge."""
        return Told(
            news=News.CHARGE,
            about=self._about,
            when=self.claim.what,
            who=self.people,
            of=self.children,
        )

    @cached_property
    def meant(self) -> Meant:
        """What it is about."""
        return Meant(self.told, self.case)

    @cached_property
    def children(self) -> tuple[str, ...]:
        """Ids of the children whom the job is for, as far as they are named."""
        children = {each.id for each in self.case.household.children}
        return tuple(each for each in members_in(self._words, self.case) if each in children)

    @cached_property
    def _words(self) -> str:
        """The words for the job, taken from the clause before where this one only names a time."""
        plain = self.case.message.title(self.claim.what)
        name = job_name(plain)
        is_bare = not (name.about or name.points or members_in(plain, self.case))
        return self.case.message.title(self.before) if is_bare and self.before else plain

    @property
    def _name(self) -> JobName:
        return job_name(without_people(self._words, self.case))

    @cached_property
    def _about(self) -> str:
        """The words for what the job belongs to; a mere sort of thing counts only where something is called so."""
        name = self._name
        if not name.is_of_sort:
            return name.about
        told = Told(news=News.CHARGE, about=name.about, when="", who=self.people, of=self.children)
        return name.about if Meant(told, self.case).events else ""

    def _unnamed(self) -> list[Thing]:
        """Return what words that name nothing may mean: what was spoken of, or what children do on the day that is named."""
        if self._name.about and not self._name.is_of_sort:
            return []
        if self._name.points or self.meant.window is None:
            return [*replace(self.meant, told=replace(self.told, of=())).events]
        if not self.children and "off" in self._words.lower().split():
            return []  # "I take Friday off"
        wanted = {*self.children} or {each.id for each in self.case.household.children}
        return [each for each in standing_events(self.case.context) if wanted & {*each.who}]

    def _on_day(self, found: Sequence[Thing]) -> list[Thing]:
        """Return the first time of each event on the day that is named, at whatever hour; else the next one."""
        window = self.meant.window
        ahead = [
            each
            for each in found
            if each.start and (each.end or each.start) > self.case.now.isoformat()
        ]
        if window is None:
            return (
                first_of_each(ahead)[:1]
                if len({each.id for each in ahead}) == 1
                else first_of_each(ahead)
            )
        days = self._days(window)
        return first_of_each(
            [each for each in ahead if days[0] <= day_of(each).isoformat() < days[1]]
        )

    def _days(self, window: Window) -> tuple[str, str]:
        first = window.begin.date()
        last = max(first + _DAY, (window.until - timedelta(microseconds=1)).date() + _DAY)
        return first.isoformat(), last.isoformat()

    def _given(self, thing: Thing, changes: dict[str, Any]) -> Step:
        """Return what gives an event to those who take it on; a look at it where they have it already."""
        if {*thing.responsible} == {*self.people}:
            day = day_of(thing).isoformat()
            return action(
                "calendar", "list_events", {"query": thing.title, "from": day, "days_ahead": 1}
            )
        return action("calendar", "update_event", {**target(thing), "changes": changes})
