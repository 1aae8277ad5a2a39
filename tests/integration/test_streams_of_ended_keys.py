"""A stream ends with the key that opened it, before it tells anything more."""

import asyncio
from collections.abc import Callable, Iterator
from datetime import timedelta
from pathlib import Path

import pytest

from kinkeeper.web import live
from kinkeeper.web.access import logins
from kinkeeper.web.access.model import Key, KeyKind, digest_of
from page_visits import FREE
from talking import on_a_loop
from web_server import Served, served


@pytest.fixture
def house(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Served]:
    monkeypatch.setattr(live, "_ALIVE_EVERY_SECONDS", 0.05)
    monkeypatch.setattr(live, "_LOOK_EVERY_SECONDS", 0.05)
    with served(tmp_path, rates=FREE) as serving:
        yield serving


def _key(house: Served, secret: str) -> Key:
    found = house.context.store.read_now(
        lambda conn: logins.find_by_digest(conn, KeyKind.TOKEN, digest_of(secret))
    )
    assert found is not None
    return found


def _ended_here(house: Served, secret: str) -> None:
    _ended_elsewhere(house, secret)
    house.app.state.door.forget()


def _ended_elsewhere(house: Served, secret: str) -> None:
    key, now = _key(house, secret), house.clock.now()
    house.context.store.write_now(lambda conn: logins.end_key(conn, key.household, key.id, now=now))
    house.clock.advance_to(now + timedelta(seconds=5))


@pytest.mark.parametrize("end", [_ended_here, _ended_elsewhere])
@pytest.mark.parametrize("path", ["/live", "/chat/kitchen/events"])
@on_a_loop
async def test_an_open_stream_ends_with_its_key(
    house: Served, path: str, end: Callable[[Served, str], None]
) -> None:
    lost, kept = house.token("john"), house.token("john")
    async with house.bearing(lost) as phone, house.bearing(kept) as john:
        await john.post("/chat", json={"text": "hello", "thread": "kitchen"})
        async with asyncio.timeout(20), asyncio.TaskGroup() as tasks:
            listening = tasks.create_task(phone.get(path))
            staying = tasks.create_task(john.get(path))
            while house.app.state.listeners.count("miller", "john") < 2:
                await asyncio.sleep(0)
            end(house, lost)
            await john.post("/chat", json={"text": "add saffron to the list", "thread": "kitchen"})
            assert (await listening).status_code == 200
            assert not staying.done()
            house.context.stopping.set()
        assert "saffron" not in listening.result().text
        assert len(listening.result().text) < len(staying.result().text)
        assert (await phone.get("/api/me")).status_code == 401
