"""Calls to models, fallbacks and what a day's budget has left, as rows. Statements only."""

from collections import Counter, defaultdict
from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass
from datetime import date, datetime

from sqlalchemy import (
    JSON,
    BigInteger,
    Column,
    Connection,
    Float,
    Index,
    Integer,
    String,
    Table,
    Text,
    delete,
    func,
    insert,
    select,
    update,
)

from kinkeeper.models.endpoints import DailyLimits
from kinkeeper.models.model import ChatRequest, Outcome, Usage
from kinkeeper.store.schema import Instant, metadata

# Tables of calls to language models: what they took, what was used of a day's budget, who did
# without.

model_calls = Table(
    "model_calls",
    metadata,
    Column("id", Integer, primary_key=True, autoincrement=True),
    Column("household", String(64), nullable=False),
    Column("at", Instant, nullable=False),
    Column("role", String(16), nullable=False),
    Column("prompt_id", String(128), nullable=False),
    Column("prompt_version", Integer, nullable=False),
    Column("prompt_hash", String(64), nullable=False),
    Column("model", String(256), nullable=False),
    Column("outcome", String(24), nullable=False),
    Column("milliseconds", Float, nullable=False),
    Column("input_tokens", Integer),
    Column("output_tokens", Integer),
    Column("is_estimated", Integer, nullable=False),
    Column("cost_micros", BigInteger, nullable=False),
    # Only with a setting, and only as long as messages are kept.
    Column("sent", JSON),
    Column("answered", Text),
    Index("ix_model_calls_at", "household", "at"),
    sqlite_autoincrement=True,
)

model_fallbacks = Table(
    "model_fallbacks",
    metadata,
    Column("id", Integer, primary_key=True, autoincrement=True),
    Column("household", String(64), nullable=False),
    Column("at", Instant, nullable=False),
    Column("stage", String(64), nullable=False),
    Column("outcome", String(24), nullable=False),
    Index("ix_model_fallbacks_at", "household", "at"),
    sqlite_autoincrement=True,
)

model_budgets = Table(
    "model_budgets",
    metadata,
    Column("household", String(64), primary_key=True),
    Column("day", String(10), primary_key=True),
    Column("calls", Integer, nullable=False),
    Column("tokens", BigInteger, nullable=False),
    Column("cost_micros", BigInteger, nullable=False),
)


# What a household uses of models in a day: the rows, and whether a call still fits. Statements and
# pure rules.

_rows = model_budgets.c


@dataclass(frozen=True, slots=True, kw_only=True)
class Amount:
    """Something used, or to be used.

    Attributes:
        tokens: Of requests and answers.
        cost_micros: Millionths of the currency of the prices.
    """

    calls: int = 0
    tokens: int = 0
    cost_micros: int = 0

    def __add__(self, other: "Amount") -> "Amount":
        return Amount(
            calls=self.calls + other.calls,
            tokens=self.tokens + other.tokens,
            cost_micros=self.cost_micros + other.cost_micros,
        )

    def __sub__(self, other: "Amount") -> "Amount":
        return Amount(
            calls=self.calls - other.calls,
            tokens=self.tokens - other.tokens,
            cost_micros=self.cost_micros - other.cost_micros,
        )


def exceeded(amount: Amount, limits: DailyLimits) -> str | None:
    """Return the setting whose limit an amount goes beyond, or None where it fits."""
    limited = (
        ("MODEL_CALLS_PER_DAY", amount.calls, limits.calls),
        ("MODEL_TOKENS_PER_DAY", amount.tokens, limits.tokens),
        ("MODEL_COST_PER_DAY", amount.cost_micros, limits.cost_micros),
    )
    return next((name for name, used, most in limited if most is not None and used > most), None)


def load_spent(conn: Connection, household: str, day: date) -> Amount | None:
    """Return what was used or is reserved on a local day; None where nothing ever was."""
    row = conn.execute(
        select(_rows.calls, _rows.tokens, _rows.cost_micros).where(
            _rows.household == household, _rows.day == day.isoformat()
        )
    ).first()
    if row is None:
        return None
    return Amount(calls=row.calls, tokens=row.tokens, cost_micros=row.cost_micros)


def reserve(
    conn: Connection, household: str, day: date, *, wanted: Amount, limits: DailyLimits
) -> str | None:
    """Set an amount aside if it fits into the day.

    Args:
        conn: In a write transaction; two that race cannot both take the last of it.
        wanted: The most that the call can take.

    Returns:
        The setting whose limit is in the way, or None where the amount was set aside.
    """
    spent = load_spent(conn, household, day)
    if name := exceeded((spent or Amount()) + wanted, limits):
        return name
    if spent is None:
        conn.execute(
            insert(model_budgets).values(household=household, day=day.isoformat(), **asdict(wanted))
        )
    else:
        add_spent(conn, household, day, wanted)
    return None


def add_spent(conn: Connection, household: str, day: date, amount: Amount) -> None:
    """Add to what was used on a day on which something was reserved; negative parts give back."""
    conn.execute(
        update(model_budgets)
        .where(_rows.household == household, _rows.day == day.isoformat())
        .values(
            calls=_rows.calls + amount.calls,
            tokens=_rows.tokens + amount.tokens,
            cost_micros=_rows.cost_micros + amount.cost_micros,
        )
    )


def purge_spent(conn: Connection, household: str, *, before: date) -> None:
    """Delete what was used on days before."""
    conn.execute(
        delete(model_budgets).where(_rows.household == household, _rows.day < before.isoformat())
    )


# The records of calls and fallbacks: written, counted, purged. Statements only.

_calls = model_calls.c
_fallbacks = model_fallbacks.c
_SUCCEEDED = frozenset({Outcome.OK.value, Outcome.REPAIRED.value})


@dataclass(frozen=True, slots=True, kw_only=True)
class CallRecord:
    """A call that ended.

    Attributes:
        at: When it ended; aware.
        model: Who answered, or was to.
        milliseconds: It took, with waiting and tries.
        usage: What it took, where there was an answer.
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
        calls: How many.
        p50_milliseconds: Of those with an answer; None of none.
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
            household=request.household,
            at=record.at,
            role=request.role.value,
            prompt_id=request.prompt.id,
            prompt_version=request.prompt.version,
            prompt_hash=request.prompt.hash,
            model=record.model,
            outcome=record.outcome.value,
            milliseconds=record.milliseconds,
            input_tokens=usage.input_tokens if usage else None,
            output_tokens=usage.output_tokens if usage else None,
            is_estimated=int(usage is not None and usage.is_estimated),
            cost_micros=record.cost_micros,
            sent=texts if record.keeps_text else None,
            answered=_storable(record.answered) if record.keeps_text else None,
        )
    )


def _storable(text: str | None) -> str | None:
    """Return a text as every database takes it: without zero characters."""
    return None if text is None else text.replace("\0", "\N{REPLACEMENT CHARACTER}")


def insert_fallback(
    conn: Connection, household: str, *, stage: str, outcome: Outcome, at: datetime
) -> None:
    """Keep that a stage did without a model.

    Args:
        stage: "observer.extraction".
        outcome: Why.
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
            _calls.role,
            _calls.outcome,
            _calls.milliseconds,
            _calls.input_tokens,
            _calls.output_tokens,
            _calls.cost_micros,
        ).where(_calls.household == household, _calls.at >= since)
    ).all()
    by_role = defaultdict(list)
    for row in rows:
        by_role[row.role].append(row)
    figures = []
    for role, of_role in sorted(by_role.items()):
        times = sorted(row.milliseconds for row in of_role if row.outcome in _SUCCEEDED)
        figures.append(
            RoleFigures(
                role=role,
                calls=len(of_role),
                p50_milliseconds=_quantile(times, 0.5),
                p99_milliseconds=_quantile(times, 0.99),
                input_tokens=sum(row.input_tokens or 0 for row in of_role),
                output_tokens=sum(row.output_tokens or 0 for row in of_role),
                cost_micros=sum(row.cost_micros for row in of_role),
                outcomes=dict(Counter(row.outcome for row in of_role)),
            )
        )
    return figures


def prompt_cost(
    conn: Connection, household: str, *, prompts: str, since: datetime
) -> Mapping[str, int]:
    """Return what the calls made from some prompts came to.

    Args:
        prompts: How their ids begin, up to a dot.
        since: Only calls that ended since; aware.

    Returns:
        `calls`, `input_tokens`, `output_tokens` and `micros`, the price in millionths.
    """
    row = (
        conn.execute(
            select(
                func.count().label("calls"),
                func.coalesce(func.sum(_calls.input_tokens), 0).label("input_tokens"),
                func.coalesce(func.sum(_calls.output_tokens), 0).label("output_tokens"),
                func.coalesce(func.sum(_calls.cost_micros), 0).label("micros"),
            ).where(
                _calls.household == household,
                _calls.at >= since,
                _calls.prompt_id.startswith(f"{prompts}.", autoescape=True),
            )
        )
        .mappings()
        .one()
    )
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
