"""Who may recall what somebody has the assistant remember: themselves where it is their own affair, else the family."""

from collections.abc import Sequence
from pathlib import Path

import pytest
from sqlalchemy import Connection

from kinkeeper.actions.model import ActionStatus
from kinkeeper.actions.payload import action_record
from kinkeeper.actions.repository import list_actions
from kinkeeper.bootstrap.memory import reading_of
from kinkeeper.calendar.model import SourceType
from kinkeeper.calendar.repository import list_events
from kinkeeper.conversation.planning.planners import Planners
from kinkeeper.core.ids import canonical_json
from kinkeeper.household.viewers import Viewer
from kinkeeper.memory.facts import list_facts
from kinkeeper.notes.repository import list_notes
from kinkeeper.tasks.repository import list_tasks
from talking import Talking, on_a_loop, talking


async def known_to(talk: Talking, member: str) -> set[str]:
    viewer = Viewer.of(talk.system.household.id, member)
    facts = await talk.system.store.read(
        lambda conn: list_facts(conn, viewer, now=talk.clock.now(), limit=50)
    )
    return {each.narrative for each in facts}


async def seen_by(talk: Talking, member: str) -> set[str]:
    """Return what a member sees of tasks and notes, and of what was put into the calendar in conversation."""
    viewer = Viewer.of(talk.system.household.id, member)

    def read(conn: Connection) -> set[str]:
        events = [
            each
            for each in list_events(conn, viewer)
            if each.provenance.source_type is SourceType.CHAT
        ]
        listed = [*list_tasks(conn, viewer), *list_notes(conn, viewer)]
        return {each.title for each in listed} | {each.summary for each in events}

    return await talk.system.store.read(read)


async def actions_read_by(talk: Talking, member: str) -> str:
    viewer = Viewer.of(talk.system.household.id, member)
    found = await talk.system.store.read(
        lambda conn: list_actions(
            conn, viewer, statuses=frozenset(ActionStatus), now=talk.clock.now()
        )
    )
    return canonical_json([action_record(each) for each in found])


@pytest.mark.parametrize(
    "text", ["remember that my counsellor is Ruth Aldous", "remember my debit card pin is 7731"]
)
@on_a_loop
async def test_ones_own_affairs_are_kept_for_oneself(tmp_path: Path, text: str) -> None:
    async with talking(tmp_path, Planners(None)) as talk:
        answer = await talk.answer(text, by="john")

        assert "for you only" in answer
        assert "share it" in answer
        assert await known_to(talk, "john")
        assert not await known_to(talk, "sarah")


@on_a_loop
async def test_what_concerns_all_is_for_all_and_the_answer_says_so(tmp_path: Path) -> None:
    async with talking(tmp_path, Planners(None)) as talk:
        answer = await talk.answer("remember that the compost goes out on Fridays", by="john")

        assert "family" in answer
        assert await known_to(talk, "sarah") == await known_to(talk, "john") != set()


@on_a_loop
async def test_who_may_see_it_is_changed_afterwards(tmp_path: Path) -> None:
    async with talking(tmp_path, Planners(None)) as talk:
        await talk.answer("remember that I'm on 5mg of ramipril", by="john")

        await talk.answer("share it", by="john")
        assert await known_to(talk, "sarah")

        answer = await talk.answer("no, just for me", by="john")
        assert "Only you" in answer
        assert not await known_to(talk, "sarah")


@pytest.mark.parametrize(
    "text",
    [
        "remember just for me that I hid the tickets in the piano stool",
        "remember the safe opens to the left, but keep it to yourself",
        "remember that the safe opens to the left, for my eyes only",
        "remember that the safe opens to the left, just for me",
        "remember that the safe opens to the left, only for me please",
        "for my eyes only, remember that the safe opens to the left",
        "just for me: remember that the safe opens to the left",
    ],
)
@on_a_loop
async def test_for_whom_is_said_with_it(tmp_path: Path, text: str) -> None:
    async with talking(tmp_path, Planners(None)) as talk:
        await talk.answer(text, by="sarah")

        (kept,) = await known_to(talk, "sarah")
        assert "only" not in kept
        assert "just" not in kept
        assert "yourself" not in kept
        assert not await known_to(talk, "john")


@on_a_loop
async def test_a_note_of_ones_own_affairs_is_ones_own(tmp_path: Path) -> None:
    async with talking(tmp_path, Planners(None)) as talk:
        await talk.answer("note that my debit card pin is 7731", by="sarah")
        await talk.answer("note down the bins go out on tuesdays", by="sarah")

        assert await seen_by(talk, "john") == {"the bins go out on tuesdays"}


@on_a_loop
async def test_only_ones_own_line_of_a_list_of_all_is_kept_from_them(tmp_path: Path) -> None:
    async with talking(tmp_path, Planners(None)) as talk:
        await talk.answer("add candles to the shopping list", by="john")
        await talk.answer("add matches to the shopping list", by="sarah")

        answer = await talk.answer("just for me", by="sarah")

        assert "matches" in answer
        (left,) = await talk.system.store.read(
            lambda conn: list_notes(conn, Viewer.of(talk.system.household.id, "john"))
        )
        assert "candles" in left.body
        assert "matches" not in left.body


@pytest.mark.parametrize(
    ("text", "title"),
    [
        (
            "put a fertility clinic appointment on Tuesday at 9 in the calendar, keep it private",
            "fertility clinic appointment",
        ),
        ("remind me on Friday at 10 to fetch the necklace, don't tell sarah", "fetch the necklace"),
        ("for my eyes only: put the lawyer in the calendar on Monday at 3", "lawyer"),
        ("add buy a ring for Anna to my list, just for me", "buy a ring for Anna"),
        ("remind me privately to call the notary on Monday at 9", "call the notary"),
        ("add a private event on Friday at 6pm: therapy", "therapy"),
        (
            "put a job interview in the calendar on Thursday at 2, please keep that secret",
            "job interview",
        ),
        ("take a private note: the ring is in the tea caddy", "the ring is in the tea caddy"),
        ("note to self: just for me, the ring is in the tea caddy", "the ring is in the tea caddy"),
        ("note to self, private: the ring is in the tea caddy", "the ring is in the tea caddy"),
        (
            "make a note that the ring is in the tea caddy, nobody else should read it",
            "the ring is in the tea caddy",
        ),
    ],
)
@on_a_loop
async def test_what_is_secret_is_seen_by_who_says_it_alone(
    tmp_path: Path, text: str, title: str
) -> None:
    async with talking(tmp_path, Planners(None)) as talk:
        answer = await talk.answer(text, by="john")

        assert "Only you can see" in answer
        assert await seen_by(talk, "john") == {title}
        assert await seen_by(talk, "sarah") == await seen_by(talk, "leo") == set()


@on_a_loop
async def test_a_secret_that_is_only_told_is_asked_about_as_a_secret(tmp_path: Path) -> None:
    async with talking(tmp_path, Planners(None)) as talk:
        answer = await talk.answer(
            "I have a job interview on Thursday at 2, please keep that secret", by="john"
        )

        assert answer.endswith("? Only you will see it.")
        assert await seen_by(talk, "john") == set()


@pytest.mark.parametrize(
    ("text", "title"),
    [
        ("remind me tomorrow at 4 to order the bike without Leo knowing", "order the bike"),
        (
            "remind me tomorrow at 5 to wrap the telescope, leo mustn\u2019t see it",
            "wrap the telescope",
        ),
        (
            "add a visit to the kennels on Friday at 5pm, it's meant as a surprise for Leo",
            "visit to the kennels",
        ),
        (
            "remind me on Friday at 10 to collect the drum kit for Leo's birthday",
            "collect the drum kit for Leo's birthday",
        ),
    ],
)
@on_a_loop
async def test_what_is_kept_from_a_child_is_seen_by_the_others(
    tmp_path: Path, text: str, title: str
) -> None:
    async with talking(tmp_path, Planners(None)) as talk:
        answer = await talk.answer(text, by="john")
        if "Shall I" in answer:
            assert title not in await actions_read_by(talk, "leo")
            answer = await talk.answer("yes", by="john")

        assert "Leo can't see that" in answer
        assert await seen_by(talk, "leo") == set()
        assert title not in await actions_read_by(talk, "leo")
        assert await seen_by(talk, "sarah") == {title}


@pytest.mark.parametrize(
    ("text", "title", "others"),
    [
        (
            "add farewell drinks for Sarah on Friday at 6, only mia and I should know",
            "farewell drinks",
            ("leo", "sarah"),
        ),
        (
            "remind me tomorrow at 5 to fetch the cake, just between mia and me",
            "fetch the cake",
            ("leo", "sarah"),
        ),
        (
            "remind me tomorrow at 5 to fetch the cake, only for mia, leo and me",
            "fetch the cake",
            ("sarah",),
        ),
    ],
)
@on_a_loop
async def test_what_is_for_a_few_is_kept_from_the_others(
    tmp_path: Path, text: str, title: str, others: Sequence[str]
) -> None:
    async with talking(tmp_path, Planners(None)) as talk:
        answer = await talk.answer(text, by="john")
        if "Shall I" in answer:
            answer = await talk.answer("yes", by="john")

        assert f"{' and '.join(map(str.capitalize, others))} can't see that" in answer
        assert not [each for each in others if await seen_by(talk, each)]
        assert await seen_by(talk, "john") == {title}


@pytest.mark.parametrize(
    ("text", "title"),
    [
        ("remind me to buy the ring on friday at 5", "buy the ring"),
        ("add an eye test on friday at 5pm", "eye test"),
        ("make a note called cellar: wine behind the boiler", "Cellar"),
    ],
)
@on_a_loop
async def test_who_sees_it_is_changed_afterwards(tmp_path: Path, text: str, title: str) -> None:
    async with talking(tmp_path, Planners(None)) as talk:
        await talk.answer(text, by="john")
        assert await seen_by(talk, "sarah") == {title}

        assert "Only you can see" in await talk.answer("make that private", by="john")
        assert await seen_by(talk, "sarah") == set()

        assert "whole family" in await talk.answer("share it with everyone", by="john")
        assert await seen_by(talk, "sarah") == {title}


@on_a_loop
async def test_nobody_takes_from_others_what_is_theirs_too(tmp_path: Path) -> None:
    async with talking(tmp_path, Planners(None)) as talk:
        await talk.answer("remind sarah to water the ferns on friday at 5", by="john")

        answer = await talk.answer("make that private", by="john")

        assert "Sarah" in answer
        assert await seen_by(talk, "sarah") == {"water the ferns"}


@on_a_loop
async def test_what_is_done_about_something_private_is_told_to_nobody_else(tmp_path: Path) -> None:
    async with talking(tmp_path, Planners(None)) as talk:
        await talk.answer("add an eye test on friday at 5pm", by="john")
        await talk.answer("make that private", by="john")
        await talk.answer("cancel the eye test", by="john")

        assert "eye test" in await actions_read_by(talk, "john")
        assert "eye test" not in await actions_read_by(talk, "sarah")


@on_a_loop
async def test_others_learn_when_somebody_is_busy_and_no_more(tmp_path: Path) -> None:
    async with talking(tmp_path, Planners(None)) as talk:
        await talk.answer(
            "add fertility clinic on friday at 5pm at Elm House, just for me", by="john"
        )

        for question in (
            "is john free on friday at 5pm?",
            "what's on friday?",
            "what does john have on friday?",
            "where is john on friday at 5pm?",
            "when is the fertility clinic?",
            "what do you know about the fertility clinic?",
            "what's at elm house?",
            "add dinner with john on friday at 5:30pm",
        ):
            answer = (await talk.answer(question, by="sarah")).lower()
            said = question.lower()
            for word in ("fertility", "clinic", "elm house"):
                assert word not in answer or word in said, (question, answer)
        assert "not free" in await talk.answer("is john free on friday at 5pm?", by="sarah")


@pytest.mark.parametrize(
    "text",
    [
        "put the quiet room booking on Tuesday at 9 in the calendar",
        "add secret santa party on Friday at 6",
        "remind me to tell Sarah about the private tour",
        "remind leo to never let the dog out",
        "add only the small candles to the shopping list",
    ],
)
@on_a_loop
async def test_what_only_sounds_secret_is_written(tmp_path: Path, text: str) -> None:
    async with talking(tmp_path, Planners(None)) as talk:
        await talk.answer(text, by="john")

        assert await seen_by(talk, "sarah")


@on_a_loop
async def test_what_lasts_of_another_is_offered_to_all_and_kept_with_a_yes(tmp_path: Path) -> None:
    async with talking(tmp_path, Planners(None)) as talk:
        answer = await talk.answer("Leo is allergic to cashews", by="john")
        assert "whole family" in answer
        assert not await known_to(talk, "john")

        await talk.answer("yes", by="john")
        assert await known_to(talk, "sarah") == {"Leo is allergic to cashews"}


@on_a_loop
async def test_what_is_offered_and_declined_is_nobodys_fact(tmp_path: Path) -> None:
    async with talking(tmp_path, Planners(None)) as talk:
        await talk.answer("Leo is allergic to cashews", by="john")
        await talk.answer("no", by="john")

        assert not await known_to(talk, "john")
        assert not await known_to(talk, "sarah")


@on_a_loop
async def test_a_child_keeps_what_is_its_own_without_an_adult(tmp_path: Path) -> None:
    async with talking(tmp_path, Planners(None)) as talk:
        answer = await talk.answer("remember that I like Robin, just between us", by="leo")

        assert "for you only" in answer
        assert "adult" not in answer
        assert await known_to(talk, "leo") == {"I like Robin"}
        assert not await known_to(talk, "john")
        assert "Robin" not in await actions_read_by(talk, "john")


@on_a_loop
async def test_what_a_child_tells_for_all_awaits_an_adult(tmp_path: Path) -> None:
    async with talking(tmp_path, Planners(None)) as talk:
        answer = await talk.answer("remember that the compost goes out on Fridays", by="leo")

        assert "adult" in answer
        assert not await known_to(talk, "sarah")


TOLD = (
    ("The piano tuner is Ms Lindqvist", "Saved for everyone at home.", {"sarah", "leo", "mia"}),
    ("My salary is 52,000", "Saved just for you.", set[str]()),
    (
        "The tent is in the loft, it's meant as a surprise for Mia",
        "Saved for everyone at home except Mia.",
        {"sarah", "leo"},
    ),
)


async def told_to(talk: Talking, word: str) -> set[str]:
    """Return the members besides John who know a fact with a word."""
    reading = reading_of(talk.system.household, talk.system.store, talk.clock)
    while await reading.run_once():
        pass
    members = ("sarah", "leo", "mia")
    return {each for each in members if word in " ".join(await known_to(talk, each))}


@pytest.mark.parametrize(("text", "answer", "others"), TOLD)
@on_a_loop
async def test_the_answer_says_for_whom_something_told_is_saved(
    tmp_path: Path, text: str, answer: str, others: set[str]
) -> None:
    async with talking(tmp_path, Planners(None)) as talk:
        assert (await talk.answer(text, by="john")).startswith(answer)
        assert await told_to(talk, text.split(",", maxsplit=1)[0].rsplit(maxsplit=1)[-1]) == others


@pytest.mark.parametrize(
    ("wish", "others"),
    [
        ("just for me", set[str]()),
        ("oh and keep that quiet", set[str]()),
        ("nobody at home needs to hear it yet", set[str]()),
        ("don't tell Leo", {"sarah", "mia"}),
    ],
)
@pytest.mark.parametrize("is_read", [True, False])
@on_a_loop
async def test_a_wish_right_afterwards_is_about_what_was_told(
    tmp_path: Path, wish: str, others: set[str], *, is_read: bool
) -> None:
    async with talking(tmp_path, Planners(None)) as talk:
        await talk.answer("The piano tuner is Ms Lindqvist", by="john")
        if is_read:
            assert await told_to(talk, "Lindqvist") == {"sarah", "leo", "mia"}
        talk.later(seconds=20)
        assert "secret" in await talk.answer(wish, by="john")
        assert await told_to(talk, "Lindqvist") == others

        talk.later(seconds=20)
        if not others:
            assert "whole family" in await talk.answer("share it", by="john")
            assert await told_to(talk, "Lindqvist") == {"sarah", "leo", "mia"}


@pytest.mark.parametrize(
    "news", ["I'm pregnant, nobody should know yet", "We're moving. Keep it to yourself."]
)
@on_a_loop
async def test_news_with_a_wish_of_its_own_hides_nothing_done_or_told_before(
    tmp_path: Path, news: str
) -> None:
    async with talking(tmp_path, Planners(None)) as talk:
        await talk.answer("The piano tuner is Ms Lindqvist", by="john")
        await talk.answer(news, by="john")
        await talk.answer("put dinner on Sunday at 6pm in the calendar", by="john")
        talk.later(seconds=20)
        answer = await talk.answer(news, by="john")

        assert "dinner" not in answer
        assert await seen_by(talk, "sarah")
        assert await told_to(talk, "Lindqvist") == {"sarah", "leo", "mia"}
        assert news not in await talk.answer("what do you know about John?", by="sarah")
