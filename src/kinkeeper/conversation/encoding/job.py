"""Encoding as durable work: an exchange becomes a gist, then facts, and a talk that is over an episode.

Each stage is a row of its own. Rows of one stage and thread are worked on one at a time, in the order in which
things were said; a stage that fails is tried again and holds up no other.
"""

import re
from collections import Counter
from collections.abc import Collection, Sequence
from dataclasses import dataclass
from datetime import datetime, timedelta
from enum import StrEnum
from functools import cache
from importlib.resources import files
from typing import Any

import structlog
from sqlalchemy import Connection, Integer, bindparam, literal_column, or_, select, update

from kinkeeper.actions.requests.model import ActionResult, ResultStatus
from kinkeeper.conversation.context import repository
from kinkeeper.conversation.context.model import CommittedTurn
from kinkeeper.conversation.context.repository import ENCODING, conversation_encodings
from kinkeeper.conversation.context.topics import SILENCE, gist_of, gloss_of
from kinkeeper.conversation.context.turn_context import FIRST_STAGE
from kinkeeper.conversation.model import Mode
from kinkeeper.conversation.turn import Turn
from kinkeeper.conversation.turns import find_turn, last_turns
from kinkeeper.core.errors import NotFoundError
from kinkeeper.core.ids import stable_id
from kinkeeper.core.time import Clock
from kinkeeper.household.model import Household, Member, Named
from kinkeeper.household.viewers import Viewer, person_scope
from kinkeeper.jobs import leases
from kinkeeper.jobs.job import Job
from kinkeeper.jobs.leases import Key, LeaseLostError, WorkState
from kinkeeper.memory.episodes import insert_episodes, list_episodes
from kinkeeper.memory.evidence import out_of
from kinkeeper.memory.extraction_job import SessionReading
from kinkeeper.memory.finding.terms import stems, words
from kinkeeper.memory.model import Episode, EpisodeKind, Origin
from kinkeeper.store.prepared import Prepared
from kinkeeper.store.store import Store

# A talk that is over, as one episode: what it was about, who took part, and how much it matters.
# Pure.

_NOVELTY, _EMOTION, _COMMITMENT, _OPEN = 0.4, 0.4, 0.2, 1.25
_MUCH_FEELING, _MUCH_PROMISED = 3, 2
_TITLE_WORDS = 4
_RECURRING = 2
_EXCLAIMED = re.compile(r"!+|[A-Z]{4,}|[\U0001F600-\U0001F64F\u2764\U0001F494\U0001F389]")
_PROMISED = re.compile(
    r"\b(?:i|we)(?:'ll|’ll| will| promise| must| have to| need to|'m going to|’m going to| am going to| are going to)\b"
    r"|\b(?:don't|don’t|do not) forget\b|\bremind me\b|\bby (?:monday|tuesday|wednesday|thursday|friday|saturday|sunday|tomorrow|tonight|noon)\b|\bdeadline\b",
    re.IGNORECASE,
)
_OPEN_RESULTS = frozenset(
    {ResultStatus.AWAITING, ResultStatus.UNDER_WAY, ResultStatus.FAILED, ResultStatus.UNCLEAR}
)


@dataclass(frozen=True, slots=True, kw_only=True)
class Said:
    """One exchange of a talk.

    Attributes:
        text: What the person said.
        was_asked_back: Whether the assistant asked something that nobody answered yet.
    """

    text: str
    at: datetime
    results: Sequence[ActionResult] = ()
    was_asked_back: bool = False


@dataclass(frozen=True, slots=True, kw_only=True)
class Told:
    """What a talk comes to.

    Attributes:
        title: One line.
        narrative: A sentence or two; no words of a person but the names of what they spoke of.
        topic: Its words, "" where none recurs.
        salience: In [0, 1].
    """

    title: str
    narrative: str
    topic: str
    salience: float


def told(
    talk: Sequence[Said], *, name: str, names: Collection[str], before: Collection[str]
) -> Told | None:
    """Return a talk as an episode; None where nothing was said in it.

    Statements stand in memory by themselves, where they can be corrected and forgotten: here is only what the
    talk was about, in words that recur or that name the family's people and things.

    Args:
        talk: Its exchanges, oldest first, at least one.
        names: Words for the household's people, places and activities.
        before: Stems of what this person said before the talk.
    """
    if not any(gloss_of(said.text).words for said in talk):
        return None
    about = _about(talk, names)
    topic = ", ".join(about)
    count = len(talk)
    done = sum(each.status is ResultStatus.DONE for said in talk for each in said.results)
    narrative = f"{name} talked with the assistant{' about ' + topic if topic else ''}: {count} "
    narrative += "message." if count == 1 else "messages."
    if done:
        narrative += f" {done} {'request was' if done == 1 else 'requests were'} carried out."
    if is_open(talk):
        narrative += " Something was left unresolved."
    return Told(
        title=f"Conversation about {topic}" if topic else "A short talk",
        narrative=narrative,
        topic=topic,
        salience=salience(talk, before=before),
    )


def salience(talk: Sequence[Said], *, before: Collection[str]) -> float:
    """Return how much a talk matters, in [0, 1].

    Args:
        before: Stems of what was said before it.
    """
    text = "\n".join(said.text for said in talk)
    said = {*stems(text)}
    novelty = len(said - {*before}) / len(said) if said else 0.0
    felt = sum(stem in _feelings() for stem in stems(text)) + len(_EXCLAIMED.findall(text))
    promised = len(_PROMISED.findall(text))
    score = (
        _NOVELTY * novelty
        + _EMOTION * min(felt / _MUCH_FEELING, 1.0)
        + _COMMITMENT * min(promised / _MUCH_PROMISED, 1.0)
    )
    return round(min(score * (_OPEN if is_open(talk) else 1.0), 1.0), 4)


def is_open(talk: Sequence[Said]) -> bool:
    """Whether a talk left something open: a question of the assistant, or what is not done at its end.

    Args:
        talk: Its exchanges, oldest first.
    """
    last = talk[-1]
    return last.was_asked_back or any(each.status in _OPEN_RESULTS for each in last.results)


def _about(talk: Sequence[Said], names: Collection[str]) -> list[str]:
    """Return the words that a talk is about, in the order of their first use."""
    counts: Counter[str] = Counter()
    first: dict[str, str] = {}
    for said in talk:
        for word in dict.fromkeys(words(said.text)):
            for stem in stems(word):
                counts[stem] += 1
                first.setdefault(stem, word)
    wanted = {*(stem for name in names for stem in stems(name))}
    chosen = [stem for stem, count in counts.items() if count >= _RECURRING or stem in wanted]
    best = sorted(chosen, key=lambda stem: -counts[stem])[:_TITLE_WORDS]
    return [first[stem] for stem in first if stem in best]


@cache
def _feelings() -> frozenset[str]:
    text = (files(__package__) / "feelings.txt").read_text(encoding="utf-8")
    lines = [line for line in text.splitlines() if not line.startswith("#")]
    return frozenset(stems(" ".join(lines)))


log = structlog.get_logger()

_LEASE = timedelta(minutes=5)
_LONGEST_TALK = 200
_BEFORE = 100
_SOURCE = "conversation"

_columns = conversation_encodings.c
_asked = conversation_encodings.alias("asked")
_MINE = (_asked.c.household == bindparam("of_household")) & (
    (_asked.c.stage == bindparam("of_stage")) & (_asked.c.turn == bindparam("of_turn"))
)
_FIRST_IN_LINE = Prepared(
    select(_columns.household, _columns.stage, _columns.turn)
    .where(
        _columns.household == bindparam("of_household"),
        _columns.stage == bindparam("of_stage"),
        _columns.thread == select(_asked.c.thread).where(_MINE).scalar_subquery(),
        or_(_columns.state == WorkState.QUEUED.value, _columns.state == WorkState.RUNNING.value),
        or_(_columns.due_at <= bindparam("now"), _columns.turn == bindparam("of_turn")),
    )
    .order_by(_columns.said_at, _columns.turn)
    .limit(literal_column("1", Integer))
)
_BY_KEY = (
    _columns.household == bindparam("of_household"),
    _columns.stage == bindparam("of_stage"),
    _columns.turn == bindparam("of_turn"),
)
_TOPIC = Prepared(select(_columns.topic).where(*_BY_KEY))
_HAD_EFFECT = Prepared(
    update(conversation_encodings)
    .where(*_BY_KEY)
    .values(had_effect=bindparam("effect", type_=Integer))
    .returning(_columns.turn)
)


class Stage(StrEnum):
    """What is made of an exchange, in order."""

    GIST = FIRST_STAGE
    FACTS = "facts"
    EPISODE = "episode"


class Encoding:
    """Encodes the exchanges of one household.

    Args:
        household: As its file has it.
        clock: Tells when a talk is over.
        reading: Reads facts out of what was said.
    """

    def __init__(
        self, store: Store, household: Household, *, clock: Clock, reading: SessionReading
    ) -> None:
        self._store = store
        self._household = household
        self._clock = clock
        self._reading = reading

    def as_job(self) -> Job:
        """Return the kind of work."""
        return Job(
            name=ENCODING,
            table=conversation_encodings,
            handler=self.handle,
            lease=_LEASE,
            household=self._household.id,
            line=first_in_line,
        )

    async def handle(self, key: Key, epoch: int) -> None:
        """Do a stage's work for a claimed row.

        Raises:
            LeaseLostError: Another worker took the row meanwhile; nothing was written.
            NotFoundError: There is no such row in this household.
        """
        stage = Stage(key[1])
        if stage is Stage.FACTS:
            while await self._reading.run_once():
                pass
        work = {Stage.GIST: self._gist, Stage.FACTS: self._facts, Stage.EPISODE: self._episode}[
            stage
        ]

        def write(conn: Connection) -> None:
            if not leases.hold(conn, conversation_encodings, key, epoch):
                raise LeaseLostError(
                    f"the claim {epoch} on {stage} of {key[2]!r} is no longer valid"
                )
            topic, turn = self._load(conn, key)
            # A turn that is gone, or whose words were purged, has nothing left to encode.
            had_effect = turn is not None and work(conn, turn, topic)
            leases.finish(conn, conversation_encodings, key, epoch)
            _HAD_EFFECT.execute(conn, _of_key(key) | {"effect": int(had_effect)})

        await self._store.write(write)

    def _load(self, conn: Connection, key: Key) -> tuple[str, Turn | None]:
        household, _, turn_id = key
        rows = _TOPIC.execute(conn, _of_key(key))
        if household != self._household.id or not rows:
            raise NotFoundError(f"household {self._household.id!r} has no encoding {turn_id!r}")
        return rows[0][0], find_turn(conn, household, turn_id)

    def _gist(self, conn: Connection, turn: Turn, topic: str) -> bool:
        """Store what an exchange came to, and have the later stages done."""
        done = CommittedTurn(
            household=turn.household,
            member=turn.member,
            thread_id=turn.thread_id,
            turn_id=turn.id,
            text=turn.text,
            answer="",
            mode=turn.mode or Mode.RESPOND,
            results=turn.results,
            at=turn.received_at,
        )
        for stage, wait in ((Stage.FACTS, timedelta(0)), (Stage.EPISODE, SILENCE)):
            due_at = self._clock.now() if not wait else turn.received_at + wait
            repository.add_encoding(conn, done, stage, topic, due_at=due_at)
        repository.drop_expired(conn, turn.household, now=self._clock.now())
        text = gist_of(turn.text, turn.results)
        if not topic or not text:
            return False
        repository.put_gist(
            conn,
            turn.household,
            turn.id,
            thread=turn.thread_id,
            topic=topic,
            text=text,
            at=turn.received_at,
        )
        return True

    def _facts(self, conn: Connection, turn: Turn, topic: str) -> bool:
        """Tell whether facts were read out of an exchange."""
        del topic
        viewer = Viewer.of(turn.household, turn.member)
        said = [
            each.id
            for each in list_episodes(conn, viewer, session=turn.thread_id, kind=EpisodeKind.TURN)
            if each.said_at == turn.received_at
        ]
        return bool(out_of(conn, turn.household, said))

    def _episode(self, conn: Connection, turn: Turn, topic: str) -> bool:
        """Store the talk that ended with an exchange; nothing where it went on."""
        del topic
        every = last_turns(conn, turn.household, turn.thread_id, last=_LONGEST_TALK)
        place = next((at for at, each in enumerate(every) if each.id == turn.id), None)
        if place is None or _goes_on(every[place + 1 :], turn.received_at):
            return False
        talk = _talk_before(every[: place + 1])
        viewer = Viewer.of(turn.household, turn.member)
        earlier = list_episodes(
            conn, viewer, before=talk[0].received_at, kind=EpisodeKind.TURN, limit=_BEFORE
        )
        member = self._household.member(turn.member)
        episode = told(
            [_said(each) for each in talk],
            name=member.name if member else turn.member,
            names=_names(self._household),
            before={*stems("\n".join(each.text for each in earlier))},
        )
        if episode is None:
            return False
        stored = Episode(
            household=turn.household,
            id=stable_id(turn.household, "talk", turn.thread_id, talk[0].id),
            scope=person_scope(turn.member),
            session=turn.thread_id,
            kind=EpisodeKind.SUMMARY,
            is_assistant=True,
            text=episode.narrative,
            title=episode.title,
            topic=episode.topic or None,
            participants=(turn.member,),
            said_at=turn.received_at,
            salience=episode.salience,
            origin=Origin.SYSTEM,
            source=_SOURCE,
            channel=turn.channel,
        )
        return bool(insert_episodes(conn, [stored], at=self._clock.now(), is_read=True))


def first_in_line(conn: Connection, key: Key, now: datetime) -> Key | None:
    """Return the first exchange of a row's thread that waits for the same stage or is in it.

    Args:
        key: Household, stage and turn of a row.
        now: Aware; what is not due by then is not waited for, except that row itself.
    """
    rows = _FIRST_IN_LINE.execute(conn, _of_key(key) | {"now": now})
    return tuple(rows[0]) if rows else None


def _of_key(key: Key) -> dict[str, Any]:
    household, stage, turn = key
    return {"of_household": household, "of_stage": stage, "of_turn": turn}


def _goes_on(later: Sequence[Turn], at: datetime) -> bool:
    return any(each.text and each.received_at - at <= SILENCE for each in later)


def _talk_before(turns: Sequence[Turn]) -> list[Turn]:
    """Return the turns up to the last one, back to the last silence."""
    talk = [turns[-1]]
    for earlier in turns[-2::-1]:
        if talk[0].received_at - earlier.received_at > SILENCE:
            break
        talk.insert(0, earlier)
    return talk


def _said(turn: Turn) -> Said:
    return Said(
        text=turn.text,
        at=turn.received_at,
        results=turn.results,
        was_asked_back=turn.clarification is not None,
    )


def _names(household: Household) -> frozenset[str]:
    things: tuple[Member | Named, ...] = (
        *household.members,
        *household.activities,
        *household.places,
    )
    return frozenset(word for each in things for word in (each.name, *each.aliases))
