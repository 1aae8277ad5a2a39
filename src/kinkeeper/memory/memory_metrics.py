"""How memory fares: how much is repeated, fades, contradicts itself, and what models took for it."""

from collections.abc import Mapping
from dataclasses import asdict, dataclass
from datetime import datetime, timedelta
from typing import Any

from sqlalchemy import ColumnElement, Connection, distinct, func, select

from kinkeeper.memory.adjustments import BY_MODEL
from kinkeeper.memory.episodes import count_episodes
from kinkeeper.memory.facts import count_facts
from kinkeeper.memory.model import FactStatus
from kinkeeper.memory.tables import facts, memory_questions, memory_verdicts, statements
from kinkeeper.memory.upkeep.questions import QuestionKind, QuestionState
from kinkeeper.memory.upkeep.runs import latest_runs

_WEEK = timedelta(days=7)
_MOST_RUNS = 1000
_MICROS = 1_000_000


@dataclass(frozen=True, slots=True, kw_only=True)
class MemoryFigures:
    """Figures of one household's memory.

    Attributes:
        episodes: How much was said, in turns.
        facts: How many facts there are by status.
        sentences: How many sentences facts rest on.
        repeated_share: Share of them that told nothing new; None where there are none.
        supported: Facts that rest on more than one turn.
        contradicted: Facts in use that something else does not fit.
        settled_by_rules: Facts that something newer took the place of, without a model.
        settled_by_model: Pairs that a model settled.
        model_calls: Of nights in the last week.
        model_cost: Estimated price of them, in the currency that prices are set in.
    """

    episodes: int
    facts: Mapping[FactStatus, int]
    sentences: int
    repeated_share: float | None
    supported: int
    contradicted: int
    settled_by_rules: int
    settled_by_model: int
    undecided: int
    model_calls: int
    model_cost: float

    @property
    def settled_without_model(self) -> float | None:
        """Share of contradictions settled by rules alone; None where there were none."""
        every = self.settled_by_rules + self.settled_by_model + self.undecided
        return self.settled_by_rules / every if every else None


def load_figures(conn: Connection, household: str, *, now: datetime) -> MemoryFigures:
    """Return the figures of a household's memory."""
    counted = count_facts(conn, household)
    sentences, told = _sentences(conn, household)
    by_model = _by_model(conn, household)
    cost = [
        run.report.cost
        for run in latest_runs(conn, household, limit=_MOST_RUNS)
        if run.started_at > now - _WEEK
    ]
    columns = facts.c
    mine = columns.household == household
    active = columns.status.in_([status.value for status in FactStatus if status.is_active])
    return MemoryFigures(
        episodes=count_episodes(conn, household)["all"],
        facts=counted,
        sentences=sentences,
        repeated_share=1 - told / sentences if sentences else None,
        supported=_count(conn, mine, active, columns.evidence_count > 1),
        contradicted=_count(conn, mine, active, columns.is_contradicted),
        settled_by_rules=max(0, counted.get(FactStatus.SUPERSEDED, 0) - by_model),
        settled_by_model=by_model,
        undecided=_undecided(conn, household),
        model_calls=sum(each.calls for each in cost),
        model_cost=sum(each.micros for each in cost) / _MICROS,
    )


def figures_record(figures: MemoryFigures) -> dict[str, Any]:
    """Return figures as JSON."""
    record = asdict(figures)
    counted = {status.value: count for status, count in sorted(figures.facts.items())}
    return {**record, "facts": counted, "settled_without_model": figures.settled_without_model}


def _sentences(conn: Connection, household: str) -> tuple[int, int]:
    """Return how many sentences support facts, and how many facts they support."""
    said = statements.c
    query = select(func.count(), func.count(distinct(said.fact_id))).where(
        said.household == household, said.fact_id.is_not(None)
    )
    sentences, told = conn.execute(query).one()
    return sentences, told


def _by_model(conn: Connection, household: str) -> int:
    query = select(func.count()).where(
        memory_verdicts.c.household == household, memory_verdicts.c.made_by == BY_MODEL
    )
    return conn.execute(query).scalar_one()


def _undecided(conn: Connection, household: str) -> int:
    columns = memory_questions.c
    query = select(func.count()).where(
        columns.household == household,
        columns.kind == QuestionKind.CONTRADICTION.value,
        columns.state == QuestionState.WAITING.value,
    )
    return conn.execute(query).scalar_one()


def _count(conn: Connection, *where: ColumnElement[bool]) -> int:
    return conn.execute(select(func.count()).select_from(facts).where(*where)).scalar_one()
