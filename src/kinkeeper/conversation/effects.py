"""Whether what watches over turns has an effect, and in which modes messages are answered beside what is healthy.

Told from the records of decisions, for some time back; no words.
"""

from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime, timedelta

from sqlalchemy import Connection, func, select

from kinkeeper.actions.journal import was_decided
from kinkeeper.conversation.answering.relevance import Relevance
from kinkeeper.conversation.criticism.model import Effect
from kinkeeper.conversation.model import Mode, Source
from kinkeeper.conversation.routing.weights import shipped_weights
from kinkeeper.conversation.tables import critic_verdicts, interaction_log, routing_decisions
from kinkeeper.core.time import Interval
from kinkeeper.digest.repository import sent_digests

_SOON = timedelta(days=1)
_ENOUGH = 50
"""Decisions from which a share says something."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Fired:
    """A part that may or may not matter.

    Attributes:
        name: Which.
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
        mode: Which.
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
        shares: By mode.
        parts: That may or may not matter.
    """

    decisions: int
    shares: Sequence[ModeShare]
    parts: Sequence[Fired]


def effects(conn: Connection, household: str, *, since: datetime) -> Effects:
    """Return what fired and what that changed.

    Args:
        conn: Any transaction.
        household: Tenant key.
        since: Aware.
    """
    columns = routing_decisions.c
    query = select(columns.mode, func.count()).where(
        columns.household == household, columns.at >= since
    )
    modes = Counter(
        {Mode(mode): int(count) for mode, count in conn.execute(query.group_by(columns.mode))}
    )
    return Effects(
        decisions=modes.total(),
        shares=[
            _share(mode, modes, bounds) for mode, bounds in shipped_weights().shares.items()
        ],
        parts=[
            _tie_breaks(conn, household, since), _second_looks(conn, household, since),
            _memories(conn, household, since), _digests(conn, household, since),
        ],
    )  # fmt: skip


def _share(mode: Mode, modes: Counter[Mode], bounds: tuple[float, float]) -> ModeShare:
    share = modes[mode] / modes.total() if modes else 0.0
    least, most = bounds
    return ModeShare(
        mode=mode, share=round(share, 4), least=least, most=most,
        is_healthy=least <= share <= most if modes.total() >= _ENOUGH else None,
    )  # fmt: skip


def _tie_breaks(conn: Connection, household: str, since: datetime) -> Fired:
    """Count ties that a light model broke, and those that it broke against the higher score."""
    columns = routing_decisions.c
    query = select(columns.mode, columns.scores).where(
        columns.household == household, columns.at >= since, columns.tie_break == 1
    )
    broken = [(row.mode, row.scores) for row in conn.execute(query)]
    turned = sum(mode != max(scores, key=scores.__getitem__) for mode, scores in broken)
    return Fired(name="ties decided by a model", fired=len(broken), had_effect=turned)


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
        name="reviews of steps", fired=total,
        had_effect=total - looks.get(Effect.NONE.value, 0),
    )  # fmt: skip


def _digests(conn: Connection, household: str, since: datetime) -> Fired:
    """Count daily digests, and those after which their person decided within a day about what they told of."""
    sent = sent_digests(conn, household, since=since)
    used = sum(
        was_decided(
            conn, household, each.action_ids, by=each.member,
            within=Interval(each.sent_at, each.sent_at + _SOON),
        )
        for each in sent
    )  # fmt: skip
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
