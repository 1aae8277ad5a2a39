"""What of a model's answer about a batch stands on the talk, its time rules, the household and the things shown. Pure.

A quotation has to occur in the message that the item speaks of or in one before it; an id has to be one that was shown;
a time has to be what the rules read, or a known time with what was said; a person has to be a member or "outside
person", and whoever is to do something has to have spoken, or been named. Words of one person settle nothing for
another: what Ann says of Ben is given to Ben, not taken by him. Whatever was read from something secret is secret,
whichever way the model has it. What has no ground is left out, and each such value makes the frame less sure.
"""

from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from datetime import date, datetime, time
from typing import Final

from kinkeeper.household.name_folding import fold
from kinkeeper.reading.batch import Batch, Heard, Thing, shortened, shown_text
from kinkeeper.reading.batch_answer import OUTSIDE, BatchAnswer, Item, quoted_span
from kinkeeper.reading.batch_times import (
    Spoken,
    Standing,
    TimeRules,
    Words,
    claimed_time,
    days_named,
    settled_time,
)
from kinkeeper.reading.model import (
    Act,
    Clause,
    Frame,
    Modality,
    Predicate,
    Slot,
    SlotName,
    Target,
    cut_clauses,
)

ENGINE: Final = "model"

_SURE: Final = 0.9
_UNSURE: Final = 0.5
_LEFT_OUT: Final = 0.7
_FAR_FETCHED: Final = 0.85
"""Factors of a frame's chance: a starting point until a merge is fitted on readings of several engines."""

_OWN_DEEDS: Final = frozenset({Act.OFFER, Act.PROMISE})


@dataclass(frozen=True, slots=True, kw_only=True)
class Found:
    """What a message does to a plan, as far as it has ground.

    Attributes:
        message: Position of the message in the batch.
        frame: In the contract of all readers; its spans lie in that message, and its target counts among the messages
            of the batch, or among the things that were shown: open arrangements, then events.
        answers: Position of the message that it answers, settles or changes; None where there is none.
        thing: Key of the open arrangement or the event that it is about; None where there is none.
        title: What the plan is, in the words of the talk or as the thing is called; None where nobody said.
        at: When it is: a day, or a moment in the household's zone; None where nobody said.
        who: Whom it concerns: members' names, or "outside person".
        by: Who does it: members' names, or "outside person".
        is_quoted: Whether the message itself has words for what or when; one "it's off" says nothing of many things.
        left_out: Names of the values that had no ground, one an occurrence.
    """

    message: int
    frame: Frame
    answers: int | None
    thing: str | None
    title: str | None
    at: datetime | date | None
    who: tuple[str, ...]
    by: tuple[str, ...]
    is_quoted: bool
    left_out: tuple[str, ...]


@dataclass(frozen=True, slots=True, kw_only=True)
class Grounded:
    """An answer with only what has ground.

    Attributes:
        found: In the order of the answer.
        refused: How many items were left out whole, by reason.
    """

    found: tuple[Found, ...]
    refused: Mapping[str, int]


def grounded(answer: BatchAnswer, batch: Batch) -> Grounded:
    """Return what of an answer has ground.

    Args:
        answer: As the model gave it.
        batch: What it was shown.
    """
    ground = _Ground(batch)
    found: list[Found] = []
    refused: Counter[str] = Counter()
    unquoted: set[int] = set()
    for item in answer.items:
        kept = ground.found(item)
        if isinstance(kept, str):
            refused[kept] += 1
        elif any(_is_same(kept, each) for each in found):
            refused["said twice"] += 1
        elif kept.is_quoted or kept.message not in unquoted:
            found.append(kept)
            unquoted |= set() if kept.is_quoted else {kept.message}
        else:
            refused["no evidence"] += 1
    return Grounded(found=tuple(found), refused=dict(refused))


def _is_same(one: Found, other: Found) -> bool:
    """Whether two items say the same of the same plan, however sure they are."""
    return replace(one, frame=other.frame, left_out=()) == replace(other, left_out=()) and (
        one.frame.act == other.frame.act and one.frame.predicate == other.frame.predicate
    )


@dataclass(slots=True)
class _Draft:
    """One item while it is looked at.

    Attributes:
        item: As the model gave it.
        own: Short id of its message.
        before: Short ids of the messages up to its own, the nearest first: its own, what it answers, others.
        evidence: Short ids of messages and things that something was taken from.
        slots: Spans found in its own message.
        left_out: Names of values without ground.
        far_fetched: How many values stand on something that the message does not itself say or answer.
    """

    item: Item
    own: str
    before: Sequence[str]
    evidence: set[str] = field(default_factory=set)
    slots: list[Slot] = field(default_factory=list)
    left_out: list[str] = field(default_factory=list)
    far_fetched: int = 0


class _Ground:
    """The batch that answers are held against.

    Args:
        batch: As it was shown.
    """

    def __init__(self, batch: Batch) -> None:
        self._heard = batch.heard
        self._things = batch.things
        self._new = set(batch.new_ids)
        self._first = len(batch.messages) - len(self._heard)
        self._order = {key: number for number, key in enumerate(self._heard)}
        self._days: dict[str, frozenset[date]] = {}
        # When that is of which a message of this answer spoke first.
        self._settled: dict[str, datetime | date | None] = {}
        self._people = _by_word(batch.people)
        self._rules = TimeRules(
            zone=batch.messages[-1].sent_at.tzinfo,
            locale=batch.locale,
            named_times=batch.named_times,
        )

    def found(self, item: Item) -> Found | str:
        """Return what of an item has ground, or why none of it has."""
        if item.does == "nothing":
            return "nothing"
        if item.message not in self._new:
            return "no new message"
        draft = self._draft(item)
        thing, answers = self._reference(draft)
        title = self._title(draft, thing)
        if item.does == "answer" and thing is None and answers is None and title is None:
            return "answers nothing"
        at = self._time(draft, thing)
        if not draft.evidence:
            return "no evidence"
        by, who = self._in_charge(draft, thing), self._concerned(draft, thing)
        act = _act(item, self._heard[draft.own].speaker, by, self._owners(thing, answers))
        if not by and act in _OWN_DEEDS:
            by = self._speaker(draft.own)
        return Found(
            message=self._position(draft.own),
            frame=self._frame(draft, act, self._target(thing, answers), is_moved=at is not None),
            answers=None if answers is None else self._position(answers),
            thing=None if thing is None else self._things[thing].key,
            title=title,
            at=at,
            who=who,
            by=by,
            is_quoted=draft.own in draft.evidence,
            left_out=tuple(draft.left_out),
        )

    def _draft(self, item: Item) -> _Draft:
        """Begin on an item: evidence is looked for in its message, then in what it answers, then in what came before."""
        own = item.message
        earlier = [key for key in self._heard if self._order[key] < self._order[own]]
        nearest = [own, *([item.ref] if item.ref in earlier else []), *reversed(earlier)]
        return _Draft(item=item, own=own, before=list(dict.fromkeys(nearest)))

    def _reference(self, draft: _Draft) -> tuple[str | None, str | None]:
        """Return the thing and the earlier message that an item is about."""
        ref = draft.item.ref
        if ref is None:
            return None, None
        if ref in self._things or ref in draft.before[1:]:
            draft.evidence.add(ref)
            return (ref, None) if ref in self._things else (None, ref)
        draft.left_out.append("ref")
        return None, None

    def _title(self, draft: _Draft, thing: str | None) -> str | None:
        """Return what the plan is called: as quoted, else as the thing is called."""
        known = self._things[thing].title if thing else None
        said = draft.item.title
        if said is None:
            return known
        words = self._quoted(draft, said, SlotName.WHAT)
        if words is not None:
            return known or words.text[words.start : words.end]
        if known is None or fold(said) != fold(shortened(known)):
            draft.left_out.append("title")
        return known

    def _time(self, draft: _Draft, thing: str | None) -> datetime | date | None:
        """Return when it is, as the time rules have it."""
        item = draft.item
        known = self._things[thing].at if thing else self._spoken_at(item.ref)
        spoken = Spoken(
            day=self._said(draft, item.day, "day"),
            hour=self._said(draft, item.hour, "hour"),
            known=known,
            days=self._days_before(draft),
        )
        claimed = claimed_time(item.at, self._heard[draft.own].sent_at)
        at, standing = settled_time(spoken, claimed, self._rules)
        draft.far_fetched += standing is Standing.BEFORE
        if at is not None and self._settled.get(draft.own) is None:
            self._settled[draft.own] = at
        if standing is Standing.NOTHING or (item.at is not None and claimed is None):
            draft.left_out.append("at")
        return at

    def _spoken_at(self, key: str | None) -> datetime | date | None:
        """Return when that is of which a message speaks: as settled in this answer, else as the rules read all of it."""
        heard = self._heard.get(key or "")
        if heard is None or key is None:
            return None
        if key not in self._settled:
            text = shown_text(heard)
            words = Words(text=text, start=0, end=len(text), sent_at=heard.sent_at)
            spoken = Spoken(day=words, hour=words, known=None)
            self._settled[key], _ = settled_time(spoken, None, self._rules)
        return self._settled[key]

    def _days_before(self, draft: _Draft) -> frozenset[date]:
        """Return the days that were named up to a message; each message is read once."""
        for key in draft.before:
            if key not in self._days:
                heard = self._heard[key]
                self._days[key] = days_named(shown_text(heard), heard.sent_at, self._rules)
        return frozenset().union(*(self._days[key] for key in draft.before))

    def _said(self, draft: _Draft, value: str | None, name: str) -> Words | date | time | None:
        """Return the words that a value quotes, or the day or time of the thing that it names."""
        if value is None:
            return None
        if thing := self._things.get(value):
            draft.evidence.add(value)
            return _of_thing(thing, name)
        words = self._quoted(draft, value, SlotName.WHEN)
        if words is None:
            draft.left_out.append(name)
        return words

    def _quoted(self, draft: _Draft, quote: str, slot: SlotName | None = None) -> Words | None:
        """Find a quotation in the message itself, in what it answers, or in one before it."""
        for key in draft.before:
            heard = self._heard[key]
            text = shown_text(heard)
            span = quoted_span(quote, text)
            if span is None:
                continue
            draft.evidence.add(key)
            draft.far_fetched += key not in {draft.own, draft.item.ref}
            if key == draft.own and slot is not None:
                draft.slots.append(Slot(name=slot, start=span[0], end=span[1], p=_SURE))
            return Words(text=text, start=span[0], end=span[1], sent_at=heard.sent_at)
        return None

    def _concerned(self, draft: _Draft, thing: str | None) -> tuple[str, ...]:
        """Return whom it concerns; a member of whom nobody spoke may be meant by "she", which is less sure."""
        people = [*self._members(draft, draft.item.who, "who")]
        spoken_of = {*self._spoken_of(draft, thing)}
        draft.far_fetched += any(each not in spoken_of for each in people)
        self._mark(draft, people, SlotName.WHO_FOR)
        return tuple(people)

    def _in_charge(self, draft: _Draft, thing: str | None) -> tuple[str, ...]:
        """Return who does it: of the members only who has spoken, is named, or was to do it."""
        spoken_of = {*self._spoken_of(draft, thing)}
        people = [*self._members(draft, draft.item.by, "by")]
        kept = [each for each in people if each in spoken_of]
        draft.left_out.extend("by" for _ in range(len(people) - len(kept)))
        self._mark(draft, kept, SlotName.WHO_DOES)
        return tuple(kept)

    def _mark(self, draft: _Draft, people: Sequence[str], slot: SlotName) -> None:
        """Note where the message itself names people."""
        text = shown_text(self._heard[draft.own])
        for word, member in self._people.items():
            span = quoted_span(word, text) if member in people else None
            if span is not None:
                draft.slots.append(Slot(name=slot, start=span[0], end=span[1], p=_SURE))

    def _members(self, draft: _Draft, names: Sequence[str], what: str) -> Iterator[str]:
        """Yield the members that names stand for; a name from the talk that is no member's is an outside person's."""
        for name in dict.fromkeys(names):
            member = self._people.get(fold(name))
            if member is not None:
                yield member
            elif fold(name) == OUTSIDE or self._quoted(draft, name) is not None:
                yield OUTSIDE
            else:
                draft.left_out.append(what)

    def _spoken_of(self, draft: _Draft, thing: str | None) -> Iterator[str]:
        """Yield who has spoken or been named up to a message, and whom the thing concerns."""
        yield OUTSIDE
        for key in draft.before:
            yield from self._speaker(key)
        said = [shown_text(self._heard[key]) for key in draft.before]
        for word, member in self._people.items():
            if any(quoted_span(word, text) for text in said):
                yield member
        if thing is not None:
            yield from (*self._things[thing].who, *self._things[thing].by)

    def _owners(self, thing: str | None, answers: str | None) -> frozenset[str]:
        """Return whose doing is settled already: who offered in what is answered, and who was to do the thing."""
        offered = self._speaker(answers) if answers else ()
        return frozenset({*offered, *(self._things[thing].by if thing else ())})

    def _speaker(self, key: str) -> tuple[str, ...]:
        speaker = self._heard[key].speaker
        return (self._people.get(fold(speaker), speaker),)

    def _position(self, key: str) -> int:
        return self._first + self._order[key]

    def _target(self, thing: str | None, answers: str | None) -> Target | None:
        """Return what a frame speaks of: counted among the batch's messages, or among the things shown."""
        if thing is not None:
            return Target(item=[*self._things].index(thing), p=_SURE)
        return None if answers is None else Target(said=self._position(answers), p=_SURE)

    def _frame(self, draft: _Draft, act: Act, target: Target | None, *, is_moved: bool) -> Frame:
        item, heard = draft.item, self._heard[draft.own]
        chance = (
            (_SURE if item.certain else _UNSURE)
            * _LEFT_OUT ** len(draft.left_out)
            * _FAR_FETCHED**draft.far_fetched
        )
        return Frame(
            clause=_clause(heard.text, draft.slots),
            act=act,
            predicate=_predicate(item, is_moved=is_moved),
            modality=Modality.PLAIN if item.certain else Modality.HYPOTHETICAL,
            is_negated=False,
            is_secret=item.secret or heard.is_secret or any(map(self._is_secret, draft.evidence)),
            slots=tuple(sorted({*draft.slots}, key=lambda each: (each.start, each.end))),
            target=target,
            plan=chance,
            p=chance,
        )

    def _is_secret(self, key: str) -> bool:
        known: Mapping[str, Heard | Thing] = {**self._heard, **self._things}
        return known[key].is_secret


def _by_word(people: Mapping[str, Sequence[str]]) -> dict[str, str]:
    """Return members by the folded words for them; a word for several stands for none."""
    named = {(fold(word), name) for name, also in people.items() for word in (name, *also)}
    several = Counter(word for word, _ in named)
    return {word: name for word, name in named if several[word] == 1 and word}


def _of_thing(thing: Thing, name: str) -> date | time | None:
    if name == "day":
        return thing.day
    return thing.at.time() if isinstance(thing.at, datetime) else None


def _act(item: Item, speaker: str, by: Sequence[str], owners: frozenset[str]) -> Act:
    """Return the act; whose words they are decides: nobody takes something on in another's words."""
    act = Act(item.act)
    others = [each for each in by if fold(each) != fold(speaker)]
    if act is Act.ASSIGN and by and not others:
        return Act.OFFER
    is_anothers_deed = act in _OWN_DEEDS and others
    is_unasked = act is Act.ACCEPT and any(each not in owners for each in others)
    return Act.ASSIGN if is_anothers_deed or is_unasked else act


def _predicate(item: Item, *, is_moved: bool) -> Predicate:
    if item.does == "cancel":
        return Predicate.CANCEL
    if item.does == "change":
        return Predicate.MOVE if is_moved else Predicate.CHANGE
    return Predicate(item.kind)


def _clause(text: str, slots: Sequence[Slot]) -> Clause:
    """Return the clause that holds the quoted words; all of the message where several do, or none."""
    clauses = cut_clauses(text)
    held = [each for each in clauses if any(each.start <= slot.start < each.end for slot in slots)]
    if len(held) == 1:
        return held[0]
    return Clause(clauses[0].start, clauses[-1].end)
