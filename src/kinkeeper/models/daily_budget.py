"""What a household uses of models in a day: the rows, and whether a call still fits. Statements and pure rules."""

from dataclasses import asdict, dataclass
from datetime import date

from sqlalchemy import Connection, delete, insert, select, update

from kinkeeper.models.endpoints import DailyLimits
from kinkeeper.models.tables import model_budgets

_rows = model_budgets.c


@dataclass(frozen=True, slots=True, kw_only=True)
class Amount:
    """Something used, or to be used.

    Attributes:
        calls: To servers.
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
        household: Tenant key.
        day: Local.
        wanted: The most that the call can take.
        limits: Of the day.

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
