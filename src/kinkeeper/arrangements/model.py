"""Arrangements and what they are made of: frozen values, no I/O, no words of any language."""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from datetime import date, datetime, time, timedelta
from enum import StrEnum
from typing import Final

from kinkeeper.reading.model import Act, Frame, Modality, Predicate

EVERYBODY: Final = "*"
"""Stands for all of the household among the people of an arrangement."""

JOBS: Final = frozenset(
    {
        Predicate.PICKUP,
        Predicate.DROPOFF,
        Predicate.COVER,
        Predicate.TASK,
        Predicate.REMINDER,
        Predicate.LIST_ADD,
        Predicate.LIST_REMOVE,
        Predicate.NOTE,
        Predicate.MAIL,
    }
)
"""What somebody does for somebody; everything else takes place."""

NEWS: Final = frozenset({Predicate.CANCEL, Predicate.MOVE, Predicate.CHANGE})
"""Predicates that say what becomes of something, not what it is."""


class Status(StrEnum):
    """How far an arrangement is."""

    PROPOSED = "proposed"
    AGREED = "agreed"
    OWNED = "owned"  # agreed, and somebody has it
    MOVED = "moved"  # agreed at another time or place than first
    OFF = "off"
    DONE = "done"

    @property
    def is_open(self) -> bool:
        """Whether it is still to come."""
        return self not in {Status.OFF, Status.DONE}


@dataclass(frozen=True, slots=True, kw_only=True)
class When:
    """A time as far as it is known, local.

    Attributes:
        days: In order; of a long span only the first and the last.
        start: Time of day; None where unknown or all day.
        end: Time of day at which it ends, on the last day.
        bound: "by", "before", "until", "after", "since" or "from" where `start` only bounds it.
        part: Part of the day, where no time of day is known.
        recurrence: RFC 5545 rule without prefix, where it recurs.
        is_half_known: Whether the half of the day of `start` was said; otherwise it is the likelier one.
    """

    days: tuple[date, ...] = ()
    start: time | None = None
    end: time | None = None
    bound: str | None = None
    part: str | None = None
    recurrence: str | None = None
    is_half_known: bool = True

    def __bool__(self) -> bool:
        """Tell whether anything is known."""
        return self != _NEVER

    @property
    def is_complete(self) -> bool:
        """Whether it can stand in a calendar: the day is known."""
        return bool(self.days)

    @property
    def is_all_day(self) -> bool:
        """Whether only days are known."""
        return bool(self.days) and self.start is None and self.end is None and self.part is None

    def meets(self, other: "When") -> bool:
        """Tell whether both can be the same time: neither names a day without the other, or they share one."""
        return not self.days or not other.days or bool({*self.days} & {*other.days})

    def is_over(self, now: datetime) -> bool:
        """Tell whether it lies before the day of `now`, with a day of grace.

        Args:
            now: Aware, in the household's zone.
        """
        is_past = bool(self.days) and self.days[-1] < now.date() - timedelta(days=1)
        return is_past and self.recurrence is None

    def amended(self, other: "When", *, was: "When | None" = None) -> "When":
        """Return it with what another time says in its place; what that leaves open stays.

        Args:
            was: What is replaced, where it was said.
        """
        new = other.in_half_of(self)
        if self.end and was and was.start and _same_clock(was.start, self.end) and not new.end:
            return replace(self, days=new.days or self.days, end=new.start or self.end)
        return When(
            days=new.days or self.days,
            start=new.start or (None if new.part else self.start),
            end=new.end or self._end_beside(new),
            bound=new.bound if new.start else self.bound,
            part=new.part or (None if new.start else self.part),
            recurrence=new.recurrence or (None if new.days else self.recurrence),
            is_half_known=new.is_half_known if new.start else self.is_half_known,
        )

    def in_half_of(self, known: "When") -> "When":
        """Return it with a start whose half of the day was not said in the half nearer to a known time."""
        near = known.start or known.end
        if self.is_half_known or self.start is None or near is None:
            return self
        other = time((self.start.hour + 12) % 24, self.start.minute)
        apart = abs(_minutes(other) - _minutes(near))
        is_nearer = apart < min(_NEAR, abs(_minutes(self.start) - _minutes(near)))
        return replace(self, start=other if is_nearer else self.start)

    def in_week_of(self, known: "When") -> "When":
        """Return it with its days in the later week in which a known time has the same days of the week.

        Whoever answers about a Sunday in three weeks says "Sunday".
        """
        later = {each.weekday(): each for each in reversed(known.days)}
        days = {max(each, later.get(each.weekday(), each)) for each in self.days}
        return replace(self, days=tuple(sorted(days)))

    def until(self, last: "When") -> "When":
        """Return it lasting until another time; an end before it begins is none."""
        if self.days and last.days and last.days[-1] < self.days[0]:
            return self
        end = last.end or last.in_half_of(self).start
        return replace(self, days=_span_of(self.days, last.days), end=end or self.end)

    def _end_beside(self, other: "When") -> time | None:
        return None if other.start and (self.end is None or other.start >= self.end) else self.end

    def completed(self, other: "When") -> "When":
        """Return it with what it leaves open taken from another time."""
        if not other:
            return self
        return other.amended(self) if self.meets(other) else self


_NEVER: Final = When()
_SURELY_AWAY: Final = 0.5
"""Chance from which an absence counts; of the days so told in half of the talks of w01 to w08, 35 of 48 were right."""
_LONGEST_SPAN: Final = 31
_NEAR: Final = 180
"""Minutes from a known time within which an hour of unknown half is taken for the nearer one."""


def _minutes(clock: time) -> int:
    return clock.hour * 60 + clock.minute


def _same_clock(one: time, other: time) -> bool:
    """Tell whether two times are the same on a dial of twelve hours."""
    return (one.hour % 12, one.minute) == (other.hour % 12, other.minute)


def _span_of(days: tuple[date, ...], last: tuple[date, ...]) -> tuple[date, ...]:
    if not days or not last or last[-1] <= days[-1]:
        return days or last[:1]
    return days_between(days[0], last[-1])


def days_between(first: date, last: date) -> tuple[date, ...]:
    """Return the days from the first to the last; of more than a month only these two."""
    count = (last - first).days + 1
    if count > _LONGEST_SPAN:
        return (first, last)
    return tuple(first + timedelta(days=each) for each in range(count))


@dataclass(frozen=True, slots=True, kw_only=True)
class Arrangement:
    """A plan of the household, as far as the talk has brought it. Members are ids; others are named as they were.

    Attributes:
        id: Of the message and the clause that opened it.
        what: In the words of the talk; empty where no words named it.
        stems: Of the words that tell it from others, from all messages that named it.
        about: Id of the arrangement that a job is for, whose time and people it takes over.
        who_for: Whom it concerns; empty where nobody was named.
        who_does: Who has it; empty where nobody has: a blank owner owns nothing.
        when: As far as it was said of this arrangement itself.
        where: In the words of the talk.
        settled: Those of `who_does` to whom somebody else agreed.
        evidence: Ids of the messages that decided it, in their order.
        p: Chance of the least sure frame that decided it, in [0, 1].
        is_secret: Whether somebody was not to hear of it.
    """

    id: str
    predicate: Predicate
    what: str = ""
    stems: frozenset[str] = frozenset()
    about: str | None = None
    who_for: tuple[str, ...] = ()
    who_does: tuple[str, ...] = ()
    asked: tuple[str, ...] = ()
    asked_by: str = ""
    when: When = _NEVER
    where: str = ""
    status: Status = Status.PROPOSED
    settled: tuple[str, ...] = ()
    evidence: tuple[str, ...] = ()
    p: float = 1.0
    is_secret: bool = False

    @property
    def is_job(self) -> bool:
        """Whether somebody does it for somebody."""
        return self.predicate in JOBS


@dataclass(frozen=True, slots=True, kw_only=True)
class Absence:
    """A person who is away, busy or ill: a state of the person, no plan.

    Attributes:
        id: Of the message and the clause that told it.
        person: Member id, or the words for somebody else.
        when: As far as it was said.
        what: Why, in the words of the talk.
        where: In the words of the talk.
        is_over: Whether it was taken back.
        evidence: Ids of the messages that told it.
        p: Chance of the least sure frame, in [0, 1].
    """

    id: str
    person: str
    when: When
    what: str = ""
    where: str = ""
    is_over: bool = False
    evidence: tuple[str, ...] = ()
    p: float = 1.0

    def covers(self, day: date) -> bool:
        """Tell whether the person is surely away for the whole of a day."""
        if self.p < _SURELY_AWAY or self.is_over or not self.when.is_all_day:
            return False
        first, last = self.when.days[0], self.when.days[-1]
        is_long = (last - first).days >= _LONGEST_SPAN
        return day in self.when.days or (is_long and first <= day <= last)


@dataclass(frozen=True, slots=True, kw_only=True)
class Heard:
    """A message with its frames, for the fold.

    Attributes:
        message_id: Unique in the chat.
        speaker: Who said it, as the channel names them.
        text: As it was typed.
        frames: In the order of the text.
        before: Ids of the earlier messages that `Target.said` counts.
        items: Ids of the arrangements that `Target.item` counts.
        is_encoded: Whether the encoder read along; acts of the linear heads alone are no ground to doubt what rules read.
    """

    message_id: str
    speaker: str
    text: str
    sent_at: datetime
    frames: tuple[Frame, ...]
    before: Sequence[str] = ()
    items: Sequence[str] = ()
    is_encoded: bool = True


@dataclass(frozen=True, slots=True, kw_only=True)
class Told:
    """A frame whose words are resolved: what one clause says, about whom, and when.

    Attributes:
        id: Of the message and the clause.
        message: Id of the message.
        speaker: Member id, or the name of somebody else.
        is_negated: Whether it denies what it names.
        is_secret: Whether somebody is not to hear of it.
        answers: Id of the message that it answers.
        item: Id of the arrangement it speaks of.
        stems: Of those that tell it from others.
        who_does: Whom it names as doing it.
        called: Members whom the clause names outside its slots.
        whose: Whom the words for it name.
        is_from_child: Whether a child of the household says it.
        may_decide: Whether an adult of the household says it: others call off or move nothing but what is their own.
        is_for_addressee: Whether it concerns whom it answers.
        is_for_others: Whether it concerns somebody whose words name nobody who is known.
        is_of_speaker: Whether the speaker speaks of themselves.
        is_weekday: Whether it names days by the day of the week alone.
        said_days: The day of the message, for times without a day.
        was: The time that is replaced.
        where: The words for the place.
        p: Chance that it is right, its link included, in [0, 1].
        likely_for: Whom a pronoun most likely means; counts only where nobody else is known.
    """

    id: str
    message: str
    speaker: str
    act: Act
    predicate: Predicate | None
    modality: Modality
    is_negated: bool
    is_secret: bool
    answers: str | None
    item: str | None
    what: str
    stems: frozenset[str]
    who_for: tuple[str, ...]
    who_does: tuple[str, ...]
    called: tuple[str, ...]
    whose: tuple[str, ...]
    is_from_child: bool
    is_for_addressee: bool
    is_for_others: bool
    is_of_speaker: bool
    when: When
    is_weekday: bool
    said_days: tuple[date, ...]
    was: When
    where: str
    p: float
    likely_for: tuple[str, ...] = ()
    may_decide: bool = True

    def may_change(self, arrangement: "Arrangement") -> bool:
        """Tell whether its speaker may call off or move an arrangement: an adult any, others what they opened or do alone."""
        own = {arrangement.asked_by, *arrangement.who_does}
        return self.may_decide or own == {self.speaker}


@dataclass(frozen=True, slots=True, kw_only=True)
class State:
    """All that is known of a household's arrangements from one talk.

    Attributes:
        arrangements: In the order in which they were opened.
        absences: In the order in which they were told.
        recent: What the last messages said, by message id, oldest first; also tells which were read already.
    """

    arrangements: tuple[Arrangement, ...] = ()
    absences: tuple[Absence, ...] = ()
    recent: Mapping[str, tuple[Told, ...]] = field(default_factory=dict)

    def arrangement(self, arrangement_id: str) -> Arrangement | None:
        """Return the arrangement with that id, if there is one."""
        return next((each for each in self.arrangements if each.id == arrangement_id), None)

    def whole(self, arrangement: Arrangement) -> Arrangement:
        """Return an arrangement with what it leaves open taken from the event it is for."""
        event = self.arrangement(arrangement.about) if arrangement.about else None
        if event is None:
            return arrangement
        return replace(
            arrangement,
            what=arrangement.what or ("" if event.is_job else event.what),
            stems=arrangement.stems or (frozenset() if event.is_job else event.stems),
            who_for=arrangement.who_for or event.who_for,
            when=arrangement.when.completed(event.when),
            where=arrangement.where or event.where,
        )

    def away(self, day: date) -> frozenset[str]:
        """Return who is surely away for the whole of a day."""
        return frozenset(each.person for each in self.absences if each.covers(day))

    def jobs_for(self, event: Arrangement) -> Iterator[Arrangement]:
        """Yield the jobs that are for an event."""
        return (each for each in self.arrangements if each.about == event.id)


class ChangeKind(StrEnum):
    """What a message did to an arrangement."""

    OPENED = "opened"
    AMENDED = "amended"
    CLOSED = "closed"


@dataclass(frozen=True, slots=True, kw_only=True)
class Change:
    """One arrangement that a message opened, amended or closed.

    Attributes:
        before: As it was; None where it was opened.
        p: Chance of the clause that decided it, in [0, 1].
    """

    kind: ChangeKind
    before: Arrangement | None
    after: Arrangement
    p: float


@dataclass(frozen=True, slots=True, kw_only=True)
class Folded:
    """What a message makes of a state.

    Attributes:
        state: All that is known now.
        changes: Of arrangements, in the order of `state`.
    """

    state: State
    changes: tuple[Change, ...]
