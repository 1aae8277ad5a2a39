"""The words of frames resolved: people through the household, times through the time rules."""

import re
from bisect import bisect_left
from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from datetime import date, datetime, time, timedelta
from functools import cached_property, lru_cache
from itertools import chain, count, pairwise
from typing import Final, TypeVar

from kinkeeper.arrangements.model import EVERYBODY, NEWS, Heard, Told, When, days_between
from kinkeeper.household.model import Household, Role, resolve_sender
from kinkeeper.household.vocabulary import WordKind, compile_vocabulary
from kinkeeper.language.lexicon import Lexicon, Mention, Term
from kinkeeper.language.name_match import Pronoun, pronouns_among, telling_stems
from kinkeeper.language.text import Token, TokenKind, tokenise
from kinkeeper.reading.asked import care_words
from kinkeeper.reading.modality import Force, force_of_news
from kinkeeper.reading.model import Act, Frame, Modality, Predicate, Slot, SlotName
from kinkeeper.reading.times import NamedTimeWords
from kinkeeper.reading.times import read as read_times
from kinkeeper.reading.times.model import Grain, SpanKind, TimeSpan

Placed = TypeVar("Placed")

_OWN_ACTS: Final = frozenset({Act.OFFER, Act.PROMISE, Act.WITHDRAW, Act.DECLINE, Act.ACCEPT})
"""Acts by which people speak of what they do themselves."""
_GIVING_ACTS: Final = frozenset({Act.ASSIGN, Act.REQUEST, Act.ASK})
"""Acts that name somebody to do it, by name or by a word for the one addressed."""
_TELLING_ACTS: Final = frozenset({Act.STATE, Act.CORRECT, Act.REPORT_DONE})
_ABOUT_CHILDREN: Final = frozenset({Predicate.PICKUP, Predicate.DROPOFF})
_PEOPLE: Final = frozenset({WordKind.CHILD, WordKind.ADULT, WordKind.GROUP})
_TALKED_TO: Final = frozenset({Pronoun.ADDRESSEE, Pronoun.ADDRESSEES})
_MORNING: Final = When(start=time(8))
"""When people are taken somewhere, unless more is known."""
_LONGEST_CLOCK: Final = timedelta(hours=1)
_CLOCKS: Final = frozenset({Grain.HOUR, Grain.MINUTE})
_DOTTED: Final = re.compile(r"(?<![\d.])(\d{1,2})\.(\d\d)(?![\d.])")
_DIGITS: Final = re.compile(r"\d+")
_BARE_HOUR: Final = re.compile(r"(?<![\d:.])(\d{1,2})(?![\d:.]|\s*[/])")
_SHORTEST_NAME: Final = 3


@dataclass(frozen=True, slots=True)
class _Who:
    """Whom a slot names, and the pronouns in it."""

    people: tuple[str, ...] = ()
    pronouns: frozenset[Pronoun] = frozenset()


class Grounding:
    """Resolves frames for one household."""

    def __init__(self, household: Household) -> None:
        self._household = household
        vocabulary = compile_vocabulary(household)
        words = [each for each in vocabulary.words if each.kind in _PEOPLE]
        known = (*words, *vocabulary.of_kind(WordKind.ACTIVITY))
        self._lexicon = Lexicon(
            (Term(each.kind, each.id, each.words) for each in known), care_words()
        )
        self._members: Mapping[tuple[str, str], tuple[str, ...]] = {
            (each.kind, each.id): vocabulary.members_of(each.kind, each.id) for each in words
        }
        self._usual = _usual_people(household)
        self._named_times = tuple(
            NamedTimeWords(id=each.id, start=each.start, words=each.aliases)
            for each in household.times
        )

    def told(self, heard: Heard) -> tuple[Told, ...]:
        """Return what a message says: a value for each frame, or several where a frame hands out several things."""
        return tuple(chain.from_iterable(self.told_by_frame(heard)))

    def told_by_frame(self, heard: Heard) -> tuple[tuple[Told, ...], ...]:
        """Return what a message says by its frames, in their order; the message as a whole is read once."""
        sent_at = heard.sent_at.astimezone(self._household.zone)
        tokens = tokenise(heard.text)
        message = _Message(heard, sent_at, tokens, self._lexicon.find(tokens), self)
        people, numbers = self._household.members_by_word, count()
        return tuple(
            tuple(
                self._told(message, _Clause(next(numbers), part, message))
                for part in _parts(_as_told(frame, heard.text, people))
            )
            for frame in heard.frames
        )

    def people_in(self, text: str) -> tuple[str, ...]:
        """Return the members that a few words name."""
        return self._people(self._lexicon.find(tokenise(text)))

    def time_in(self, text: str, sent_at: datetime) -> When:
        """Return the time that a few words mean, said at an instant."""
        return self._when([(text, "")], sent_at)

    def _told(self, message: "_Message", clause: "_Clause") -> Told:
        heard, sent_at, frame = message.heard, message.sent_at, clause.frame
        member = resolve_sender(self._household, heard.speaker)
        speaker = member.id if member else heard.speaker
        called = self._called(clause, speaker)
        does = self._who(clause, SlotName.WHO_DOES, speaker)
        concerned = self._who(clause, SlotName.WHO_FOR, speaker)
        new, old = self._who(clause, SlotName.TO, speaker), clause.texts(heard, SlotName.FROM)
        what = " ".join(clause.texts(heard, SlotName.WHAT))
        times = clause.times(heard, (SlotName.WHEN, SlotName.TO))
        when = self._when(times, sent_at).until(
            self._when(clause.times(heard, (SlotName.UNTIL,)), sent_at)
        )
        if not when.days and (what or when):
            around = heard.text[frame.clause.start : frame.clause.end] if when else what
            when = replace(when, days=self._when([(around, "")], sent_at).days)
        is_given = frame.act in {Act.ASSIGN, Act.REQUEST} and not does.people
        is_asked = bool(does.pronouns & _TALKED_TO) or is_given
        if frame.predicate is Predicate.DROPOFF:
            when = when.in_half_of(_MORNING)
        first_person = pronouns_among(
            clause.message.tokens_in(frame.clause.start, frame.clause.end)
        )
        whose = self._who(clause, SlotName.WHAT, speaker).people
        target = frame.target
        return Told(
            id=f"{heard.message_id}:{clause.number}",
            message=heard.message_id,
            speaker=speaker,
            act=frame.act,
            predicate=frame.predicate,
            modality=self._modality(message, frame),
            is_negated=frame.is_negated,
            is_secret=frame.is_secret,
            answers=heard.before[target.said] if target and target.said is not None else None,
            item=heard.items[target.item] if target and target.item is not None else None,
            what=what,
            stems=telling_stems(what) if what else frozenset(),
            who_for=concerned.people,
            called=called,
            whose=tuple(e for e in whose if e != EVERYBODY),
            is_from_child=member is not None and member.role is Role.CHILD,
            may_decide=member is not None and member.is_adult,
            is_for_addressee=bool(concerned.pronouns & _TALKED_TO) and not concerned.people,
            is_for_others=clause.has(SlotName.WHO_FOR) and not concerned.people,
            is_of_speaker=Pronoun.SPEAKER in first_person,
            who_does=new.people or does.people or (called if is_asked else ()),
            when=when,
            is_weekday=self._is_weekday(times, sent_at),
            said_days=(sent_at.date(),),
            was=self._when([(each, "") for each in old], sent_at),
            where=" ".join(clause.texts(heard, SlotName.WHERE)),
            p=frame.p * (target.p if target else 1.0),
            likely_for=self._likely_for(clause),
        )

    def _likely_for(self, clause: "_Clause") -> tuple[str, ...]:
        """Return whom a clause most likely concerns that names nobody: who usually takes part in what it names, else the only child."""
        usual = [self._usual[each.id] for each in clause.found if each.kind == WordKind.ACTIVITY]
        if usual:
            return usual[0]
        children = self._household.children
        is_only = clause.frame.predicate in _ABOUT_CHILDREN and len(children) == 1
        return (children[0].id,) if is_only else ()

    def _called(self, clause: "_Clause", speaker: str) -> tuple[str, ...]:
        within = [
            each
            for each in clause.found
            if not any(slot.start <= each.start < slot.end for slot in clause.frame.slots)
        ]
        return tuple(each for each in self._people(within) if each != speaker)

    def _people(self, found: Iterable[Mention]) -> tuple[str, ...]:
        people = [
            person for each in found for person in self._members.get((each.kind, each.id), ())
        ]
        return tuple(dict.fromkeys(people))

    def _who(self, clause: "_Clause", name: SlotName, speaker: str) -> _Who:
        slots = [each for each in clause.frame.slots if each.name is name]
        people: list[str] = []
        pronouns: set[Pronoun] = set()
        for slot in slots:
            within = clause.message.tokens_in(slot.start, slot.end)
            named = self._people(clause.message.found_in(slot.start, slot.end))
            said = pronouns_among(within)
            pronouns.update(said)
            people += named
            if Pronoun.SPEAKER in said and not (named and _is_possessive(within)):
                people.append(speaker)
            if not named and {Pronoun.SPEAKERS, Pronoun.EVERYBODY} & {*said}:
                people.append(speaker if _is_own(clause.frame, name) else EVERYBODY)
            if not named and not said and name in {SlotName.WHO_DOES, SlotName.WHO_FOR}:
                people += self._unknown(within, clause.frame, name, speaker)
        return _Who(tuple(dict.fromkeys(people)), frozenset(pronouns))

    def _unknown(
        self, tokens: Sequence[Token], frame: Frame, name: SlotName, speaker: str
    ) -> tuple[str, ...]:
        """Return who is meant by words that are neither a member nor a pronoun."""
        words = [each for each in tokens if each.kind is TokenKind.WORD]
        named = [
            each for each in words if len(each.text) >= _SHORTEST_NAME and each.surface.istitle()
        ]
        if _is_own(frame, name) and not named:
            return (speaker,) if words else ()
        is_given = name is SlotName.WHO_FOR or frame.act in _GIVING_ACTS
        if not words or (is_given and not named):
            return ()
        return (tokens[0].source[words[0].start : words[-1].end],)

    def _when(self, times: Sequence[tuple[str, str]], sent_at: datetime) -> When:
        when = When()
        for span in _to_come(
            [span for each in times for span in self._spans(each, sent_at)], sent_at
        ):
            said = _said(span)
            when = replace(when.amended(said), days=tuple(sorted({*when.days, *said.days})))
        return when

    def _modality(self, message: "_Message", frame: Frame) -> Modality:
        """Return how a clause is meant: as past where its verb says so of a day that would be to come ("had judo on the 24th")."""
        if frame.modality is not Modality.PLAIN:
            return frame.modality
        sent_at = message.sent_at
        days = [
            each for each in message.times_in(frame.clause.start, frame.clause.end) if each.has_date
        ]
        is_over = bool(days) and all(
            each.until <= _midnight(sent_at) < self._alone(each, sent_at) for each in days
        )
        return Modality.PAST if is_over else frame.modality

    def _alone(self, span: TimeSpan, sent_at: datetime) -> datetime:
        """Return the end of a time by its own words."""
        found = self.times_of(span.surface, sent_at)
        return found[0].until if found else span.until

    def _is_weekday(self, times: Sequence[tuple[str, str]], sent_at: datetime) -> bool:
        """Tell whether days are named by the day of the week alone: a week later they mean a week later, a day later the same."""
        now, later, last = (
            self._when(times, sent_at + timedelta(days=each)).days for each in (0, 1, 7)
        )
        in_a_week = tuple(each + timedelta(days=7) for each in now)
        return bool(now) and last == in_a_week and {*later} <= {*now, *in_a_week}

    def _spans(self, time: tuple[str, str], sent_at: datetime) -> Sequence[TimeSpan]:
        """Return the times of a slot, by its own words or with the word before it; a number alone is an hour."""
        text, led_in = time
        clocks = _DOTTED.sub(r"\1:\2", text)
        found = self.times_of(text, sent_at)
        if clocks != text and (timed := self.times_of(clocks, sent_at)):
            # A day of the week beside "14.10": a date where it falls on that day, else a time.
            is_date = found and timed and found[0].begin.weekday() == timed[0].begin.weekday()
            return found if is_date and not found[0].has_time else timed
        is_hour = not telling_stems(_DIGITS.sub("", text))
        found = found or (self.times_of(led_in, sent_at) if led_in else ())
        return found or (self.times_of(_BARE_HOUR.sub(r"\1:00", text), sent_at) if is_hour else ())

    def times_of(self, text: str, sent_at: datetime) -> Sequence[TimeSpan]:
        """Return the times of a text; one of an unknown day does not lean on how late it is now."""
        locale, named = self._household.locale, self._named_times
        found = read_times(text, sent_at, locale=locale, named_times=named)
        if any(not each.has_date and not each.is_meridiem_known for each in found):
            return read_times(text, _midnight(sent_at), locale=locale, named_times=named)
        return found


@dataclass(frozen=True)
class _Message:
    """A message that is read once for all its clauses.

    Attributes:
        tokens: All of it, by their start.
        found: Who and what is named in it, by their start.
    """

    heard: Heard
    sent_at: datetime
    tokens: Sequence[Token]
    found: Sequence[Mention]
    grounding: Grounding

    def tokens_in(self, start: int, end: int) -> Sequence[Token]:
        """Return the tokens that begin between two offsets."""
        return _between(self.tokens, self._token_starts, start, end)

    def found_in(self, start: int, end: int) -> Sequence[Mention]:
        """Return what is named between two offsets."""
        return _between(self.found, self._found_starts, start, end)

    def times_in(self, start: int, end: int) -> Sequence[TimeSpan]:
        """Return the times that begin between two offsets."""
        return _between(self._times, self._time_starts, start, end)

    @cached_property
    def _times(self) -> Sequence[TimeSpan]:
        return self.grounding.times_of(self.heard.text, self.sent_at)

    @cached_property
    def _token_starts(self) -> Sequence[int]:
        return [each.start for each in self.tokens]

    @cached_property
    def _found_starts(self) -> Sequence[int]:
        return [each.start for each in self.found]

    @cached_property
    def _time_starts(self) -> Sequence[int]:
        return [each.start_char for each in self._times]


@dataclass(frozen=True, slots=True)
class _Clause:
    """A frame in its message."""

    number: int
    frame: Frame
    message: _Message

    def has(self, name: SlotName) -> bool:
        """Tell whether there is a slot of that name."""
        return any(each.name is name for each in self.frame.slots)

    @property
    def found(self) -> Sequence[Mention]:
        """Who and what is named in it."""
        return self.message.found_in(self.frame.clause.start, self.frame.clause.end)

    def times(self, heard: Heard, names: Collection[SlotName]) -> list[tuple[str, str]]:
        """Return the words of the slots of these names, each also with the word before it."""
        slots = sorted((e for e in self.frame.slots if e.name in names), key=_first_when)
        return [(heard.text[e.start : e.end], _led_in(heard.text, e)) for e in slots]

    def texts(self, heard: Heard, name: SlotName) -> list[str]:
        """Return the words of the slots of that name."""
        return [heard.text[e.start : e.end] for e in self.frame.slots if e.name is name]


def _between(
    each: Sequence[Placed], starts: Sequence[int], start: int, end: int
) -> Sequence[Placed]:
    return each[bisect_left(starts, start) : bisect_left(starts, end)]


def _first_when(slot: Slot) -> bool:
    return slot.name is not SlotName.WHEN


def _led_in(text: str, slot: Slot) -> str:
    return text[text.rfind(" ", 0, max(slot.start - 1, 0)) + 1 : slot.end]


def _as_told(frame: Frame, text: str, people: Collection[str]) -> Frame:
    """Return a frame of news that is only asked about or supposed as a question or a supposition."""
    if frame.predicate not in NEWS or frame.act not in _TELLING_ACTS:
        return frame
    force = force_of_news(text, frame.clause.start, frame.clause.end, people)
    if force is Force.ASKED:
        return replace(frame, act=Act.ASK)
    is_supposed = force is Force.SUPPOSED or frame.modality is Modality.CONDITIONAL
    return replace(frame, modality=Modality.HYPOTHETICAL) if is_supposed else frame


def _parts(frame: Frame) -> Sequence[Frame]:
    """Return a frame as one for each thing or person that it names with a time of its own."""
    for name in (SlotName.WHAT, SlotName.WHO_DOES):
        keys = [each for each in frame.slots if each.name is name]
        times = [each for each in frame.slots if each.name is SlotName.WHEN]
        if min(len(keys), len(times)) < 2 or frame.slots[0] not in (keys[0], times[0]):  # noqa: PLR2004
            continue
        opens = name if frame.slots[0] is keys[0] else SlotName.WHEN
        starts = [place for place, each in enumerate(frame.slots) if each.name is opens]
        runs = [frame.slots[a:b] for a, b in pairwise([*starts, len(frame.slots)])]
        if all({name, SlotName.WHEN} <= {each.name for each in run} for run in runs):
            return [replace(frame, slots=run) for run in runs]
    return [frame]


def _is_own(frame: Frame, name: SlotName) -> bool:
    """Tell whether a slot says who does it in an act by which people speak of what they do themselves."""
    return name is SlotName.WHO_DOES and frame.act in _OWN_ACTS


def _usual_people(household: Household) -> Mapping[str, tuple[str, ...]]:
    """Return by activity who takes part whenever it takes place, by the household's own events."""
    who = {
        each.id: [e.who for e in household.events if e.activity == each.id]
        for each in household.activities
    }
    return {activity: each[0] if len({*each}) == 1 else () for activity, each in who.items()}


def _midnight(instant: datetime) -> datetime:
    return instant.replace(hour=0, minute=0, second=0, microsecond=0)


def _is_possessive(tokens: Sequence[Token]) -> bool:
    """Tell whether a pronoun only says whose the named person is."""
    return len(tokens) > 1


def _said(span: TimeSpan) -> When:
    """Return a time expression as far as its words go."""
    if span.kind is SpanKind.DURATION:
        return When()
    is_part = span.part_of_day is not None and span.until - span.begin > _LONGEST_CLOCK
    is_ranged = span.kind is SpanKind.RANGE and span.has_time
    is_end = span.bound == "until"
    is_clocked = span.has_time and span.grain in _CLOCKS and (is_ranged or not is_part)
    start = span.begin.time() if is_clocked else None
    return When(
        days=_days(span) if span.has_date or span.recurrence else (),
        start=None if is_end else start,
        end=start if is_end else span.until.time() if is_ranged else None,
        bound=span.bound,
        part=None if start else span.part_of_day,
        recurrence=span.recurrence,
        is_half_known=span.is_meridiem_known,
    )


def _to_come(spans: Sequence[TimeSpan], sent_at: datetime) -> Sequence[TimeSpan]:
    """Return times without "now" and days that are over, where others are named beside them."""
    later = [
        each
        for each in spans
        if each.grain is not Grain.SECOND and (not each.has_date or each.until > _midnight(sent_at))
    ]
    return later or spans


def _days(span: TimeSpan) -> tuple[date, ...]:
    first = span.begin.date()
    if span.recurrence is not None or (span.has_time and span.kind is not SpanKind.RANGE):
        return (first,)
    last = (span.until - timedelta(microseconds=1)).date()
    if span.has_time or last <= first:
        return (first,)
    return days_between(first, last)


@lru_cache(maxsize=64)
def grounding_of(household: Household) -> Grounding:
    """Return the grounding of a household, compiled once."""
    return Grounding(household)
