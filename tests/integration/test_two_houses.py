"""Two households in one process on one database: the same ids and words in both, and nothing crosses."""

import asyncio
from collections.abc import Iterator
from dataclasses import replace
from datetime import timedelta
from pathlib import Path

import pytest
from sqlalchemy import Connection, select

from kinkeeper.actions.press_tokens import PressedButton, PressRefusal
from kinkeeper.actions.repository import open_actions
from kinkeeper.bootstrap import Houses, System, open_houses
from kinkeeper.bootstrap.telegram import Connected
from kinkeeper.bootstrap.web import web_context
from kinkeeper.core.errors import ConfigError, DeniedError
from kinkeeper.core.messages import InboundMessage
from kinkeeper.core.time import VirtualClock
from kinkeeper.household.viewers import Viewer
from kinkeeper.jobs.job import Pace
from kinkeeper.messaging.addresses import remember_private_chat
from kinkeeper.messaging.tables import outbox
from kinkeeper.observability.findings import ok
from kinkeeper.observer.button_presses import press
from kinkeeper.observer.quiet_requests import be_quiet
from kinkeeper.observer.tables import observer_messages
from kinkeeper.settings.model import Settings
from kinkeeper.store.schema import metadata
from kinkeeper.store.store import Store
from live_household import HOUSEHOLD, MONDAY, said
from scripted_channel import ScriptedChannel

pytestmark = pytest.mark.slow

CANARIES = {"north": "zebrafish", "south": "quokka"}
NAMES = tuple(CANARIES)
PACE = Pace(
    poll_every=timedelta(milliseconds=50),
    reconcile_every=timedelta(seconds=1),
    upkeep_every=timedelta(milliseconds=50),
)
CHAT = "family"


def household_file(folder: Path, name: str, *, chat: str, id_: str | None = None) -> Path:
    text = HOUSEHOLD.read_text(encoding="utf-8")
    file = folder / f"{name}.toml"
    file.write_text(
        text.replace('id = "miller"', f'id = "{id_ or name}"\nchats = ["{chat}"]', 1),
        encoding="utf-8",
    )
    return file


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    folder = tmp_path / "households"
    folder.mkdir()
    for name in NAMES:
        household_file(folder, name, chat=f"{CHAT}-{name}")
    return folder


@pytest.fixture
def houses(folder: Path, tmp_path: Path) -> Iterator[Houses]:
    settings = Settings(family_context=folder, db_path=tmp_path / "both.db")
    with open_houses(settings, now=MONDAY) as opened:
        yield opened


def conversation(name: str) -> list[InboundMessage]:
    """Return the same talk under the same ids, but for one word."""
    word, chat = CANARIES[name], f"{CHAT}-{name}"
    return [
        said(1, "sarah", f"Leo has the dentist Thursday at 4pm, take the {word} card", chat=chat),
        said(2, "john", "I'll pick up the kids Tuesday", chat=chat),
        said(3, "sarah", "I can get the kids Tuesday after work", chat=chat),
        said(4, "john", f"lol the {word} ate the remote", chat=chat),
    ]


async def live(houses: Houses, channels: dict[str, ScriptedChannel], clock: VirtualClock) -> None:
    """Take everything in, message by message in turn, and let it be worked off and delivered."""
    with houses.live_intakes() as intakes:
        for pair in zip(*(conversation(name) for name in NAMES), strict=True):
            for name, message in zip(NAMES, pair, strict=True):
                clock.advance_to(message.sent_at)
                await houses.store.write(
                    lambda conn, name=name, message=message: intakes[name].receive(  # type: ignore[misc]
                        conn, message, now=message.sent_at
                    )
                )
        served = {name: [channel] for name, channel in channels.items()}
        async with houses.working(channels=served, clock=clock, pace=PACE):
            async with asyncio.timeout(60):
                while not await houses.store.read(is_settled):
                    await asyncio.sleep(0.02)
                while not await houses.store.read(is_all_said):
                    await asyncio.sleep(0.02)
                assert all(channel.shown for channel in channels.values())


def is_settled(conn: Connection) -> bool:
    waiting = select(observer_messages.c.id).where(
        observer_messages.c.state.in_(["queued", "running"])
    )
    return conn.execute(waiting.limit(1)).first() is None


def is_all_said(conn: Connection) -> bool:
    waiting = select(outbox.c.id).where(outbox.c.state.in_(["queued", "sending"]))
    return conn.execute(waiting.limit(1)).first() is None


def everything_of(store: Store, name: str) -> str:
    """Return every row of every table that belongs to a household, as text."""

    def load(conn: Connection) -> str:
        return "\n".join(
            f"{table.name}: {row}"
            for table in metadata.sorted_tables
            if "household" in table.c
            for row in conn.execute(select(table).where(table.c.household == name))
        )

    return store.read_now(load)


def row_counts(store: Store, name: str) -> dict[str, int]:
    return {
        table.name: store.read_now(
            lambda conn, table=table: len(  # type: ignore[misc]
                conn.execute(select(table).where(table.c.household == name)).all()
            )
        )
        for table in metadata.sorted_tables
        if "household" in table.c
    }


def test_the_same_talk_in_two_chats_is_understood_said_and_pressed_apart(houses: Houses) -> None:
    store, clock = houses.store, VirtualClock(MONDAY)
    channels = {name: ScriptedChannel() for name in NAMES}
    asyncio.run(live(houses, channels, clock))
    for name, other in (NAMES, NAMES[::-1]):
        rows = everything_of(store, name)
        assert CANARIES[name] in rows
        assert CANARIES[other] not in rows
        assert f"{CHAT}-{other}" not in rows
        assert {each.item.chat_id for each in channels[name].shown} == {f"{CHAT}-{name}"}
    assert row_counts(store, "north") == row_counts(store, "south")
    north, south = (houses.by_id[name] for name in NAMES)
    pressed = first_button(channels["north"], north)
    assert refused(store, pressed, south, clock) is PressRefusal.FORGED
    foreign = replace(pressed, chat_id=f"{CHAT}-south")
    assert refused(store, foreign, north, clock) is PressRefusal.FOREIGN_CHAT
    before = everything_of(store, "south")
    assert refused(store, pressed, north, clock) is None
    assert everything_of(store, "south") == before
    waiting = {name: open_count(store, name, clock) for name in NAMES}
    assert waiting["south"] == waiting["north"] + 1


def first_button(channel: ScriptedChannel, system: System) -> PressedButton:
    shown = next(each for each in channel.shown if each.item.buttons)
    return PressedButton(
        data=shown.item.buttons[0].data,
        chat_id=shown.item.chat_id,
        message_key=shown.message_id,
        member=system.household.member("sarah"),
    )


def refused(
    store: Store, pressed: PressedButton, system: System, clock: VirtualClock
) -> PressRefusal | None:
    return store.write_now(
        lambda conn: press(conn, pressed, household=system.household, now=clock.now())
    ).refusal


def open_count(store: Store, name: str, clock: VirtualClock) -> int:
    return store.read_now(lambda conn: len(open_actions(conn, Viewer.whole(name), now=clock.now())))


def test_quiet_and_private_chats_of_one_are_not_those_of_the_other(houses: Houses) -> None:
    store, clock = houses.store, VirtualClock(MONDAY)

    def prepare(conn: Connection) -> None:
        until = MONDAY + timedelta(hours=2)
        be_quiet(conn, "north", until=until, by="sarah", now=MONDAY)
        remember_private_chat(
            conn, "south", "test", member="john", chat_id="john-alone", now=MONDAY
        )

    store.write_now(prepare)
    channels = {"south": ScriptedChannel()}
    asyncio.run(live(houses, channels, clock))
    assert "'quiet'" in everything_of(store, "north")
    assert "'quiet'" not in everything_of(store, "south")
    assert "john-alone" not in everything_of(store, "north")
    assert row_counts(store, "north")["outbox"] == 0


def test_a_chat_of_one_household_is_refused_by_the_other(houses: Houses) -> None:
    with houses.live_intakes() as intakes:
        foreign = conversation("south")[0]
        with pytest.raises(DeniedError):
            houses.store.write_now(
                lambda conn: intakes["north"].receive(conn, foreign, now=foreign.sent_at)
            )
    assert CANARIES["south"] not in everything_of(houses.store, "north")


def test_one_id_or_chat_in_two_files_is_an_error_with_its_place(tmp_path: Path) -> None:
    household_file(tmp_path, "a", chat="one")
    household_file(tmp_path, "b", chat="one", id_="a")
    settings = Settings(family_context=tmp_path, db_path=tmp_path / "x.db")
    with pytest.raises(ConfigError) as raised, open_houses(settings):
        pass
    found = [str(problem) for problem in raised.value.problems]
    assert len(found) == 2
    assert all("b.toml" in each and "a.toml" in each for each in found)
    assert not (tmp_path / "x.db").exists()


def test_a_group_named_in_the_settings_must_say_whose_it_is(folder: Path, tmp_path: Path) -> None:
    settings = Settings(
        family_context=folder, db_path=tmp_path / "x.db", telegram_group_chat_id="-100"
    )
    with pytest.raises(ConfigError, match="which household"), open_houses(settings):
        pass
    alone = settings.model_copy(update={"family_context": folder / "north.toml"})
    with open_houses(alone) as houses:
        assert houses.by_id["north"].household.chats == ("family-north", "-100")
    known = settings.model_copy(update={"telegram_group_chat_id": "family-south"})
    with open_houses(known) as houses:
        assert len(houses.systems) == 2


def test_the_health_page_of_one_household_names_nobody_of_another(houses: Houses) -> None:
    """How the bot stands with Telegram names the groups and members of all its households."""
    of_north = replace(ok("telegram group", f"{CHAT}-north: hears all"), household="north")
    of_nobody = replace(ok("telegram stranger", "group -77"), household="")
    of_all = ok("telegram bot", "@kinkeeper_bot")
    telegram = Connected(findings=lambda: [of_all, of_north, of_nobody])

    async def found(some: Houses, household: str) -> set[str]:
        clock = VirtualClock(MONDAY)
        with some.live_intakes() as intakes:
            context = web_context(
                some,
                intakes,
                some.settings,
                port=1,
                clock=clock,
                working=asyncio.Event(),
                telegram=telegram,
                talks={key: system.talk(clock) for key, system in some.by_id.items()},
            )
        told = {each.found for each in context.checkup(household)}
        return told & {each.found for each in (of_all, of_north, of_nobody)}

    assert asyncio.run(found(houses, "south")) == {of_all.found}
    assert asyncio.run(found(houses, "north")) == {of_all.found, of_north.found}
    alone = replace(houses, systems=houses.systems[:1])
    assert asyncio.run(found(alone, "north")) == {of_all.found, of_north.found, of_nobody.found}


def test_further_tasks_run_until_the_end(houses: Houses) -> None:
    told: list[str] = []

    async def polls() -> None:
        told.append("begun")
        try:
            await asyncio.Event().wait()
        finally:
            told.append("ended")

    async def scenario() -> None:
        async with houses.working(tasks=[polls], pace=PACE):
            await asyncio.sleep(0.05)
        assert told == ["begun", "ended"]

    asyncio.run(scenario())


def test_a_further_task_that_fails_ends_everything(houses: Houses) -> None:
    async def breaks() -> None:
        raise ZeroDivisionError

    async def scenario() -> None:
        with pytest.raises(BaseExceptionGroup) as raised:
            async with houses.working(tasks=[breaks], pace=PACE):
                await asyncio.sleep(30)
        assert raised.group_contains(ZeroDivisionError)

    asyncio.run(scenario())


def test_the_health_page_tells_that_a_household_file_was_changed(
    houses: Houses, folder: Path
) -> None:
    def found() -> list[str]:
        with houses.live_intakes() as intakes:
            context = web_context(
                houses,
                intakes,
                houses.settings,
                port=1,
                clock=VirtualClock(MONDAY),
                working=asyncio.Event(),
                telegram=Connected(),
                talks=talks,
            )
        told = [each for each in context.checkup("north") if each.check == "household file"]
        return [f"{each.health} {each.found}" for each in told]

    talks = {key: system.talk(VirtualClock(MONDAY)) for key, system in houses.by_id.items()}
    assert found() == ["ok it has not changed since the server started"]
    file = folder / "north.toml"
    whole = file.read_text(encoding="utf-8")
    file.write_text(whole.replace('role = "parent"', 'role = "other"', 1), encoding="utf-8")
    assert found() == [
        "warning it has changed since the server started; the changes are not in use yet"
    ]
    file.write_text(whole + "\n[nonsense", encoding="utf-8")
    assert found() == ["warning it has changed since the server started, and cannot be read"]
