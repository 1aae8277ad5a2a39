"""Puts a person's digest together, out of what they may read and decide."""

from collections.abc import Iterable, Iterator
from datetime import date, datetime, time, timedelta

from sqlalchemy import Connection

from kinkeeper.actions.authority import is_anothers
from kinkeeper.actions.model import PendingAction
from kinkeeper.actions.repository import open_actions, restorable_actions
from kinkeeper.calendar.model import Occurrence
from kinkeeper.calendar.search import care_between
from kinkeeper.core.time import local_days
from kinkeeper.digest.model import Digest, Unassigned
from kinkeeper.household.model import Household, Member
from kinkeeper.household.viewers import Viewer, viewer_for

_DAY = timedelta(days=1)
_WITH_ARTICLE = frozenset(
    {
        "dentist", "doctor", "hairdresser", "library", "museum", "optician", "orthodontist", "party",
        "recital", "vet", "zoo",
    }
)  # fmt: skip
_FIRST_LOOK_BACK = timedelta(days=7)


def gather(
    conn: Connection,
    household: Household,
    member: Member,
    *,
    day: date,
    now: datetime,
    since: datetime | None,
) -> Digest:
    """Return what an adult is told.

    Args:
        conn: Any transaction.
        household: Theirs.
        member: An adult of it.
        day: Local day that the digest is for.
        now: Aware.
        since: When their last digest was put together; None where there was none.
    """
    viewer = viewer_for(household, member, now=now)
    mine = _Decidable(household, member)
    waiting = list(mine.of(open_actions(conn, viewer, now=now)))
    expired = restorable_actions(conn, viewer, now=now, since=since or now - _FIRST_LOOK_BACK)
    tomorrow = max(day, now.astimezone(household.zone).date()) + _DAY
    asked = {each.id: found for each in waiting if (found := _asked(household, each, tomorrow))}
    in_calendar = [
        each
        for each in _in_calendar(conn, household, viewer, tomorrow)
        if not any(_is_same(each, other) for other in asked.values())
    ]
    return Digest(
        member=member.id, at=now, day=day,
        waiting=sorted(waiting, key=lambda each: (each.expires_at, each.id)),
        unassigned=sorted(
            [*in_calendar, *asked.values()],
            key=lambda each: (each.start or time(), each.what),
        ),
        expired=list(mine.of(expired)),
    )  # fmt: skip


class _Decidable:
    """Leaves out what only another person may decide."""

    def __init__(self, household: Household, member: Member) -> None:
        self._household = household
        self._member = member

    def of(self, actions: Iterable[PendingAction]) -> Iterator[PendingAction]:
        """Yield the actions that this person may decide."""
        for action in actions:
            if not is_anothers(action, self._member, self._household):
                yield action


def _in_calendar(
    conn: Connection, household: Household, viewer: Viewer, day: date
) -> Iterator[Unassigned]:
    for care in care_between(conn, viewer, local_days(day, day, household.zone)):
        start = care.interval.start.astimezone(household.zone)
        if not care.responsible and start.date() == day:
            yield Unassigned(
                task=care.event.task, children=care.event.who, what=_activity(household, care),
                start=None if care.event.all_day else start.time(),
            )  # fmt: skip


def _is_same(job: Unassigned, asked: Unassigned) -> bool:
    """Whether a job of the calendar is the one that an open action asks about."""
    is_alike = (job.task, {*job.children}) == (asked.task, {*asked.children})
    return is_alike and asked.start in {None, job.start}


def _asked(household: Household, action: PendingAction, day: date) -> Unassigned | None:
    """Return the job of a day for which an open action asks who does it."""
    proposal, said = action.proposal, action.proposal.extraction
    is_question = bool(proposal.choices) and not proposal.effects and proposal.conflict_key is None
    if not is_question or day.isoformat() not in (said.get("dates") or ()):
        return None
    times = said.get("times") or ()
    return Unassigned(
        task=said.get("task") or _task_of(action), children=tuple(said.get("child") or ()),
        what=_called(household, said.get("activity")),
        start=time.fromisoformat(times[0]) if times else None, action_id=action.id,
    )  # fmt: skip


def _task_of(action: PendingAction) -> str | None:
    """Return what the first way to resolve an action would have somebody do."""
    for effect in action.proposal.choices[0].effects:
        task = (effect.get("event") or {}).get("task")
        if task is not None:
            return str(task)
    return None


def _activity(household: Household, care: Occurrence) -> str:
    event = care.event
    return _called(household, event.activity) or (event.summary if event.task is None else "")


def _called(household: Household, activity: str | None) -> str:
    if not activity:
        return ""
    names = {each.id: each.name.lower() for each in household.activities}
    words = activity.replace("-", " ").replace("_", " ").lower()
    # "From judo", "to swimming", but "to the dentist" and "from the birthday party".
    needs_article = words in _WITH_ARTICLE or (" " in words and not words.startswith("the "))
    return names.get(activity) or (f"the {words}" if needs_article else words)
