"""After the days of retention no words of the chat are left, in any table nor in the bytes of the file."""

import asyncio
import json
import re
from collections.abc import Iterator
from contextlib import closing
from datetime import timedelta

import pytest
from sqlalchemy import Connection, select

from family_chat import Chat, chat
from kinkeeper.actions import proposals
from kinkeeper.actions.journal import count_refusals, record_refusal
from kinkeeper.actions.model import Refusal
from kinkeeper.actions.press_tokens import PressedButton, count_refused, redeem
from kinkeeper.core.time import VirtualClock
from kinkeeper.messaging.tables import messages
from kinkeeper.models.model import Outcome
from kinkeeper.models.repository import CallRecord, insert_call
from kinkeeper.observer import upkeep
from kinkeeper.observer.accounts.traces import load_trace
from kinkeeper.observer.upkeep import Upkeep
from kinkeeper.store import engines
from kinkeeper.store.schema import metadata
from kinkeeper.store.sqlite_library import dbapi2
from model_calls import request

KEEP = timedelta(days=30)
OLD = [
    (
        "Wed 2026-03-04 09:00",
        "sarah",
        "Quokka! who's fetching Leo from Zanzibar Gardens at 3pm, he limps",
    ),
    ("Wed 2026-03-04 09:05", "john", "I'll do it, wombat"),
    (
        "Wed 2026-03-04 10:00",
        "sarah",
        "Leo sees Dr Pettigrew-Smythe the dentist Thursday at 4pm, hush-hush",
    ),
    ("Wed 2026-03-04 11:00", "john", "Soccer tomorrow is cancelled, marmalade"),
    ("Wed 2026-03-04 12:00", "john", "I can cover Friday pickup, periwinkle"),
    ("Wed 2026-03-04 12:05", "sarah", "I'll get the kids Friday after my tuba lesson"),
    ("Wed 2026-03-04 13:00", "sarah", "what a kerfuffle"),
    ("Wed 2026-03-04 13:30", "sarah", "what a brouhaha, all fine"),
    ("Wed 2026-03-04 14:00", "john", "I'll pick up Mia from the Xylophone Hall tomorrow 5pm"),
    ("Wed 2026-03-04 14:30", "john", "Mia balet tmrw and Leo denist on Fryday at 4pm"),
    (
        "Wed 2026-03-04 15:00",
        "a stranger",
        "who can take Mia to the Bandersnatch fair on Saturday?",
    ),
]
MARKS = [
    "Quokka",
    "Zanzibar",
    "limps",
    "wombat",
    "Pettigrew",
    "hush",
    "marmalade",
    "periwinkle",
    "tuba",
    "kerfuffle",
    "brouhaha",
    "Xylophone",
    "Bandersnatch",
    "balet",
    "denist",
    "tmrw",
]
# Said on the day of the purge: not to be touched.
NEW = ("Thu 2026-04-09 09:00", "sarah", "who's getting Leo from Timbuktu at 3pm?")


@pytest.fixture
def family() -> Iterator[Chat]:
    with chat() as opened:
        for said in OLD:
            opened.say(*said)
        opened.say(*NEW)
        yield opened


# Called by no word of any vocabulary: what stands on their cards, in keys and on buttons is the chat's own.
OWN = [
    (
        "Wed 2026-03-04 09:00",
        "sarah",
        "can you drop the bandoneon at the Thistlewick workshop on Saturday at 10am?",
    ),
    ("Wed 2026-03-04 09:30", "sarah", "Leo has capoeira on Saturday at 10am"),
    ("Wed 2026-03-04 10:00", "sarah", "Leo has zydeco class tomorrow at 5pm"),
    ("Wed 2026-03-04 10:30", "john", "Leo has falconry tomorrow at 5pm"),
    (
        "Wed 2026-03-04 11:00",
        "sarah",
        "Need someone to collect the harpsichord from Uncle Barnaby tomorrow at 5pm",
    ),
    ("Wed 2026-03-04 11:05", "sarah", "can someone mend the euphonium tomorrow?"),
    ("Wed 2026-03-04 11:10", "john", "I'll do it"),
    ("Wed 2026-03-04 11:30", "sarah", "Leo is allergic to loganberries"),
]
OWN_MARKS = [
    "bandoneon",
    "Thistlewick",
    "capoeira",
    "zydeco",
    "falconry",
    "harpsichord",
    "Barnaby",
    "euphonium",
    "loganberr",
]


def purge(family: Chat) -> int:
    """Purge on 9 April, and fold the log into the file, as retention does."""
    now = family.at("Thu 2026-04-09 10:00")
    purged = family.store.write_now(
        lambda conn: upkeep.purge_old_words(conn, family.household.id, now=now, keep=KEEP)
    )
    family.store.fold_log()
    return purged


def places(family: Chat, marks: list[str]) -> set[str]:
    """Return "table.column: mark" for every word of the chat that is still in a table."""
    found = set()
    for table in metadata.tables.values():
        for row in family.store.read_now(
            lambda conn, table=table: conn.execute(select(table)).mappings().all()
        ):  # type: ignore[misc]
            for column, value in row.items():
                shown = json.dumps(value, ensure_ascii=False, default=str).casefold()
                found |= {
                    f"{table.name}.{column}: {mark}" for mark in marks if mark.casefold() in shown
                }
    return found


def bytes_with(family: Chat, marks: list[str]) -> set[str]:
    found = set()
    for file in family.path.parent.iterdir():
        content = file.read_bytes().lower()
        found |= {f"{file.name}: {mark}" for mark in marks if mark.lower().encode() in content}
    return found


def test_the_words_are_there_before_the_purge(family: Chat) -> None:
    assert {place.split(": ")[1] for place in places(family, MARKS)} == set(MARKS)


def test_the_purge_takes_old_texts_and_leaves_new_ones(family: Chat) -> None:
    assert purge(family) == len(OLD)
    texts = [row["text"] for row in family.rows(messages)]
    assert texts == [None] * len(OLD) + [NEW[2]]
    assert purge(family) == 0


@pytest.mark.parametrize(("later", "purged"), [(timedelta(0), 0), (timedelta(seconds=1), 1)])
def test_the_edge_of_retention_is_exact(family: Chat, later: timedelta, purged: int) -> None:
    now = family.at(OLD[0][0]) + KEEP + later
    found = family.store.write_now(
        lambda conn: upkeep.purge_old_words(conn, family.household.id, now=now, keep=KEEP)
    )
    assert found == purged


def test_decisions_scores_and_the_event_graph_stay(family: Chat) -> None:
    kept = (
        "id",
        "message_id",
        "sender",
        "sent_at",
        "tripwire_confidence",
        "tier1_decision",
        "redline_decision",
        "redline_trigger_rule",
        "reason",
        "action_id",
        "attribution_source",
        "state",
    )
    before = [{name: row[name] for name in kept} for row in family.decisions()]
    gates, graph = family.gates(), family.graph()
    statuses = [(action.id, action.status) for action in family.actions()]
    purge(family)
    assert [{name: row[name] for name in kept} for row in family.decisions()] == before
    assert family.gates() == gates
    assert family.graph() == graph
    assert [(action.id, action.status) for action in family.actions()] == statuses


def test_no_table_holds_words_of_an_old_message(family: Chat) -> None:
    purge(family)
    assert places(family, MARKS) == set()
    assert "messages.text: Timbuktu" in places(family, ["Timbuktu"])


def test_the_file_holds_no_byte_of_an_old_message(family: Chat) -> None:
    assert bytes_with(family, ["Timbuktu"]), "the words of a kept message must be found this way"
    purge(family)
    assert bytes_with(family, MARKS) == set()


def test_what_was_asked_of_models_goes_with_it(family: Chat) -> None:
    for text, at in (
        ("Rumpelstilzchen", "Wed 2026-03-04 09:00"),
        ("Timbuktu", "Thu 2026-04-09 09:00"),
    ):
        asked = request(text, household=family.household.id)
        record = CallRecord(
            request=asked,
            at=family.at(at),
            model="tiny",
            outcome=Outcome.OK,
            milliseconds=1,
            answered=text,
            keeps_text=True,
        )
        family.store.write_now(lambda conn, record=record: insert_call(conn, record))  # type: ignore[misc]
    assert places(family, ["Rumpelstilzchen"]) == {
        "model_calls.sent: Rumpelstilzchen",
        "model_calls.answered: Rumpelstilzchen",
    }
    purge(family)
    assert places(family, ["Rumpelstilzchen"]) == bytes_with(family, ["Rumpelstilzchen"]) == set()
    assert "model_calls.answered: Timbuktu" in places(family, ["Timbuktu"])


def test_a_log_that_was_in_use_is_folded_later(
    family: Chat, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(engines, "BUSY_TIMEOUT_SECONDS", 0.1)
    system = family.system
    upkeep = Upkeep(
        family.store,
        family.household.id,
        speaker=system.speaker(),
        keep_texts=KEEP,
        clock=VirtualClock(family.at("Thu 2026-04-09 10:00")),
    )
    with closing(dbapi2.connect(str(family.path), isolation_level=None)) as reader:
        reader.execute("BEGIN")
        reader.execute("SELECT count(*) FROM messages").fetchall()
        asyncio.run(upkeep.run_once())
        assert bytes_with(family, MARKS), "the reader still holds the old pages"
    asyncio.run(upkeep.run_once())
    assert bytes_with(family, MARKS) == set()


def test_a_replay_after_the_purge_brings_no_word_back(family: Chat) -> None:
    purge(family)
    before = family.store.read_now(
        lambda conn: {t.name: conn.execute(select(t)).all() for t in metadata.tables.values()}
    )
    family.restart()
    for number, said in enumerate(OLD, start=1):
        family.say(*said, id=f"m{number}")
    after = family.store.read_now(
        lambda conn: {t.name: conn.execute(select(t)).all() for t in metadata.tables.values()}
    )
    assert after == before


def test_what_was_confirmed_is_the_familys_own() -> None:
    """An event that a person confirmed is theirs; its title is made of names and words of the household."""
    with chat() as family:
        for said in OLD:
            family.say(*said)
        confirmed = [a for a in family.pending("Wed 2026-03-04 16:00") if a.proposal.effects]
        for action in confirmed:
            family.confirm("Wed 2026-03-04 16:00", "john", action.id)
        assert len(family.events()) >= 2
        before = family.graph()
        purge(family)
        assert family.graph() == before
        assert not re.search("|".join(MARKS), json.dumps(before, default=str))


def test_presses_that_changed_nothing_are_forgotten_with_the_words(family: Chat) -> None:
    here = family.household.id
    forged = PressedButton(data="k1:forged", chat_id="1", message_key="1", member=None)
    times = [family.at("Wed 2026-03-04 12:00"), family.at("Thu 2026-04-09 09:00")]

    def press(conn: Connection) -> None:
        for at in times:
            record_refusal(conn, here, "a" * 36, reason=Refusal.LATE, by=None, at=at)
            redeem(conn, forged, household=family.household, now=at)

    family.store.write_now(press)
    purge(family)
    left = family.store.read_now(
        lambda conn: (count_refusals(conn, here), count_refused(conn, here))
    )
    assert [sum(each.values()) for each in left] == [1, 1]


@pytest.fixture
def own_words() -> Iterator[Chat]:
    """A family whose cards, all unanswered, are called by words of the chat."""
    with chat() as family:
        for said in OWN:
            family.say(*said)
        asyncio.run(
            family.system.hearing(VirtualClock(family.at("Wed 2026-03-04 12:00"))).run_once()
        )
        yield family


def lapse(family: Chat) -> None:
    now = family.at("Thu 2026-03-26 12:00")  # fact cards wait two weeks
    family.store.write_now(lambda conn: proposals.expire_due(conn, family.household.id, now))


def test_what_nobody_confirmed_keeps_no_word_of_the_chat(own_words: Chat) -> None:
    family = own_words
    found = {place.split(": ")[0] for place in places(family, OWN_MARKS)}
    assert {
        "pending_actions.summary",
        "pending_actions.merge_key",
        "pending_actions.choices",
        "outbox.buttons",
        "observer_messages.reply",
        "observer_messages.redline_facts",
    } <= found
    lapse(family)
    purge(family)
    assert places(family, OWN_MARKS) == set()
    assert bytes_with(family, OWN_MARKS) == set()


def test_what_nobody_confirmed_keeps_who_and_when(own_words: Chat) -> None:
    family = own_words
    lapse(family)

    def kept() -> list[tuple[object, ...]]:
        return [
            (
                each.id,
                each.status,
                each.proposal.type,
                *map(each.proposal.extraction.get, ("child", "dates", "times")),
            )
            for each in family.actions()
            if each.proposal.type.is_about_calendar
        ]

    before = kept()
    assert len(before) >= 5
    purge(family)
    assert kept() == before


def test_a_card_that_still_waits_or_was_confirmed_keeps_its_name(own_words: Chat) -> None:
    family = own_words
    waits = next(a for a in family.actions() if "capoeira" in a.proposal.summary)
    purge(family)
    assert next(a for a in family.actions() if a.id == waits.id).proposal.effects
    family.confirm("Wed 2026-03-04 16:00", "john", waits.id)
    lapse(family)
    purge(family)
    assert {place.split(": ")[1] for place in places(family, OWN_MARKS)} == {"capoeira"}


def test_an_old_decision_is_still_explained(own_words: Chat) -> None:
    family = own_words
    spoken = next(row["message_id"] for row in family.decisions() if row["reply"])
    lapse(family)
    purge(family)
    found = family.store.read_now(lambda conn: load_trace(conn, family.household, spoken))
    told = " ".join(step.text for step in found.steps)
    assert "Spoke because" in told
    assert "None" not in told
