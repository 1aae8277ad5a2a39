"""Which arrangement a clause speaks of, and a state while one message is folded into it. Pure."""

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, field, replace
from datetime import date, datetime
from typing import Any, Final

from kinkeeper.arrangements.model import EVERYBODY, JOBS, NEWS, Arrangement, State, Status, Told
from kinkeeper.reading.model import Act, Predicate

# Which arrangement a clause speaks of: by its link, else by what the state tells. Pure.

CHAIN: Final = 4
"""How many links are followed from a message that decided nothing itself."""

_REPLIES: Final = frozenset({Act.ACCEPT, Act.DECLINE, Act.OFFER, Act.PROMISE})
_ABOUT_JOBS: Final = frozenset({Act.OFFER, Act.PROMISE, Act.WITHDRAW, Act.REPORT_DONE})


def linked(told: Told, state: State) -> Sequence[Arrangement]:
    """Return the arrangements that the message decided which a clause answers; else those further back along its links.

    Args:
        state: Before it.
    """
    if told.item is not None:
        return [each for each in state.arrangements if each.id == told.item]
    at, passed = told.answers, 0
    while at is not None and passed < CHAIN:
        if found := [each for each in state.arrangements if at in each.evidence]:
            return _with_jobs(told, found, state)
        at = next((each.answers for each in state.recent.get(at, ()) if each.answers), None)
        passed += 1
    return []


def _with_jobs(told: Told, found: list[Arrangement], state: State) -> Sequence[Arrangement]:
    """Return arrangements with the jobs for them, where a clause speaks of who does something."""
    if told.act not in _ABOUT_JOBS:
        return found
    jobs = [each for event in found for each in state.jobs_for(event) if each not in found]
    return [*found, *jobs]


def best_of(told: Told, candidates: Iterable[Arrangement], state: State) -> Arrangement | None:
    """Return the arrangement that fits a clause best; of equals the latest.

    Args:
        state: Before it.
    """
    ranked = [(_fit(told, state.whole(each)), place, each) for place, each in enumerate(candidates)]
    return max(ranked, key=lambda each: each[:2])[2] if ranked else None


def _fit(told: Told, whole: Arrangement) -> float:
    fit = 1.0 * (whole.id.rpartition(":")[0] == told.answers)
    if told.predicate is not None and told.predicate not in NEWS:
        fit += 3.0 * (told.predicate is whole.predicate)
    if told.stems and whole.stems:
        fit += 2.0 if told.stems & whole.stems else -1.0
    if told.who_for and whole.who_for:
        fit += 2.0 if shares(told.who_for, whole.who_for) else -2.0
    if told.when.days and whole.when.days:
        fit += 1.0 if told.when.meets(whole.when) else -2.0
    if told.was.start and told.was.start in {whole.when.start, whole.when.end}:
        fit += 3.0
    return fit + _standing(told, whole)


def _standing(told: Told, whole: Arrangement) -> float:
    """Return how well the one who speaks stands to an arrangement for what they do."""
    owns, asked = told.speaker in whole.who_does, told.speaker in whole.asked
    fit = 0.0 if whole.status.is_open else -1.5
    if told.act in {Act.WITHDRAW, Act.PROMISE, Act.REPORT_DONE}:
        fit += 2.0 * owns + 0.5 * asked + 1.0 * whole.is_job
    if told.act in _REPLIES and whole.is_job:
        fit += 1.0 + 1.5 * asked + 1.0 * (not whole.settled)
    return fit


def shares(some: Sequence[str], others: Sequence[str]) -> bool:
    """Tell whether somebody is among both."""
    return bool({*some} & {*others}) or EVERYBODY in {*some, *others}


def same_plan(told: Told, state: State, now: datetime) -> Arrangement | None:
    """Return the open arrangement that an unlinked clause tells again or speaks of.

    Args:
        state: Before it.
        now: In the household's zone; what lies before is not told again.
    """
    found = [each for each in state.arrangements if _is_same(told, state.whole(each), now)]
    return best_of(told, found, state)


def _is_same(told: Told, whole: Arrangement, now: datetime) -> bool:
    if whole.status is Status.DONE or whole.when.is_over(now) or not told.when.meets(whole.when):
        return False
    if told.who_for and whole.who_for and not shares(told.who_for, whole.who_for):
        return False
    named = bool(told.stems and whole.stems and told.stems & whole.stems)
    if told.predicate in NEWS:
        return named
    if told.predicate is not whole.predicate:
        return False
    return named or _is_nameless_twin(told, whole)


def _is_nameless_twin(told: Told, whole: Arrangement) -> bool:
    """Tell whether both are the same errand for the same person on the same day, though no words name it."""
    is_ride = told.predicate in {Predicate.PICKUP, Predicate.DROPOFF, Predicate.COVER}
    same_day = bool(told.when.days) and bool(whole.when.days)
    return is_ride and same_day and bool(told.who_for) and shares(told.who_for, whole.who_for)


_GUESSED: Final = 0.5
"""Chance given to a link that state alone tells: enough for the fold, too little to change a card."""
_LATEST: Final = 4
"""How many messages back an acceptance reaches that has no link."""
_ANSWERS: Final = frozenset({Act.OFFER, Act.PROMISE, Act.ACCEPT})


@dataclass(slots=True)
class Draft:
    """A state while one message is folded into it.

    Attributes:
        now: In the household's zone.
        sureness: Chance of the clause that last decided an arrangement, by its id.
    """

    state: State
    now: datetime
    sureness: dict[str, float] = field(default_factory=dict)

    def put(self, arrangement: Arrangement, told: Told) -> Arrangement:
        """Add or replace an arrangement, with the message as evidence."""
        new = replace(
            arrangement,
            evidence=tuple(dict.fromkeys((*arrangement.evidence, told.message))),
            p=min(arrangement.p, told.p),
            is_secret=arrangement.is_secret or told.is_secret,
        )
        self.sureness[new.id] = told.p
        known = self.state.arrangements
        if self.state.arrangement(new.id) is None:
            known = (*known, new)
        self.state = replace(
            self.state, arrangements=tuple(new if each.id == new.id else each for each in known)
        )
        return new

    def target(self, told: Told) -> Arrangement | None:
        """Return the arrangement a clause speaks of, if there is one."""
        if told.answers is None and told.item is None:
            return same_plan(told, self.state, self.now) or self._named_beside(told)
        found = best_of(told, self._may_be_meant(told), self.state)
        if found is None or _is_otherwise_named(told, self.state.whole(found)):
            return same_plan(told, self.state, self.now) or found
        return found

    def _may_be_meant(self, told: Told) -> Sequence[Arrangement]:
        """Return what a clause points at, but for another thing on another day."""
        found = linked(told, self.state)
        return [each for each in found if not _is_another(told, self.state.whole(each))]

    def _named_beside(self, told: Told) -> Arrangement | None:
        """Return the job without an owner that the same message named before, where a clause names nothing itself."""
        if told.stems or told.who_for or told.when or not is_job(told):
            return None
        return next(
            (
                each
                for each in self.state.arrangements
                if each.id.startswith(f"{told.message}:")
                and each.predicate is told.predicate
                and not each.who_does
            ),
            None,
        )

    def linked_to_talk(self, told: Told) -> Told:
        """Return an acceptance that names nothing and has no link with one to the latest message of somebody else that decided something."""
        is_bare = told.act is Act.ACCEPT and not (told.stems or told.who_for or told.when)
        if told.answers or told.item or not is_bare:
            return told
        last = [each for each in self.state.recent if each != told.message][-_LATEST:]
        for message in reversed(last):
            said = self.state.recent[message]
            decided = any(
                message in e.evidence and e.status.is_open for e in self.state.arrangements
            )
            if decided and said and said[0].speaker != told.speaker:
                return replace(told, answers=message, p=told.p * _GUESSED)
        return told

    def answered(self, told: Told) -> Sequence[Told]:
        """Return what the message said which a clause answers."""
        return self.state.recent.get(told.answers or "", ())

    def open(self, told: Told, **values: Any) -> Arrangement:
        """Open an arrangement with what a clause names.

        Args:
            values: Fields that it decides.
        """
        about = self.about(told)
        when = told.when
        lacks_day = not when.days and (about is None or not self.state.whole(about).when.days)
        if lacks_day and (when or is_job(told)):
            when = replace(when, days=self._day_around(told))
        new = Arrangement(
            id=told.id,
            predicate=told.predicate or Predicate.TASK,
            what=told.what,
            stems=told.stems,
            about=about.id if about else None,
            who_for=told.who_for,
            when=when,
            where=told.where,
            asked_by=told.speaker,
        )
        if not self.state.whole(new).who_for:
            new = replace(new, who_for=told.likely_for)
        opened = self.put(replace(new, **values), told)
        if about is not None and about.status is Status.PROPOSED and not about.is_job:
            self.put(replace(about, status=Status.AGREED), told)
        return opened

    def about(self, told: Told) -> Arrangement | None:
        """Return what a job is for: the event it answers, or the one that its message named before."""
        if not is_job(told):
            return None
        found = linked(told, self.state)
        if told.answers is None and not told.when.days:
            found = [each for each in self.state.arrangements if told.message in each.evidence]
        event = best_of(told, [each for each in found if not each.is_job], self.state)
        if event is not None or not found:
            return event
        job = found[-1]
        return self.state.arrangement(job.about or "") or job

    def _day_around(self, told: Told) -> tuple[date, ...]:
        """Return the day that a time without one means: of what it answers, of its own message, or today; of a job no other than said."""
        around = [*self.chain(told), *self.state.recent.get(told.message, ())]
        for each in around:
            if days := each.when.days or self._days_decided_by(each):
                return days
        return told.said_days if told.when else ()

    def _days_decided_by(self, told: Told) -> tuple[date, ...]:
        """Return the days of an arrangement that a message decided, where they are the same for all."""
        found = {
            self.state.whole(each).when.days
            for each in self.state.arrangements
            if told.message in each.evidence
        } - {()}
        return found.pop() if len(found) == 1 else ()

    def chain(self, told: Told) -> Iterator[Told]:
        """Yield what the message said which a clause answers, then what that answered, some links back."""
        at, passed = told.answers, 0
        while at is not None and passed < CHAIN:
            said = self.state.recent.get(at, ())
            yield from said
            at = next((each.answers for each in said if each.answers), None)
            passed += 1

    def last_named(self, told: Told) -> tuple[str, ...]:
        """Return whom a pronoun most likely means: who was named last along the links of a clause, or in its own message."""
        for each in [*self.state.recent.get(told.message, ()), *self.chain(told)]:
            named = tuple(e for e in each.who_for or each.whose if e != told.speaker)
            if named and EVERYBODY not in named and not {*named} & {*told.who_does}:
                return named
        return ()


def _is_otherwise_named(told: Told, whole: Arrangement) -> bool:
    """Tell whether both have names, and share no word."""
    return bool(told.stems and whole.stems) and not told.stems & whole.stems


def _is_another(told: Told, whole: Arrangement) -> bool:
    """Tell whether a clause names another thing on another day: a link to it is a slip. What sets right, or tells of a move, may have other words."""
    if not _is_otherwise_named(told, whole):
        return False
    is_told = told.act is Act.STATE and told.predicate in NEWS - {Predicate.CANCEL}
    return told.act is not Act.CORRECT and not is_told and not told.when.meets(whole.when)


def is_job(told: Told) -> bool:
    """Tell whether a clause is about something that somebody does for somebody."""
    return told.predicate in JOBS


def with_details(arrangement: Arrangement, told: Told) -> Arrangement:
    """Return an arrangement with what a clause says more of it.

    The hour in an answer tells when somebody can, so it does not replace one that was asked for.
    """
    keeps_hour = told.act in _ANSWERS and arrangement.when.start is not None
    said = replace(told.when, start=None, end=None, part=None) if keeps_hour else told.when
    return replace(
        arrangement,
        what=arrangement.what or told.what,
        stems=arrangement.stems | told.stems,
        when=arrangement.when.amended(said, was=told.was),
        where=told.where or arrangement.where,
        who_for=arrangement.who_for or told.who_for,
    )


def follow(before: Arrangement, after: Arrangement, told: Told, draft: Draft) -> None:
    """Let the jobs for an event follow it to its new time, where theirs was the same."""
    for job in [*draft.state.jobs_for(after)]:
        days = () if {*job.when.days} <= {*before.when.days} - {*after.when.days} else job.when.days
        start = None if job.when.start == before.when.start != after.when.start else job.when.start
        if (days, start) != (job.when.days, job.when.start):
            draft.put(replace(job, when=replace(job.when, days=days, start=start)), told)


def standing(arrangement: Arrangement) -> Status:
    """Return how far an arrangement is that is open, from who has it."""
    if arrangement.status is Status.MOVED:
        return Status.MOVED
    if not arrangement.is_job:
        return Status.AGREED
    return Status.OWNED if arrangement.who_does else Status.PROPOSED


def freed(target: Arrangement, leaving: set[str], status: Status) -> Arrangement:
    """Return an arrangement that some people have no longer; with nobody left it gets the status."""
    rest = tuple(each for each in target.who_does if each not in leaving)
    return replace(
        target,
        who_does=rest,
        asked=tuple(each for each in target.asked if each not in leaving),
        settled=tuple(e for e in target.settled if e in rest),
        status=Status.OWNED if rest else status,
    )
