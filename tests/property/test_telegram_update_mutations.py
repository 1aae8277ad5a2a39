"""Updates that were broken in every way: each gives a value, and those that are whole are taken in."""

import copy
import random
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from botapi import BotApi
from botapi.updates_queue import KINDS
from kinkeeper.channels.telegram.updates import Unknown, parse_update
from telegram_family import family, run

SEED = 20260302
VALUES: tuple[Any, ...] = (
    None,
    True,
    False,
    0,
    -1,
    2**31,
    2**63,
    2**80,
    -(2**70),
    1.5,
    float("inf"),
    "",
    "x",
    "\ud800",
    "\x00",
    "ā" * 5000,
    [],
    [[]],
    [None],
    {},
    {"id": {}},
    {"type": "private"},
    "-1",
    "12",
)

json_values = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats() | st.text(max_size=20),
    lambda inner: (
        st.lists(inner, max_size=4) | st.dictionaries(st.text(max_size=12), inner, max_size=5)
    ),
    max_leaves=20,
)


def a_week() -> list[dict[str, Any]]:
    """Return updates of every kind that is asked for, as Telegram sends them."""
    with BotApi() as api:
        bot = api.bot(privacy=False)
        bot.updates.allow(sorted(KINDS))
        john, sarah = api.user("John", "Miller"), api.user("Sarah")
        group = api.group("Millers", john, sarah, bot)
        group.promote(bot)
        sarah.starts(bot, "join-7")
        sarah.blocks(bot)
        first = john.says(group, "Leo: soccer at 5? @kinkeeper_bot")
        sarah.says(group, "ok 👍", reply_to=first)
        john.edits(first, "Leo: soccer at 6")
        john.sends(group, "photo", caption="The list")
        john.sends(group, "voice")
        john.forwards(group, "Practice is off", origin="Coach")
        sarah.reacts(first, "👍")
        sarah.reacts(first)
        sarah.says(group, "/pending")
        group.migrate()
        john.says(group, "Now as the group", anonymously=True)
        forum = api.group("Club", john, bot, forum=True)
        john.says(forum, "Who drives?", topic=forum.topic("Carpool"))
        found = api.updates_of(bot)
    press = {
        "id": "7",
        "from": found[-1]["message"]["from"],
        "data": "k1:x",
        "chat_instance": "1",
        "message": found[-1]["message"],
    }
    return [*found, {"update_id": 9, "callback_query": press}]


def places(value: Any, path: tuple[Any, ...] = ()) -> Iterator[tuple[Any, ...]]:
    if isinstance(value, dict | list):
        items = value.items() if isinstance(value, dict) else enumerate(value)
        for key, inner in items:
            yield (*path, key)
            yield from places(inner, (*path, key))


def broken(update: dict[str, Any], dice: random.Random) -> dict[str, Any]:
    """Return the update with one to three of its parts changed, taken away, or put elsewhere."""
    changed = copy.deepcopy(update)
    for _ in range(dice.randint(1, 3)):
        found = list(places(changed))
        if not found:
            break
        *path, key = dice.choice(found)
        part = changed
        for step in path:
            part = part[step]
        match dice.randrange(3):
            case 0:
                part[key] = copy.deepcopy(dice.choice(VALUES))
            case 1 if isinstance(part, dict):
                del part[key]
            case _ if isinstance(part, dict):
                part[dice.choice(("text", "chat", "from", "date", "id"))] = part.pop(key)
    return changed


@given(json_values)
def test_any_json_gives_a_value(value: object) -> None:
    parse_update(value)


@given(
    st.sampled_from(["message", "callback_query", "message_reaction", "my_chat_member"]),
    json_values,
)
def test_any_content_gives_a_value(kind: str, value: object) -> None:
    parse_update({"update_id": 1, kind: value})


def test_nothing_that_telegram_sends_is_unknown() -> None:
    week = a_week()
    kinds = {kind for update in week for kind in update} - {"update_id", "chat_member"}
    assert kinds == {
        "message",
        "edited_message",
        "message_reaction",
        "callback_query",
        "my_chat_member",
    }
    for update in week:
        found = parse_update(update)
        assert isinstance(found, Unknown) == ("chat_member" in update), update


@pytest.mark.slow
def test_a_hundred_thousand_broken_updates_raise_nothing() -> None:
    dice, week = random.Random(SEED), a_week()  # noqa: S311 - repeatable
    for _ in range(100_000):
        parse_update(broken(dice.choice(week), dice))


@pytest.mark.slow
def test_whole_updates_among_broken_ones_are_all_taken_in(tmp_path: Path) -> None:
    """Broken ones are taken in too, or kept: none stops the others, and nothing is said of them."""

    async def scenario() -> None:
        async with millers.stepping() as program:
            reception = program.running._polling._reception
            for number in range(1500):
                if number % 10 == 0:
                    said = millers.john.says(millers.group, f"whole {number}")
                    [update] = millers.api.updates_of(millers.bot)[-1:]
                    assert update["message"]["text"] == said.text
                else:
                    update = broken(dice.choice(week), dice)
                    update["update_id"] = 10**9 + number
                await reception.take_in(update, is_in_order=False)
            texts = [row.text for row in program.rows(messages)]
            assert [each for each in texts if each and each.startswith("whole")] == [
                f"whole {number}" for number in range(0, 1500, 10)
            ]
            # Two texts under one id are kept to be looked at; anything else were a fault of ours.
            kept = {row.error for row in program.rows(failed_updates)}
            assert kept <= {"cannot be read", "ConflictError"}

    from kinkeeper.messaging.tables import failed_updates, messages  # noqa: PLC0415

    dice, week = random.Random(SEED + 1), a_week()  # noqa: S311 - repeatable
    with family(tmp_path) as millers:
        known = [millers.john.id, millers.sarah.id]
        for update in week:
            _at_home(update, millers.group.id, dice.choice(known))
        run(scenario)


def _at_home(value: Any, chat_id: int, account: int) -> None:
    """Let an update come from the family's own group and people, so that it gets as far as it can."""
    if isinstance(value, dict):
        if "message_id" in value:
            value["message_id"] += 10**6  # whole messages have ids of their own
        for key, inner in value.items():
            if key == "chat" and isinstance(inner, dict) and inner.get("id", 0) < 0:
                inner["id"] = chat_id
            elif key in {"from", "user"} and isinstance(inner, dict) and not inner.get("is_bot"):
                inner["id"] = account
            else:
                _at_home(inner, chat_id, account)
