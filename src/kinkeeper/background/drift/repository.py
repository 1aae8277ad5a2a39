"""Idle thought in the database: cycles, remarks, questions, and who wants none. Functions over the caller's transaction."""

from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime, timedelta
from typing import Any

from sqlalchemy import (
    JSON,
    Boolean,
    Column,
    ColumnElement,
    Connection,
    Float,
    Index,
    Integer,
    RowMapping,
    String,
    Table,
    Text,
    delete,
    func,
    insert,
    or_,
    select,
    update,
)

from kinkeeper.background.drift.activation import COOLDOWN
from kinkeeper.background.drift.cycle import (
    PLANNING,
    SIGNALS_WITHIN,
    THOUGHTS_WITHIN,
    Cycle,
    History,
    Question,
    Remark,
    State,
)
from kinkeeper.background.drift.model import CURIOUS, Evidence, Matter, Observation
from kinkeeper.core.errors import NotFoundError
from kinkeeper.core.ids import stable_id
from kinkeeper.core.time import A_DAY, to_text
from kinkeeper.store.schema import Instant, metadata

drift_cycles = Table(
    "drift_cycles",
    metadata,
    Column("household", String(64), primary_key=True),
    Column("id", String(64), primary_key=True),
    Column("at", Instant, nullable=False),
    Column("member", String(64), nullable=False),
    # Every draw of the cycle follows from it.
    Column("seed", Integer, nullable=False),
    Column("seeds", JSON, nullable=False),
    Column("activated", JSON, nullable=False),
    Column("matter", String(64)),
    Column("news", String(64)),
    Column("worth", Float, nullable=False),
    Column("action", String(32), nullable=False),
    Column("scores", JSON, nullable=False),
    # What came of the action; empty where nothing did.
    Column("effect", String(32), nullable=False),
    Index("ix_drift_cycles_at", "household", "at"),
)

drift_remarks = Table(
    "drift_remarks",
    metadata,
    Column("household", String(64), primary_key=True),
    Column("id", String(64), primary_key=True),
    Column("member", String(64), nullable=False),
    Column("matter", String(64), nullable=False),
    Column("news", String(64), nullable=False),
    Column("text", Text, nullable=False),
    Column("evidence", JSON, nullable=False),
    Column("score", Float, nullable=False),
    Column("state", String(16), nullable=False),
    Column("made_at", Instant, nullable=False),
    Column("until", Instant, nullable=False),
    Column("told_at", Instant),
    Column("thread_id", String(128)),
    # When it was answered, acted on, ignored or dropped.
    Column("settled_at", Instant),
    Index("ix_drift_remarks_made", "household", "made_at"),
)

drift_questions = Table(
    "drift_questions",
    metadata,
    Column("household", String(64), primary_key=True),
    Column("member", String(64), primary_key=True),
    Column("news", String(64), primary_key=True),
    Column("planted_at", Instant, primary_key=True),
    Column("matter", String(64), nullable=False),
    Column("explored_at", Instant, nullable=False),
    Column("explorations", Integer, nullable=False),
    Column("settled_at", Instant),
)

drift_choices = Table(
    "drift_choices",
    metadata,
    Column("household", String(64), primary_key=True),
    Column("member", String(64), primary_key=True),
    Column("is_on", Boolean, nullable=False),
    Column("set_at", Instant, nullable=False),
)

_cycles, _remarks, _questions, _choices = (
    drift_cycles.c,
    drift_remarks.c,
    drift_questions.c,
    drift_choices.c,
)
_REMEMBERED = timedelta(days=90)


# Who wants remarks.


def wants_none(conn: Connection, household: str) -> frozenset[str]:
    """Return the ids of the members who want to be told nothing unasked."""
    query = select(_choices.member).where(
        _choices.household == household, _choices.is_on.is_(False)
    )
    return frozenset(conn.execute(query).scalars())


def choose(conn: Connection, household: str, member: str, *, is_on: bool, now: datetime) -> None:
    """Let a member be told things unasked, or not any more; what waits to be told to them is dropped then."""
    mine = (_choices.household == household, _choices.member == member)
    conn.execute(delete(drift_choices).where(*mine))
    conn.execute(
        insert(drift_choices).values(household=household, member=member, is_on=is_on, set_at=now)
    )
    if not is_on:
        waiting = (
            _remarks.household == household,
            _remarks.member == member,
            _remarks.state == State.DEFERRED.value,
        )
        conn.execute(
            update(drift_remarks).where(*waiting).values(state=State.DROPPED.value, settled_at=now)
        )


# What was thought and told before.


def last_cycle_at(conn: Connection, household: str) -> datetime | None:
    """Return when the last cycle was."""
    found: datetime | None = conn.execute(
        select(func.max(_cycles.at)).where(_cycles.household == household)
    ).scalar_one()
    return found


def history_of(conn: Connection, household: str, *, now: datetime) -> History:
    """Return what idle thought did before a moment, as it stood then."""
    mine = (_cycles.household == household, _cycles.at < now)
    lately = conn.execute(
        select(_cycles.at, _cycles.news, _cycles.seeds).where(*mine, _cycles.at > now - COOLDOWN)
    ).all()
    remarks = conn.execute(
        select(drift_remarks)
        .where(
            _remarks.household == household,
            _remarks.made_at < now,
            or_(
                _remarks.made_at > now - _REMEMBERED,
                # Nobody is asked twice, however long ago it was.
                _remarks.matter.in_([each.value for each in CURIOUS]),
                _remarks.state == State.UNWANTED.value,
            ),
        )
        .order_by(_remarks.made_at.desc(), _remarks.id)
    ).mappings()
    questions = conn.execute(
        select(drift_questions)
        .where(
            _questions.household == household,
            _questions.planted_at < now,
            or_(_questions.settled_at.is_(None), _questions.settled_at > now - 2 * A_DAY),
        )
        .order_by(_questions.planted_at, _questions.news)
    ).mappings()
    signals = conn.execute(
        select(_cycles.at, _cycles.news, _cycles.action, _cycles.effect)
        .where(*mine, _cycles.news.is_not(None), _cycles.at > now - _REMEMBERED)
        .order_by(_cycles.at)
    ).all()
    planned = [row for row in signals if row.action == PLANNING and row.effect]
    days: dict[str, set[int]] = {}
    for row in signals:
        if A_DAY <= now - row.at < SIGNALS_WITHIN:
            days.setdefault(row.news, set()).add((now - row.at) // A_DAY)
    return History(
        days={news: len(found) for news, found in days.items()},
        planned=frozenset(row.news for row in planned),
        planned_at=planned[-1].at if planned else None,
        thoughts=sum(row.at > now - THOUGHTS_WITHIN and row.news is not None for row in lately),
        cooling=frozenset(concept for row in lately for concept in row.seeds),
        remarks=[_as_of(row, now) for row in remarks],
        questions=[_question(row, now) for row in questions],
    )


def _as_of(row: RowMapping, now: datetime) -> Remark:
    """Return a remark as it stood at a moment."""
    is_told = row["told_at"] is not None and row["told_at"] < now
    state = State(row["state"])
    if not is_told and row["told_at"] is not None:
        state = State.DEFERRED
    elif row["settled_at"] is not None and row["settled_at"] >= now:
        state = State.WAITING if is_told else State.DEFERRED
    return Remark(
        id=row["id"],
        member=row["member"],
        matter=Matter(row["matter"]),
        news=row["news"],
        text=row["text"],
        about=frozenset(each["id"] for each in row["evidence"]),
        score=row["score"],
        state=state,
        made_at=row["made_at"],
        until=row["until"],
        told_at=row["told_at"] if is_told else None,
        thread_id=row["thread_id"] if is_told else None,
    )


def _question(row: RowMapping, now: datetime) -> Question:
    """Return a question as it stood at a moment; when it was looked at last may be later."""
    settled_at, explored_at = row["settled_at"], row["explored_at"]
    return Question(
        member=row["member"],
        news=row["news"],
        planted_at=row["planted_at"],
        explored_at=explored_at,
        explorations=row["explorations"] - (explored_at >= now),
        settled_at=None if settled_at is not None and settled_at >= now else settled_at,
    )


def fresh_news(conn: Connection, household: str, member: str, *, since: datetime) -> frozenset[str]:
    """Return the ids of the news that came to mind of a member's view since then, and that they were not told."""
    is_told = _remarks.state.in_([each.value for each in State if each.is_told])
    told = select(_remarks.news).where(
        _remarks.household == household, _remarks.member == member, is_told
    )
    query = select(_cycles.news).where(
        _cycles.household == household,
        _cycles.member == member,
        _cycles.at >= since,
        _cycles.news.is_not(None),
        _cycles.news.not_in(told),
    )
    return frozenset(conn.execute(query).scalars())


# Writing.


def cycle_id(household: str, member: str, at: datetime) -> str:
    """Return the id of a member's cycle at a moment."""
    return stable_id(household, "drift cycle", member, to_text(at))


def insert_cycle(
    conn: Connection, household: str, member: str, found: Cycle, *, at: datetime, effect: str
) -> None:
    """Write what a cycle came to."""
    thought = found.thought
    conn.execute(
        insert(drift_cycles).values(
            household=household,
            id=cycle_id(household, member, at),
            at=at,
            member=member,
            seed=found.seed,
            seeds=list(found.seeds),
            activated=dict(found.activated),
            matter=None if thought is None else thought.matter.value,
            news=None if thought is None else thought.news,
            worth=found.worth,
            action=found.action,
            scores=dict(found.scores),
            effect=effect,
        )
    )


def insert_remark(
    conn: Connection, household: str, remark: Remark, evidence: Iterable[Evidence]
) -> None:
    """Write a remark, with what it rests on."""
    conn.execute(
        insert(drift_remarks).values(
            household=household,
            id=remark.id,
            member=remark.member,
            matter=remark.matter.value,
            news=remark.news,
            text=remark.text,
            evidence=[{"kind": each.kind, "id": each.id, "words": each.words} for each in evidence],
            score=remark.score,
            state=remark.state.value,
            made_at=remark.made_at,
            until=remark.until,
            told_at=remark.told_at,
            thread_id=remark.thread_id,
        )
    )


def change_remark(conn: Connection, household: str, remark: Remark, *, at: datetime) -> None:
    """Write what became of a remark."""
    is_settled = remark.state not in {State.DEFERRED, State.WAITING}
    conn.execute(
        update(drift_remarks)
        .where(_remarks.household == household, _remarks.id == remark.id)
        .values(
            state=remark.state.value,
            told_at=remark.told_at,
            thread_id=remark.thread_id,
            settled_at=at if is_settled else None,
        )
    )


def plant(
    conn: Connection, household: str, member: str, thought: Observation, *, at: datetime
) -> None:
    """Keep a thought as a question."""
    conn.execute(
        insert(drift_questions).values(
            household=household,
            member=member,
            news=thought.news,
            planted_at=at,
            matter=thought.matter.value,
            explored_at=at,
            explorations=0,
        )
    )


def change_question(conn: Connection, household: str, question: Question) -> None:
    """Write how a question stands."""
    conn.execute(
        update(drift_questions)
        .where(
            _questions.household == household,
            _questions.member == question.member,
            _questions.news == question.news,
            _questions.planted_at == question.planted_at,
        )
        .values(
            explored_at=question.explored_at,
            explorations=question.explorations,
            settled_at=question.settled_at,
        )
    )


def open_questions(conn: Connection, household: str, member: str) -> frozenset[str]:
    """Return the ids of the news that are kept as questions for a member."""
    query = select(_questions.news).where(
        _questions.household == household,
        _questions.member == member,
        _questions.settled_at.is_(None),
    )
    return frozenset(conn.execute(query).scalars())


def is_unwanted(conn: Connection, household: str, member: str, news: str) -> bool:
    """Whether a member wants to hear nothing of some news."""
    query = select(_remarks.id).where(
        _remarks.household == household,
        _remarks.member == member,
        _remarks.news == news,
        _remarks.state == State.UNWANTED.value,
    )
    return conn.execute(query.limit(1)).first() is not None


def end_question(
    conn: Connection, household: str, member: str, news: str, *, now: datetime
) -> None:
    """End a question for good, also where it waits for the morning; it does not come again.

    Raises:
        NotFoundError: Nothing of that id is kept for the member.
    """
    kept = (
        _questions.household == household,
        _questions.member == member,
        _questions.news == news,
        _questions.settled_at.is_(None),
    )
    matter = conn.execute(select(_questions.matter).where(*kept)).scalars().first()
    if matter is None:
        raise NotFoundError(f"no question {news!r} is kept for you")
    conn.execute(update(drift_questions).where(*kept).values(settled_at=now))
    waiting = (
        _remarks.household == household,
        _remarks.member == member,
        _remarks.news == news,
        _remarks.state == State.DEFERRED.value,
    )
    unwanted = {"state": State.UNWANTED.value, "settled_at": now}
    if conn.execute(update(drift_remarks).where(*waiting).values(unwanted)).rowcount:
        return
    conn.execute(
        insert(drift_remarks).values(
            household=household,
            id=stable_id(household, "unwanted", member, news, to_text(now)),
            member=member,
            matter=matter,
            news=news,
            text="",
            evidence=[],
            score=0.0,
            made_at=now,
            until=now,
            **unwanted,
        )
    )


def purge(conn: Connection, household: str, *, before: datetime) -> int:
    """Remove the words of remarks made before then, and the cycles; returns how many remarks lost theirs."""
    conn.execute(delete(drift_cycles).where(_cycles.household == household, _cycles.at < before))
    return _drop_words(conn, _remarks.household == household, _remarks.made_at < before)


def forget_words(conn: Connection, household: str, *, at: datetime) -> None:
    """Remove the words of all remarks, and let none without words be told; what its person wants or was asked stays."""
    mine = _remarks.household == household
    waiting = (mine, _remarks.state == State.DEFERRED.value)
    dropped = {"state": State.DROPPED.value, "settled_at": at}
    conn.execute(update(drift_remarks).where(*waiting).values(dropped))
    _drop_words(conn, mine)


def _drop_words(conn: Connection, *which: ColumnElement[bool]) -> int:
    """Remove the words of some remarks; returns how many lost theirs."""
    rows = conn.execute(
        select(_remarks.household, _remarks.id, _remarks.evidence).where(
            *which, _remarks.text != ""
        )
    ).all()
    for row in rows:
        wordless = [{**each, "words": ""} for each in row.evidence]
        conn.execute(
            update(drift_remarks)
            .where(_remarks.household == row.household, _remarks.id == row.id)
            .values(text="", evidence=wordless)
        )
    return len(rows)


# What it came to, for people.


@dataclass(frozen=True, slots=True, kw_only=True)
class Figures:
    """What idle thought came to in a span of time; no words.

    Attributes:
        cycles: By action.
        effects: Of those, that something came of, by action.
        remarks: By state.
        questions: Those that are open now, and those that were settled since.
    """

    cycles: Mapping[str, int]
    effects: Mapping[str, int]
    remarks: Mapping[str, int]
    questions: Mapping[str, int]

    @property
    def told(self) -> int:
        """Remarks that reached their person."""
        return sum(count for state, count in self.remarks.items() if State(state).is_told)

    @property
    def taken_up(self) -> int:
        """Those that were answered, or after which what they told of was seen to."""
        return sum(self.remarks.get(state.value, 0) for state in (State.ANSWERED, State.ACTED_ON))


def figures(conn: Connection, household: str, *, since: datetime) -> Figures:
    """Return what idle thought came to since then."""
    cycles, effects = Counter[str](), Counter[str]()
    counted = (
        select(_cycles.action, _cycles.effect, func.count())
        .where(_cycles.household == household, _cycles.at >= since)
        .group_by(_cycles.action, _cycles.effect)
    )
    for action, effect, count in conn.execute(counted):
        cycles[action] += count
        effects[action] += count if effect else 0
    remarks = (
        select(_remarks.state, func.count())
        .where(_remarks.household == household, _remarks.made_at >= since)
        .group_by(_remarks.state)
    )
    mine = _questions.household == household
    open_ = select(func.count()).where(mine, _questions.settled_at.is_(None))
    settled = select(func.count()).where(mine, _questions.settled_at >= since)
    questions = {
        "open": int(conn.execute(open_).scalar_one()),
        "settled": int(conn.execute(settled).scalar_one()),
    }
    return Figures(
        questions={state: count for state, count in questions.items() if count},
        cycles=dict(cycles),
        effects=dict(+effects),
        remarks={state: int(count) for state, count in conn.execute(remarks)},
    )


def latest_cycles(conn: Connection, household: str, *, limit: int) -> Sequence[dict[str, Any]]:
    """Return the latest cycles, newest first: when, what about, what was done, scores; no words, nobody's concepts.

    Args:
        limit: Most of them, > 0.
    """
    query = (
        select(
            _cycles.id,
            _cycles.at,
            _cycles.seed,
            _cycles.matter,
            _cycles.worth,
            _cycles.action,
            _cycles.scores,
            _cycles.effect,
        )
        .where(_cycles.household == household)
        .order_by(_cycles.at.desc())
        .limit(limit)
    )
    return [{**row, "at": row["at"].isoformat()} for row in conn.execute(query).mappings()]
