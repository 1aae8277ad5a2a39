"""What is kept of calls to models, on every database: budgets that racing calls cannot pass, records, their end."""

import asyncio
from collections import Counter
from dataclasses import replace
from datetime import UTC, datetime, timedelta

from sqlalchemy import Connection

from kinkeeper.models import repository
from kinkeeper.models.endpoints import DailyLimits
from kinkeeper.models.model import Outcome, Usage
from kinkeeper.models.repository import (
    Amount,
    CallRecord,
    count_fallbacks,
    count_outcomes,
    insert_call,
    insert_fallback,
    load_figures,
    load_spent,
    model_calls,
    purge,
)
from kinkeeper.store.store import Store
from model_calls import HOUSE, NOON, request, rows

DAY = datetime(2026, 3, 3, tzinfo=UTC).date()


def record(outcome: Outcome, milliseconds: float = 5, **changes: object) -> CallRecord:
    made = CallRecord(
        request=request(),
        at=NOON,
        model="tiny",
        outcome=outcome,
        milliseconds=milliseconds,
        usage=Usage(input_tokens=10, output_tokens=2, is_estimated=True),
        cost_micros=5_000_000_000,
    )
    return replace(made, **changes)  # type: ignore[arg-type]  # names of fields


def test_two_hundred_at_once_take_what_there_is_and_no_more(store: Store) -> None:
    limits = DailyLimits(calls=20, tokens=1_000)

    async def take(number: int) -> str | None:
        wanted = Amount(calls=1, tokens=40 + number % 2 * 20)
        return await store.write(
            lambda conn: repository.reserve(conn, HOUSE, DAY, wanted=wanted, limits=limits)
        )

    async def race() -> list[str | None]:
        return await asyncio.gather(*(take(number) for number in range(200)))

    refused = Counter(asyncio.run(race()))
    spent = store.read_now(lambda conn: load_spent(conn, HOUSE, DAY))
    assert spent is not None
    assert 0 < spent.calls == refused[None] <= 20
    assert 1_000 - 60 < spent.tokens <= 1_000 or spent.calls == 20


def test_more_than_a_call_is_given_back_and_added(store: Store) -> None:
    def work(conn: Connection) -> None:
        most = Amount(calls=1, tokens=500, cost_micros=9_000_000_000)
        assert repository.reserve(conn, HOUSE, DAY, wanted=most, limits=DailyLimits()) is None
        repository.add_spent(conn, HOUSE, DAY, Amount(tokens=-400, cost_micros=-1))

    store.write_now(work)
    spent = store.read_now(lambda conn: load_spent(conn, HOUSE, DAY))
    assert spent == Amount(calls=1, tokens=100, cost_micros=8_999_999_999)
    assert store.read_now(lambda conn: load_spent(conn, "other", DAY)) is None


def test_records_are_read_as_they_were_written_and_go_with_their_day(store: Store) -> None:
    def write(conn: Connection) -> None:
        insert_call(conn, record(Outcome.OK, 10, keeps_text=True, answered="yes"))
        insert_call(conn, record(Outcome.REPAIRED, 30))
        insert_call(conn, record(Outcome.TIMEOUT, 900, usage=None))
        insert_fallback(conn, HOUSE, stage="a.stage", outcome=Outcome.TIMEOUT, at=NOON)

    store.write_now(write)
    since = NOON - timedelta(hours=1)
    (light,) = store.read_now(lambda conn: load_figures(conn, HOUSE, since=since))
    assert light.outcomes == {"ok": 1, "repaired": 1, "timeout": 1}
    assert (light.p50_milliseconds, light.p99_milliseconds) == (30, 30)
    assert light.cost_micros == 15_000_000_000
    first, *_ = rows(store, model_calls)
    assert first["sent"][0]["author"] == "system"
    assert (first["answered"], first["at"]) == ("yes", NOON)
    counted = store.read_now(lambda conn: count_outcomes(conn, HOUSE, since=since))
    assert counted == {"light ok": 1, "light repaired": 1, "light timeout": 1}
    store.write_now(lambda conn: purge(conn, HOUSE, before=NOON))
    assert store.read_now(lambda conn: count_fallbacks(conn, HOUSE, since=since))
    store.write_now(lambda conn: purge(conn, HOUSE, before=NOON + timedelta(seconds=1)))
    assert store.read_now(lambda conn: load_figures(conn, HOUSE, since=since)) == []
    assert store.read_now(lambda conn: count_fallbacks(conn, HOUSE, since=since)) == {}
