"""The pipeline under any text and any order of family phrases: what must hold whatever is said."""

import asyncio
import random
from collections import Counter
from collections.abc import Sequence
from datetime import timedelta
from typing import Any

import pytest
from hypothesis import HealthCheck, assume, given, settings
from hypothesis import strategies as st

from family_chat import FILES, LEASES, Chat, chat, everything
from family_phrases import CLOCKS, DAYS, EMOJI, MINUTES, PHRASES, TASKS, WORDS
from kinkeeper.actions.model import ActionStatus
from kinkeeper.actions.repository import find_by_source
from kinkeeper.core.messages import InboundMessage
from kinkeeper.messaging.tables import messages

FEW = settings(
    max_examples=6, deadline=None, suppress_health_check=[HealthCheck.too_slow], derandomize=True
)
RULES = {"temporal_conflict", "resource_conflict", "missing_variable", "time_mismatch"}
# How long a row's work took, and when time had to run on for it, may differ; what was decided may not.
START = "Mon 2026-03-02 07:00"

any_text = st.one_of(
    st.text(st.characters(codec="utf-8"), max_size=200),
    st.text("aeiou lm\u200b\u200d\u0301\u202e👍🙋🏽‍♀️é4:3?!'’\n", max_size=60),
    st.lists(
        st.sampled_from(
            [
                "who",
                "can",
                "I'll",
                "get",
                "pick up",
                "Leo",
                "Mia",
                "soccer",
                "tomorrow",
                "at 5",
                "?",
                "cancelled",
                "moved",
                "to",
                "Friday",
                "instead",
                "not",
                "kids",
                "n/m",
                "👍",
                "the",
                "dentist",
                "4:30",
            ]
        ),
        max_size=10,
    ).map(" ".join),
)


@st.composite
def conversations(draw: st.DrawFn, name: str, most: int = 24) -> list[dict[str, Any]]:
    """Return what people say, with minutes since the message before, edits, replies and reactions."""
    words = WORDS[name]
    said: list[dict[str, Any]] = []
    for _ in range(draw(st.integers(4, most))):
        text = draw(st.sampled_from(PHRASES)).format(
            task=draw(st.sampled_from(TASKS)),
            child=draw(st.sampled_from(words["child"])),
            activity=draw(st.sampled_from(words["activity"])),
            day=draw(st.sampled_from(DAYS)),
            clock=draw(st.sampled_from(CLOCKS)),
        )
        entry: dict[str, Any] = {
            "minutes": draw(st.sampled_from(MINUTES)),
            "sender": draw(st.sampled_from(words["people"])),
            "text": text,
        }
        kind = draw(st.sampled_from(["text"] * 6 + ["reply", "edit", "reaction"]))
        if said and kind != "text":
            target = f"m{draw(st.integers(1, len(said)))}"
            entry |= {"reply_to": target} if kind == "reply" else {"target": target, "kind": kind}
        if entry.get("kind") == "reaction":
            entry["text"] = draw(st.sampled_from(EMOJI))
        said.append(entry)
    return said


def inbound(family: Chat, said: Sequence[dict[str, Any]]) -> list[InboundMessage]:
    at, found = family.at(START), []
    for number, entry in enumerate(said, start=1):
        at += timedelta(minutes=entry["minutes"])
        fields = {key: entry.get(key) for key in ("reply_to", "target", "kind")}
        found.append(family.message(at, entry["sender"], entry["text"], id=f"m{number}", **fields))
    return found


def state(family: Chat) -> dict[str, list[Any]]:
    return family.store.read_now(lambda conn: everything(conn, without=LEASES))


@FEW
@given(texts=st.lists(any_text, min_size=5, max_size=25))
@pytest.mark.parametrize("name", ["miller", "iyer"])
def test_any_text_has_exactly_one_decision_and_none_fails(name: str, texts: list[str]) -> None:
    with chat(name) as family:
        start = family.at(START)
        people = [member.id for member in family.household.members]
        for number, text in enumerate(texts):
            at = start + timedelta(minutes=3 * number)
            family.say(at, people[number % len(people)], text)
        family.until("Wed 2026-03-04 12:00")
        rows = family.decisions()
        assert [row["message_id"] for row in rows] == [f"m{n}" for n in range(1, len(texts) + 1)]
        assert {row["state"] for row in rows} <= {"done", "dropped"}
        assert [row["text"] for row in family.rows(messages)] == texts


@FEW
@given(data=st.data())
@pytest.mark.parametrize("name", list(WORDS))
def test_what_a_conversation_leaves_behind_is_in_order(name: str, data: st.DataObject) -> None:
    with chat(name) as family:
        before = family.graph()
        for message in inbound(family, data.draw(conversations(name))):
            family.feed(message)
            check_cards(family)
        family.until("Wed 2026-03-18 12:00")
        check_speech(family)
        assert family.graph() == before
        assert {row["state"] for row in family.decisions()} <= {"done", "dropped"}


def check_cards(family: Chat) -> None:
    """One open card for a job and its owner, and none whose ground was taken away."""
    open_now = [action for action in family.actions() if action.status is ActionStatus.PENDING]
    jobs = Counter(
        (child, day, action.proposal.extraction["task"], owner)
        for action in open_now
        if action.proposal.type == "care_assignment"
        for child in action.proposal.extraction["child"]
        for day in action.proposal.extraction["dates"]
        for owner in action.proposal.extraction["assigned_to"]
        if owner != "unspecified" and not action.proposal.extraction["times"]
    )
    doubled = [job for job, count in jobs.items() if count > 1]
    assert not doubled, [action.proposal.summary for action in open_now]
    edited = {row["target"] for row in family.rows(messages) if row["kind"] == "edit"}
    stale = [
        row
        for row in family.rows(messages)
        if row["message_id"] in edited and row["kind"] == "text"
    ]
    latest_edit = {
        row["target"]: row["id"] for row in family.rows(messages) if row["kind"] == "edit"
    }
    for row in stale:
        if row["id"] > latest_edit[row["message_id"]]:
            continue
        mine = family.store.read_now(
            lambda conn, row=row: find_by_source(
                conn, family.household.id, "OBSERVER", str(row["id"])
            )  # type: ignore[misc]
        )
        assert [a for a in mine if a.status is ActionStatus.PENDING] == [], row["text"]
    for row in family.questions():
        if row["status"] == "withdrawn" and row["action_id"]:
            assert family.action(row["action_id"]).status is not ActionStatus.PENDING


def check_speech(family: Chat) -> None:
    """Everything said has its rule, stands on one line within its limit, and at most four a day."""
    spoken = {row["id"]: row for row in family.spoken()}
    noted = [row for row in family.decisions() if row["notification_id"] is not None]
    assert {row["notification_id"] for row in noted} == set(spoken)
    for row in noted:
        assert row["redline_decision"] == "SPEAK"
        assert row["redline_trigger_rule"] in RULES
        body = spoken[row["notification_id"]]["body"]
        assert body == row["reply"]
        assert body.splitlines() == [body]
        assert len(body) <= (280 if row["redline_trigger_rule"].endswith("conflict") else 200)
    assert all(len(action.proposal.summary) <= 140 for action in family.actions())
    days = Counter(row["created_at"].astimezone(family.zone).date() for row in spoken.values())
    assert all(count <= 4 for count in days.values())


@FEW
@given(data=st.data())
def test_the_same_file_again_changes_nothing(data: st.DataObject) -> None:
    with chat() as family:
        said = inbound(family, data.draw(conversations("miller")))
        assume(len({message.message_id for message in said}) == len(said))
        first = [family.feed(message)[-1]["message_id"] for message in said]
        before = state(family)
        family.restart()
        second = [family.feed(message)[-1]["message_id"] for message in said]
        assert second == first
        assert state(family) == before


@FEW
@given(data=st.data(), cut=st.floats(0, 1))
def test_a_replay_begun_anew_halfway_ends_where_an_uninterrupted_one_does(
    data: st.DataObject, cut: float
) -> None:
    said = data.draw(conversations("miller"))
    with chat() as whole:
        for message in inbound(whole, said):
            whole.feed(message)
        whole.until("Tue 2026-03-10 12:00")
        wanted = state(whole)
    with chat() as broken:
        all_of_it = inbound(broken, said)
        for message in all_of_it[: int(len(said) * cut)]:
            broken.feed(message)
        broken.restart()
        for message in all_of_it:
            broken.feed(message)
        broken.until("Tue 2026-03-10 12:00")
        assert state(broken) == wanted


@pytest.mark.parametrize("name", list(FILES))
def test_two_replays_of_one_file_are_equal_to_the_last_byte(name: str) -> None:
    """No wall clock, no randomness, no order of hashing anywhere in a decision."""
    words = [
        "who can get the kids tomorrow?",
        "me",
        "the dentist is Thursday at 4",
        "n/m",
        "lol",
        "I'll do it",
    ]
    order = random.Random(name).choices(words, k=12)  # noqa: S311 - repeatable
    found = []
    for _ in range(2):
        with chat(name) as family:
            adults = [member.id for member in family.household.adults]
            start = family.at(START)
            for number, text in enumerate(order):
                family.say(
                    start + timedelta(minutes=4 * number), adults[number % len(adults)], text
                )
            found.append((family.lines, state(family)))
    assert found[0] == found[1]


def test_feeding_waits_for_nobody() -> None:
    """A line is there before the next message is given: answering starts before the input ends."""
    with chat() as family:
        replay = family.system.replay(family.at(START))

        async def scene() -> str:
            lines = replay.feed(family.message(START, "sarah", "Who's picking up Leo at 3pm?"))
            return str((await anext(lines))["message_id"])

        assert asyncio.run(scene()) == "m1"
