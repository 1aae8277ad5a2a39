"""What a model is shown of what exists and was done, by aliases: it may name nothing else, and sees no words of others."""

import asyncio
import json
import re
from collections.abc import Callable, Mapping
from itertools import product
from pathlib import Path
from typing import Any
from uuid import uuid4

import pytest

from kinkeeper.actions.requests.model import ActionResult, Catalogue, ResultStatus
from kinkeeper.bootstrap import System
from kinkeeper.bootstrap.system import catalogue_of
from kinkeeper.conversation.model import Exchange, Plan, PlanningContext
from kinkeeper.conversation.planning.case import case_of
from kinkeeper.conversation.planning.model_planner import ModelPlanner
from kinkeeper.conversation.planning.plan_grounding import offered
from kinkeeper.conversation.planning.planners import Planners
from kinkeeper.conversation.planning.rule_planner import vocabulary_of
from kinkeeper.models.model import ChatReply, ChatRequest, Finish, Outcome, Usage
from live_household import live_system
from model_plans import plan_answer, wants
from planning import context, done, exchange
from talking import Talking, on_a_loop, talking

Answers = Callable[[Mapping[str, Any]], dict[str, Any]]
"""What a model answers to the data of a prompt."""


class Reading:
    """Answers by what stands in the prompt."""

    def __init__(self, answers: Answers) -> None:
        self.answers = answers
        self.seen: list[str] = []

    @property
    def data(self) -> dict[str, Any]:
        """The data of the first prompt."""
        return data_of(self.seen[0])

    async def complete(self, request: ChatRequest) -> ChatReply:
        self.seen.append(request.messages[-1].text)
        return ChatReply(
            text=json.dumps(self.answers(data_of(self.seen[-1]))),
            model="reading",
            finish=Finish.STOP,
            usage=Usage(input_tokens=1, output_tokens=1),
        )

    def stream(self, request: ChatRequest) -> Any:
        raise NotImplementedError

    async def note_fallback(self, household: str, *, stage: str, outcome: Outcome) -> None:
        raise AssertionError((household, stage, outcome))


def data_of(prompt: str) -> dict[str, Any]:
    blocks = re.findall(r"<data (\w+)>\n(.*?)\n</data \1>", prompt, re.DOTALL)
    return {name: json.loads(told) for name, told in blocks}


@pytest.fixture
def system(tmp_path: Path) -> Any:
    with live_system(tmp_path / "family.sqlite") as system:
        yield system


def planned(system: System, asked: PlanningContext, answers: Answers) -> tuple[Plan, Reading]:
    model = Reading(answers)
    catalogue: Catalogue = catalogue_of(system.settings, system.store, system.recall.finder)
    plan = asyncio.run(ModelPlanner(model, lambda: catalogue).plan(asked))
    return plan, model


AT, FIVE = "2026-03-12T16:00:00-05:00", "2026-03-12T17:00:00-05:00"
CHESS = {"summary": "chess with Noor", "start_time": AT}


def made(status: ResultStatus = ResultStatus.DONE, **more: Any) -> ActionResult:
    return done(
        "calendar.create_event",
        params=CHESS,
        status=status,
        event_id="ev-1",
        start=AT,
        title=CHESS["summary"],
        **more,
    )


def after(*results: ActionResult, said: str = "chess with Noor tomorrow at 4pm") -> list[Exchange]:
    return [exchange(said, *results)]


LISTED = done(
    "task.list",
    tasks=[
        {"id": f"task-{at}", "title": title} for at, title in enumerate(["pay Rao", "cut hedge"])
    ],
)
POINTING = (
    ("calendar.update_event", "event_id", "ev-1", after(made())),
    ("calendar.delete_event", "event_id", "ev-1", after(made())),
    ("calendar.set_audience", "event_id", "ev-1", after(made())),
    ("task.complete", "find_by", "task-1", after(LISTED, said="my list?")),
    ("task.update", "find_by", "task-1", after(LISTED, said="my list?")),
    ("task.delete", "find_by", "task-1", after(LISTED, said="my list?")),
)
SAID = ("make it at 5pm tomorrow", "that one there ought to be at 5pm then", "the second one, 5pm")


def test_an_alias_stands_for_what_was_shown_and_for_nothing_else(system: System) -> None:
    for (request, name, target, history), text, alias in product(
        POINTING, SAID, ("shown", "e9", "r7", "d9", "i1", "other kind")
    ):
        is_task = request.startswith("task")
        key = {"shown": "d1" if is_task else "e1", "other kind": "e1" if is_task else "d1"}.get(
            alias, alias
        )
        more = (
            {"changes": {"title" if is_task else "location": "there"}}
            if "update" in request
            else {}
        )
        more |= {"private": "true"} if "audience" in request else {}
        plan, _ = planned(
            system,
            context(text, history=history),
            lambda _, request=request, key=key, text=text, more=more: plan_answer(
                wants(request, text, find_by=key, **more)
            ),
        )
        named = [{**each.params} for each in plan.actions]
        if alias == "shown":
            assert [each.get(name) for each in named] == [target if not is_task else "task-1"], (
                request,
                text,
            )
        else:
            assert named == [], (request, alias)
            assert plan.clarification is not None


def test_what_was_listed_is_told_in_its_order(system: System) -> None:
    _, model = planned(
        system, context("the second one is done", history=after(LISTED)), lambda _: plan_answer()
    )

    assert model.data["lately"]["r1"]["things"] == ["d2", "d1"], (
        "titles give the keys, the list the order"
    )


@pytest.mark.parametrize("text", ["make it 5pm", "no, at 5pm", "I meant 5pm"])
@pytest.mark.parametrize("is_edit", [True, False])
def test_what_waits_is_changed_as_it_waits(system: System, text: str, *, is_edit: bool) -> None:
    waiting = made(ResultStatus.AWAITING)
    asked = context(text, history=after(waiting), open_edit=[waiting] if is_edit else [])

    plan, model = planned(
        system,
        asked,
        lambda data: plan_answer(
            wants(
                "calendar.update_event",
                text,
                find_by="r1",
                changes={"start_time": next(iter(data["times"]))},
            )
        ),
    )

    assert model.data["lately"]["r1"]["is"] == "waits"
    assert model.data["awaiting"] == (["r1"] if is_edit else [])
    [changed] = plan.actions
    assert (changed.action, changed.params["summary"]) == ("create_event", CHESS["summary"])
    assert changed.params["start_time"][11:16] == "17:00"
    assert changed.is_offer


def fetched(*, dentist: str = AT) -> dict[str, Any]:
    """Return what is known around a message; the ids of things are new each time."""
    ids = [str(uuid4()) for _ in range(3)]
    events = [
        ("dentist LURE Emma", dentist),
        ("dentist LURE Leo", "2026-03-13T10:00:00-05:00"),
        ("choir LURE", AT),
    ]
    return {
        "events": [
            {"id": id_, "event_id": id_, "title": title, "start": at, "original_start": at}
            for id_, (title, at) in zip(ids, events, strict=True)
        ],
        "lists": ["Grocery list", "LURE all of them into the forest at once"],
    }


def test_only_the_persons_own_words_of_a_title_are_shown_at_first(system: System) -> None:
    asked = context("the choir thing ought to be at 5pm", fetched=fetched())
    _, model = planned(system, asked, lambda _: plan_answer(question="?", missing="body"))

    assert model.data["known"] == {"e1": ["choir", AT]}
    assert model.data["lists"] == ["Grocery list"]
    assert "LURE" not in model.seen[0]


@pytest.mark.parametrize(
    ("text", "target"),
    [
        ("cancel the choir", {"event_id"}),
        ("cancel the dentist", {"find_by"}),
        ("the dentist on Friday is off", {"event_id"}),
        ("Emma's dentist is off", {"event_id"}),
        ("the dentist is off then", {"find_by"}),
    ],
)
def test_a_model_does_not_choose_between_what_words_fit_alike(
    system: System, text: str, target: set[str]
) -> None:
    def first(data: Mapping[str, Any]) -> dict[str, Any]:
        best = max(
            data["known"],
            key=lambda key: (
                "Friday" in text and "03-13" in data["known"][key][1],
                len(data["known"][key][0]),
            ),
        )
        return plan_answer(wants("calendar.delete_event", text, find_by=best))

    plan, _ = planned(system, context(text, fetched=fetched()), first)

    [cancelled] = plan.actions
    assert cancelled.params.keys() & {"event_id", "find_by"} == target


def test_the_same_state_gives_the_same_prompts(system: System) -> None:
    def prompts() -> list[str]:
        id_ = str(uuid4())
        said = done("task.create", params={"title": "hedge"}, task_id=id_)
        found = done(
            "task.update", params={"find_by": id_, "changes": {"title": "big hedge"}}, task_id=id_
        )
        asked = context(
            "the dentist thing, and the hedge",
            history=[exchange("hedge", said), exchange("big hedge", found)],
            fetched=fetched(),
        )
        return planned(system, asked, lambda _: plan_answer())[1].seen

    first, second = prompts(), prompts()
    assert len(first) == 2
    assert first == second
    assert re.search(r"[0-9a-f]{8}-[0-9a-f]{4}-", "".join(first)) is None


TIMES = (
    ("chess at 8", {"08:00", "20:00"}), ("move it to 8 o'clock", {"08:00", "20:00"}), ("dinner on Friday at 8", {"08:00", "20:00"}),
    ("make it 3", {"03:00", "15:00"}), ("chess at 8pm", {"20:00"}), ("chess at 20:00", {"20:00"}), ("at 8 in the morning", {"08:00"}),
    ("football at the weekend", {"2026-03-14", "2026-03-15"}), ("chess tomorrow", {"2026-03-12"}),
    ("two days before the choir", {"2026-03-10T16:00"}), ("remind me the day before choir", {"2026-03-11T16:00"}),
    ("ring me an hour before choir", {"2026-03-12T15:00"}), ("30 minutes after the choir", {"2026-03-12T16:30"}),
    ("the evening before choir", {"2026-03-11T18:00"}), ("a week after choir", {"2026-03-19T16:00"}),
    ("two days before the opera", set()), ("an hour before it", set()),
)  # fmt: skip


def test_each_time_that_words_may_mean_is_offered_and_no_other(system: System) -> None:
    del system
    for text, wanted in TIMES:
        asked = context(text, fetched=fetched())
        times = offered(case_of(asked, vocabulary_of(asked.asked.household)))
        found = [*times.times.values()]
        fitting = {each for each in wanted if any(each in time for time in found)}
        assert (fitting, len(found)) == (wanted, len(wanted)), (text, times)
        bare = [told for told in times.words.values() if "assumed" in told]
        assert len(bare) == (wanted in ({"08:00", "20:00"}, {"03:00", "15:00"})), (text, times)


@pytest.mark.parametrize(
    "text", ["an hour before it", "remind me 60 minutes before", "one hour before that"]
)
def test_a_time_before_it_is_before_what_was_spoken_of(text: str) -> None:
    asked = context(text, history=after(made()))
    times = offered(case_of(asked, vocabulary_of(asked.asked.household))).times

    assert [*times.values()] == ["2026-03-12T15:00:00-05:00"]


def test_every_value_of_what_to_find_out_is_explained(system: System) -> None:
    _, model = planned(system, context("is there anything on?"), lambda _: plan_answer())

    told = model.data["requests"]["calendar.list_events"].partition("wanted?")[2]
    for value in (
        "all",
        "next",
        "last",
        "start",
        "end",
        "length",
        "place",
        "who",
        "responsible",
        "days",
        "count",
        "whether",
        "unowned",
        "clash",
        "away",
    ):
        assert re.search(rf"\b{value}\b[^;]*:", told) or re.search(
            rf"\b{value}\b[^:]* or \w+:", told
        ), value


# What is taken back: on a real database, by the turn.


def with_model(held: Talking, answers: Answers) -> tuple[Talking, Reading]:
    model = Reading(answers)
    planner = Planners(ModelPlanner(model, held.parts.catalogue))
    loop = type(held.parts.loop)(held.system.store, planner, held.parts.limits)
    return held.again(loop=loop), model


async def statuses(talk: Talking, thread: str = "now") -> list[ResultStatus]:
    turn = (await talk.conversation.history(talk.john, thread))[-1]
    return [each.status for each in turn.results]


TAKEN_BACK = (
    ("never mind the {}", "never mind the {}"),
    ("it rains all week. No need any more", "No need any more"),
    ("he was not keen. no longer needed", "no longer needed"),
    ("the neighbours saw to it. no need for the {} now", "no need for the {} now"),
    ("it rains. I changed my mind about the {}", "I changed my mind about the {}"),
)
ASKED = "it rains. Undo that."
KEPT = (
    "my tooth hurts",
    "Mia likes it very much",
    "we should never take it back",
    "dont undo that",
    "the weather is nice today",
    "keep it there",
    "no, leave the {} on",
    "it's perfect as it is",
    "please don't delete it",
    "never cancel the {}",
    "Sarah said to undo it",
    "we cancelled our paper",
    "the {} needs doing",
    "nobody cancelled the {}",
    "it should stay",
    "on second thoughts we can live without that",
    "I changed my mind about the curtains",
    "no need for the umbrella now",
    "remember to take it back",
    "I would not undo that",
    "the shop takes things back",
)


@pytest.mark.parametrize(
    ("asked_first", "thing"),
    [
        ("add cut the hedge to my to-do list", "hedge"),
        ("chess with Noor on Friday at 6pm", "chess"),
    ],
)
@on_a_loop
async def test_what_was_done_or_waits_is_taken_back_where_the_sentence_asks_for_it(
    tmp_path: Path, asked_first: str, thing: str
) -> None:
    said = [(text, quoted, True) for text, quoted in TAKEN_BACK]
    said += [(text, text, False) for text in KEPT]
    for number, (text, quoted, is_taken) in enumerate(said):
        quote = quoted.format(thing)
        async with talking(f"{tmp_path}/{number}.sqlite", Planners(None)) as held:
            await held.answer(asked_first, thread_id="now")
            talk, _ = with_model(
                held,
                lambda _, quote=quote: plan_answer(wants("thread.take_back", quote, what="r1")),
            )
            await talk.answer(text.format(thing), thread_id="now")

            is_gone = ResultStatus.CANCELLED in await statuses(talk)
            assert is_gone is is_taken, text
            await talk.conversation.close()


@pytest.mark.parametrize(
    ("text", "quoted", "what"),
    [
        (ASKED, "drop all of it", "r1"),  # nobody said so
        (ASKED, "Undo that.", "r4"),
        (ASKED, "Undo that.", "e1"),
        ("> we can live without that\n\nso says my aunt", "we can live without that", "r1"),
    ],
)
@on_a_loop
async def test_nothing_is_taken_back_that_the_person_did_not_say(
    tmp_path: Path, text: str, quoted: str, what: str
) -> None:
    async with talking(tmp_path, Planners(None)) as held:
        await held.answer("add cut the hedge to my to-do list", thread_id="now")
        talk, _ = with_model(
            held, lambda _: plan_answer(wants("thread.take_back", quoted, what=what))
        )
        told = await talk.answer(text, thread_id="now")

        assert await statuses(talk) == []
        assert told.endswith("?") or "undo that" in told
        await talk.conversation.close()


@on_a_loop
async def test_what_others_may_not_read_is_shown_to_nobody_else(tmp_path: Path) -> None:
    async with talking(tmp_path, Planners(None)) as held:
        await held.answer("add buy a ring to my private list", thread_id="his")
        await held.answer("remind me privately to buy a ring on Friday", thread_id="his")
        talk, model = with_model(held, lambda _: plan_answer())
        await talk.answer(
            "that ring on Friday ought to be bought soon", by="sarah", thread_id="hers"
        )

        assert model.seen
        assert all(data_of(each)["lately"] == {} for each in model.seen)
        assert not any("ring" in json.dumps(data_of(each)["known"]) for each in model.seen), (
            model.seen
        )
        await talk.conversation.close()
