"""A person's digest: put together out of what they may read and decide, and told in words."""

from collections.abc import Callable, Iterable, Iterator, Sequence
from datetime import date, datetime, time, timedelta
from functools import partial

from sqlalchemy import Connection

from kinkeeper.actions.authority import is_anothers
from kinkeeper.actions.model import PendingAction
from kinkeeper.actions.repository import open_actions, restorable_actions
from kinkeeper.calendar.model import Occurrence
from kinkeeper.calendar.search import care_between
from kinkeeper.core.errors import UnavailableError
from kinkeeper.core.time import A_DAY, Clock, day_ending_at, local_days
from kinkeeper.digest.repository import (
    Digest,
    Unassigned,
    digest_time,
    due_day,
    forget_digests_after,
    has_digest_after,
    last_digest,
    note_digest,
    release,
    time_set_at,
    was_due,
)
from kinkeeper.household.model import Household, Member
from kinkeeper.household.viewers import Viewer, viewer_for
from kinkeeper.language.text import enumerated, shorten, strip_controls
from kinkeeper.messaging.outbound import QuietHours
from kinkeeper.observability.failures import count_failure, repeat
from kinkeeper.reading.times import time_text
from kinkeeper.store.store import Store

_DAY = timedelta(days=1)
_WITH_ARTICLE = frozenset(
    {
        "dentist",
        "doctor",
        "hairdresser",
        "library",
        "museum",
        "optician",
        "orthodontist",
        "party",
        "recital",
        "vet",
        "zoo",
    }
)
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
        day: Local day that the digest is for.
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
        member=member.id,
        at=now,
        day=day,
        waiting=sorted(waiting, key=lambda each: (each.expires_at, each.id)),
        unassigned=sorted(
            [*in_calendar, *asked.values()], key=lambda each: (each.start or time(), each.what)
        ),
        expired=list(mine.of(expired)),
    )


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
        starts_on = care.interval.start.astimezone(household.zone).date()
        if not care.responsible and starts_on == day:
            yield unassigned(household, care)


def unassigned(household: Household, care: Occurrence) -> Unassigned:
    """Return an occurrence of the calendar as a job that nobody has taken on."""
    start = care.interval.start.astimezone(household.zone)
    return Unassigned(
        task=care.event.task,
        children=care.event.who,
        what=_activity(household, care),
        start=None if care.event.all_day else start.time(),
    )


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
        task=said.get("task") or _task_of(action),
        children=tuple(said.get("child") or ()),
        what=_called(household, said.get("activity")),
        start=time.fromisoformat(times[0]) if times else None,
        action_id=action.id,
    )


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


# A digest in words: fixed templates, filled with what is stored. Pure.

_MOST_LINES = 100
_LONGEST_LINE = 140
_UNTIL_NEXT = timedelta(hours=40)
"""Longest time between two digests: a day, and quiet hours that hold the next one back."""

_NOBODY = {
    "pickup": "is picking {who} up{source}",
    "dropoff": "is taking {who}{target}",
    "cover": "is looking after {who}",
    "attend": "is going{target} with {who}",
    "appointment": "is going{target} with {who}",
}


class DigestWords:
    """Puts the digests of one household into words."""

    def __init__(self, household: Household) -> None:
        self._household = household

    def text(self, digest: Digest, *, address: str | None = None, most: int = _MOST_LINES) -> str:
        """Return a whole digest.

        Args:
            digest: Not empty.
            most: Most lines of one kind, > 0; what expires before the next digest is named all the same.
            address: Where the pages are, if people can reach them; the end of the text points there.
        """
        parts = [
            self._waiting(digest, most),
            self._tomorrow(digest, most),
            self._expired(digest, most),
        ]
        if address is not None:
            parts.append(f"Decide here: {address}/digest")
        return "\n\n".join(part for part in parts if part)

    def headline(self, count: int) -> str:
        """Return that so many plans wait, in a sentence."""
        return f"{_plans(count, 'is', 'are')} waiting for your OK"

    def nobody(self, job: Unassigned, when: str = "tomorrow") -> str:
        """Return that nobody has taken on a job: "Nobody is picking Ben up from hurling tomorrow at 5pm"."""
        who = enumerated([self._name(child) for child in job.children], last="and")
        template = _NOBODY.get(job.task or "")
        if template is None or not who:
            what = " ".join(filter(None, [who, job.what or job.task or "it"]))
            doing = f"has taken on “{shorten(strip_controls(what), _LONGEST_LINE)}”"
        else:
            source = f" from {job.what}" if job.what else ""
            target = f" to {job.what}" if job.what else ""
            doing = template.format(who=who, source=source, target=target)
        at = "" if job.start is None else f" at {self.clock(job.start)}"
        return f"Nobody {doing} {when}{at}"

    def clock(self, at: time) -> str:
        """Return a time of day as the household's region writes it: "6pm", "18:00"."""
        return time_text.clock(at, self._household.locale)

    def expires(self, instant: datetime) -> str:
        """Return until when something waits: "until the end of Thu 14 May"."""
        zone = self._household.zone
        local = instant.astimezone(zone)
        day = day_ending_at(instant, zone)
        if day is None:
            clock = self.clock(local.time().replace(second=0, microsecond=0))
            return f"until {self._day(local.date())} at {clock}"
        return f"until the end of {self._day(day)}"

    def _day(self, day: date) -> str:
        return time_text.day_with_weekday(day, self._household.locale)

    def _waiting(self, digest: Digest, most: int) -> str:
        waiting = digest.others_waiting
        if not waiting:
            return ""
        lines = [f"• {_line(each)} ({self.expires(each.expires_at)})" for each in waiting]
        soon = sum(each.expires_at <= digest.at + _UNTIL_NEXT for each in waiting)
        return "\n".join([f"{self.headline(len(waiting))}:", *_cut(lines, max(most, soon))])

    def _tomorrow(self, digest: Digest, most: int) -> str:
        return "\n".join(_cut([f"{self.nobody(each)}." for each in digest.unassigned], most))

    def _expired(self, digest: Digest, most: int) -> str:
        if not digest.expired:
            return ""
        count = len(digest.expired)
        them = "it" if count == 1 else "them"
        head = f"{_plans(count)} expired because nobody confirmed {them}. You can still restore {them}:"
        return "\n".join([head, *_cut([f"• {_line(each)}" for each in digest.expired], most)])

    def _name(self, member_id: str) -> str:
        return self._household.names.get(member_id, member_id)


def _plans(count: int, one: str = "", many: str = "") -> str:
    verb = one if count == 1 else many
    return " ".join(filter(None, [str(count), "plan" if count == 1 else "plans", verb]))


def _line(action: PendingAction) -> str:
    return shorten(strip_controls(action.proposal.summary), _LONGEST_LINE)


def _cut(lines: Sequence[str], most: int) -> Iterator[str]:
    yield from lines[:most]
    if len(lines) > most:
        yield f"… and {len(lines) - most} more"


Deliver = Callable[[Connection, Member, Digest], None]
"""Puts a digest where its person sees it, in the transaction it is given."""

IsQuiet = Callable[[Connection, datetime], bool]
"""Whether the household asked for quiet at that moment."""

_NAME = "digest"


class DigestRounds:
    """Sends the digests of one household, on the wall clock.

    Args:
        quiet_hours: When nothing is sent; what falls into them goes out at their end.
        is_quiet: Tells whether quiet was asked for.
    """

    def __init__(
        self,
        store: Store,
        household: Household,
        *,
        quiet_hours: QuietHours,
        deliver: Deliver,
        is_quiet: IsQuiet,
        clock: Clock,
    ) -> None:
        self._store = store
        self._household = household
        self._quiet_hours = quiet_hours
        self._deliver = deliver
        self._is_quiet = is_quiet
        self._clock = clock

    async def run(self, every: timedelta) -> None:
        """Send what is due, again and again, until cancelled.

        Args:
            every: Wait in between, > 0.
        """
        await repeat(self.run_once, every, name=_NAME)

    async def run_once(self) -> int:
        """Send what is due by now; returns how many digests were sent."""
        now = self._clock.now()
        # What a clock that was wrong has sent ahead of its day does not count.
        future, household = now + A_DAY, self._household.id
        if await self._store.read(lambda conn: has_digest_after(conn, household, future)):
            await self._store.write(lambda conn: forget_digests_after(conn, household, future))
        due = await self._store.read(
            lambda conn: [each for each in self._household.adults if self._due(conn, each, now)]
        )
        return sum([await self._sent(member) for member in due])

    async def _sent(self, member: Member) -> bool:
        try:
            return await self._store.write(partial(self._send, member))
        except UnavailableError:
            raise
        except Exception as error:  # noqa: BLE001 - one person's trouble must not keep the others' digests
            count_failure(_NAME, error, member=member.id)
            return False

    def _due(self, conn: Connection, member: Member, now: datetime) -> bool:
        """Whether a digest of this member is due that was not dealt with yet."""
        household, at = self._household, digest_time(conn, self._household, member.id)
        if at is None or (day := due_day(now, at, self._quiet_hours)) is None:
            return False
        chosen = time_set_at(conn, household.id, member.id)
        is_later_choice = chosen is not None and release(day, at, self._quiet_hours) < chosen
        if is_later_choice or was_due(conn, household.id, member.id, day):
            return False
        return not self._is_quiet(conn, now)

    def _send(self, member: Member, conn: Connection) -> bool:
        now, household = self._clock.now(), self._household
        at = digest_time(conn, household, member.id)
        # Looked at again: another process, or a change of the time, may have come first.
        if at is None or not self._due(conn, member, now):
            return False
        day = due_day(now, at, self._quiet_hours)
        if day is None:
            return False
        digest = gather(
            conn,
            household,
            member,
            day=day,
            now=now,
            since=last_digest(conn, household.id, member.id),
        )
        note_digest(conn, household.id, digest)
        if digest.is_empty:
            return False
        self._deliver(conn, member, digest)
        return True
