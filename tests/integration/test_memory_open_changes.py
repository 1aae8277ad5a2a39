"""What may have changed without words that are sure of it: a night asks once, a person or a model settles it."""

import json
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from pathlib import Path

import pytest
from sqlalchemy import select

from kinkeeper.core.errors import NotFoundError
from kinkeeper.household.viewers import Viewer, person_scope
from kinkeeper.memory.corrections import edit_fact, set_scope
from kinkeeper.memory.model import Category, FactStatus
from kinkeeper.memory.tables import memory_questions
from kinkeeper.memory.undecided import Undecided, settle_undecided, undecided
from kinkeeper.memory.undo import undo
from kinkeeper.memory.upkeep.batch import Case, ModelBatch
from kinkeeper.memory.upkeep.questions import Answer, QuestionKind, count_waiting
from kinkeeper.store.store import Store
from memory_nights import HOUSE, Memory, day
from scripted_batch import Model, always

JOHN = Viewer.of(HOUSE, "john")
SARAH = Viewer.of(HOUSE, "sarah")
OLD, NEW = "I have a budgie called Winston", "poor Winston died in the night"


@pytest.fixture
def memory(tmp_path: Path) -> Iterator[Memory]:
    with Store.open(str(tmp_path / "family.db")) as store:
        found = Memory(store)
        found.tools = replace(found.tools, likeness=None)
        yield found


def told(memory: Memory, old: str = OLD, new: str = NEW, **given: object) -> None:
    memory.say(old, day(0), **given)
    memory.say(new, day(5), **given)


def asked(memory: Memory, viewer: Viewer = JOHN, *, at: float = 7) -> list[Undecided]:
    return list(memory.store.read_now(lambda conn: undecided(conn, viewer, now=day(at), limit=9)))


def answer(memory: Memory, given: Answer) -> str:
    (pair,) = asked(memory)
    done = memory.store.write_now(
        lambda conn: settle_undecided(conn, JOHN, pair.id, given, by="john", at=day(7))
    )
    assert done.change_set is not None
    return done.change_set


def in_use(memory: Memory) -> set[str]:
    return {each.narrative for each in memory.every() if each.status.is_active}


def test_a_night_asks_what_it_cannot_tell_and_leaves_both_in_use(memory: Memory) -> None:
    told(memory)
    run = memory.night(day(6))
    assert run.report.counts["may have changed"] == 1
    assert [(each.older.narrative, each.newer.narrative) for each in asked(memory)] == [(OLD, NEW)]
    assert in_use(memory) == {OLD, NEW}


@pytest.mark.parametrize(
    ("given", "kept"),
    [(Answer.NEWER, {NEW}), (Answer.OLDER, {OLD}), (Answer.KEEP_BOTH, {OLD, NEW})],
)
def test_the_answer_holds_and_is_asked_for_no_more(
    memory: Memory, given: Answer, kept: set[str]
) -> None:
    told(memory)
    memory.night(day(6))
    answer(memory, given)
    assert in_use(memory) == kept
    memory.say("Winston was a good bird", day(8))
    memory.night(day(9))
    assert {each.older.narrative for each in asked(memory, at=9)}.isdisjoint({OLD})


def test_the_newer_one_takes_the_place_and_that_is_taken_back(memory: Memory) -> None:
    told(memory)
    memory.night(day(6))
    change = answer(memory, Answer.NEWER)
    facts = memory.facts()
    assert facts[OLD].superseded_by == facts[NEW].id
    memory.store.write_now(lambda conn: undo(conn, HOUSE, change, by="john", at=day(8)))
    assert memory.facts()[OLD].status.is_active


def test_a_question_is_answered_once(memory: Memory) -> None:
    told(memory)
    memory.night(day(6))
    (pair,) = asked(memory)
    answer(memory, Answer.KEEP_BOTH)
    with pytest.raises(NotFoundError):
        memory.store.write_now(
            lambda conn: settle_undecided(conn, JOHN, pair.id, Answer.NEWER, by="john", at=day(7))
        )


def test_ones_own_is_asked_of_nobody_else(memory: Memory) -> None:
    told(memory, scope=person_scope("john"))
    memory.night(day(6))
    assert len(asked(memory)) == 1
    assert asked(memory, SARAH) == []


def test_a_question_goes_with_what_it_is_about(memory: Memory) -> None:
    told(memory)
    memory.night(day(6))
    assert memory.store.read_now(lambda conn: count_waiting(conn, HOUSE)) == 1
    memory.say("We no longer have a budgie called Winston", day(7))
    memory.say("I no longer have a budgie called Winston", day(7))
    assert memory.facts()[OLD].status is not FactStatus.ACTIVE
    memory.night(day(8))
    assert memory.store.read_now(lambda conn: count_waiting(conn, HOUSE)) == 0


@pytest.mark.parametrize("category", [Category.EMOTIONAL, Category.TECHNICAL])
def test_what_passes_or_adds_up_by_itself_is_not_asked_about(
    memory: Memory, category: Category
) -> None:
    told(memory, category=category)
    memory.night(day(6))
    assert asked(memory) == []


def test_unlike_things_are_not_asked_about(memory: Memory) -> None:
    for number, text in enumerate(
        (
            "Ida has a hamster",
            "Ida goes to ballet on Mondays",
            "the hamster needs new bedding",
            "Ida wants a bike",
            "we bought bedding plants",
            "our hall is painted green",
        )
    ):
        memory.say(text, day(number))
    assert "may have changed" not in memory.night(day(9)).report.counts


@pytest.mark.parametrize(
    ("said", "kept", "is_open"),
    [
        ("NEWER", {NEW}, False),
        ("KEEP_BOTH", {OLD, NEW}, False),
        ("CONTRADICTION", {OLD, NEW}, True),
    ],
)
def test_a_model_takes_the_same_questions(
    memory: Memory, said: str, kept: set[str], is_open: bool
) -> None:
    told(memory)
    model = Model(always(said))
    memory.tools = replace(memory.tools, batch=ModelBatch(model, HOUSE))
    memory.night(day(6), is_agreed=True)
    assert len(model.requests) == 1
    assert "Winston" in json.dumps(model.requests[0].messages[1].text)
    assert in_use(memory) == kept
    assert bool(asked(memory)) is is_open


def test_what_a_person_wrote_is_left_to_people(memory: Memory) -> None:
    told(memory)
    old = memory.facts()[OLD].id
    memory.store.write_now(
        lambda conn: edit_fact(conn, JOHN, old, OLD + " Churchill", by="john", at=day(5.5))
    )
    model = Model(always("NEWER"))
    memory.tools = replace(memory.tools, batch=ModelBatch(model, HOUSE))
    memory.night(day(6))
    assert model.requests == []


def test_a_pair_of_which_one_was_made_private_since_is_asked_of_nobody(memory: Memory) -> None:
    told(memory)
    memory.night(day(6))
    new = memory.facts()[NEW].id
    memory.store.write_now(
        lambda conn: set_scope(conn, JOHN, new, "person:john", by="john", at=day(6.5))
    )
    assert asked(memory) == asked(memory, SARAH) == []
    memory.night(day(7))
    assert memory.store.read_now(lambda conn: count_waiting(conn, HOUSE)) == 0


def test_a_question_that_nobody_answers_for_a_month_makes_room_and_is_not_asked_again(
    memory: Memory,
) -> None:
    told(memory)
    memory.night(day(6))
    memory.night(day(35))
    assert len(asked(memory, at=35)) == 1
    for late in (37, 38):
        memory.night(day(late))
        assert memory.store.read_now(lambda conn: count_waiting(conn, HOUSE)) == 0
    assert in_use(memory) == {OLD, NEW}


class Answering(ModelBatch):
    """A model that takes so long that a person answers before it does."""

    def __init__(self, memory: Memory, model: Model) -> None:
        super().__init__(model, HOUSE)
        self._memory = memory

    async def settle(self, kind: QuestionKind, cases: Sequence[Case]) -> Mapping[str, Answer]:
        given = await super().settle(kind, cases)
        answer(self._memory, Answer.KEEP_BOTH)
        return given


def test_a_person_who_answers_while_a_model_thinks_is_right(memory: Memory) -> None:
    told(memory)
    memory.night(day(6))
    memory.tools = replace(memory.tools, batch=Answering(memory, Model(always("NEWER"))))
    memory.night(day(7), is_agreed=True)
    assert in_use(memory) == {OLD, NEW}
    (given,) = memory.store.read_now(
        lambda conn: conn.execute(select(memory_questions.c.answer)).scalars().all()
    )
    assert given == Answer.KEEP_BOTH.value
