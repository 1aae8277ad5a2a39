"""One cycle of idle thought: what comes to mind, which thought it makes, and what is done about it. Pure.

Whatever a cycle comes to follows from its seed and from what it was given: with the same, it comes to the same.
"""

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from datetime import datetime, timedelta
from enum import StrEnum
from itertools import takewhile
from math import sqrt
from random import Random  # noqa: TID251 - every draw follows from the seed that is recorded with the cycle
from typing import Final, Protocol

from kinkeeper.background.drift.activation import graph_of, seeds_of, spread
from kinkeeper.background.drift.model import CURIOUS, Matter, Observation, Snapshot
from kinkeeper.background.drift.observations import observed
from kinkeeper.goals.model import Goal
from kinkeeper.language.name_match import telling_stems
from kinkeeper.memory.concepts import ConceptMap
from kinkeeper.messaging.outbound import QuietHours

FRESH: Final = timedelta(minutes=30)
"""How long an answer may mention what came to mind."""

THOUGHTS_WITHIN: Final = timedelta(minutes=30)
MOST_THOUGHTS: Final = 3
"""Cycles of a household that may come to a thought within THOUGHTS_WITHIN."""

RELATED_FROM: Final = 0.4
"""Cosine of a thought's words and a message's from which they are about the same."""
RELATED_TO_LAST: Final = 20
"""Messages that a thought is compared with."""
NOVEL_BELOW: Final = 0.7
"""Jaccard of what was told before and a thought below which it says something new."""
AGAIN_AFTER: Final = timedelta(days=28)
"""How long nothing is said of the same thing in the same matter again, where that is said once."""
SILENCE: Final = timedelta(minutes=30)
UNANSWERED: Final = timedelta(hours=24)
"""How long a remark waits to be answered before it counts as ignored."""
ANSWERED_WITHIN: Final = timedelta(hours=1)
BETWEEN_REMARKS: Final = timedelta(days=1)
"""Between two remarks to one person; doubled for each that was ignored, up to MOST_BACKOFF times."""
MOST_BACKOFF: Final = 16
PAUSE: Final = timedelta(hours=8)
FAILURES_OF_LAST: Final = (2, 3)
"""So many failed of so many last remarks: a pause follows."""
MOST_A_DAY: Final = 1
"""Remarks to a household on one local day."""
MOST_DEFERRED: Final = 3
DEFERRED_FOR: Final = timedelta(hours=48)

SIGNALS: Final = 2
SIGNALS_WITHIN: Final = timedelta(days=7)
"""A goal is proposed because of what came to mind on so many days of these, this one included."""
BETWEEN_PLANS: Final = timedelta(hours=48)
PLANNING: Final = "PLAN"
"""Name of the action that proposes goals."""

BETWEEN_CURIOUS: Final = timedelta(days=7)
"""Between two questions to one person that only close a gap."""
TOLD_FROM: Final = 0.7
"""How much somebody must want to hear a thought for it to be told."""
RELATED, MATURED = 0.1, 0.2
"""What a thought gains that is talked about just now, and one that has stood the test of days."""
THREADS_A_DAY, MOST_THREADS = 1, 5
EXPLORED_EVERY: Final = timedelta(hours=8)
SURFACED_AFTER: Final = timedelta(hours=72)
EXPLORATIONS: Final = 2
DORMANT_AFTER: Final = timedelta(days=45)


class State(StrEnum):
    """What became of a remark."""

    DEFERRED = "deferred"
    WAITING = "waiting"
    ANSWERED = "answered"
    ACTED_ON = "acted on"
    IGNORED = "ignored"
    DROPPED = "dropped"
    FAILED = "failed"
    UNWANTED = "unwanted"

    @property
    def is_told(self) -> bool:
        """Whether its person was told."""
        return self in {State.WAITING, State.ANSWERED, State.ACTED_ON, State.IGNORED}


@dataclass(frozen=True, slots=True, kw_only=True)
class Remark:
    """Something that a person was, or is still to be, told unasked.

    Attributes:
        id: Of the cycle that made it.
        news: Id of the news: the same is not told twice.
        about: Ids of what it rests on.
        told_at: When it was told, or telling failed; aware.
        thread_id: Where it was told.
    """

    id: str
    member: str
    matter: Matter
    news: str
    text: str
    about: frozenset[str]
    score: float
    state: State
    made_at: datetime
    until: datetime
    told_at: datetime | None = None
    thread_id: str | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class Question:
    """A thought that was not worth telling yet, and is looked at again.

    Attributes:
        news: Id of the news.
        explorations: How often it still held when it was looked at again.
        settled_at: When it held no more, was told or lay dormant; None while it is open.
    """

    member: str
    news: str
    planted_at: datetime
    explored_at: datetime
    explorations: int = 0
    settled_at: datetime | None = None

    def is_matured(self, now: datetime) -> bool:
        """Whether it has held for long enough to be told."""
        return self.explorations >= EXPLORATIONS and now - self.planted_at >= SURFACED_AFTER


@dataclass(frozen=True, slots=True, kw_only=True)
class Said:
    """Something that a person said, or read along.

    Attributes:
        thread_id: Where they said it to the assistant; None in a group, and of others' words.
    """

    at: datetime
    text: str
    thread_id: str | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class Presence:
    """How a person is there just now.

    Attributes:
        said: The last messages that they wrote or read, newest first, at most RELATED_TO_LAST.
        heard: Ids of the news that answers to them mentioned lately.
        wants_quiet: Whether they asked to stay with one thing, or somebody asked for quiet.
    """

    said: Sequence[Said] = ()
    heard: frozenset[str] = frozenset()
    wants_quiet: bool = False


@dataclass(frozen=True, slots=True, kw_only=True)
class History:
    """What idle thought did in a household before.

    Attributes:
        thoughts: Cycles within THOUGHTS_WITHIN that came to a thought.
        days: By id of the news, on how many of the days before this one, within SIGNALS_WITHIN, it came to mind.
        planned: Ids of the news because of which a goal was proposed.
        planned_at: When one was last; aware.
        cooling: Concepts that were seeds within the cooldown.
        remarks: Those of the last months, newest first, of all members.
        questions: Open ones, and those planted today.
    """

    thoughts: int = 0
    days: Mapping[str, int] = field(default_factory=dict)
    planned: frozenset[str] = frozenset()
    planned_at: datetime | None = None
    cooling: frozenset[str] = frozenset()
    remarks: Sequence[Remark] = ()
    questions: Sequence[Question] = ()

    def told_to(self, member: str) -> list[Remark]:
        """Return what a member was told, newest first."""
        told = [each for each in self.remarks if each.member == member and each.state.is_told]
        return sorted(told, key=lambda each: each.told_at or each.made_at, reverse=True)

    def deferred_for(self, member: str) -> list[Remark]:
        """Return what waits to be told to a member, the best first."""
        found = [
            each for each in self.remarks if each.member == member and each.state is State.DEFERRED
        ]
        return sorted(found, key=lambda each: (-each.score, each.until, each.news))


@dataclass(frozen=True, slots=True, kw_only=True)
class Given:
    """All that a cycle rests on, but its seed.

    Attributes:
        known: Memory's map as the member may see it.
        is_map_behind: Whether facts have changed that the map does not show.
        goals: The member's own that are not over.
    """

    snapshot: Snapshot
    known: ConceptMap
    history: History
    presence: Presence
    quiet_hours: QuietHours
    is_map_behind: bool = False
    goals: Sequence[Goal] = ()

    @property
    def now(self) -> datetime:
        """Aware."""
        return self.snapshot.now

    @property
    def member(self) -> str:
        """Member id of whom the cycle is about."""
        return self.snapshot.member.id


@dataclass(frozen=True, slots=True, kw_only=True)
class Context:
    """What an action is scored by.

    Attributes:
        thought: What the cycle came to; None where it came to nothing.
        worth: How much its person would want to hear it now.
    """

    given: Given
    thought: Observation | None = None
    worth: float = 0.0

    @property
    def may_speak(self) -> bool:
        """Whether the person may be told something unasked, now or after the quiet hours."""
        return why_silent(self.given) is None


class Doing(Protocol):
    """What actions are carried out with, in one transaction; each returns what came of it, in a word or two."""

    def tell(self) -> str:
        """Tell the person the thought, or let it wait for the end of the quiet hours."""
        ...

    def propose_goal(self) -> str:
        """Propose to the person to work on what the thought is about; it waits for their approval."""
        ...

    def keep(self) -> str:
        """Keep the thought as a question, to look at it again."""
        ...

    def follow_facts(self) -> str:
        """Bring memory's map up to date."""
        ...


class Action(Protocol):
    """Something that may be done about a thought: a plug-in."""

    @property
    def name(self) -> str:
        """What it is recorded as."""
        ...

    @property
    def priority(self) -> int:
        """Of two that score alike the higher one is chosen."""
        ...

    def score(self, context: Context) -> float:
        """Return how well it fits, >= 0; 0 where it does not."""
        ...

    def run(self, doing: Doing) -> str:
        """Do it; returns what came of it, empty where nothing did."""
        ...


@dataclass(frozen=True, slots=True, kw_only=True)
class Cycle:
    """What a cycle came to.

    Attributes:
        seeds: Concepts it began with.
        activated: Concepts that came to mind, with how strongly.
        action: Name of what is to be done.
        scores: By name of the action.
    """

    seed: int
    seeds: Sequence[str]
    activated: Mapping[str, float]
    thought: Observation | None
    worth: float
    action: str
    scores: Mapping[str, float] = field(default_factory=dict)


def think(given: Given, seed: int, actions: Iterable[Action]) -> Cycle:
    """Return what a cycle comes to."""
    draw = Random(seed)  # noqa: S311 - see the import
    candidates = [*_new(given, observed(given.snapshot))]
    graph = graph_of(given.snapshot, given.known)
    seeds = seeds_of(graph, given.snapshot, candidates, cooling=given.history.cooling, draw=draw)
    activated = spread(graph, seeds)
    thought = _thought(candidates, activated) if given.history.thoughts < MOST_THOUGHTS else None
    worth = 0.0 if thought is None else _worth(given, thought)
    context = Context(given=given, thought=thought, worth=worth)
    scored = [(each.score(context), each.priority, each.name) for each in actions]
    return Cycle(
        seed=seed,
        seeds=seeds,
        activated=activated,
        thought=thought,
        worth=worth,
        action=max(scored)[2],
        scores={name: score for score, _, name in sorted(scored, reverse=True)},
    )


def _new(given: Given, found: Iterable[Observation]) -> Iterator[Observation]:
    """Yield what is news to the person: not told, not deferred, and in other words than what was.

    Of most matters nothing is said of the same thing again for a while, whatever has changed about it.
    """
    remarks = [
        each
        for each in given.history.remarks
        if each.member == given.member
        and (each.state.is_told or each.state in {State.DEFERRED, State.UNWANTED})
    ]
    asked_at = [
        each.made_at
        for each in remarks
        if each.matter in CURIOUS and each.state is not State.UNWANTED
    ]
    was_just_asked = any(given.now - at < BETWEEN_CURIOUS for at in asked_at)
    known = {each.news for each in remarks} | given.presence.heard
    told = [telling_stems(each.text) for each in remarks if each.text]
    lately = {
        (each.matter, thing)
        for each in remarks
        if given.now - each.made_at < AGAIN_AFTER
        for thing in each.about
    }
    for each in found:
        stems = telling_stems(each.text)
        if not lately.isdisjoint((each.matter, thing) for thing in each.once):
            continue
        if was_just_asked and each.matter in CURIOUS:
            continue
        if each.news not in known and all(_jaccard(stems, other) < NOVEL_BELOW for other in told):
            yield each


def _jaccard(some: frozenset[str], others: frozenset[str]) -> float:
    return len(some & others) / len(some | others) if some | others else 0.0


def _thought(
    candidates: Sequence[Observation], activated: Mapping[str, float]
) -> Observation | None:
    """Return the observation that weighs most: by itself, and by how much of it came to mind."""
    stems = {concept: telling_stems(concept) for concept in activated}
    most = max(activated.values(), default=0.0)

    def weight(each: Observation) -> float:
        minds = [strength for concept, strength in activated.items() if each.about & stems[concept]]
        return each.score * (1 + max(minds, default=0.0) / most) if most else each.score

    return max(candidates, key=lambda each: (weight(each), each.score, each.news), default=None)


def _worth(given: Given, thought: Observation) -> float:
    is_matured = any(
        each.news == thought.news and each.settled_at is None and each.is_matured(given.now)
        for each in given.history.questions
    )
    is_related = any(
        cosine(thought.about, telling_stems(each.text)) >= RELATED_FROM
        for each in given.presence.said
    )
    return round(thought.score + RELATED * is_related + MATURED * is_matured, 6)


def cosine(some: frozenset[str], others: frozenset[str]) -> float:
    """Return how far two texts are about the same, by their stems, in [0, 1]."""
    return len(some & others) / sqrt(len(some) * len(others)) if some and others else 0.0


# Whether somebody may be told something unasked.


def why_silent(given: Given) -> str | None:
    """Return why the member is told nothing now; None where they may be. What falls into quiet hours is deferred."""
    now, history = given.now, given.history
    told = history.told_to(given.member)
    spoke_at = max(
        (each.at for each in given.presence.said if each.thread_id is not None), default=None
    )
    if given.presence.wants_quiet:
        return "quiet"
    if spoke_at is not None and now - spoke_at < SILENCE:
        return "talking"
    if any(each.state is State.WAITING for each in told):
        return "unanswered"
    if told and now - (told[0].told_at or now) < BETWEEN_REMARKS * _backoff(told):
        return "too soon"
    if _is_paused(history, now):
        return "failing"
    if given.quiet_hours.hold(now):
        return "full" if len(history.deferred_for(given.member)) >= MOST_DEFERRED else None
    return "enough today" if _told_today(given) >= MOST_A_DAY else None


def _backoff(told: Sequence[Remark]) -> int:
    ignored = sum(1 for _ in takewhile(lambda each: each.state is State.IGNORED, told))
    return min(1 << ignored, MOST_BACKOFF)


def _is_paused(history: History, now: datetime) -> bool:
    most, last = FAILURES_OF_LAST
    tried = [each for each in history.remarks if each.told_at is not None]
    latest = sorted(tried, key=lambda each: each.told_at or each.made_at, reverse=True)[:last]
    failed = [
        each.told_at for each in latest if each.state is State.FAILED and each.told_at is not None
    ]
    return len(failed) >= most and now - failed[0] < PAUSE


def _told_today(given: Given) -> int:
    zone = given.snapshot.household.zone
    told = [each.told_at for each in given.history.remarks if each.state.is_told]
    return sum(
        1
        for each in told
        if each is not None and each.astimezone(zone).date() == given.snapshot.today
    )


# What became of what was thought before.


def settled_remarks(given: Given, found: Sequence[Observation]) -> list[Remark]:
    """Return the remarks to the member whose state has changed: answered, acted on, ignored, or no longer of use.

    Args:
        found: What is observed now.
    """
    holding = {(each.matter, evidence.id) for each in found for evidence in each.evidence}
    return [
        replace(each, state=state)
        for each in given.history.remarks
        if each.member == given.member and (state := _state(given, each, holding)) is not each.state
    ]


def _state(given: Given, remark: Remark, holding: set[tuple[Matter, str]]) -> State:
    now = given.now
    is_over = not any((remark.matter, each) in holding for each in remark.about)
    if remark.state is State.DEFERRED:
        return (
            State.DROPPED
            if is_over or now >= min(remark.until, remark.made_at + DEFERRED_FOR)
            else remark.state
        )
    if remark.state not in {State.WAITING, State.IGNORED} or remark.told_at is None:
        return remark.state
    if is_over and now < remark.until:
        return State.ACTED_ON
    replies = (
        each.at
        for each in given.presence.said
        if each.thread_id == remark.thread_id
        and remark.told_at < each.at <= remark.told_at + ANSWERED_WITHIN
    )
    if remark.state is State.WAITING and any(replies):
        return State.ANSWERED
    return State.IGNORED if now - remark.told_at >= UNANSWERED else remark.state


def explored(given: Given, found: Sequence[Observation]) -> list[Question]:
    """Return the member's questions that were due to be looked at again, as they stand now.

    Args:
        found: What is observed now.
    """
    now, holding = given.now, {each.news for each in found}
    told = {each.news for each in given.history.remarks if each.state is not State.DROPPED}
    changed = []
    for each in given.history.questions:
        if each.member != given.member or each.settled_at is not None:
            continue
        if each.news not in holding or each.news in told or now - each.planted_at >= DORMANT_AFTER:
            changed.append(replace(each, settled_at=now))
        elif now - each.explored_at >= EXPLORED_EVERY:
            changed.append(replace(each, explored_at=now, explorations=each.explorations + 1))
    return changed


def due_now(given: Given) -> Remark | None:
    """Return the deferred remark that is told to the member now, the best of them; None while none may be."""
    waiting = given.history.deferred_for(given.member)
    is_quiet = given.quiet_hours.hold(given.now)
    return waiting[0] if waiting and not is_quiet and why_silent(given) is None else None
