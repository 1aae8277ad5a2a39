"""What is said to who asked by a command: texts out of the records, and cards with buttons."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from datetime import date, datetime, timedelta
from zoneinfo import ZoneInfo

from sqlalchemy import Connection

from kinkeeper.actions.consent import Stakes
from kinkeeper.actions.expected import expected_between, told_once
from kinkeeper.actions.model import PendingAction
from kinkeeper.actions.readers import Reader, waiting_for
from kinkeeper.actions.registry import stakes_of
from kinkeeper.calendar.event_records import occurrence_waiting
from kinkeeper.calendar.model import Occurrence
from kinkeeper.core.time import day_ending_at, local_days
from kinkeeper.digest.content import DigestWords, gather
from kinkeeper.digest.repository import last_digest
from kinkeeper.household.model import Member
from kinkeeper.messaging.outbound import Button, Verb
from kinkeeper.observer.accounts import traces
from kinkeeper.observer.accounts.traces import Mark, Trace
from kinkeeper.observer.quiet_requests import quiet_until
from kinkeeper.observer.redline.phrase_templates import Limits, Phrasing
from kinkeeper.observer.wording.participants import Participants

NOTHING_WAITS = "Nothing is waiting for you."
_MOST_CARDS = 5
_MOST_LINES = 40
_MARKS = {Mark.PASSED: "✓", Mark.STOPPED: "■", Mark.NOTED: "·"}


@dataclass(frozen=True, slots=True, kw_only=True)
class Answer:
    """One message in answer to a command.

    Attributes:
        action_id: What the buttons are about.
    """

    text: str
    buttons: tuple[Button, ...] = ()
    action_id: str | None = None


@dataclass(frozen=True, slots=True)
class Answers:
    """Answers for one household at one moment.

    Attributes:
        reader: Who is answered, and whether others read along.
    """

    participants: Participants
    reader: Reader
    now: datetime

    def pending(self, conn: Connection, *, with_buttons: bool) -> Sequence[Answer]:
        """Return what awaits a yes: a card each where buttons may be shown, else one list."""
        actions = waiting_for(conn, self.reader, now=self.now)
        if not actions:
            return [Answer(text=NOTHING_WAITS)]
        shown, rest = actions[:_MOST_CARDS], len(actions) - _MOST_CARDS
        more = [f"… and {rest} more on the page."] if rest > 0 else []
        if not with_buttons:
            lines = [f"• {self._card(action)}" for action in shown]
            return [Answer(text="\n".join(["Waiting for approval:", *lines, *more]))]
        cards = [
            Answer(text=self._card(action), buttons=decision_buttons(action), action_id=action.id)
            for action in shown
        ]
        return [*cards, *(Answer(text=line) for line in more)]

    def agenda(self, conn: Connection, *, days: int) -> Answer:
        """Return what takes place from today on, for so many local days."""
        today = self._local(self.now).date()
        span = local_days(today, today + timedelta(days=days - 1), self._zone)
        viewer = self.reader.viewer
        found = told_once(
            expected_between(conn, viewer, span, now=self.now, with_busy=viewer.sees_busy)
        )
        if not found:
            return Answer(text="Nothing is in the calendar.")
        lines = list(self._days(found))
        cut = [f"… {len(lines) - _MOST_LINES} more lines on the page."]
        return Answer(
            text="\n".join(lines if len(lines) <= _MOST_LINES else lines[:_MOST_LINES] + cut)
        )

    def why(self, trace: Trace) -> Answer:
        """Return the steps that a message took."""
        return Answer(text="\n".join(f"{_MARKS[step.mark]} {step.text}" for step in trace.steps))

    def digest(self, conn: Connection, member: Member) -> Answer:
        """Return a member's digest as it is now."""
        household = self.participants.household
        digest = gather(
            conn,
            household,
            member,
            day=self._local(self.now).date(),
            now=self.now,
            since=last_digest(conn, household.id, member.id),
        )
        if digest.is_empty:
            return Answer(text="Nothing is waiting, and nothing tomorrow is unassigned.")
        return Answer(text=DigestWords(household).text(digest))

    def quiet(self, conn: Connection) -> Answer:
        """Return until when it is quiet."""
        until = quiet_until(conn, self._household_id, now=self.now)
        if until is None:
            return Answer(text="Quiet is off. /quiet 2h turns it on for two hours.")
        return Answer(text=f"Quiet until {self.moment(until)}. /quiet off ends it.")

    def moment(self, instant: datetime) -> str:
        """Return a local day and time: "Thu 5 Mar 4pm"."""
        local = self._local(instant)
        return f"{self._phrasing.day(local.date())} {self._phrasing.clock(local.time())}"

    def _card(self, action: PendingAction) -> str:
        day = day_ending_at(action.expires_at, self._zone)
        when = self.moment(action.expires_at)
        if day is not None:
            when = f"at the end of {self._phrasing.day(day)}"
        return f"{action.proposal.summary}\nExpires {when}."

    def _days(self, found: Sequence[Occurrence]) -> Iterator[str]:
        shown: date | None = None
        for each in found:
            day = self._local(each.interval.start).date()
            if day != shown:
                yield self._phrasing.day(day)
                shown = day
            yield f"  {self._line(each)}"

    def _line(self, each: Occurrence) -> str:
        household = self.participants.household
        start, end = self._local(each.interval.start), self._local(each.interval.end)
        clock, event = self._phrasing.clock, each.event
        when = "all day" if event.all_day else f"{clock(start.time())}–{clock(end.time())}"
        who = f": {traces.people(event.who, household)}" if event.who else ""
        by = f" ({traces.people(each.responsible, household)})" if each.responsible else ""
        waits = occurrence_waiting(
            each,
            self._zone,
            name=lambda person: traces.people([person], household),
            moment=self.moment,
        )
        return f"{when} {event.summary}{who}{by}{f' – {waits}' if waits else ''}"

    @property
    def _household_id(self) -> str:
        return self.participants.household.id

    @property
    def _zone(self) -> ZoneInfo:
        return self.participants.household.zone

    @property
    def _phrasing(self) -> Phrasing:
        return Phrasing(participants=self.participants, limits=Limits())

    def _local(self, instant: datetime) -> datetime:
        return instant.astimezone(self._zone)


def decision_buttons(action: PendingAction) -> tuple[Button, ...]:
    """Return the ways to decide about an action; what rewrites a whole entry is decided where all of it is seen."""
    proposal = action.proposal
    ways = [
        Button(label=choice.label, verb=Verb.CHOOSE, choice=choice.label)
        for choice in proposal.choices
        if stakes_of(choice.effects) is Stakes.LOW
    ]
    if proposal.effects and stakes_of(proposal.effects) is Stakes.LOW:
        ways.insert(0, Button(label="Confirm", verb=Verb.CONFIRM))
    return (*ways, Button(label="Not right", verb=Verb.REJECT))
