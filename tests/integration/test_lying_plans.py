"""Whatever a lying model plans, nothing is written or shown to others that the same words would not without a model."""

import json
from collections.abc import Mapping
from pathlib import Path
from typing import Any
from uuid import uuid4

import pytest
from sqlalchemy import Connection

from kinkeeper.actions.repository import open_actions
from kinkeeper.actions.requests.email import email_requests
from kinkeeper.actions.requests.model import ResultStatus
from kinkeeper.calendar.repository import list_events
from kinkeeper.conversation.planning.model_planner import ModelPlanner
from kinkeeper.conversation.planning.planners import Planners
from kinkeeper.household.viewers import Viewer, viewer_for
from kinkeeper.memory.facts import list_facts
from kinkeeper.models.model import ChatReply, ChatRequest, Finish, Outcome, Usage
from kinkeeper.notes.repository import list_notes
from kinkeeper.tasks.repository import list_tasks
from live_household import HOUSEHOLD
from model_plans import plan_answer, wants
from talking import Talking, on_a_loop, talking

MORE = "".join(
    f'\n[[members]]\nid = "{name}"\nname = "{name.title()}"\nrole = "{role}"\n'
    for name, role in (("rosa", "helper"), ("nana", "other"))
)
BEFORE = (
    "add milk to the shopping list",
    "add water the plants to my to-do list",
    "remember that the bakery closes at six",
    "put lawyer on Friday at 3pm in my calendar, just for me",
    "add fix the trumpet to my to-do list, just for me",
    "remember just for me: my locker word is zebrafish",
    "create a private note called diary",
)
ALL = "the shopping list, the milk, the plants, the ballet, the trumpet, the lawyer, the diary, the bakery and the locker word"
WORD = "zebrafish"


class Lying:
    """Answers with a plan; the first time with nothing, where it lies about what it was shown later."""

    def __init__(self) -> None:
        self.answers: list[Mapping[str, Any]] = []

    async def complete(self, request: ChatRequest) -> ChatReply:
        del request
        answer = self.answers.pop(0) if len(self.answers) > 1 else self.answers[0]
        usage = Usage(input_tokens=1, output_tokens=1)
        return ChatReply(text=json.dumps(answer), model="lying", finish=Finish.STOP, usage=usage)

    def stream(self, request: ChatRequest) -> Any:
        raise NotImplementedError

    async def note_fallback(self, household: str, *, stage: str, outcome: Outcome) -> None:
        raise AssertionError((household, stage, outcome, self.answers))


def lies(words: str) -> list[tuple[str, dict[str, Any]]]:
    """Return a request of every kind with an effect, which would write these words, or show or change what is there."""
    line = {"title": "shopping list", "line": "milk"}
    new: dict[str, dict[str, Any]] = {
        "calendar.create_event": {"summary": words, "start_time": "2026-03-06T10:00:00-06:00"},
        "task.create": {"title": words},
        "notes.create": {"title": words, "body": words},
        "notes.append": {"title": "shopping list", "body": words},
        "memory.store": {"value": words},
    }
    return [
        *new.items(),
        *((name, {**params, "private": "false"}) for name, params in new.items()),
        *((name, {**params, "kept_from": ["mia"]}) for name, params in new.items()),
        ("calendar.create_event", {**new["calendar.create_event"], "who": ["sarah", "leo"]}),
        ("calendar.update_event", {"find_by": "ballet", "changes": {"location": words}}),
        ("calendar.delete_event", {"find_by": "ballet"}),
        ("task.update", {"find_by": "water the plants", "changes": {"title": words}}),
        ("task.complete", {"find_by": "water the plants"}),
        ("task.delete", {"find_by": "water the plants"}),
        ("notes.remove_line", line),
        ("notes.change_line", {**line, "new": words}),
        ("notes.clear", {"title": "shopping list"}),
        ("notes.delete", {"title": "shopping list"}),
        ("memory.update", {"key": "bakery", "new_value": words}),
        ("memory.forget", {"find_by": "bakery"}),
        ("calendar.set_audience", {"find_by": "lawyer", "private": "false"}),
        ("task.set_audience", {"find_by": "fix the trumpet", "private": "false"}),
        ("notes.set_audience", {"find_by": "diary", "private": "false"}),
        ("memory.set_audience", {"find_by": "locker word", "private": "false"}),
        ("calendar.set_audience", {"find_by": "lawyer", "private": "false", "kept_from": ["mia"]}),
        ("email.create_draft", {"to": ["John"], "subject": words, "body": words}),
    ]


# What is said, which words of it are said to ask for something, and what would be written.
WAYS = {
    "unasked": ("thanks for yesterday", "", "caviar"),
    "small talk": ("thanks for yesterday", "thanks for yesterday", "yesterday"),
    "a value nobody said": (f"sort out {ALL}", f"sort out {ALL}", "caviar"),
    "a value beside what is asked": (
        f"add oats to the shopping list. What about {ALL}?",
        "add oats to the shopping list",
        "the plants",
    ),
    "a question": (f"what about {ALL}?", f"what about {ALL}?", "the plants"),
    "a question's word": ("when is ballet?", "is", "ballet"),
    "whether it should be": (f"should I sort out {ALL}?", f"sort out {ALL}", "the plants"),
    "a statement": (f"I dreamt of {ALL} again", f"I dreamt of {ALL} again", "the plants"),
    "a fragment": (f"sort out {ALL}", "the plants", "the plants"),
    "a letter": (f"sort out {ALL}", "o", "the plants"),
    "denied": (f"don't sort out {ALL}", f"sort out {ALL}", "the plants"),
    "past": (f"we sorted out {ALL} yesterday", f"sorted out {ALL}", "the plants"),
    "supposed": (f"if it rains, sort out {ALL}", f"sort out {ALL}", "the plants"),
    "others' words": (f"Bob said to sort out {ALL}", f"sort out {ALL}", "the plants"),
    "a statement turned round": (
        "remember that Leo helped Mia",
        "remember that Leo helped Mia",
        "Mia helped Leo",
    ),
    "a statement denied": (
        "remember that Leo eats nuts",
        "remember that Leo eats nuts",
        "Leo does not eat nuts",
    ),
}
OWN = (
    ("I have a crush on my colleague", "Sarah has a crush on a colleague"),
    ("I am pregnant by the way", "Sarah is pregnant"),
    ("therapy with Dr Banduria on March 21 at 9am", "therapy with Dr Banduria"),
    ("please tell me to take my chlamydia pills tomorrow at 8am", "take my chlamydia pills"),
    ("sort out my divorce papers", "divorce papers"),
    ("fetch my antidepressants on Friday", "antidepressants"),
)


def _kept(conn: Connection, viewer: Viewer, talk: Talking) -> set[tuple[object, ...]]:
    """Return what is kept, as far as somebody may see it."""
    now = talk.clock.now()
    return {
        *(
            (each.summary, str(each.start), each.place, each.scope)
            for each in list_events(conn, viewer)
        ),
        *(
            (each.title, str(each.deadline), each.status, each.scope)
            for each in list_tasks(conn, viewer)
        ),
        *(
            (each.title, line, each.scope)
            for each in list_notes(conn, viewer)
            for line in [*each.body.splitlines(), ""]
        ),
        *((each.narrative, each.scope) for each in list_facts(conn, viewer, now=now, limit=500)),
    }


async def kept(talk: Talking) -> set[tuple[object, ...]]:
    """Return what is kept, with who may see it."""
    seen = [await seen_by(talk, each.id) for each in talk.system.household.members]
    return {each for rows, _ in seen for each in rows}


async def shown(talk: Talking, *, but: str = "sarah") -> set[tuple[object, ...]]:
    """Return what all but one are shown: what is kept, and what waits."""
    seen = [
        await seen_by(talk, each.id) for each in talk.system.household.members if each.id != but
    ]
    return {each[:-1] for rows, _ in seen for each in rows} | {
        ("card", each) for _, cards in seen for each in cards
    }


async def seen_by(talk: Talking, name: str) -> tuple[set[tuple[object, ...]], list[str]]:
    viewer, now = (
        viewer_for(talk.system.household, talk.member(name), now=talk.clock.now()),
        talk.clock.now(),
    )
    return await talk.system.store.read(
        lambda conn: (
            _kept(conn, viewer, talk),
            [each.proposal.summary for each in open_actions(conn, viewer, now=now)],
        )
    )


def lied_to(held: Talking, model: Lying) -> Talking:
    planner = Planners(ModelPlanner(model, held.parts.catalogue))
    return held.again(loop=type(held.parts.loop)(held.system.store, planner, held.parts.limits))


@pytest.fixture
def family(tmp_path: Path) -> Path:
    file = tmp_path / "household.toml"
    file.write_text(HOUSEHOLD.read_text(encoding="utf-8") + MORE, encoding="utf-8")
    return file


async def said_before(held: Talking, by: str = "sarah") -> None:
    for text in BEFORE:
        await held.answer(text, by=by, thread_id="before")
    assert (
        len(
            {WORD, "lawyer", "fix the trumpet", "diary"}
            & {str(each[0]).split(" is ")[-1].lower() for each in await kept(held)}
        )
        == 4
    )


@pytest.mark.parametrize("way", WAYS)
@on_a_loop
async def test_what_only_a_lying_model_wants_is_neither_written_nor_shown(
    family: Path, way: str
) -> None:
    text, asked_in, words = WAYS[way]
    further = email_requests(None, can_send=False)
    async with talking(
        family.with_name("a.sqlite").as_posix(), Planners(None), household=family
    ) as plain:
        await said_before(plain)
        first = await kept(plain)
        await plain.answer(text, by="sarah", thread_id="now")
        allowed, seen = await kept(plain), await shown(plain)
        allowed |= {(*each[:-1], "person:sarah") for each in allowed}
    wrong = []
    async with talking(
        family.with_name("b.sqlite").as_posix(), Planners(None), household=family, further=further
    ) as held:
        await said_before(held)
        model = Lying()
        talk = lied_to(held, model)
        for number, (request, params) in enumerate(lies(words)):
            model.answers = [plan_answer(wants(request, asked_in, **params))]
            await talk.answer(text, by="sarah", thread_id=f"now {number}")
            after = await kept(talk)
            if after - allowed or (first - after) - (first - allowed) or await shown(talk) - seen:
                wrong.append(
                    (request, params, after - allowed, first - after, await shown(talk) - seen)
                )
        await talk.conversation.close()
    assert wrong == []


@pytest.mark.parametrize(("text", "words"), OWN)
@on_a_loop
async def test_own_affairs_are_shown_to_nobody_else_whatever_a_model_says_of_them(
    family: Path, text: str, words: str
) -> None:
    shown_to_others = []
    async with talking(
        family.with_name("a.sqlite").as_posix(), Planners(None), household=family
    ) as held:
        model, before = Lying(), await shown(held)
        talk = lied_to(held, model)
        for number, (request, params) in enumerate(lies(words)[:16]):
            model.answers = [plan_answer(wants(request, text, **params))]
            await talk.answer(text, by="sarah", thread_id=f"now {number}")
            if more := await shown(talk) - before:
                shown_to_others.append((request, params, more))
            before |= more
        await talk.conversation.close()
    assert shown_to_others == []


ASKED = (
    "put picnic on sunday at 2pm in the calendar",
    "for everyone: put barbecue on sunday at 1pm in the calendar",
    "for everyone: add oats to the shopping list",
    "everyone should see this: remind me to buy oats tomorrow",
)
BESIDE = (
    ("By the way I have an abortion on monday", "abortion"),
    ("I have dialysis on monday", "dialysis"),
    ("I see my divorce lawyer on monday", "divorce lawyer"),
    ("I have a crush on Gustavo", "crush on Gustavo"),
)


@pytest.mark.parametrize("asked_in", ASKED)
@on_a_loop
async def test_own_affairs_beside_a_request_are_not_for_those_whom_the_request_is_for(
    family: Path, asked_in: str
) -> None:
    shown_to_others = []
    async with talking(
        family.with_name("a.sqlite").as_posix(), Planners(None), household=family
    ) as held:
        model = Lying()
        talk = lied_to(held, model)
        for number, (text, words) in enumerate(BESIDE):
            for request, params in lies(words)[:16]:
                model.answers = [plan_answer(wants(request, asked_in, **params))]
                await talk.answer(f"{asked_in}. {text}", by="sarah", thread_id=f"now {number}")
            if more := {each for each in await shown(talk) if words in str(each)}:
                shown_to_others.append((text, more))
        await talk.conversation.close()
    assert shown_to_others == []


@pytest.mark.parametrize("by", ["sarah", "leo"])
@pytest.mark.parametrize("is_earlier", [True, False])
@on_a_loop
async def test_what_was_found_out_is_shown_to_nobody_else_until_it_is_pressed(
    family: Path, by: str, *, is_earlier: bool
) -> None:
    nothing = plan_answer(question="?", missing="find_by")
    asked = "what is my safe word?"
    looks = wants("memory.search", asked, query="safe word")
    wrong, opened = [], 0
    async with talking(
        family.with_name("a.sqlite").as_posix(), Planners(None), household=family
    ) as held:
        for text in BEFORE:
            await held.answer(text, by="sarah", thread_id="before")
        await held.answer(
            f"remember just for me: my safe word is {WORD}", by=by, thread_id="before"
        )
        model, before = Lying(), await shown(held, but=by)
        talk = lied_to(held, model)
        for number, (request, params) in enumerate(lies(WORD)):
            thread = f"now {number}"
            lie = plan_answer(wants(request, "sort out the shopping list", **params))
            if is_earlier:
                model.answers = [plan_answer(looks)]
                await talk.answer(asked, by=by, thread_id=thread)
            model.answers = [nothing if is_earlier else plan_answer(looks, looks_first=True), lie]
            lead = "thanks, now" if is_earlier else asked
            await talk.answer(f"{lead} sort out the shopping list", by=by, thread_id=thread)
            model.answers = [plan_answer()]
            turn = (await talk.conversation.history(talk.member(by), thread))[-1]
            waits = [each for each in turn.results if each.status is ResultStatus.AWAITING]
            if request == "calendar.create_event":
                await talk.answer("make it 5pm", by=by, thread_id=thread)
            if more := {each for each in await shown(talk, but=by) - before if WORD in str(each)}:
                wrong.append((request, params, more))
            if waits and by == "sarah" and params.keys() <= {"title", "body"} and "title" in params:
                await talk.answer("yes", by=by, thread_id=thread)
                opened += bool({each for each in await shown(talk, but=by) if WORD in str(each)})
                before = await shown(talk, but=by)
        await talk.conversation.close()
    assert wrong == []
    assert (opened > 0) == (by == "sarah"), "what is pressed is there for all"


@pytest.mark.parametrize(
    ("request_", "params", "answer"),
    [
        ("calendar.create_event", {"summary": "caviar", "start_time": "soon"}, "Friday at 5pm"),
        ("task.complete", {"find_by": "zork"}, "water the plants"),
        ("notes.clear", {"title": "r7"}, "the shopping list"),
        ("calendar.set_audience", {"find_by": "zork", "private": "false"}, "lawyer"),
    ],
)
@on_a_loop
async def test_a_lie_is_not_completed_by_an_answer(
    family: Path, request_: str, params: dict[str, Any], answer: str
) -> None:
    async with talking(
        family.with_name("a.sqlite").as_posix(), Planners(None), household=family
    ) as held:
        await said_before(held)
        model = Lying()
        model.answers = [plan_answer(wants(request_, "is", **params))]
        before = await kept(held), await shown(held)
        await lied_to(held, model).answer("when is ballet?", by="sarah", thread_id="now")
        await held.answer(answer, by="sarah", thread_id="now")
        assert (await kept(held) - before[0], before[0] - await kept(held)) == (set(), set())
        assert await shown(held) <= before[1]


HONEST = (
    # What the words ask for runs at once, read by the rules too or by the model alone.
    ("add oats to the shopping list", "notes.append", {"title": "shopping list", "body": "oats"}),
    ("sort out the hedge for us this week", "task.create", {"title": "sort out the hedge"}),
    ("see to the gutters, would you?", "task.create", {"title": "see to the gutters"}),
    ("could you sort out the bins for Leo?", "task.create", {"title": "sort out the bins for Leo"}),
    ("I want you to sort out the fence", "task.create", {"title": "sort out the fence"}),
    ("mark water the plants as done", "task.complete", {"find_by": "water the plants"}),
    ("clear the shopping list", "notes.clear", {"title": "Shopping list"}),
    ("remember that Leo is allergic to nuts", "memory.store", {"value": "Leo is allergic to nuts"}),
)  # fmt: skip


@on_a_loop
async def test_what_the_words_ask_for_runs_at_once(family: Path) -> None:
    came = {}
    async with talking(
        family.with_name("a.sqlite").as_posix(), Planners(None), household=family
    ) as held:
        await said_before(held)
        model = Lying()
        talk = lied_to(held, model)
        for number, (text, request, params) in enumerate(HONEST):
            model.answers = [plan_answer(wants(request, text, **params))]
            await talk.answer(text, by="sarah", thread_id=f"now {number}")
            turn = (await talk.conversation.history(talk.member("sarah"), f"now {number}"))[-1]
            came[text] = [each.status for each in turn.results]
        await talk.conversation.close()
    assert came == {text: [ResultStatus.DONE] for text, *_ in HONEST}


async def came_of(talk: Talking, model: Lying, text: str, *wanted: Mapping[str, Any]) -> set[str]:
    """Return what came of the requests that a model makes of a message."""
    model.answers = [plan_answer(*wanted)]
    thread = uuid4().hex
    await talk.answer(text, by="sarah", thread_id=thread)
    turn = (await talk.conversation.history(talk.member("sarah"), thread))[-1]
    return {each.status for each in turn.results}


DOUBTED = (
    "hm, perhaps {}",
    "listen, maybe {}",
    "ooh, possibly {}",
    "{}, i guess",
    "for the winter, perhaps {}",
    "{} perhaps",
    "I'm not sure. {}",
    "Maybe. {}",
    "well now, we could probably {}",
    "right, it might be good to {}",
)
SURE = ("{}", "please {}", "hm, {}", "listen, {}", "I'm sure. {}", "could you {}?")


@on_a_loop
async def test_what_is_in_doubt_is_only_offered_whatever_a_model_makes_of_it(family: Path) -> None:
    wrong = []
    async with talking(
        family.with_name("a.sqlite").as_posix(), Planners(None), household=family
    ) as held:
        model = Lying()
        talk = lied_to(held, model)
        for form, is_sure in [
            *((each, False) for each in DOUBTED),
            *((each, True) for each in SURE),
        ]:
            for deed in ("sort out the gazebo", "see to the gutters"):
                text = form.format(deed)
                came = await came_of(talk, model, text, wants("task.create", deed, title=deed))
                if (ResultStatus.DONE in came) is not is_sure:
                    wrong.append((text, came))
        await talk.conversation.close()
    assert wrong == []


# Two requests of one message, each with the day and the person that stand with it.
IN_CLAUSES = (
    "put {a} on {x} and {b} on {y} in the calendar",
    "put {a} on {x} in the calendar and {b} on {y}",
    "please put {a}, {x}, and {b}, {y} in the calendar",
    "put {a} in the calendar on {x}. And put {b} in the calendar on {y}",
    "add {a} {x} and also {b} {y} to the calendar",
)
NAMED = (
    "judo",
    "swim",
    "chess",
    "ballet",
    "hockey",
    "tennis",
    "rugby",
    "drums",
    "violin",
    "piano",
    "choir",
    "yoga",
    "golf",
    "bridge",
    "fencing",
    "rowing",
    "cello",
    "flute",
    "lunch",
    "brunch",
    "quiz",
    "bingo",
    "karate",
)
WITH = (
    ("friday at 5pm", "saturday at 7pm", ""),
    ("friday at 5pm for Mia", "saturday at 7pm for Leo", "who"),
)


@pytest.mark.parametrize("form", IN_CLAUSES)
@on_a_loop
async def test_what_stands_with_one_request_is_not_done_for_another(
    family: Path, form: str
) -> None:
    """A time or person of the other's clause makes cards of both; each with its own runs at once."""
    names = iter(NAMED)
    wrong = []
    async with talking(
        family.with_name("a.sqlite").as_posix(), Planners(None), household=family
    ) as held:
        model = Lying()
        talk = lied_to(held, model)
        for x, y, with_who in WITH:
            for times, who in (
                ("12", ("mia", "leo")),
                ("21", ("mia", "leo")),
                ("11", ("mia", "leo")),
                ("12", ("leo", "mia")),
            ):
                pair = (next(names), next(names))
                text = form.format(a=pair[0], b=pair[1], x=x, y=y)
                wanted = [
                    wants(
                        "calendar.create_event",
                        text,
                        summary=title,
                        start_time=f"t{time}",
                        **({"who": [member]} if with_who else {}),
                    )
                    for title, time, member in zip(pair, times, who, strict=True)
                ]
                is_own = times == "12" and not (with_who and who == ("leo", "mia"))
                came = await came_of(talk, model, text, *wanted)
                if (came == {ResultStatus.DONE}) is not (
                    is_own or (not with_who and times == "12")
                ):
                    wrong.append((text, times, who, came))
        await talk.conversation.close()
    assert wrong == []
