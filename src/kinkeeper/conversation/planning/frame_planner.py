"""What the trained reader makes of a message that the rules do not understand: requests, each only proposed. Blocks for some ms."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from datetime import datetime
from functools import cached_property
from typing import Final

from kinkeeper.conversation.model import Plan, PlannedAction, PlanningContext
from kinkeeper.conversation.planning.case import Case, Thing, action, case_of, results_of
from kinkeeper.conversation.planning.message import times_in
from kinkeeper.conversation.planning.people import who_of
from kinkeeper.conversation.planning.plan_times import Moment, moment_of
from kinkeeper.conversation.planning.references import with_known_day
from kinkeeper.conversation.planning.referents import target
from kinkeeper.conversation.planning.relative import in_its_frame
from kinkeeper.conversation.planning.rule_planner import as_offers, plan_of, planned, vocabulary_of
from kinkeeper.language.text import tokenise
from kinkeeper.memory.finding.terms import stems
from kinkeeper.memory.statements.care import deeds_of
from kinkeeper.reading.coreference import root_of
from kinkeeper.reading.encoder import MOST_EARLIER, MOST_ITEMS
from kinkeeper.reading.modality import Modality as Meant
from kinkeeper.reading.modality import modality_of
from kinkeeper.reading.model import (
    Act,
    Context,
    Frame,
    Modality,
    Predicate,
    Said,
    SlotName,
    Surface,
    Utterance,
)
from kinkeeper.reading.replies import is_question
from kinkeeper.reading.times.model import TimeSpan, without_spans
from kinkeeper.reading.trained import shipped_reader

_ASSISTANT: Final = "Kin"
"""What the assistant is called in the talks that the reader learned from."""

LEAST_SURE: Final = 0.5
"""Chance from which a clause is taken to arrange something, and the reader to know what: under it more was wrong than right."""

_SURER_IF_DONE: Final = 0.1
"""How much surer it counts of a deed that is told: that counts only where it names what is open."""

_SURER_OF_GUESSES: Final = 0.1
"""The same of what the rules would offer, too."""

_LOOKED_AT: Final = 0.4
"""Chance from which it is noted that something would have been offered, had the household's bar been lower."""

_LEAST_LINK: Final = 0.8
"""Chance from which a clause is taken to speak of the open thing that it points at, though it does not name it."""

_NAMES: Final = 0.5
"""Share of a title's words that name it."""

_REAL: Final = frozenset({Modality.PLAIN, Modality.PAST})
_MEANT: Final = frozenset({Meant.NAMED, Meant.TOLD, Meant.PAST})
_HAPPENS: Final = frozenset({Predicate.EVENT, Predicate.PICKUP, Predicate.DROPOFF, Predicate.COVER})
_CHANGES: Final = frozenset({Predicate.MOVE, Predicate.CHANGE})
_TELLS: Final = frozenset({Act.STATE, Act.REQUEST, Act.PROMISE, Act.CORRECT, Act.ASSIGN, Act.OFFER})


@dataclass(frozen=True, slots=True)
class Proposed:
    """What the trained reader makes of a message.

    Attributes:
        plan: Offers; empty where it cannot tell, or is not sure enough.
        chance: How sure it is that the message plainly tells or asks something that can be kept, in [0, 1].
    """

    plan: Plan
    chance: float


def proposed(context: PlanningContext) -> Proposed:
    """Return what a message may ask for.

    Args:
        context: The message and what is known around it.
    """
    reading = _Reading(case_of(context, vocabulary_of(context.asked.household)))
    told = [each for each in reading.frames if reading.is_told(each)]
    read = [
        replace(step, confidence=sureness)
        for frame in told
        if (sureness := _sureness(frame)) >= _LOOKED_AT
        for step in reading.steps(frame)
    ]
    offered = [each for each in read if each.confidence >= LEAST_SURE + context.offset]
    held = max((each.confidence for each in read), default=None) if not offered else None
    plan = replace(as_offers(planned([*offered])), held=held)
    return Proposed(plan, max(map(_sureness, told), default=0.0))


def weighed(guess: Plan, chance: float, context: PlanningContext) -> Plan:
    """Return offers of the rules with how sure the trained reader is of them; held back where it is less sure than the household's bar.

    A bar that was not moved lets all of them through.
    """
    sureness = round(max(LEAST_SURE, min(chance + _SURER_OF_GUESSES, 0.999)), 3)
    if context.offset > 0 and sureness < LEAST_SURE + context.offset:
        return replace(guess, actions=(), held=sureness)
    return replace(
        guess, actions=tuple(replace(each, confidence=sureness) for each in guess.actions)
    )


def _sureness(frame: Frame) -> float:
    p = frame.p + _SURER_IF_DONE if frame.act is Act.REPORT_DONE else frame.p
    return round(min(frame.plan, p, 0.999), 3)


def names_nothing(plan: Plan, case: Case) -> bool:
    """Whether a plan would only change or take away something that goes by a name nothing in view has."""
    names = [str(each.params.get("find_by", "")) for each in plan.actions]
    ids, known = (
        {each.id for each in case.things},
        {root for each in case.things for root in _roots(each.title)},
    )
    return all(names) and ids.isdisjoint(names) and not any(_roots(name) & known for name in names)


@dataclass(frozen=True)
class _Reading:
    """A message with its frames, and the open things that it may speak of."""

    case: Case

    @cached_property
    def things(self) -> Sequence[Thing]:
        """Open events, tasks and lines of lists, those that share most words with the message first."""
        lines = [
            Thing(kind="line", id="", title=line, note=note["title"])
            for note in self.case.context.fetched.get("lines", ())
            for line in note["entries"]
        ]
        known = [each for each in (*self.case.things, *lines) if each.is_open and each.title]
        said = _roots(self.case.context.text)
        return sorted(known, key=lambda each: -len(_roots(each.title) & said))

    @cached_property
    def items(self) -> Sequence[Thing]:
        """The things that the reader is shown."""
        once = {(each.kind, each.id or each.title): each for each in reversed(self.things)}
        return [*once.values()][::-1][:MOST_ITEMS]

    @cached_property
    def times(self) -> Sequence[TimeSpan]:
        """All times of the message, read once."""
        return times_in(self.case.context.text, self.case.now, self.case.household)

    @cached_property
    def frames(self) -> Sequence[Frame]:
        """What the message says, clause by clause."""
        context = self.case.context
        asked, household = context.asked, context.asked.household
        before = [
            said
            for each in context.history[-MOST_EARLIER:]
            for said in (Said(asked.member.name, each.text), Said(_ASSISTANT, each.answer))
        ]
        utterance = Utterance(
            text=context.text,
            speaker=asked.member.name,
            sent_at=asked.now,
            surface=Surface.ASSISTANT,
        )
        known = Context(
            before=before,
            items=[self._shown(each) for each in self.items],
            people=frozenset(map(str.casefold, household.words_for_people)),
            locale=household.locale,
        )
        return shipped_reader().read(utterance, known).frames

    def _shown(self, thing: Thing) -> str:
        """Return a thing as the reader learned to see it: "event: choir practice, Ana, Wed 25 Feb 19:30"."""
        if thing.kind == "line":
            return f"list: {thing.note}: {thing.title}"
        members = [self.case.household.member(each) for each in thing.who]
        parts = [thing.title, *(each.name for each in members if each is not None)]
        if thing.start:
            start = datetime.fromisoformat(thing.start)
            parts.append(f"{start:%a %-d %b}" + (f" {start:%H:%M}" if "T" in thing.start else ""))
        return f"{thing.kind}: {', '.join(parts)}"

    @cached_property
    def _is_question(self) -> bool:
        text = self.case.context.text
        return is_question(tokenise(text), text, self.case.context.asked.household.members_by_word)

    def is_told(self, frame: Frame) -> bool:
        """Whether a clause is plainly meant, and no question."""
        is_real = frame.modality in _REAL and not frame.is_negated
        is_real = is_real and modality_of(self._clause(frame)) in _MEANT
        return is_real and not self._is_question and frame.act in _TELLS | {Act.REPORT_DONE}

    def steps(self, frame: Frame) -> Iterator[PlannedAction]:
        """Yield what a clause that is told asks for."""
        if frame.act is Act.REPORT_DONE:
            yield from self._done(frame)
        else:
            yield from self._told(frame)

    def _told(self, frame: Frame) -> Iterator[PlannedAction]:
        """Yield what news or a request of a clause comes to."""
        if frame.predicate is Predicate.CANCEL:
            yield from self._off(frame)
        elif frame.predicate in _CHANGES or frame.act is Act.CORRECT:
            yield from self._changed(frame)
        elif frame.predicate in _HAPPENS:
            yield from self._new_event(frame)

    def _done(self, frame: Frame) -> Iterator[PlannedAction]:
        told = deeds_of(self._clause(frame), self.case.household)
        is_denied = any(each.is_denied for each in told)
        thing = None if is_denied else self._in_words(frame, "task", "line")
        if thing is not None and thing.kind == "line":
            yield action("notes", "remove_line", {"title": thing.note, "line": thing.title})
        elif thing is not None:
            yield action("task", "complete", {"find_by": thing.id or thing.title})

    def _off(self, frame: Frame) -> Iterator[PlannedAction]:
        thing = self._named(frame, "event")
        if thing is not None:
            yield action("calendar", "delete_event", target(thing))

    def _changed(self, frame: Frame) -> Iterator[PlannedAction]:
        thing = self._named(frame, "event")
        said = self._said(frame, SlotName.TO) or self._said(frame, SlotName.WHEN)
        if thing is None and said and self._follows():
            yield from self._by_rules(f"make it {said}")
            return
        spans = self._spans(frame, SlotName.TO) or self._spans(frame, SlotName.WHEN)
        moment = moment_of(spans, self.case.now)
        if thing is None or moment is None or moment.partial is None or thing.start is None:
            yield from self._new_event(frame)
            return
        framed = in_its_frame({"start_time": moment.partial}, said, thing, self.case)
        changes = with_known_day(framed, thing.start)
        if changes["start_time"][:16] != thing.start[:16]:
            yield action("calendar", "update_event", {**target(thing), "changes": changes})

    def _new_event(self, frame: Frame) -> Iterator[PlannedAction]:
        what, moment = self._what(frame), moment_of(self._spans(frame), self.case.now)
        if not what or moment is None or moment.text is None or self._is_over(moment):
            return
        people = " ".join(
            [what, self._said(frame, SlotName.WHO_FOR), self._said(frame, SlotName.WHO_DOES)]
        )
        end = moment.end if moment.end is not None and not moment.is_part else None
        yield action(
            "calendar",
            "create_event",
            {
                "summary": what,
                "location": self._said(frame, SlotName.WHERE),
                "who": who_of(people, self.case),
                "start_time": moment.text,
                "end_time": end and end.isoformat(),
                "rrule": moment.rule,
            },
        )

    def _is_over(self, moment: Moment) -> bool:
        now = self.case.now
        if moment.rule is not None:
            return False
        return (
            moment.start <= now if moment.start else moment.day is None or moment.day < now.date()
        )

    def _by_rules(self, sentence: str) -> Sequence[PlannedAction]:
        """Return what the rules make of a plain sentence."""
        return plan_of(replace(self.case.context, text=sentence)).actions

    def _follows(self) -> bool:
        """Whether the message right before made or proposed something."""
        history = self.case.context.history
        return bool(history) and bool(results_of(history[-1].results))

    def _spans(self, frame: Frame, *names: SlotName) -> list[TimeSpan]:
        """Return the times of a clause, or those of some of its slots; never one that is given up."""
        old = [each for each in frame.slots if each.name is SlotName.FROM]
        own = [each for each in frame.slots if each.name in names]
        return [
            span
            for span in self.times
            if frame.clause.start <= span.start_char < frame.clause.end
            and not any(each.start <= span.start_char < each.end for each in old)
            and (
                not names
                or any(each.start < span.end_char and span.start_char < each.end for each in own)
            )
        ]

    def _said(self, frame: Frame, *names: SlotName) -> str:
        text = self.case.context.text
        return " ".join(text[each.start : each.end] for each in frame.slots if each.name in names)

    def _what(self, frame: Frame) -> str:
        """Return what a clause is about: from its first word for it to the last, as far as nothing else stands between."""
        text = self.case.context.text
        spans = [each for each in frame.slots if each.name is SlotName.WHAT]
        if not spans:
            return ""
        others = [
            each
            for each in frame.slots
            if each.name in {SlotName.WHEN, SlotName.WHERE, SlotName.AMOUNT}
        ]
        end = spans[0].end
        for each in spans[1:]:
            if any(end <= other.start < each.start for other in others):
                break
            end = each.end
        return text[spans[0].start : end].strip(" ,.;:!?")

    def _named(self, frame: Frame, *kinds: str) -> Thing | None:
        """Return the one open thing that a clause names, or that the reader says it speaks of."""
        return self._in_words(frame, *kinds) or self._pointed(frame, *kinds)

    def _in_words(self, frame: Frame, *kinds: str) -> Thing | None:
        """Return the one open thing that a clause names; None where it names none, or several."""
        people = _roots(" ".join(self.case.household.words_for_people))  # they name no thing
        said = _roots(self._clause(frame)) - people
        days = {f"{each.begin:%Y-%m-%d}" for each in self._spans(frame) if each.has_date}
        scored = [
            ((len(common) / len(own), len(common), (each.start or "")[:10] in days), each)
            for each in self.things
            if each.kind in kinds
            and (own := _roots(each.title) - people)
            and (common := own & said)
        ]
        best = max((score for score, _ in scored), default=(0.0, 0, False))
        found = {(each.id or each.title): each for score, each in reversed(scored) if score == best}
        if best[0] >= _NAMES and len(found) == 1:
            return next(iter(found.values()))
        return None

    def _pointed(self, frame: Frame, *kinds: str) -> Thing | None:
        """Return the open thing that the reader says a clause speaks of; a time alone speaks of what was said before it."""
        link = frame.target
        if link is None or link.item is None or link.p < _LEAST_LINK:
            return None
        if self._is_only_time(frame) and not self._follows():
            return None
        thing = self.items[link.item]
        return thing if thing.kind in kinds else None

    def _is_only_time(self, frame: Frame) -> bool:
        """Whether a clause has no word beside its times."""
        text = self.case.context.text[: frame.clause.end]
        beside = without_spans(text, self._spans(frame))[frame.clause.start :]
        return not any(map(str.isalnum, beside))

    def _clause(self, frame: Frame) -> str:
        return self.case.context.text[frame.clause.start : frame.clause.end]


def _roots(text: str) -> frozenset[str]:
    return frozenset(map(root_of, stems(text)))
