"""A strong model reviews past routing while nothing else is to be done; what it says is stored and shown, and moves little."""

import json
from collections.abc import AsyncIterator, Callable
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Any

import pytest
from sqlalchemy import Connection, select, update

from kinkeeper.bootstrap.self_correction import review_finding, review_rounds
from kinkeeper.conversation.commit import HELD
from kinkeeper.conversation.context.repository import conversation_encodings
from kinkeeper.conversation.offer_labels import review_labels
from kinkeeper.conversation.planning.frame_planner import LEAST_SURE
from kinkeeper.conversation.review.model import Case, Review, Route
from kinkeeper.conversation.review.repository import review_figures
from kinkeeper.conversation.review.reviewer import Reviewer
from kinkeeper.conversation.review.rounds import MOST_A_DAY, ReviewRounds
from kinkeeper.conversation.tables import routing_decisions, routing_reviews
from kinkeeper.conversation.turn_records import effects
from kinkeeper.jobs.leases import WorkState
from kinkeeper.models.model import Outcome
from kinkeeper.settings.model import Settings
from kinkeeper.store.schema import metadata
from live_household import MONDAY
from model_calls import config, gateway, role
from modelserver import ModelServer, fails, model_server, says
from talking import Script, Talking, on_a_loop, talking, wants

LINES = [
    "please put milk on the shopping list",
    "the school play was lovely yesterday",
    "I wonder how long the drive to grandma takes",
    "Leo has grown out of his boots",
    "what is on the calendar tomorrow?",
    "the neighbours are painting their fence",
]
DONE = update(conversation_encodings).values(state=WorkState.DONE.value)
TASK = wants("task", "create", title="buy milk")


class Model:
    """Says what a test wants of each case, and keeps what it was shown."""

    def __init__(self, says: Callable[[Case], Review | Outcome]) -> None:
        self.says = says
        self.shown: list[Case] = []

    async def review(self, case: Case, *, household: str) -> Review | Outcome:
        assert household == "miller"
        self.shown.append(case)
        return self.says(case)


def always(route: Route) -> Model:
    return Model(lambda _: Review(route=route, model="big-1", prompt=1))


def rounds(held: Talking, judge: Any, *, is_idle: bool = True) -> ReviewRounds:
    return ReviewRounds(
        held.system.store,
        held.system.household,
        judge=judge,
        is_idle=lambda *_: is_idle,
        clock=held.clock,
    )


def tables_of(conn: Connection) -> dict[str, list[Any]]:
    return {
        table.name: sorted(map(str, conn.execute(select(table))))
        for table in metadata.sorted_tables
    }


def rows(held: Talking) -> list[Any]:
    return held.system.store.read_now(lambda conn: [*conn.execute(select(routing_reviews))])


@asynccontextmanager
async def after_a_talk(place: Path, lines: list[str] = LINES) -> AsyncIterator[Talking]:
    async with talking(place, Script({LINES[0]: (TASK,)})) as held:
        for line in lines:
            await held.answer(line)
        held.later(minutes=31)
        yield held


@on_a_loop
async def test_a_decision_is_judged_once_and_what_was_said_stands_beside_it(tmp_path: Path) -> None:
    async with after_a_talk(tmp_path) as held:
        before = held.system.store.read_now(tables_of)
        model = always(Route.RESPOND)
        done = await rounds(held, model).run_once()
        assert done == len(model.shown) == len(rows(held)) > 3
        assert await rounds(held, model).run_once() == 0
        modes = {each.turn: each.mode for each in model.shown}
        for row in rows(held):
            assert (row.route, row.model, row.prompt) == ("respond", "big-1", 1)
            assert row.agrees == int(modes[row.turn] == "RESPOND")
        after = held.system.store.read_now(tables_of)
        assert {name for name in after if after[name] != before[name]} == {"routing_reviews"}
        found = held.system.store.read_now(
            lambda conn: review_figures(conn, "miller", since=MONDAY)
        )
        assert found.reviewed == done
        assert found.disagreed == sum(mode != "RESPOND" for mode in modes.values())
        assert found.models == {"big-1, prompt 1": done}
        parts = held.system.store.read_now(lambda conn: effects(conn, "miller", since=MONDAY)).parts
        (part,) = [each for each in parts if each.name == "reviews of past answers"]
        assert (part.fired, part.had_effect) == (done, 0)


@on_a_loop
async def test_nothing_is_reviewed_while_there_is_something_else_to_do(tmp_path: Path) -> None:
    async with after_a_talk(tmp_path) as held:
        model = always(Route.ACT)
        assert await rounds(held, model, is_idle=False).run_once() == 0
        await held.answer("good news from the dentist")
        held.later(minutes=29)
        assert await rounds(held, model).run_once() == 0
        assert not model.shown


@on_a_loop
async def test_no_more_than_a_few_are_reviewed_a_day(tmp_path: Path) -> None:
    things = ("hedge", "pond", "fence", "lawn", "oak", "shed", "porch", "street", "park", "lake")
    lines = [
        f"the {each} {how}" for each in things for how in ("looked nice", "is muddy", "is big")
    ]
    async with after_a_talk(tmp_path, lines) as held:
        model = always(Route.RESPOND)
        assert await rounds(held, model).run_once() == MOST_A_DAY
        assert await rounds(held, model).run_once() == 0
        held.later(days=1)
        assert 0 < await rounds(held, model).run_once() <= len(lines) - MOST_A_DAY


@on_a_loop
@pytest.mark.parametrize("outcome", [Outcome.TIMEOUT, Outcome.OVER_BUDGET, Outcome.UNREACHABLE])
async def test_a_silent_model_is_asked_once_a_round_and_leaves_nothing(
    tmp_path: Path, outcome: Outcome
) -> None:
    async with after_a_talk(tmp_path) as held:
        model = Model(lambda _: outcome)
        assert await rounds(held, model).run_once() == 0
        assert len(model.shown) == 1
        assert not rows(held)


@on_a_loop
async def test_a_model_sees_what_the_person_saw_and_not_what_was_decided(tmp_path: Path) -> None:
    async with after_a_talk(tmp_path) as held:
        model = always(Route.RESPOND)
        await rounds(held, model).run_once()
        assert {each.text for each in model.shown} <= {*LINES}
        assert all({*each.before} <= {"said", "answered"} for each in model.shown)


@on_a_loop
async def test_words_that_are_to_be_forgotten_are_shown_to_no_model(tmp_path: Path) -> None:
    async with after_a_talk(tmp_path, ["the safe code is 4711", "the weather is fine"]) as held:
        await held.answer("forget that the safe code is 4711")
        held.later(minutes=31)
        model = always(Route.RESPOND)
        await rounds(held, model).run_once()
        kept = [each for each in model.shown if not each.text.startswith("forget")]
        assert not [each for each in kept if "4711" in each.text], [each.text for each in kept]


@on_a_loop
async def test_a_real_model_is_asked_for_a_label_and_other_text_changes_nothing(
    tmp_path: Path,
) -> None:
    with model_server() as models:
        async with after_a_talk(tmp_path) as held:
            store = held.system.store
            async with gateway(store, config(role(models.url)), clock=held.clock) as asked:
                reviewer = Reviewer(asked)
                case = Case(turn="t", mode="ACT", text=LINES[0])
                await _checked_answers(models, reviewer, case)


@on_a_loop
async def test_the_strong_model_of_the_settings_reviews_through_the_gateway(tmp_path: Path) -> None:
    settings = Settings(strong_model="big-1", model_url="http://localhost:1/v1", model_name="big-1")
    with model_server() as models:
        models.will(*[says(json.dumps({"route": "respond"}))] * 20)
        async with after_a_talk(tmp_path) as held:
            store, household = held.system.store, held.system.household
            held.later(hours=1)
            async with gateway(store, config(role(models.url)), clock=held.clock) as asked:
                made = review_rounds(settings, household, store, gateway=asked, clock=held.clock)
                assert made is not None
                assert await made.run_once() == 0  # exchanges still wait to be encoded
                store.write_now(lambda conn: conn.execute(DONE))
                assert await made.run_once() > 3
                assert len(rows(held)) == len(models.calls)
                without = settings.model_copy(update={"strong_model": None})
                assert (
                    review_rounds(without, household, store, gateway=asked, clock=held.clock)
                    is None
                )


async def _checked_answers(models: ModelServer, reviewer: Reviewer, case: Case) -> None:
    models.will(says(json.dumps({"route": "clarify"})))
    found = await reviewer.review(case, household="miller")
    assert isinstance(found, Review)
    assert (found.route, found.prompt) == (Route.CLARIFY, 1)
    for lie in ("delete", "ACT", {"do": "act"}, None):
        models.will(says(json.dumps({"route": lie})), says(json.dumps({"route": lie})))
        assert await reviewer.review(case, household="miller") is Outcome.INVALID_OUTPUT
    models.will(fails(401))
    assert isinstance(await reviewer.review(case, household="miller"), Outcome)


@on_a_loop
@pytest.mark.parametrize("route", [*Route])
async def test_what_was_held_back_is_labelled_by_what_the_model_says(
    tmp_path: Path, route: Route
) -> None:
    async with after_a_talk(tmp_path) as held:
        store = held.system.store
        turn = store.read_now(
            lambda conn: (
                conn.execute(
                    select(routing_decisions.c.turn).where(routing_decisions.c.mode == "RESPOND")
                )
                .scalars()
                .first()
            )
        )
        assert turn is not None
        sure = LEAST_SURE - 0.05
        store.write_now(
            lambda conn: conn.execute(
                update(routing_decisions)
                .where(routing_decisions.c.turn == turn)
                .values(signals={HELD: sure})
            )
        )
        model = always(route)
        await rounds(held, model).run_once()
        assert model.shown[0].turn == turn  # what bears on a bar comes first
        (label,) = store.read_now(lambda conn: [*review_labels(conn, "miller", MONDAY)])
        assert label.is_wanted is (route is Route.ACT)
        assert (label.score, label.by) == (-0.05, "big-1")


def test_without_a_strong_model_nothing_is_reviewed_and_status_says_so(tmp_path: Path) -> None:
    settings = Settings(database_url=f"sqlite:///{tmp_path / 'a.db'}")
    assert "off" in review_finding(settings).found
    named = settings.model_copy(update={"strong_model": "big-1", "model_url": "http://localhost:1"})
    assert "big-1" in review_finding(named).found


def test_the_table_of_reviews_belongs_to_turns_so_that_a_person_can_be_erased() -> None:
    assert {"household", "turn"} <= {*metadata.tables["routing_reviews"].c.keys()}
