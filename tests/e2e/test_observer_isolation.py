"""The fifth law: an environment, a household and its chats keep to themselves."""

import asyncio
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
from sqlalchemy import func, select

from family_chat import ADULT, DEFAULTS, Chat, Line, chat, everything, template
from family_tellings import BUSY_DAY
from kinkeeper.bootstrap import database_address, observer_config
from kinkeeper.core.errors import DeniedError
from kinkeeper.messaging.tables import messages
from kinkeeper.observer.tables import observer_messages


def test_a_chat_that_is_not_configured_is_refused_and_nothing_is_stored() -> None:
    with chat("iyer") as family:
        intake = family.system.intake(refuses_chats=True)
        before = family.store.read_now(lambda conn: everything(conn, without=frozenset()))
        for number, foreign in enumerate(
            ["1002001", "family-group-2", "", " family-group", "-1002002"]
        ):
            sent = family.message(
                "Mon 2026-03-02 10:00",
                "appa",
                "Diya has a dentist appointment Friday at 5:30pm",
                chat=foreign,
                id=f"x{number}",
                channel="telegram",
            )
            with pytest.raises(DeniedError):
                family.store.write_now(
                    lambda conn, sent=sent: intake.receive(conn, sent, now=sent.sent_at)
                )  # type: ignore[misc]
        assert family.store.read_now(lambda conn: everything(conn, without=frozenset())) == before


@pytest.mark.parametrize("own", ["-1002001", "family-group"])
def test_a_configured_chat_is_taken_in(own: str) -> None:
    with chat("iyer") as family:
        intake = family.system.intake(refuses_chats=True)
        sent = family.message("Mon 2026-03-02 10:00", "appa", "omw", chat=own, channel="telegram")
        received = family.store.write_now(lambda conn: intake.receive(conn, sent, now=sent.sent_at))
        assert received.is_queued


@pytest.mark.parametrize("name", ["miller", "clarke"])
def test_a_server_whose_household_lists_no_chat_takes_in_none(name: str) -> None:
    with chat(name) as family:
        assert family.household.chats == ()
        intake = family.system.intake(refuses_chats=True)
        sent = family.message("Mon 2026-03-02 10:00", ADULT[name], "omw", channel="telegram")
        with pytest.raises(DeniedError):
            family.store.write_now(lambda conn: intake.receive(conn, sent, now=sent.sent_at))
        assert family.rows(messages) == []


def test_each_environment_has_a_database_of_its_own() -> None:
    names = ["production", "staging", "test"]
    addresses = {database_address(DEFAULTS.model_copy(update={"env": env})) for env in names}
    assert len(addresses) == 3


def test_two_databases_of_one_household_know_nothing_of_each_other(tmp_path: Path) -> None:
    with (
        chat(path=tmp_path / "production.sqlite") as live,
        chat(path=tmp_path / "staging.sqlite") as staging,
    ):
        untouched = staging.store.read_now(everything)
        for said in BUSY_DAY[:3]:
            live.say(*said)
        assert staging.store.read_now(everything) == untouched
        question = staging.say("Mon 2026-03-02 08:04", "sarah", "I'll do it")
        assert question["attribution_source"] is None


def test_two_households_in_one_database_do_not_see_each_other(tmp_path: Path) -> None:
    """The tenant is part of every key: a second household's chat changes no row of the first."""
    path = tmp_path / "both.sqlite"
    with chat("miller", path=path) as family:
        for said in BUSY_DAY:
            family.say(*said)
        before = rows_of(family, "miller")
        guests = template("tremblay")
        system = replace(
            guests, store=family.store, settings=DEFAULTS, config=observer_config(DEFAULTS)
        )
        with asyncio.Runner() as runner:
            others = Chat(system, path, runner)
            lines: list[Line] = [
                others.say("Mon 2026-03-02 08:00", "helene", "Who's picking up Théo tomorrow?"),
                others.say("Mon 2026-03-02 08:03", "rejean", "I'll do it"),
                others.say("Mon 2026-03-02 08:04", "john", "never mind"),
            ]
        assert lines[1]["attribution_source"] == lines[0]["message_id"]
        assert rows_of(family, "miller") == before


def rows_of(family: Chat, household: str) -> dict[str, int]:
    def count(conn: Any) -> dict[str, int]:
        tables = (observer_messages, messages)
        return {
            table.name: conn.execute(
                select(func.count()).where(table.c.household == household)
            ).scalar_one()
            for table in tables
        }

    counted: dict[str, int] = family.store.read_now(count)
    return counted | {"pending": len([a for a in family.actions() if a.status.value == "pending"])}
