"""A message as it is read: its parts and surroundings, what memory adds, the trained reader's frames."""

import asyncio
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from datetime import datetime, timedelta
from functools import lru_cache
from typing import Final

import structlog

from kinkeeper.actions.bars import NOT_MOVED, Bar, Offsets
from kinkeeper.arrangements import Heard
from kinkeeper.brain.model import Brain, BrainAnswer, BrainQuery
from kinkeeper.core.beside import beside
from kinkeeper.core.errors import UnavailableError
from kinkeeper.core.gates import ConfidenceType, GateDecision, GateResult, Stage
from kinkeeper.core.ids import stable_id
from kinkeeper.core.messages import MessageKind
from kinkeeper.core.time import Clock
from kinkeeper.household.model import Household, Member
from kinkeeper.household.viewers import HOUSEHOLD_SCOPE, Viewer
from kinkeeper.household.vocabulary import WordKind
from kinkeeper.messaging.inbox import StoredMessage
from kinkeeper.observer.arrangement_rows import Arranged
from kinkeeper.observer.consultation import Consultation
from kinkeeper.observer.extraction.completion import Earlier
from kinkeeper.observer.model import Extraction, OpenQuestion, Stance, Task
from kinkeeper.observer.wording.message_view import Reading
from kinkeeper.observer.wording.participants import Participants, without_private
from kinkeeper.reading import Clause, Context, Frame, Modality, Said, Surface, Utterance
from kinkeeper.reading.corrections import is_taken_for_joke
from kinkeeper.reading.times.time_text import WEEKDAYS
from kinkeeper.reading.trained import TrainedReader, shipped_reader

# What memory adds: the questions a message raises, asked with a timeout and a cache, and their
# gate.
#
# The questions may leave this machine. They are made of templates and of the household's vocabulary
# alone; names of people and of places are taken out of that, too.

_JOBS = frozenset({Task.PICKUP, Task.DROPOFF, Task.COVER})
_UNNAMED = "activity"


@dataclass(frozen=True, slots=True, kw_only=True)
class BrainContext:
    """What memory said about a message.

    Attributes:
        answers: Their answers; shorter than the questions where one got none.
        trouble: Why one got none; None where all were answered.
    """

    queries: tuple[BrainQuery, ...] = ()
    answers: tuple[BrainAnswer, ...] = ()
    trouble: str | None = None

    @property
    def is_degraded(self) -> bool:
        """Whether a question timed out or failed."""
        return self.trouble is not None

    @property
    def relevance(self) -> float | None:
        """The best answer's relevance; None where nothing was asked or nothing came back."""
        if self.is_degraded or not self.answers:
            return None
        return max(answer.relevance for answer in self.answers)

    def gate(self, threshold: float) -> GateResult | None:
        """Return the gate's result; None where nothing was asked."""
        if not self.queries:
            return None
        relevance = self.relevance
        passes = relevance is not None and relevance >= threshold
        return GateResult(
            stage=Stage.BRAIN,
            confidence_type=ConfidenceType.RELEVANCE,
            score=relevance,
            threshold=threshold,
            decision=GateDecision.PROCEED if passes else GateDecision.PROCEED_NO_CONTEXT,
        )


def compose_queries(
    extraction: Extraction, participants: Participants, *, limit: int
) -> tuple[BrainQuery, ...]:
    """Return the abstract questions a message raises, the most telling first.

    Args:
        participants: The household compiled; children are passed under ids that only it can resolve.
        limit: Most questions, >= 0.
    """
    if not extraction.is_coordination or not extraction.dates:
        return ()
    day = extraction.dates[0]
    weekday = WEEKDAYS[day.weekday()]
    children = extraction.child
    child = stable_id(participants.household.id, children[0]) if children else None
    queries = []
    if extraction.activity:
        name = _abstract(extraction.activity, participants)
        queries.append(
            BrainQuery(
                text=f"{name} schedule {weekday}",
                activity=extraction.activity,
                day=day,
                child=child,
            )
        )
    if extraction.task in _JOBS and not extraction.owners:
        queries.append(
            BrainQuery(
                text=f"who usually does {extraction.task} on {weekday}",
                task=extraction.task,
                day=day,
                child=child,
            )
        )
    queries.append(BrainQuery(text=f"events {weekday}", day=day, child=child))
    return tuple(queries[:limit])


def _abstract(activity: str, participants: Participants) -> str:
    """Return an activity in words that may leave: an extractor may have read it from anywhere."""
    vocabulary = participants.vocabulary
    known = {word.id for word in vocabulary.of_kind(WordKind.ACTIVITY)}
    if activity not in known and vocabulary.generic_activity(activity) is None:
        return _UNNAMED
    return without_private(activity, participants.private_words) or _UNNAMED


class ContextSource:
    """Asks the brain, with a timeout and a cache.

    Args:
        brain: Who answers.
        viewer: On whose behalf it is asked: whoever reads along in the chat.
        timeout: Longest wait for one question.
        cache_ttl: How long an answer is kept; the event graph may have changed after that.
        clock: Tells the age of cached answers.
    """

    def __init__(
        self,
        brain: Brain,
        viewer: Viewer,
        *,
        timeout: timedelta,
        cache_ttl: timedelta,
        clock: Clock,
    ) -> None:
        self._brain = brain
        self._viewer = viewer
        self._timeout = timeout
        self._cache_ttl = cache_ttl
        self._clock = clock
        self._cache: dict[BrainQuery, tuple[datetime, BrainAnswer]] = {}

    async def ask(self, queries: Sequence[BrainQuery]) -> BrainContext:
        """Return what the brain says; a question that fails or takes too long degrades the context."""
        answers = []
        for query in queries:
            try:
                answers.append(await self._cached(query))
            except TimeoutError:
                trouble = f"no answer came within {self._timeout.total_seconds():g} s"
            except UnavailableError as error:
                trouble = str(error)
            else:
                continue
            return BrainContext(queries=tuple(queries), answers=tuple(answers), trouble=trouble)
        return BrainContext(queries=tuple(queries), answers=tuple(answers))

    async def _cached(self, query: BrainQuery) -> BrainAnswer:
        now = self._clock.now()
        found = self._cache.get(query)
        if found and now - found[0] <= self._cache_ttl:
            return found[1]
        async with asyncio.timeout(self._timeout.total_seconds()):
            answer = await self._brain.ask(query, self._viewer)
        self._cache = {
            key: kept for key, kept in self._cache.items() if now - kept[0] <= self._cache_ttl
        }
        self._cache[query] = (now, answer)
        return answer


_OPENS_NOTHING: Final = frozenset({Stance.DECLINES, Stance.WITHDRAWS, Stance.ACCEPTS})
_CHANGES: Final = frozenset({Task.CANCEL, Task.MOVE})
_OF_JOBS: Final = _JOBS | {Task.ATTEND}
_MOST: Final = 0.95
"""The rules are never surer: a bar above it would hide all."""


def bar_of(task: Task | None) -> Bar | None:
    """Return the bar of a kind of card; None of changes: one that is lost leaves something in the calendar that is off."""
    if task in _CHANGES:
        return None
    return Bar.JOBS if task in _OF_JOBS else Bar.EVENTS


@dataclass(frozen=True, slots=True, kw_only=True)
class Thresholds:
    """From where on what is read counts.

    Attributes:
        shipped: By the settings.
        offsets: What the household's decisions about cards moved.
    """

    shipped: float
    offsets: Offsets = NOT_MOVED

    def of(self, extraction: Extraction) -> float:
        """Return the confidence from which an arrangement counts; what takes something back or answers counts as ever."""
        if extraction.stance in _OPENS_NOTHING:
            return self.shipped
        return min(self.shipped + self.offset(extraction.task), max(self.shipped, _MOST))

    def offset(self, task: Task | None) -> float:
        """Return how much surer one must be of a kind of card than by the settings."""
        bar = bar_of(task)
        return 0.0 if bar is None else self.offsets.of(bar)

    def holds(self, extraction: Extraction) -> bool:
        """Whether only what was learned keeps an arrangement from counting."""
        return extraction.is_coordination and self.shipped <= extraction.confidence < self.of(
            extraction
        )


MOST_PARTS: Final = 12
"""Nobody arranges more in one message; a longer list holds up all others, and would be as many cards."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Part:
    """One arrangement of a message.

    Attributes:
        reading: The words that make it.
        extraction: What they say, with what the messages just before add.
        corrects: Ids of the rows of the messages that it sets right: what was said, what was answered.
        corrected: The arrangement that it sets right, as it stood.
        consultation: What a model was asked about it, if one was.
        answers: The channel's id of the message that the trained reader takes it to answer, if any.
        by_rules: What the rules alone read, where the trained reader may have added to it: the ground to speak.
    """

    reading: Reading
    extraction: Extraction
    corrects: tuple[int, ...] = ()
    corrected: Extraction | None = None
    consultation: Consultation | None = None
    answers: str | None = None
    by_rules: Extraction | None = None

    def covers(self, clause: Clause) -> bool:
        """Tell whether any of its words stand in a clause of the message."""
        symbols = self.reading.symbols
        start, end = (symbols[0].start, symbols[-1].end) if symbols else (0, len(self.reading.text))
        return start < clause.end and clause.start < end


@dataclass(frozen=True, slots=True, kw_only=True)
class Prepared:
    """A message read, and what memory says about it; nothing is decided yet.

    Attributes:
        original: What it edits, if it is an edit.
        sent_at: When it was said, in the household's zone; of an edit, when the original was.
        member: Who sent it, if known.
        scope: Who may see what it tells.
        parts: What it arranges, one part each; most messages have one.
        talked_since: When somebody else last asked something, of the messages just before.
        refused: The channel's ids of the messages whose jobs the sender has refused.
        unread_parts: How many more it arranges that were left out, as there were too many.
        heard: The message with its frames, the ids of the messages before it, and the ids of the actions that were open.
        is_heard: Whether the trained reader could read it.
        thresholds: From where on what it says counts.
    """

    stored: StoredMessage
    original: StoredMessage | None
    sent_at: datetime
    member: Member | None
    scope: str
    parts: tuple[Part, ...]
    brain: BrainContext
    talked_since: datetime | None = None
    refused: frozenset[str] = frozenset()
    unread_parts: int = 0
    heard: Heard
    is_heard: bool = True
    thresholds: Thresholds


@dataclass(frozen=True, slots=True, kw_only=True)
class Loaded:
    """What `prepare` needs from the database.

    Attributes:
        original: What it edits, if it is an edit.
        asked: Questions it may answer, newest first.
        refused: The channel's ids of those among them that its sender has refused.
        window: Its context window, newest first.
        last_child: Child the chat was last about, hours ago at most; None where it was several or nobody.
        arranged: What the chat has arranged lately, newest first, where the message may set it right.
        talk: The last messages of the chat up to a day before it, oldest first.
        items: What is open in the chat, as people call it, by action id, the latest first.
        known: Who may see what is kept from somebody already and the message speaks of.
        offsets: How far the bars were moved when it came in.
    """

    stored: StoredMessage
    original: StoredMessage | None
    asked: Sequence[OpenQuestion]
    window: Sequence[StoredMessage]
    last_child: str | None
    refused: frozenset[str] = frozenset()
    arranged: Sequence[Arranged] = ()
    talk: Sequence[StoredMessage] = ()
    items: Mapping[str, str] = field(default_factory=dict)
    known: str = HOUSEHOLD_SCOPE
    offsets: Offsets = NOT_MOVED


@dataclass(frozen=True, slots=True, kw_only=True)
class Around:
    """What is known around one arrangement of a message.

    Attributes:
        number: Which arrangement it is, from 0.
        loaded: The message with what surrounds it.
        sender: Who wrote it, if known.
        earlier: Reads the context window, newest first.
        thresholds: From where on an arrangement counts.
    """

    number: int
    loaded: Loaded
    sender: Member | None
    participants: Participants
    earlier: Callable[[], Sequence[Earlier]]
    thresholds: Thresholds


# What the trained reader makes of a message in its talk. Slow enough to be done beside the event
# loop.

STAGE: Final = "observer.trained_reader"
"""Name under which it is counted that a message was read without it."""

_without_encoder = lru_cache(maxsize=1)(lambda: TrainedReader(with_encoder=False))

log = structlog.get_logger(__name__)


async def heard_in(loaded: Loaded, household: Household) -> tuple[Heard, bool]:
    """Return a message with its frames, and whether they could be read as they should.

    Where the encoder fails, the linear heads read alone; where these fail, too, there are no frames.

    Args:
        loaded: The message with what surrounds it.
    """
    is_encoded = False
    try:
        frames, is_whole = await beside(lambda: _frames(shipped_reader(), loaded, household)), True
        is_encoded = shipped_reader().has_encoder
    except Exception as error:  # noqa: BLE001 - an optional second reader never costs a message its turn
        log.warning("observer.trained_reader.failed", error=type(error).__name__)
        frames, is_whole = await _by_linear_heads(loaded, household), False
    message = (loaded.original or loaded.stored).message
    heard = Heard(
        message_id=message.message_id,
        speaker=message.sender,
        text=loaded.stored.message.text,
        sent_at=message.sent_at,
        frames=frames,
        before=tuple(each.message.message_id for each in loaded.talk),
        items=tuple(loaded.items),
        is_encoded=is_encoded,
    )
    return heard, is_whole


async def _by_linear_heads(loaded: Loaded, household: Household) -> tuple[Frame, ...]:
    try:
        return await beside(lambda: _frames(_without_encoder(), loaded, household))
    except Exception as error:  # noqa: BLE001 - see above
        log.warning("observer.linear_heads.failed", error=type(error).__name__)
        return ()


def _frames(reader: TrainedReader, loaded: Loaded, household: Household) -> tuple[Frame, ...]:
    spoken = (loaded.original or loaded.stored).message.sent_at
    stored = loaded.stored
    if stored.message.kind is MessageKind.REACTION or not stored.message.text.strip():
        return ()
    utterance = Utterance(
        text=stored.message.text,
        speaker=_name(stored, household),
        sent_at=spoken.astimezone(household.zone),
        surface=Surface.GROUP,
    )
    context = Context(
        before=[Said(_name(each, household), each.message.text) for each in loaded.talk],
        items=tuple(loaded.items.values()),
        people=frozenset(map(str.casefold, household.words_for_people)),
        locale=household.locale,
    )
    frames = reader.read(utterance, context).frames
    if is_taken_for_joke(utterance.text):
        frames = tuple(replace(each, modality=Modality.JOKE) for each in frames)
    return frames


def _name(stored: StoredMessage, household: Household) -> str:
    member = household.member(stored.message.sender) if stored.is_member else None
    return member.name if member else stored.message.sender
