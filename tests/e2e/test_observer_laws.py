"""Four of the five laws of the observer; each test fails when its law is broken. Isolation has a file of its own."""

import asyncio
from collections import Counter
from collections.abc import Iterator, Mapping
from datetime import timedelta
from functools import cache
from typing import Any

import pytest
from sqlalchemy import select

from family_chat import DEFAULTS, Chat, chat
from family_tellings import BUSY_DAY, CHATTER
from kinkeeper.actions.receipts import Outcome
from kinkeeper.core.time import SystemClock
from kinkeeper.household.model import Member
from kinkeeper.jobs import leases
from kinkeeper.messaging.tables import messages
from kinkeeper.observer.intake import Received
from kinkeeper.observer.model import Extraction
from kinkeeper.observer.settling.job import UnderstandingJob
from kinkeeper.observer.settling.message_reader import RulesExtractor
from kinkeeper.observer.tables import observer_messages
from kinkeeper.observer.wording.message_view import Reading
from kinkeeper.observer.wording.participants import Participants
from kinkeeper.store.store import Store


@pytest.fixture
def miller() -> Iterator[Chat]:
    with chat() as family:
        yield family


# No auto-writes


def test_no_message_writes_the_event_graph_until_an_adult_confirms(miller: Chat) -> None:
    before = miller.graph()
    lines = [miller.say(*said) for said in BUSY_DAY]
    miller.until("Mon 2026-03-02 23:59")
    cards = [line["action"] for line in lines if line["action"]]
    assert {card["type"] for card in cards} >= {
        "care_assignment",
        "schedule_change",
        "event_create",
    }
    assert {line["redline_decision"] for line in miller.lines} >= {"SPEAK", "SILENT"}
    assert miller.graph() == before
    [first, *_] = [
        action for action in miller.pending("Mon 2026-03-02 23:59") if action.proposal.effects
    ]
    assert miller.confirm("Mon 2026-03-02 23:59", "leo", first.id).outcome is Outcome.DENIED
    assert miller.graph() == before
    assert miller.confirm("Mon 2026-03-02 23:59", "john", first.id).outcome is Outcome.DONE
    assert miller.graph() != before


def test_neither_time_nor_expiry_writes_the_event_graph(miller: Chat) -> None:
    before = miller.graph()
    for said in BUSY_DAY:
        miller.say(*said)
    miller.until("Fri 2026-03-20 12:00")
    miller.say("Fri 2026-03-20 12:00", "john", "Leo soccer tomorrow?")
    assert {action.status.value for action in miller.actions()} >= {"expired", "pending"}
    assert miller.graph() == before


# Tier 1 never waits


class Blocked(RulesExtractor):
    """An extractor that takes as long as it is told to."""

    def __init__(self) -> None:
        self.begun: list[str] = []
        self.open = asyncio.Event()

    async def extract(
        self, reading: Reading, *, sender: Member | None, participants: Participants
    ) -> Extraction:
        self.begun.append(reading.text)
        await self.open.wait()
        return await super().extract(reading, sender=sender, participants=participants)


def blocked_tier_2(family: Chat, extractor: Blocked, clock: SystemClock) -> UnderstandingJob:
    system = family.system
    return UnderstandingJob(
        family.store,
        family.household.id,
        understanding=system.understanding(clock, extractor),
        settlement=system.settlement(),
    )


async def receive_all(family: Chat, spoken: list[str], clock: SystemClock) -> list[Received]:
    intake = family.system.intake(refuses_chats=False)
    answered = []
    for text in spoken:
        sent = family.message(clock.now(), "john", text, channel="telegram")
        answered.append(
            await family.store.write(
                lambda conn, sent=sent: intake.receive(conn, sent, now=sent.sent_at)
            )  # type: ignore[misc]
        )
    return answered


def test_the_chat_is_answered_while_tier_2_hangs(miller: Chat) -> None:
    clock = SystemClock()

    async def scene() -> None:
        extractor = Blocked()
        job = blocked_tier_2(miller, extractor, clock)
        [first] = await receive_all(miller, ["I'll pick up Leo tomorrow at 5pm"], clock)
        # Another connection sees it, so it was committed, and tier 2 has not looked at it.
        with Store.open(str(miller.path)) as other:
            stored = other.read_now(
                lambda conn: conn.execute(select(messages.c.text)).scalars().all()
            )
        assert stored == ["I'll pick up Leo tomorrow at 5pm"]
        assert extractor.begun == []
        assert first.is_queued
        key = (miller.household.id, first.row_id)
        epoch = await miller.store.write(
            lambda conn: leases.claim(
                conn, observer_messages, key, now=clock.now(), lease=timedelta(minutes=5)
            )
        )
        async with asyncio.TaskGroup() as group:
            work = group.create_task(job.handle(key, epoch))
            while not extractor.begun:
                await asyncio.sleep(0)
            async with asyncio.timeout(10):
                more = await receive_all(miller, ["Soccer pickup Thursday?"] * 20, clock)
            assert len({each.row_id for each in more}) == 20
            assert not work.done()
            waiting = {row["state"] for row in miller.decisions()}
            assert waiting == {"running", "queued"}
            extractor.open.set()
        assert miller.decisions()[0]["state"] == "done"

    asyncio.run(scene())


def test_tier_1_does_nothing_of_tier_2(miller: Chat) -> None:
    asyncio.run(receive_all(miller, [text for _, _, text in BUSY_DAY], SystemClock()))
    rows = miller.decisions()
    assert {row["state"] for row in rows} <= {"queued", "dropped"}
    assert [row["extraction"] for row in rows] == [None] * len(rows)
    assert {row["stage"] for row in miller.gates()} == {"tripwire"}
    assert miller.actions() == []
    assert miller.spoken() == []


# Silence is the default


@pytest.mark.parametrize("name", ["miller", pytest.param("okafor-bennett", marks=pytest.mark.slow)])
def test_three_hundred_messages_of_chatter_bring_no_word(name: str) -> None:
    """Twenty a day for a fortnight, from everybody, children and guests among them."""
    with chat(name) as family:
        people = [member.id for member in family.household.members]
        start = family.at("Mon 2026-03-02 08:00")
        for number in range(300):
            at = start + timedelta(days=number // 20, minutes=37 * (number % 20))
            text = CHATTER[number * 7 % len(CHATTER)]
            family.say(at, people[number % len(people)], text)
        family.until("Sun 2026-03-22 12:00")
        assert len(family.decisions()) == 300
        assert family.spoken() == []
        assert {line["redline_decision"] for line in family.lines} <= {None, "SILENT"}


def test_every_word_in_the_group_has_its_rule(miller: Chat) -> None:
    for said in BUSY_DAY:
        miller.say(*said)
    miller.until("Mon 2026-03-02 23:59")
    spoken = [row for row in miller.decisions() if row["redline_decision"] == "SPEAK"]
    assert len(spoken) >= 2
    rules = {"temporal_conflict", "resource_conflict", "missing_variable", "time_mismatch"}
    assert {row["redline_trigger_rule"] for row in spoken} <= rules
    assert sorted(row["notification_id"] for row in spoken) == [
        row["id"] for row in miller.spoken()
    ]
    assert {row["body"] for row in miller.spoken()} == {row["reply"] for row in spoken}
    silent = [row for row in miller.decisions() if row["redline_decision"] != "SPEAK"]
    assert {row["reply"] for row in silent} == {None}


# Gates are independent

# Said hours apart, so that no message is another's context.
APART = [
    ("Mon 2026-03-02 07:00", "sarah", "Leo has the dentist Thursday at 4pm"),
    ("Mon 2026-03-02 09:30", "john", "wk pickup"),
    ("Mon 2026-03-02 12:00", "john", "Soccer pickup Thursday?"),
    ("Mon 2026-03-02 12:01", "sarah", "I'll do it"),
    ("Mon 2026-03-02 15:00", "sarah", "lol that is so funny"),
    ("Mon 2026-03-02 18:00", "sarah", "I'll do it"),
    ("Mon 2026-03-02 21:00", "john", "Mia ballet Monday"),
]

SCORES = {
    "tripwire": "tripwire_threshold",
    "extraction": "extraction_threshold",
    "attribution": "attribution_threshold",
    "brain": "brain_min_relevance",
}


REPLIES = frozenset({"4", "6"})


@cache
def gates_of(**settings: float) -> Mapping[tuple[str, str], Mapping[str, Any]]:
    with chat(**settings) as family:
        for said in APART:
            family.say(*said)
        return {(row["message"], row["stage"]): row for row in family.gates()}


def test_every_gate_logs_its_own_row_with_its_raw_score(miller: Chat) -> None:
    lines = [miller.say(*said) for said in APART]
    ids = {row["message_id"]: row["id"] for row in miller.decisions()}
    logged = {(row["message"], row["stage"]): row for row in miller.gates()}
    assert len(logged) == len(miller.gates())
    for line in lines:
        row_id = ids[line["message_id"]]
        assert logged[row_id, "tripwire"]["score"] == line["tripwire_confidence"]
        assert logged[row_id, "tripwire"]["confidence_type"] == "regex_score"
        if line["tier1_decision"] == "DROP":
            assert (row_id, "extraction") not in logged
            continue
        extraction = logged[row_id, "extraction"]
        assert extraction["confidence_type"] == "rule_score"
        assert extraction["score"] == line["extraction_confidence"]
        if (brain := logged.get((row_id, "brain"))) is not None:
            assert brain["confidence_type"] == "relevance"
            assert brain["score"] == line["brain_relevance"]
        attribution = line["extraction"]["attribution"]
        assert ((row_id, "attribution") in logged) == (attribution is not None)
        if attribution is not None:
            assert logged[row_id, "attribution"]["confidence_type"] == "attribution_score"
            assert logged[row_id, "attribution"]["score"] == attribution["attribution_confidence"]
    stages = Counter(stage for _, stage in logged)
    assert set(stages) == set(SCORES), "the chat shows nothing about a gate it never reaches"
    attributed = {row["score"] for (_, stage), row in logged.items() if stage == "attribution"}
    assert attributed == {0.85, 0.3}


def test_a_gate_passes_by_its_own_score_and_threshold_alone(miller: Chat) -> None:
    for said in APART:
        miller.say(*said)
    for row in miller.gates():
        assert row["threshold"] == getattr(DEFAULTS, SCORES[row["stage"]])
        assert bool(row["passed"]) == (
            row["score"] is not None and row["score"] >= row["threshold"]
        )


@pytest.mark.parametrize("threshold", [0.0, 0.8, 0.99])
@pytest.mark.parametrize("stage", SCORES)
def test_a_threshold_moves_the_verdicts_of_its_gate_alone(stage: str, threshold: float) -> None:
    """What a reply inherits may change with what is left to reply to; nothing else may."""
    usual, moved = gates_of(), gates_of(**{SCORES[stage]: threshold})
    shared = set(usual) & set(moved)
    assert {key for key in shared if key[1] == stage}
    for key in shared:
        one, other = usual[key], moved[key]
        if key[1] == stage:
            assert other["threshold"] == threshold
            assert bool(other["passed"]) == (other["score"] >= threshold)
        if key[0] in REPLIES:
            continue
        assert other["score"] == one["score"], key
        if key[1] != stage:
            verdict = ("threshold", "passed", "decision", "confidence_type")
            assert [other[name] for name in verdict] == [one[name] for name in verdict], key


def test_the_score_of_tier_1_does_not_reach_into_the_others() -> None:
    """The same words, with the gate of tier 1 open to all and as usual, are extracted as surely."""
    usual, opened = gates_of(), gates_of(tripwire_threshold=0.0)
    assert len(opened) > len(usual)
    for key in set(usual) & set(opened):
        assert opened[key]["score"] == usual[key]["score"]


def test_an_attribution_below_its_threshold_assigns_nobody() -> None:
    with chat(attribution_threshold=0.9) as family:
        family.say("Mon 2026-03-02 12:00", "john", "Soccer pickup Thursday?")
        line = family.say("Mon 2026-03-02 12:01", "sarah", "I'll do it")
        [gate] = [row for row in family.gates() if row["stage"] == "attribution"]
        assert (gate["score"], gate["passed"], gate["decision"]) == (0.85, 0, "drop")
        assert line["attribution_source"] is None
        assert [row["status"] for row in family.questions()] == ["open"]


def test_an_extraction_below_its_threshold_is_shown_and_proposes_nothing() -> None:
    with chat(extraction_threshold=0.99) as family:
        line = family.say("Mon 2026-03-02 10:00", "sarah", "Leo has the dentist Thursday at 4pm")
        assert line["extraction"]["child"] == ["leo"]
        assert line["extraction_confidence"] < 0.99
        assert line["redline_decision"] is None
        assert family.actions() == []
        assert family.spoken() == []
