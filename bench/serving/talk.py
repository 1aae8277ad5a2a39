"""The family of the server's benchmarks, and its talk as requests."""

import json
from collections.abc import Iterator
from datetime import datetime, timedelta
from itertools import cycle
from pathlib import Path
from typing import Any

from bench.serving.load import post
from bench.suites.observer import CHATTER, COORDINATION, HOUSEHOLD
from kinkeeper.bootstrap import open_system
from kinkeeper.core.time import SystemClock
from kinkeeper.settings.model import Settings
from kinkeeper.web.access import logins
from kinkeeper.web.access.model import AccessRole

CHATS = tuple(f"chat-{number}" for number in range(240))
STORM = "storm"
_GROUPS = tuple(-1001000000000 - number for number in range(8))
_PEOPLE = {"nadia": 1001, "viktor": 1002}
_APART = timedelta(seconds=150)
WEBHOOK_SECRET = "kinkeeper-bench-secret"  # noqa: S105 - opens a server that lives for minutes
_ONE_IN = 14
NO_MODEL = {"EMBEDDER": "none"}
"""Settings of a server that asks no model of any kind."""


def prepare(folder: Path, name: str) -> tuple[Path, Path, str]:
    """Make a household with chats, its database, and a key for a bridge.

    Args:
        folder: Where to.
        name: Of the database.

    Returns:
        Household file, database file, API token.
    """
    chats = [*CHATS, STORM, *map(str, _GROUPS)]
    text = HOUSEHOLD.replace("[household]\n", f"[household]\nchats = {json.dumps(chats)}\n", 1)
    for member, account in _PEOPLE.items():
        text = text.replace(f'id = "{member}"\n', f'id = "{member}"\ntelegram_id = {account}\n', 1)
    household, database = folder / f"{name}.toml", folder / f"{name}.sqlite"
    household.write_text(text, encoding="utf-8")
    with open_system(Settings(), household_file=household, database=str(database)) as system:
        issued = system.store.write_now(
            lambda conn: logins.create_token(
                conn,
                system.household.id,
                "nadia",
                role=AccessRole.BRIDGE,
                label="bench",
                now=SystemClock().now(),
            )
        )
    return household, database, issued.secret


def adult_token(household: Path, database: Path) -> str:
    """Return an API token with which a parent of the family may speak.

    Args:
        household: Household file.
        database: SQLite file.
    """
    with open_system(Settings(), household_file=household, database=str(database)) as system:
        return system.store.write_now(
            lambda conn: logins.create_token(
                conn,
                system.household.id,
                "nadia",
                role=AccessRole.ADULT,
                label="bench",
                now=SystemClock().now(),
            )
        ).secret


def chatter(token: str, *, since: datetime) -> Iterator[bytes]:
    """Yield ordinary talk of a few chats as requests to /observe, none of which coordinates.

    Args:
        token: Of a bridge.
        since: Aware; when the talk begins.
    """
    for number, at, text in _said(since, chats=len(_GROUPS)):
        record = _record(CHATS[number % len(_GROUPS)], number, text, at)
        yield observe(record, token)


def updates(*, since: datetime) -> Iterator[bytes]:
    """Yield the same talk as updates that Telegram posts.

    Args:
        since: Aware; when the talk begins.
    """
    for number, at, text in _said(since, chats=len(_GROUPS)):
        account = _PEOPLE[_sender(number)]
        update = {
            "update_id": 1000 + number,
            "message": {
                "message_id": number + 1,
                "date": int(at.timestamp()),
                "text": text,
                "chat": {"id": _GROUPS[number % len(_GROUPS)], "type": "supergroup", "title": "b"},
                "from": {"id": account, "is_bot": False, "first_name": "b"},
            },
        }
        body = json.dumps(update).encode()
        yield post("/telegram/webhook", body, X_Telegram_Bot_Api_Secret_Token=WEBHOOK_SECRET)


def mixed(count: int) -> list[dict[str, Any]]:
    """Return messages of many chats, one in fourteen coordinating, without their times.

    Every tenth belongs to one chat in which everything coordinates, faster than anybody types.

    Args:
        count: How many.
    """
    talk, plans = cycle(CHATTER), cycle(COORDINATION)
    found = []
    for number in range(count):
        is_storm = number % 10 == 0
        text = next(plans if is_storm or number % _ONE_IN == 0 else talk).format(n=number)
        chat = STORM if is_storm else CHATS[number % len(CHATS)]
        found.append(_record(chat, number, text, None))
    return found


def observe(record: dict[str, Any], token: str) -> bytes:
    """Return a message as a request to /observe.

    Args:
        record: As JSON.
        token: Of a bridge.
    """
    return post("/observe", json.dumps(record).encode(), Authorization=f"Bearer {token}")


def _said(since: datetime, *, chats: int) -> Iterator[tuple[int, datetime, str]]:
    """Yield number, time and text without end; in each chat there is a pause between messages."""
    for number, text in enumerate(cycle(CHATTER)):
        yield number, since + number // chats * _APART, text.format(n=number)


def _sender(number: int) -> str:
    return "nadia" if number % 3 else "viktor"


def _record(chat: str, number: int, text: str, at: datetime | None) -> dict[str, Any]:
    record = {"chat_id": chat, "message_id": f"m{number}", "sender": _sender(number), "text": text}
    return record if at is None else {**record, "sent_at": at.isoformat()}
