"""How turns were decided, as it was written down, and whether what watches over them has an effect."""

from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass, field
from datetime import datetime, timedelta
from typing import Any

from sqlalchemy import Connection, RowMapping, Table, func, select, update

from kinkeeper.actions.bars import Cause, versions
from kinkeeper.actions.journal import was_decided
from kinkeeper.actions.model import FROM_CHAT
from kinkeeper.actions.repository import count_done
from kinkeeper.conversation.answering.relevance import Relevance
from kinkeeper.conversation.commit import OFFERED
from kinkeeper.conversation.context.repository import drop_expired, encoded
from kinkeeper.conversation.criticism.model import Effect
from kinkeeper.conversation.model import Mode, Source
from kinkeeper.conversation.review.repository import review_figures
from kinkeeper.conversation.routing.signals import shipped_weights
from kinkeeper.conversation.tables import (
    critic_verdicts,
    interaction_log,
    routing_decisions,
    stage_failures,
    tool_cycles,
    tool_iterations,
    triage_calibration,
    turn_events,
    turns,
)
from kinkeeper.conversation.turn import Turn
from kinkeeper.core.time import Interval
from kinkeeper.digest.repository import sent_digests

Record = Mapping[str, Any]
_SEARCH = "memory.search"


@dataclass(frozen=True, slots=True, kw_only=True)
class TurnTrace:
    """How a turn was decided.

    Attributes:
        turn: The turn, with what its answer rests on.
        routing: Mode, scores, signals, and what decided; None where it was not routed.
        triage: Where it went; None likewise.
        failures: Stages it went on without.
        cycle: That it waited for slow tools; None where it did not.
        verdicts: What second looks at its steps came to.
    """

    turn: Turn
    routing: Record | None
    triage: Record | None
    steps: Sequence[Record] = ()
    failures: Sequence[Record] = ()
    cycle: Record | None = None
    verdicts: Sequence[Record] = ()


@dataclass(frozen=True, slots=True, kw_only=True)
class ConversationFigures:
    """What the conversations of a household came to in a span of time.

    Attributes:
        turns: How many were taken in.
        outcomes: Of them, by outcome; by state of the work where there is none yet.
        encoded: What is made of exchanges afterwards, by stage and state.
        acted: Requests carried out, by name.
    """

    turns: int = 0
    outcomes: Mapping[str, int] = field(default_factory=dict)
    modes: Mapping[str, int] = field(default_factory=dict)
    failures: Mapping[str, int] = field(default_factory=dict)
    encoded: Mapping[str, int] = field(default_factory=dict)
    acted: Mapping[str, int] = field(default_factory=dict)

    @property
    def memory_searches(self) -> float | None:
        """How often memory was searched on request in a hundred turns; None where there were none."""
        return 100 * self.acted.get(_SEARCH, 0) / self.turns if self.turns else None


def trace_of(conn: Connection, turn: Turn) -> TurnTrace:
    """Return how a turn was decided."""

    def rows(table: Table) -> list[Record]:
        query = select(table).where(table.c.household == turn.household, table.c.turn == turn.id)
        return [_plain(row) for row in conn.execute(query.order_by(*table.primary_key)).mappings()]

    routing, triage = rows(routing_decisions), rows(triage_calibration)
    return TurnTrace(
        turn=turn,
        routing=routing[0] if routing else None,
        triage=triage[0] if triage else None,
        steps=rows(tool_iterations),
        failures=rows(stage_failures),
        cycle=next(iter(rows(tool_cycles)), None),
        verdicts=rows(critic_verdicts),
    )


def latest(conn: Connection, household: str, table: Table, *, limit: int) -> Sequence[Record]:
    """Return the newest rows of one of the tables that tell how turns were decided.

    Args:
        table: Has a column `at`.
        limit: Most rows, > 0.
    """
    query = select(table).where(table.c.household == household).order_by(table.c.at.desc())
    return [_plain(row) for row in conn.execute(query.limit(limit)).mappings()]


def figures(conn: Connection, household: str, *, since: datetime) -> ConversationFigures:
    """Return what conversations came to since then."""
    mine = (turns.c.household == household, turns.c.received_at >= since)

    def counted(column: Any, *where: Any) -> dict[str, int]:
        query = select(column, func.count()).where(*where).group_by(column)
        return {str(name): int(count) for name, count in conn.execute(query)}

    outcomes = counted(func.coalesce(turns.c.outcome, turns.c.state), *mine)
    return ConversationFigures(
        turns=sum(outcomes.values()),
        outcomes=outcomes,
        modes=counted(turns.c.mode, *mine, turns.c.mode.is_not(None)),
        failures=counted(
            stage_failures.c.stage,
            stage_failures.c.household == household,
            stage_failures.c.at >= since,
        ),
        encoded=encoded(conn, household, since=since),
        acted=_acted(conn, household, since=since),
    )


def figures_record(found: ConversationFigures) -> Record:
    """Return figures as JSON."""
    return {**asdict(found), "memory_searches_per_100_turns": found.memory_searches}


def purge(conn: Connection, household: str, *, before: datetime) -> int:
    """Remove the words of turns received before then; how they were decided stays. Returns how many lost theirs."""
    old = (turns.c.household == household, turns.c.received_at < before)
    conn.execute(
        turn_events.delete().where(turn_events.c.household == household, turn_events.c.at < before)
    )
    drop_expired(conn, household, now=before)
    return conn.execute(
        update(turns)
        .where(*old, turns.c.outcome.is_not(None), turns.c.finished_at.is_not(None))
        .where((turns.c.text != "") | turns.c.answer.is_not(None))
        .values(
            text="",
            answer=None,
            results=None,
            clarification=None,
            partial=None,
            plans=None,
            used=None,
        )
    ).rowcount


def _acted(conn: Connection, household: str, *, since: datetime) -> Mapping[str, int]:
    query = select(tool_iterations.c.actions).where(
        tool_iterations.c.household == household, tool_iterations.c.at >= since
    )
    return dict(Counter(name for step in conn.execute(query).scalars() for name in step))


def _plain(row: RowMapping) -> Record:
    return {
        name: value.isoformat() if isinstance(value, datetime) else value
        for name, value in row.items()
        if name != "household"
    }


# Whether what watches over turns has an effect, and in which modes messages are answered beside
# what is healthy.
#
# Told from the records of decisions, for some time back; no words.

_SOON = timedelta(days=1)
_ENOUGH = 50
"""Decisions from which a share says something."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Fired:
    """A part that may or may not matter.

    Attributes:
        fired: How often it did its work.
        had_effect: How often a turn went another way for it, <= `fired`.
    """

    name: str
    fired: int
    had_effect: int


@dataclass(frozen=True, slots=True, kw_only=True)
class ModeShare:
    """How many messages were answered in one way.

    Attributes:
        share: Of all decisions, in [0, 1].
        least: Of a healthy share.
        most: Of a healthy share.
        is_healthy: Whether it lies between; None where there are too few decisions to tell.
    """

    mode: Mode
    share: float
    least: float
    most: float
    is_healthy: bool | None


@dataclass(frozen=True, slots=True, kw_only=True)
class Effects:
    """What happened since some time.

    Attributes:
        decisions: Messages whose mode was decided.
        parts: That may or may not matter.
    """

    decisions: int
    shares: Sequence[ModeShare]
    parts: Sequence[Fired]


def effects(conn: Connection, household: str, *, since: datetime) -> Effects:
    """Return what fired and what that changed."""
    columns = routing_decisions.c
    query = select(columns.mode, func.count()).where(
        columns.household == household, columns.at >= since
    )
    modes = Counter(
        {Mode(mode): int(count) for mode, count in conn.execute(query.group_by(columns.mode))}
    )
    return Effects(
        decisions=modes.total(),
        shares=[_share(mode, modes, bounds) for mode, bounds in shipped_weights().shares.items()],
        parts=[
            _second_looks(conn, household, since),
            _memories(conn, household, since),
            _offers(conn, household, since),
            _digests(conn, household, since),
            _reviews(conn, household, since),
        ],
    )


def _share(mode: Mode, modes: Counter[Mode], bounds: tuple[float, float]) -> ModeShare:
    share = modes[mode] / modes.total() if modes else 0.0
    least, most = bounds
    return ModeShare(
        mode=mode,
        share=round(share, 4),
        least=least,
        most=most,
        is_healthy=least <= share <= most if modes.total() >= _ENOUGH else None,
    )


def _second_looks(conn: Connection, household: str, since: datetime) -> Fired:
    columns = critic_verdicts.c
    query = (
        select(columns.effect, func.count())
        .where(columns.household == household, columns.at >= since)
        .group_by(columns.effect)
    )
    looks = {effect: int(count) for effect, count in conn.execute(query)}
    total = sum(looks.values())
    return Fired(
        name="reviews of steps", fired=total, had_effect=total - looks.get(Effect.NONE.value, 0)
    )


def _offers(conn: Connection, household: str, since: datetime) -> Fired:
    """Count turns that asked whether an open thing is over, and those whose person said yes."""
    routed = routing_decisions.c
    query = select(routed.turn).where(
        routed.household == household,
        routed.at >= since,
        routed.signals[OFFERED].as_float().is_not(None),
    )
    offered = [*conn.execute(query).scalars()]
    return Fired(
        name="questions whether something is over",
        fired=len(offered),
        had_effect=count_done(conn, household, FROM_CHAT, offered),
    )


def _reviews(conn: Connection, household: str, since: datetime) -> Fired:
    """Count decisions that a strong model judged again, and the steps of a bar that it asked for."""
    steps = sum(
        each.cause is Cause.REVIEW and each.at >= since for each in versions(conn, household)
    )
    found = review_figures(conn, household, since=since)
    return Fired(name="reviews of past answers", fired=found.reviewed, had_effect=steps)


def _digests(conn: Connection, household: str, since: datetime) -> Fired:
    """Count daily digests, and those after which their person decided within a day about what they told of."""
    sent = sent_digests(conn, household, since=since)
    used = sum(
        was_decided(
            conn,
            household,
            each.action_ids,
            by=each.member,
            within=Interval(each.sent_at, each.sent_at + _SOON),
        )
        for each in sent
    )
    return Fired(name="daily digests", fired=len(sent), had_effect=used)


def _memories(conn: Connection, household: str, since: datetime) -> Fired:
    """Count turns to which memory brought something unasked, and those whose answer was written with it."""
    columns = interaction_log.c
    query = select(columns.source, columns.relevance).where(
        columns.household == household, columns.at >= since, columns.brought > 0
    )
    brought = [(row.source, row.relevance) for row in conn.execute(query)]
    used = sum(
        source == Source.MODEL.value and Relevance(parts).takes("memories")
        for source, parts in brought
    )
    return Fired(name="memories added unprompted", fired=len(brought), had_effect=used)
