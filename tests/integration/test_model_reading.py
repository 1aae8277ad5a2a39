"""A model beside the rules: what it adds is kept with the decision, told, counted, and proved without it."""

import asyncio
import json
from collections.abc import Iterator
from datetime import timedelta
from pathlib import Path
from typing import Any

import pytest
from sqlalchemy import Row, select, update

from family_chat import Chat, chat
from kinkeeper.bootstrap import Houses, live_intake
from kinkeeper.core.time import VirtualClock
from kinkeeper.jobs.job import Pace
from kinkeeper.models.model import ChatReply, ChatRequest, Finish, ModelError, Outcome, Usage
from kinkeeper.models.repository import count_fallbacks
from kinkeeper.observer.accounts.metrics import load_metrics
from kinkeeper.observer.accounts.public_json import trace_record
from kinkeeper.observer.accounts.traces import load_trace
from kinkeeper.observer.settling.model_extraction import ModelExtractor, extraction_prompt
from kinkeeper.observer.tables import observer_messages
from live_household import MONDAY, live_system, said
from modelserver import fails, model_server, says

OPEN = "John is on pickup duty Friday"
CLEAR = "I'll pick up Leo from soccer on Thursday"
ANSWER = {
    "is_arrangement": True,
    "stance": "assigns",
    "task": "pickup",
    "owners": ["john"],
    "children": ["mia"],
    "activity": None,
    "place": None,
    "dates": ["d1"],
    "times": [],
}


class Scripted:
    """Answers with one text, or fails with one outcome."""

    def __init__(self, answer: dict[str, Any] | None, outcome: Outcome = Outcome.OK) -> None:
        self.answer, self.outcome = answer, outcome
        self.requests: list[ChatRequest] = []
        self.fallbacks: list[tuple[str, str, Outcome]] = []

    async def complete(self, request: ChatRequest) -> ChatReply:
        self.requests.append(request)
        if self.answer is None:
            raise ModelError("no", outcome=self.outcome)
        return ChatReply(
            text=json.dumps(self.answer),
            model="scripted",
            finish=Finish.STOP,
            usage=Usage(input_tokens=1, output_tokens=1),
        )

    def stream(self, request: ChatRequest) -> Any:
        raise NotImplementedError

    async def note_fallback(self, household: str, *, stage: str, outcome: Outcome) -> None:
        self.fallbacks.append((household, stage, outcome))


@pytest.fixture
def family() -> Iterator[Chat]:
    with chat() as found:
        yield found


def talk(family: Chat, models: Scripted) -> dict[str, Any]:
    """Say something clear and something open; return the stored decision about the latter."""
    family.extractor = ModelExtractor(models, extraction_prompt())
    family.say("Mon 2026-03-02 09:00", "john", CLEAR)
    family.say("Mon 2026-03-02 09:10", "sarah", "Mia sounds happy")
    family.say("Mon 2026-03-02 09:11", "sarah", OPEN)
    return dict(family.decisions()[-1])


def steps(family: Chat, row: dict[str, Any]) -> list[str]:
    trace = family.store.read_now(
        lambda conn: load_trace(conn, family.household, row["message_id"])
    )
    return [step["text"] for step in trace_record(trace)["steps"] if step["stage"] == "model"]


def test_the_model_is_asked_only_about_what_is_open_and_its_answer_is_kept(family: Chat) -> None:
    models = Scripted(ANSWER)
    row = talk(family, models)
    assert len(models.requests) == 1
    assert row["extraction"]["child"] == ["mia"]
    assert (row["extraction"]["extractor"], row["extraction"]["version"]) == ("model", "1")
    [asked] = row["consulted"]
    assert (asked["doubt"], asked["outcome"], asked["model"]) == ("no_subject", "ok", "scripted")
    assert asked["answer"] == ANSWER
    gate = next(
        g for g in family.gates() if g["message"] == row["id"] and g["stage"] == "extraction"
    )
    assert gate["confidence_type"] == "llm_score"
    assert steps(family, row) == [
        "Asked a model, because it was unclear whom or what it is for; scripted found a plan."
    ]


def test_what_is_sent_is_the_instructions_first_and_the_message_last(family: Chat) -> None:
    models = Scripted(ANSWER)
    talk(family, models)
    [request] = models.requests
    system, user = request.messages
    assert OPEN not in system.text
    assert user.text.rstrip().endswith(f'"text": "{OPEN}"}}\n</data message>')
    assert "Mia sounds happy" in user.text
    assert request.is_ambient
    assert (request.role.value, request.temperature) == ("extraction", 0)


def test_an_answer_with_little_ground_does_not_cost_a_clear_job_its_place(family: Chat) -> None:
    half = {"children": ["mia", "leo"], "place": "casino", "dates": ["d1", "d9"]}
    row = talk(family, Scripted(ANSWER | half))
    [asked] = row["consulted"]
    assert (asked["discarded"], asked["answer"]["children"]) == (3, ["mia"])
    assert (row["extraction"]["extractor"], row["extraction"]["child"]) == ("rules", [])
    assert row["action_id"] is not None
    assert family.wait(family.system.prover().prove(row["id"])).is_same


def test_a_message_brings_one_question_however_much_of_it_is_open(family: Chat) -> None:
    models = Scripted(ANSWER)
    family.extractor = ModelExtractor(models, extraction_prompt())
    both = "Leo has soccer Thursday at 4 or 5 and Mia has ballet Wednesday at 5 or 6"
    family.say("Mon 2026-03-02 09:00", "john", both)
    [row] = family.decisions()
    assert [asked["part"] for asked in row["consulted"]] == [0]
    assert len(models.requests) == 1
    assert family.wait(family.system.prover().prove(row["id"])).is_same


@pytest.mark.parametrize("outcome", [Outcome.TIMEOUT, Outcome.OVER_BUDGET, Outcome.INVALID_OUTPUT])
def test_without_an_answer_the_rules_decide_and_it_is_counted(
    family: Chat, outcome: Outcome
) -> None:
    models = Scripted(None, outcome)
    row = talk(family, models)
    with chat() as plain:
        plain.say("Mon 2026-03-02 09:00", "john", CLEAR)
        plain.say("Mon 2026-03-02 09:10", "sarah", "Mia sounds happy")
        plain.say("Mon 2026-03-02 09:11", "sarah", OPEN)
        assert plain.decisions()[-1]["extraction"] == row["extraction"]
    assert models.fallbacks == [("miller", "observer.extraction", outcome)]
    assert steps(family, row)[0].endswith("; the rules decided alone.")
    monday = MONDAY.date()
    found = family.store.read_now(
        lambda conn: load_metrics(
            conn,
            "miller",
            family.zone,
            first=monday,
            last=monday,
            now=family.at("Mon 2026-03-02 10:00"),
        )
    )
    assert found.consulted == {outcome.value: 1}


@pytest.mark.parametrize("models", [Scripted(ANSWER), Scripted(None, Outcome.TIMEOUT)])
def test_a_decision_with_a_model_is_proved_without_one(family: Chat, models: Scripted) -> None:
    row = talk(family, models)
    asked = len(models.requests)
    proof = family.wait(family.system.prover().prove(row["id"]))
    assert proof.is_same, proof.differences
    assert len(models.requests) == asked


def test_a_decision_whose_answer_is_lost_is_not_the_same(family: Chat) -> None:
    row = talk(family, Scripted(ANSWER))
    lost = update(observer_messages).where(observer_messages.c.id == row["id"])
    family.store.write_now(lambda conn: conn.execute(lost.values(consulted=None)))
    proof = family.wait(family.system.prover().prove(row["id"]))
    assert proof.differences == ("extraction", "extraction_confidence")


def worked(database: Path, **settings: Any) -> list[Row[Any]]:
    """Let live workers understand the talk; return the stored decisions in order."""
    quick = Pace(poll_every=timedelta(milliseconds=50))

    async def work() -> list[Row[Any]]:
        async with (
            Houses.of(system).working(clock=VirtualClock(MONDAY + timedelta(hours=4)), pace=quick),
            asyncio.timeout(60),
        ):
            while any(row.state in {"queued", "running"} for row in rows()):
                await asyncio.sleep(0.02)
        return rows()

    def rows() -> list[Row[Any]]:
        ordered = select(observer_messages).order_by(observer_messages.c.sent_at)
        return list(system.store.read_now(lambda conn: conn.execute(ordered).all()))

    with live_system(database, **settings) as system:
        with live_intake(system, refuses_chats=False) as intake:
            for number, who, words in (
                (1, "john", CLEAR),
                (2, "sarah", "Mia sounds happy"),
                (3, "sarah", OPEN),
            ):
                message = said(number, who, words)
                system.store.write_now(
                    lambda conn, message=message: intake.receive(conn, message, now=message.sent_at)  # type: ignore[misc]
                )
        return asyncio.run(work())


@pytest.mark.slow
def test_workers_ask_the_server_of_the_settings_and_outlive_its_failure(tmp_path: Path) -> None:
    with model_server() as server:
        named = {"model_url": server.url, "model_name": "m", "model_max_output_tokens": 2000}
        server.will(says(json.dumps(ANSWER)))
        *_, helped = worked(tmp_path / "1.db", **named)
        asked = len(server.calls)
        *_, alone = worked(tmp_path / "2.db", extractor="rules", **named)
        assert len(server.calls) == asked == 1
        body = server.calls[0].body
        assert (body["max_tokens"], body["temperature"]) == (2000, 0)
        server.will(fails(400))
        *_, failed = worked(tmp_path / "3.db", **named)
    assert helped.extraction["child"] == ["mia"]
    assert alone.consulted is None
    assert alone.extraction == failed.extraction
    assert failed.consulted[0]["outcome"] == "rejected"
    with live_system(tmp_path / "3.db") as system:
        counted = system.store.read_now(
            lambda conn: count_fallbacks(conn, "miller", since=MONDAY - timedelta(days=1))
        )
    assert counted == {("observer.extraction", "rejected"): 1}
