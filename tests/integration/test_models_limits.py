"""What keeps calls within bounds: slots of a server, its breaker, budgets of a day, records."""

import asyncio
from collections import Counter
from collections.abc import Iterator
from contextlib import suppress
from dataclasses import replace
from datetime import UTC, datetime, timedelta
from decimal import Decimal
from pathlib import Path

import pytest

from kinkeeper.core.time import VirtualClock
from kinkeeper.models.endpoints import DailyLimits, Price
from kinkeeper.models.gateway import Gateway
from kinkeeper.models.model import ChatRequest, ModelError, ModelRole, Outcome
from kinkeeper.models.repository import (
    count_fallbacks,
    load_figures,
    model_budgets,
    model_calls,
    model_fallbacks,
    purge,
)
from kinkeeper.store.store import Store
from model_calls import HOUSE, NOON, PROMPT, config, gateway, request, role, rows
from modelserver import ModelServer, breaks_off, fails, hangs, model_server, says, stalls


@pytest.fixture
def store(tmp_path: Path) -> Iterator[Store]:
    with Store.open(str(tmp_path / "family.db")) as opened:
        yield opened


async def ended(opened: Gateway, call: ChatRequest | None = None) -> Outcome:
    try:
        await opened.complete(call or request())
    except ModelError as error:
        return error.outcome
    return Outcome.OK


def test_roles_share_the_slots_of_their_server(store: Store) -> None:
    async def all_roles(opened: Gateway) -> list[Outcome]:
        calls = [request(role=each) for each in ModelRole for _ in range(3)]
        return await asyncio.gather(*(ended(opened, call) for call in calls))

    async def run(url: str) -> list[Outcome]:
        tiny = replace(role(url), model="tiny")
        settings = config(role(url), concurrency=2)
        settings = replace(settings, roles={**settings.roles, ModelRole.LIGHT: tiny})
        async with gateway(store, settings) as opened:
            return await all_roles(opened)

    with model_server() as server:
        server.will(stalls(0.02, says("hello")))
        assert set(asyncio.run(run(server.url))) == {Outcome.OK}
        assert server.at_once == 2
        assert {call.body["model"] for call in server.calls} == {"tiny", "test-model"}


def test_a_call_that_gets_no_slot_in_time_says_so(store: Store) -> None:
    async def run(server: ModelServer) -> Outcome:
        settings = config(role(server.url), concurrency=1)
        hasty = role(server.url, timeout=timedelta(seconds=0.2))
        settings = replace(settings, roles={**settings.roles, ModelRole.STRONG: hasty})
        async with gateway(store, settings) as opened, asyncio.TaskGroup() as tasks:
            holding = tasks.create_task(ended(opened))
            while not server.calls:
                await asyncio.sleep(0.01)
            found = await ended(opened, request(role=ModelRole.STRONG))
            holding.cancel()
        return found

    with model_server() as server:
        server.will(hangs())
        assert asyncio.run(run(server)) is Outcome.OVERLOADED
        assert len(server.calls) == 1


def test_a_server_that_keeps_failing_is_left_alone(store: Store) -> None:
    async def run(url: str) -> list[Outcome]:
        async with gateway(store, config(role(url))) as opened:
            return [await ended(opened) for _ in range(8)]

    with model_server() as server:
        server.will(breaks_off())
        found = asyncio.run(run(server.url))
        assert found == [Outcome.SERVER_ERROR] * 5 + [Outcome.CIRCUIT_OPEN] * 3
        assert len(server.calls) == 5


def test_refused_requests_leave_the_breaker_closed(store: Store) -> None:
    async def run(url: str) -> list[Outcome]:
        async with gateway(store, config(role(url))) as opened:
            return [await ended(opened) for _ in range(8)]

    with model_server() as server:
        server.will(fails(404))
        assert asyncio.run(run(server.url)) == [Outcome.REJECTED] * 8


def test_two_hundred_racing_calls_do_not_pass_the_budget(store: Store) -> None:
    price = Price(input=Decimal(1), output=Decimal(1))
    limits = DailyLimits(calls=120, tokens=20_000, cost_micros=18_000)

    async def run(url: str) -> Counter[Outcome]:
        settings = config(role(url, price=price), concurrency=50, limits=limits)
        async with gateway(store, settings) as opened:
            return Counter(await asyncio.gather(*(ended(opened) for _ in range(200))))

    with model_server() as server:
        server.will(says("hello", counted=(30, 270)))
        found = asyncio.run(run(server.url))
        assert found[Outcome.OK] + found[Outcome.OVER_BUDGET] == 200
        assert 0 < found[Outcome.OK] == len(server.calls) <= 60
    (spent,) = rows(store, model_budgets)
    assert spent["tokens"] == spent["cost_micros"] == 300 * found[Outcome.OK] <= 18_000


def test_a_budget_renews_at_the_household_s_midnight(store: Store) -> None:
    clock = VirtualClock(NOON)

    async def run(url: str) -> list[Outcome]:
        settings = config(role(url), limits=DailyLimits(calls=2))
        found = []
        async with gateway(store, settings, clock=clock) as opened:
            for now in (NOON, NOON, NOON, datetime(2026, 3, 4, 5, 59, tzinfo=UTC)):
                clock.advance_to(now)
                found.append(await ended(opened))
            clock.advance_to(datetime(2026, 3, 4, 6, tzinfo=UTC))
            found.append(await ended(opened))
        return found

    with model_server() as server:
        refused = Outcome.OVER_BUDGET
        assert asyncio.run(run(server.url)) == [
            Outcome.OK,
            Outcome.OK,
            refused,
            refused,
            Outcome.OK,
        ]
        assert len(server.calls) == 3


def test_a_refusal_says_which_limit_and_until_when(store: Store) -> None:
    async def run(url: str) -> None:
        async with gateway(store, config(role(url), limits=DailyLimits(tokens=10))) as opened:
            await opened.complete(request())

    with (
        model_server() as server,
        pytest.raises(ModelError, match="MODEL_TOKENS_PER_DAY") as caught,
    ):
        asyncio.run(run(server.url))
    assert "2026-03-04 00:00 America/Chicago" in str(caught.value)
    assert caught.value.retry_after == timedelta(hours=12)


@pytest.mark.parametrize("counted", [(-5_000, -5_000), (10**12, 1), (1, 10**30)])
def test_tokens_that_cannot_be_are_counted_from_the_texts(
    store: Store, counted: tuple[int, int]
) -> None:
    """They neither fill the day's budget up again nor break what is kept; nor does a name that is none."""
    limits = DailyLimits(tokens=1_500)

    async def run(url: str) -> list[Outcome]:
        every = role(url, max_output_tokens=300)
        async with gateway(store, config(every, limits=limits, keeps_text=True)) as opened:
            return [await ended(opened) for _ in range(3)]

    with model_server() as server:
        server.will(says("hel\0lo", counted=counted, model="a\0name" * 100))
        assert asyncio.run(run(server.url)) == [Outcome.OK] * 3
    (day,) = rows(store, model_budgets)
    assert 0 < day["tokens"] < 100
    kept = rows(store, model_calls)
    assert {(row["model"], row["is_estimated"]) for row in kept} == {("test-model", 1)}
    assert all("\0" not in row["answered"] for row in kept)


def test_what_a_call_in_vain_costs(store: Store) -> None:
    """Nothing where no server saw it, a call where it was refused at once, else the most it can have taken."""
    spent = []

    async def run(url: str, seconds: float = 10) -> None:
        every = role(url, timeout=timedelta(seconds=seconds))
        async with gateway(store, config(every)) as opened:
            await ended(opened)
        (row,) = rows(store, model_budgets)
        spent.append((row["calls"], row["tokens"]))

    with model_server() as gone:
        closed = gone.url
    asyncio.run(run(closed))
    with model_server() as server:
        server.will(fails(401))
        asyncio.run(run(server.url))
        server.will(hangs())
        asyncio.run(run(server.url, seconds=0.3))
    assert spent[:2] == [(0, 0), (1, 0)]
    assert spent[2][0] == 2
    assert spent[2][1] > 300


def test_a_call_that_is_given_up_is_settled(store: Store) -> None:
    async def run(url: str) -> None:
        async with gateway(store, config(role(url))) as opened:
            with suppress(TimeoutError):
                async with asyncio.timeout(0.2):
                    await opened.complete(request())

    with model_server() as server:
        server.will(hangs())
        asyncio.run(run(server.url))
    assert [row["outcome"] for row in rows(store, model_calls)] == ["cancelled"]
    assert [row["calls"] for row in rows(store, model_budgets)] == [1]


@pytest.mark.parametrize("keeps_text", [True, False])
def test_what_is_recorded_of_a_call(store: Store, *, keeps_text: bool) -> None:
    async def run(url: str) -> None:
        settings = config(role(url, price=Price(input=Decimal(2))), keeps_text=keeps_text)
        async with gateway(store, settings) as opened:
            await opened.complete(request("leo at four"))

    with model_server() as server:
        server.will(says("sixteen", counted=(30, 4), model="tiny-q4"))
        asyncio.run(run(server.url))
    (row,) = rows(store, model_calls)
    assert (row["household"], row["role"], row["model"]) == (HOUSE, "light", "tiny-q4")
    assert (row["prompt_id"], row["prompt_version"]) == (PROMPT.id, PROMPT.version)
    assert (row["input_tokens"], row["output_tokens"], row["cost_micros"]) == (30, 4, 60)
    assert row["milliseconds"] > 0
    if keeps_text:
        assert row["sent"][-1] == {"author": "user", "text": "leo at four"}
        assert row["answered"] == "sixteen"
    else:
        assert row["sent"] is row["answered"] is None


def test_figures_fallbacks_and_their_end(store: Store) -> None:
    clock = VirtualClock(NOON)

    async def run(url: str) -> None:
        async with gateway(store, config(role(url)), clock=clock) as opened:
            for _ in range(3):
                await ended(opened)
            await opened.note_fallback(HOUSE, stage="a.stage", outcome=Outcome.TIMEOUT)

    with model_server() as server:
        server.will(says("a", counted=(10, 1)), says("b", counted=(10, 2)), fails(401))
        asyncio.run(run(server.url))
    since = NOON - timedelta(days=1)
    (light,) = store.read_now(lambda conn: load_figures(conn, HOUSE, since=since))
    assert (light.role, light.calls, light.outcomes) == ("light", 3, {"ok": 2, "rejected": 1})
    assert light.p50_milliseconds is not None
    assert light.p99_milliseconds is not None
    assert 0 < light.p50_milliseconds <= light.p99_milliseconds
    assert (light.input_tokens, light.output_tokens) == (20, 3)
    fallbacks = store.read_now(lambda conn: count_fallbacks(conn, HOUSE, since=since))
    assert fallbacks == {("a.stage", "timeout"): 1}
    assert store.read_now(lambda conn: load_figures(conn, "others", since=since)) == []
    later = NOON + timedelta(days=2)
    store.write_now(lambda conn: purge(conn, "others", before=later))
    assert len(rows(store, model_calls)) == 3
    store.write_now(lambda conn: purge(conn, HOUSE, before=later))
    for table in (model_calls, model_fallbacks, model_budgets):
        assert rows(store, table) == []
