"""The records of calls and fallbacks: written, counted, purged. Statements only."""

from collections import Counter, defaultdict
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime

from sqlalchemy import Connection, delete, func, insert, select

from kinkeeper.models.daily_budget import purge_spent
from kinkeeper.models.model import ChatRequest, Outcome, Usage
from kinkeeper.models.tables import model_calls, model_fallbacks

_calls = model_calls.c
_fallbacks = model_fallbacks.c
_SUCCEEDED = frozenset({Outcome.OK.value, Outcome.REPAIRED.value})


@dataclass(frozen=True, slots=True, kw_only=True)
class CallRecord:
    """A call that ended.

    Attributes:
        request: What was asked.
        at: When it ended; aware.
        model: Who answered, or was to.
        outcome: How it ended.
        milliseconds: It took, with waiting and tries.
        usage: What it took, where there was an answer.
        cost_micros: Of that.
        answered: The answer, where there was one.
        keeps_text: Whether what was asked and answered is kept, too.
    """

    request: ChatRequest
    at: datetime
    model: str
    outcome: Outcome
    milliseconds: float
    usage: Usage | None = None
    cost_micros: int = 0
    answered: str | None = None
    keeps_text: bool = False


@dataclass(frozen=True, slots=True, kw_only=True)
class RoleFigures:
    """What a role's calls came to.

    Attributes:
        role: Of the calls.
        calls: How many.
        p50_milliseconds: Of those with an answer; None of none.
        p99_milliseconds: The same.
        input_tokens: Of all.
        output_tokens: Of all.
        cost_micros: Of all.
        outcomes: How many ended how.
    """

    role: str
    calls: int
    p50_milliseconds: float | None
    p99_milliseconds: float | None
    input_tokens: int
    output_tokens: int
    cost_micros: int
    outcomes: Mapping[str, int]


def insert_call(conn: Connection, record: CallRecord) -> None:
    """Keep the record of a call."""
    request, usage = record.request, record.usage
    texts = [{"author": each.author.value, "text": each.text} for each in request.messages]
    conn.execute(
        insert(model_calls).values(
            household=request.household, at=record.at, role=request.role.value,
            prompt_id=request.prompt.id, prompt_version=request.prompt.version,
            prompt_hash=request.prompt.hash, model=record.model, outcome=record.outcome.value,
            milliseconds=record.milliseconds,
            input_tokens=usage.input_tokens if usage else None,
            output_tokens=usage.output_tokens if usage else None,
            is_estimated=int(usage is not None and usage.is_estimated), cost_micros=record.cost_micros,
            sent=texts if record.keeps_text else None,
            answered=_storable(record.answered) if record.keeps_text else None,
        )
    )  # fmt: skip


def _storable(text: str | None) -> str | None:
    """Return a text as every database takes it: without zero characters."""
    return None if text is None else text.replace("\0", "\N{REPLACEMENT CHARACTER}")


def insert_fallback(
    conn: Connection, household: str, *, stage: str, outcome: Outcome, at: datetime
) -> None:
    """Keep that a stage did without a model.

    Args:
        conn: In a write transaction.
        household: Tenant key.
        stage: "observer.extraction".
        outcome: Why.
        at: Aware.
    """
    conn.execute(
        insert(model_fallbacks).values(
            household=household, stage=stage, outcome=outcome.value, at=at
        )
    )


def load_figures(conn: Connection, household: str, *, since: datetime) -> Sequence[RoleFigures]:
    """Return what the calls of each role came to, by role."""
    rows = conn.execute(
        select(
            _calls.role, _calls.outcome, _calls.milliseconds, _calls.input_tokens,
            _calls.output_tokens, _calls.cost_micros,
        ).where(_calls.household == household, _calls.at >= since)
    ).all()  # fmt: skip
    by_role = defaultdict(list)
    for row in rows:
        by_role[row.role].append(row)
    figures = []
    for role, of_role in sorted(by_role.items()):
        times = sorted(row.milliseconds for row in of_role if row.outcome in _SUCCEEDED)
        figures.append(
            RoleFigures(
                role=role, calls=len(of_role), p50_milliseconds=_quantile(times, 0.5),
                p99_milliseconds=_quantile(times, 0.99),
                input_tokens=sum(row.input_tokens or 0 for row in of_role),
                output_tokens=sum(row.output_tokens or 0 for row in of_role),
                cost_micros=sum(row.cost_micros for row in of_role),
                outcomes=dict(Counter(row.outcome for row in of_role)),
            )
        )  # fmt: skip
    return figures


def prompt_cost(
    conn: Connection, household: str, *, prompts: str, since: datetime
) -> Mapping[str, int]:
    """Return what the calls made from some prompts came to.

    Args:
        conn: In a transaction.
        household: Tenant key.
        prompts: How their ids begin, up to a dot.
        since: Only calls that ended since; aware.

    Returns:
        `calls`, `input_tokens`, `output_tokens` and `micros`, the price in millionths.
    """
    row = conn.execute(
        select(
            func.count().label("calls"),
            func.coalesce(func.sum(_calls.input_tokens), 0).label("input_tokens"),
            func.coalesce(func.sum(_calls.output_tokens), 0).label("output_tokens"),
            func.coalesce(func.sum(_calls.cost_micros), 0).label("micros"),
        ).where(
            _calls.household == household, _calls.at >= since,
            _calls.prompt_id.startswith(f"{prompts}.", autoescape=True),
        )
    ).mappings().one()  # fmt: skip
    return {name: int(value) for name, value in row.items()}


def count_outcomes(conn: Connection, household: str, *, since: datetime) -> Mapping[str, int]:
    """Return how many calls ended how, by role and outcome ("light ok")."""
    rows = conn.execute(
        select(_calls.role, _calls.outcome, func.count())
        .where(_calls.household == household, _calls.at >= since)
        .group_by(_calls.role, _calls.outcome)
    )
    return {f"{role} {outcome}": count for role, outcome, count in rows}


def count_fallbacks(
    conn: Connection, household: str, *, since: datetime
) -> Mapping[tuple[str, str], int]:
    """Return how often which stage did without a model, and why."""
    rows = conn.execute(
        select(_fallbacks.stage, _fallbacks.outcome, func.count())
        .where(_fallbacks.household == household, _fallbacks.at >= since)
        .group_by(_fallbacks.stage, _fallbacks.outcome)
    )
    return {(stage, outcome): count for stage, outcome, count in rows}


def purge(conn: Connection, household: str, *, before: datetime) -> None:
    """Delete the records of what happened before then."""
    for table in (model_calls, model_fallbacks):
        conn.execute(delete(table).where(table.c.household == household, table.c.at < before))
    purge_spent(conn, household, before=before.date())


def _quantile(ordered: Sequence[float], share: float) -> float | None:
    if not ordered:
        return None
    return ordered[min(len(ordered) - 1, int(share * len(ordered)))]
