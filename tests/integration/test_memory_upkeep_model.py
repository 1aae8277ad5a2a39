"""A model beside the nights of memory: one call a kind, answers checked, and one that lies does no harm."""

from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from kinkeeper.memory.model import Fact, FactStatus, Origin
from kinkeeper.memory.upkeep.batch import ModelBatch
from kinkeeper.memory.upkeep.questions import QuestionKind, waiting
from kinkeeper.memory.upkeep.runs import ChangeKind, RunState
from kinkeeper.models.model import ModelError, Outcome
from kinkeeper.store.store import Store
from memory_nights import HOUSE, Memory, day, meaning
from scripted_batch import Answering, Model, always


def fails(_: dict[str, Any]) -> str:
    raise ModelError("no", outcome=Outcome.TIMEOUT)


@pytest.fixture
def memory(tmp_path: Path) -> Iterator[Memory]:
    with Store.open(str(tmp_path / "family.db")) as store:
        yield Memory(store)


def asks(memory: Memory, answering: Answering) -> Model:
    """Let nights ask a model."""
    model = Model(answering)
    memory.tools = replace(memory.tools, batch=ModelBatch(model, HOUSE))
    return model


def doubted(memory: Memory, number: int = 0) -> tuple[Fact, Fact]:
    """Two facts that cannot both be true, told at the same moment by one source."""
    who = f"Cousin {('Abe', 'Bea', 'Cal', 'Deb', 'Eli', 'Fay', 'Gil', 'Hal')[number]}"
    found = []
    for place in ("Leeds", "York"):
        memory.forget_meeting_points()
        (fact,) = memory.say(f"{who} lives in {place}", day(0))
        memory.place("fact", fact.id, meaning(who, twist=place))
        found.append(fact)
    return found[0], found[1]


def open_questions(memory: Memory) -> int:
    return len(
        memory.store.read_now(
            lambda conn: waiting(conn, HOUSE, QuestionKind.CONTRADICTION, limit=99)
        )
    )


def test_without_a_model_a_contradiction_is_doubted_once_and_waits(memory: Memory) -> None:
    pair = doubted(memory)
    run = memory.night(day(1))
    assert {each.kind for each in run.report.differences} == {ChangeKind.DOUBTED}
    facts = {fact.id: fact for fact in memory.every()}
    for fact in pair:
        assert facts[fact.id].confidence == pytest.approx(fact.confidence / 2, abs=0.01)
        assert facts[fact.id].is_contradicted
    assert open_questions(memory) == 1
    assert memory.night(day(2)).report.differences == ()
    assert open_questions(memory) == 1


def test_a_model_settles_a_contradiction_in_one_call(memory: Memory) -> None:
    pair = doubted(memory)
    model = asks(memory, always("KEEP_BOTH"))
    memory.night(day(1))
    assert len(model.requests) == 1
    facts = {fact.id: fact for fact in memory.every()}
    assert not any(facts[fact.id].is_contradicted for fact in pair)
    assert open_questions(memory) == 0
    memory.night(day(2))
    assert len(model.requests) == 1


@pytest.mark.parametrize(
    "answering",
    [
        fails,
        lambda _: "I cannot say.",
        lambda _: '{"answers": [{"key": "q9", "answer": "MERGE"}]}',
        lambda _: '{"answers": [{"key": "q1", "answer": "DELETE"}]}',
        lambda _: (
            '{"answers": [{"key": "q1", "answer": "MERGE"}, {"key": "q1", "answer": "KEEP_BOTH"}]}'
        ),
        lambda _: '{"answers": []}',
    ],
)
def test_a_bad_answer_changes_nothing(memory: Memory, answering: Answering) -> None:
    doubted(memory)
    memory.night(day(1))
    before = memory.every()
    asks(memory, answering)
    run = memory.night(day(2))
    assert (run.state, run.report.differences) == (RunState.DONE, ())
    assert memory.every() == before
    assert open_questions(memory) == 1


def test_a_model_that_joins_everything_is_stopped_and_a_person_is_asked(memory: Memory) -> None:
    pairs = [doubted(memory, number) for number in range(8)]
    asks(memory, always("MERGE"))
    active = {fact.id for fact in memory.every() if fact.status.is_active}
    run = memory.night(day(1))
    assert (run.state, run.change_set) == (RunState.ASKS, None)
    assert run.report.leaving == len(pairs)
    assert {fact.id for fact in memory.every() if fact.status.is_active} == active


def test_what_a_person_wrote_outweighs_what_was_imported(memory: Memory) -> None:
    memory.forget_meeting_points()
    (imported,) = memory.say("Cousin Abe lives in Leeds", day(0), origin=Origin.IMPORTED)
    memory.forget_meeting_points()
    (said,) = memory.say("Cousin Abe lives in York", day(0))
    for fact in (imported, said):
        memory.place("fact", fact.id, meaning("abe", twist=fact.id))
    memory.night(day(1))
    facts = {fact.id: fact for fact in memory.every()}
    assert facts[imported.id].status is FactStatus.SUPERSEDED
    assert facts[said.id].status.is_active
    assert open_questions(memory) == 0
