"""Messages from other bridges: stored before they are acknowledged, once, or refused with a reason."""

import asyncio
import json
from collections.abc import Iterator
from contextlib import suppress
from datetime import timedelta
from pathlib import Path
from typing import Any

import httpx
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from sqlalchemy import func, select

from kinkeeper.core.errors import InputError
from kinkeeper.messaging.tables import messages
from kinkeeper.observer.tables import observer_messages
from kinkeeper.store.sqlite_library import dbapi2
from kinkeeper.web.access.model import AccessRole
from kinkeeper.web.api.observe import LONGEST_TEXT, MOST_MESSAGES, read_records
from web_server import Served, served

TEXT = "Leo has the dentist tomorrow at 4pm"


def message(number: int = 1, **more: Any) -> dict[str, Any]:
    return {
        "chat_id": "family",
        "message_id": f"m{number}",
        "sender": "sarah",
        "text": TEXT,
        "sent_at": "2026-03-02T08:01:00-06:00",
        **more,
    }


@pytest.fixture
def house(tmp_path: Path) -> Iterator[Served]:
    with served(tmp_path) as serving:
        yield serving


def post(house: Served, *bodies: Any) -> list[httpx.Response]:
    async def story() -> list[httpx.Response]:
        async with house.bearing(house.token("sarah", AccessRole.BRIDGE)) as client:
            raw = [
                each if isinstance(each, bytes) else json.dumps(each).encode() for each in bodies
            ]
            return [await client.post("/observe", content=each) for each in raw]

    return asyncio.run(story())


def stored(house: Served) -> list[Any]:
    return list(
        house.context.store.read_now(
            lambda conn: conn.execute(select(messages).order_by(messages.c.id)).all()
        )
    )


def test_a_message_is_stored_decided_and_queued_when_it_is_acknowledged(house: Served) -> None:
    (answer,) = post(house, message())
    assert (answer.status_code, answer.json()) == (
        202,
        {"message_id": "m1", "queued": True, "repeat": False},
    )
    (row,) = stored(house)
    assert (row.text, row.sender, row.channel) == (TEXT, "sarah", "http")
    count = select(func.count()).select_from(observer_messages)
    assert house.context.store.read_now(lambda conn: conn.execute(count).scalar_one()) == 1


def test_a_repeat_is_acknowledged_and_changes_nothing(house: Served) -> None:
    first, second = post(house, message(), message())
    assert (first.status_code, second.status_code) == (202, 202)
    assert second.json()["repeat"] is True
    assert len(stored(house)) == 1


def test_the_same_id_with_another_text_is_a_conflict(house: Served) -> None:
    _, answer = post(house, message(), message(text="No, at 5pm"))
    assert answer.status_code == 409
    assert [row.text for row in stored(house)] == [TEXT]


def test_a_chat_that_is_not_listed_is_refused_and_nothing_of_it_stored(house: Served) -> None:
    (answer,) = post(house, message(chat_id="strangers"))
    assert answer.status_code == 403
    assert TEXT not in answer.text
    assert not stored(house)


def test_an_array_or_lines_come_in_together(house: Served) -> None:
    lines = b"\n".join(json.dumps(message(n)).encode() for n in range(3)) + b"\n\n"
    of_lines, of_array = post(house, lines, [message(2), message(3)])
    assert [each["repeat"] for each in of_lines.json()["messages"]] == [False] * 3
    assert [each["repeat"] for each in of_array.json()["messages"]] == [True, False]
    assert len(stored(house)) == 4


@pytest.mark.parametrize(
    ("wrong", "code"),
    [
        (message(2, sent_at="yesterday"), 422),
        (message(2, chat_id="strangers"), 403),
        (message(1, text="other"), 409),
        ("text", 422),
    ],
)
def test_of_a_batch_with_one_bad_message_nothing_is_stored(
    house: Served, wrong: Any, code: int
) -> None:
    (answer,) = post(house, [message(1), wrong])
    assert answer.status_code == code
    assert not stored(house)
    assert "2" in answer.json()["detail"] or answer.json()["errors"][0]["where"] == ["body", 1]


@pytest.mark.parametrize(
    "body",
    [
        b"",
        b"  \n",
        b"[]",
        b"{",
        b"null",
        b"1",
        b'"text"',
        b"[[]]",
        b"[" * 3000,
        b"{}",
        b"\xff\xfe",
        b'{"chat_id": NaN}',
        json.dumps([message(n) for n in range(MOST_MESSAGES + 1)]).encode(),
        json.dumps({**message(), "kind": "edit"}).encode(),
        json.dumps({**message(), "text": 3}).encode(),
        json.dumps({**message(), "sent_at": "2026-02-30T08:00:00"}).encode(),
        json.dumps({**message(), "message_id": "x" * 200}).encode(),
        json.dumps(message(text="x" * (LONGEST_TEXT + 1))).encode(),
        json.dumps(message(sent_at="2199-01-01T00:00:00Z")).encode(),
    ],
)
def test_bad_input_is_told_what_is_wrong(house: Served, body: bytes) -> None:
    (answer,) = post(house, body)
    assert answer.status_code == 422
    assert answer.headers["content-type"] == "application/problem+json"
    assert TEXT not in answer.text
    assert not stored(house)


def test_figures_tell_how_much_work_stands_where(house: Served) -> None:
    post(house, [message(n) for n in range(3)])

    async def story() -> str:
        async with house.bearing(house.token("sarah")) as client:
            return (await client.get("/metrics")).text

    text = asyncio.run(story())
    assert 'kinkeeper_messages{state="queued"} 3.0' in text
    assert 'kinkeeper_failed_updates{state="kept"} 0.0' in text
    assert 'route="/observe"' in text
    assert "dentist" not in text


def test_a_time_without_offset_is_the_household_s(house: Served) -> None:
    post(house, message(sent_at="2026-03-02T08:01:00"))
    assert stored(house)[0].sent_at.isoformat() == "2026-03-02T14:01:00+00:00"


def test_half_a_character_does_not_stop_a_message(house: Served) -> None:
    body = json.dumps(message()).replace("Leo", "Leo \\ud83d").encode()
    (answer,) = post(house, body)
    assert answer.status_code == 202
    assert "\ufffd" in stored(house)[0].text


def test_a_database_held_by_another_acknowledges_nothing(tmp_path: Path) -> None:
    with served(tmp_path, patience=timedelta(milliseconds=200)) as house:
        other = dbapi2.connect(str(tmp_path / "family.sqlite"), isolation_level=None)
        token = house.token("sarah", AccessRole.BRIDGE)

        async def story() -> None:
            async with house.bearing(token) as client:
                other.execute("BEGIN IMMEDIATE")
                refused = await client.post("/observe", json=message())
                assert refused.status_code == 503
                assert int(refused.headers["retry-after"]) >= 1
                other.execute("COMMIT")
                again = await client.post("/observe", json=message())
                assert again.status_code == 202

        asyncio.run(story())
        other.close()
        assert len(stored(house)) == 1


def test_a_full_disk_acknowledges_nothing(house: Served, tmp_path: Path) -> None:
    token = house.token("sarah", AccessRole.BRIDGE)
    store = house.context.store
    pages = store.write_now(lambda conn: conn.exec_driver_sql("PRAGMA page_count").scalar_one())
    store.write_now(lambda conn: conn.exec_driver_sql(f"PRAGMA max_page_count={pages}"))

    async def story() -> list[int]:
        async with house.bearing(token) as client:
            return [
                (await client.post("/observe", json=message(n, text=TEXT * 40))).status_code
                for n in range(60)
            ]

    codes = asyncio.run(story())
    assert set(codes) == {202, 503}
    assert len(stored(house)) == codes.count(202)


@settings(max_examples=200, deadline=None)
@given(st.binary(max_size=80) | st.text(max_size=80).map(str.encode))
def test_any_bytes_are_records_or_a_sentence(body: bytes) -> None:
    with suppress(InputError):
        records, is_one = read_records(body)
        assert 1 <= len(records) <= MOST_MESSAGES
        assert not is_one or len(records) == 1


_json = st.recursive(
    st.none() | st.booleans() | st.integers() | st.text(max_size=8),
    lambda inner: (
        st.lists(inner, max_size=3) | st.dictionaries(st.text(max_size=5), inner, max_size=3)
    ),
    max_leaves=8,
)


@settings(max_examples=100, deadline=None)
@given(st.lists(st.dictionaries(st.text(max_size=5), _json, max_size=4), min_size=1, max_size=5))
def test_an_array_and_lines_are_read_alike(records: list[dict[str, Any]]) -> None:
    array = json.dumps(records).encode()
    lines = b"\n".join(json.dumps(each).encode() for each in records)
    assert list(read_records(array)[0]) == records
    assert list(read_records(lines)[0]) == records
