"""What is said to who asked by a command: texts out of the records, and cards with buttons."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from datetime import date, datetime, timedelta
from zoneinfo import ZoneInfo

from sqlalchemy import Connection

from kinkeeper.actions.consent import Stakes
from kinkeeper.actions.model import PendingAction
from kinkeeper.actions.registry import stakes_of
from kinkeeper.actions.repository import open_actions
from kinkeeper.calendar.model import Occurrence
from kinkeeper.calendar.search import occurrences_between
from kinkeeper.core.time import local_days
from kinkeeper.household.viewing import Viewer
from kinkeeper.messaging.outbound import Button, Verb
from kinkeeper.observer.accounts import trace_words
from kinkeeper.observer.accounts.trace import Mark, Trace
from kinkeeper.observer.quiet import quiet_until
from kinkeeper.observer.redline.phrasing import Limits, Phrasing
from kinkeeper.observer.wording.participants import Participants

NOTHING_WAITS = "Nothing needs you."
_MOST_CARDS = 5
_MOST_LINES = 40
_MARKS = {Mark.PASSED: "✓", Mark.STOPPED: "■", Mark.NOTED: "·"}


@dataclass(frozen=True, slots=True, kw_only=True)
class Answer:
    """One message in answer to a command.

    Attributes:
        text: What is said.
        buttons: Under it.
        action_id: What the buttons are about.
    """

    text: str
    buttons: tuple[Button, ...] = ()
    action_id: str | None = None


@dataclass(frozen=True, slots=True)
class Answers:
    """Answers for one household at one moment.

    Attributes:
        participants: The household compiled.
        viewer: On whose behalf what is kept is read: everybody's where everybody reads.
        now: Aware.
    """

    participants: Participants
    viewer: Viewer
    now: datetime

    def pending(self, conn: Connection, *, with_buttons: bool) -> Sequence[Answer]:
        """Return what awaits a yes: a card each where buttons may be shown, else one list."""
        actions = open_actions(conn, self.viewer, now=self.now)
        if not actions:
            return [Answer(text=NOTHING_WAITS)]
        shown, rest = actions[:_MOST_CARDS], len(actions) - _MOST_CARDS
        more = [f"… and {rest} more on the page."] if rest > 0 else []
        if not with_buttons:
            lines = [f"• {self._card(action)}" for action in shown]
            return [Answer(text="\n".join(["Waiting for a yes:", *lines, *more]))]
        cards = [
            Answer(text=self._card(action), buttons=_buttons(action), action_id=action.id)
            for action in shown
        ]
        return [*cards, *(Answer(text=line) for line in more)]

    def agenda(self, conn: Connection, *, days: int) -> Answer:
        """Return what takes place from today on, for so many local days."""
        today = self._local(self.now).date()
        span = local_days(today, today + timedelta(days=days - 1), self._zone)
        found = occurrences_between(conn, self.viewer, span, with_busy=self.viewer.sees_busy)
        if not found:
            return Answer(text="Nothing is in the calendar.")
        lines = list(self._days(found))
        cut = [f"… {len(lines) - _MOST_LINES} lines more on the page."]
        return Answer(
            text="\n".join(lines if len(lines) <= _MOST_LINES else lines[:_MOST_LINES] + cut)
        )

    def why(self, trace: Trace) -> Answer:
        """Return the steps that a message took."""
        return Answer(text="\n".join(f"{_MARKS[step.mark]} {step.text}" for step in trace.steps))

    def quiet(self, conn: Connection) -> Answer:
        """Return until when it is quiet."""
        until = quiet_until(conn, self._household_id, now=self.now)
        if until is None:
            return Answer(text="Not quiet. /quiet 2h makes it so, /quiet off ends it.")
        return Answer(text=f"Quiet until {self.moment(until)}. /quiet off ends it.")

    def moment(self, instant: datetime) -> str:
        """Return a local day and time: "Thu 5 Mar 4pm"."""
        local = self._local(instant)
        return f"{self._phrasing.day(local.date())} {self._phrasing.clock(local.time())}"

    def _card(self, action: PendingAction) -> str:
        proposal = action.proposal
        return f"{proposal.summary}\nLapses {self.moment(proposal.expires_at)}."

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
        who = f": {trace_words.people(event.who, household)}" if event.who else ""
        by = f" ({trace_words.people(each.responsible, household)})" if each.responsible else ""
        return f"{when} {event.summary}{who}{by}"

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


def _buttons(action: PendingAction) -> tuple[Button, ...]:
    """Return the ways to decide; what rewrites a whole entry is decided where all of it is seen."""
    proposal = action.proposal
    ways = [
        Button(label=choice.label, verb=Verb.CHOOSE, choice=choice.label)
        for choice in proposal.choices
        if stakes_of(choice.effects) is Stakes.LOW
    ]
    if proposal.effects and stakes_of(proposal.effects) is Stakes.LOW:
        ways.insert(0, Button(label="Confirm", verb=Verb.CONFIRM))
    return (*ways, Button(label="Not right", verb=Verb.REJECT))
