"""What the chat lets drop: proposed for memory when it lasts, silently, seldom, and never twice."""

import asyncio
from dataclasses import replace
from datetime import timedelta
from pathlib import Path

import pytest
from sqlalchemy import func, select

from kinkeeper.actions import approvals, proposals
from kinkeeper.actions.consent import Origin
from kinkeeper.actions.model import ActionStatus, ActionType, PendingAction
from kinkeeper.core.messages import InboundMessage, MessageKind
from kinkeeper.household.viewers import Viewer
from kinkeeper.memory.facts import list_facts
from kinkeeper.memory.statements.classification import is_lasting
from kinkeeper.messaging.tables import outbox
from kinkeeper.observer import upkeep
from kinkeeper.observer.overheard_facts import MOST_A_DAY
from page_visits import FREE, actions_of, hear
from remembered import known_to, remember
from web_server import Served, served

NUTS = "Leo is allergic to peanuts"


def proposed(serving: Served, status: ActionStatus = ActionStatus.PENDING) -> list[PendingAction]:
    return [
        action
        for action in actions_of(serving)
        if action.proposal.type is ActionType.MEMORY_FACT
        and action.proposal.origin is Origin.OBSERVED
        and action.status is status
    ]


def listen(serving: Served) -> int:
    return asyncio.run(serving.system.hearing(serving.clock).run_once())


def say(serving: Served, *said: tuple[str, str]) -> None:
    asyncio.run(hear(serving, *said))


def test_what_lasts_waits_for_a_yes_and_nobody_is_told(tmp_path: Path):
    with served(tmp_path, rates=FREE) as serving:
        say(serving, ("sarah", "lol"), ("sarah", f"btw {NUTS}"), ("john", "pizza tonight?"))
        assert listen(serving) == 1
        (action,) = proposed(serving)
        assert action.proposal.summary == f"Remember, Sarah said: {NUTS}"
        assert known_to(serving) == []
        put = serving.context.store.read_now(
            lambda conn: conn.execute(select(func.count()).select_from(outbox)).scalar_one()
        )
        assert put == 0
        assert listen(serving) == 0
        assert len(proposed(serving)) == 1


def test_a_yes_remembers_it_with_who_said_it(tmp_path: Path):
    with served(tmp_path, rates=FREE) as serving:
        say(serving, ("sarah", NUTS))
        listen(serving)
        (action,) = proposed(serving)
        household = serving.system.household
        john = household.member("john")
        assert john is not None
        serving.context.store.write_now(
            lambda conn: approvals.confirm(
                conn, action.id, member=john, household=household, now=serving.clock.now()
            )
        )
        (fact,) = known_to(serving)
        assert (fact.narrative, fact.origin.value) == (NUTS, "observed")


def test_what_is_known_was_proposed_or_refused_is_not_proposed_again(tmp_path: Path):
    with served(tmp_path, rates=FREE) as serving:
        remember(serving, "john", NUTS)
        say(serving, ("sarah", NUTS), ("sarah", "Mia hates broccoli"))
        assert listen(serving) == 1
        (action,) = proposed(serving)
        household = serving.system.household
        sarah = household.member("sarah")
        assert sarah is not None
        serving.context.store.write_now(
            lambda conn: approvals.reject(
                conn, action.id, member=sarah, household=household, now=serving.clock.now()
            )
        )
        say(serving, ("sarah", "Mia hates broccoli"))
        assert listen(serving) == 0


def test_what_one_says_of_themselves_is_news_of_another(tmp_path: Path):
    with served(tmp_path, rates=FREE) as serving:
        remember(serving, "john", "I'm vegetarian")
        say(serving, ("john", "I'm vegetarian"), ("sarah", "I'm vegetarian"))
        assert listen(serving) == 1
        assert proposed(serving)[0].proposal.summary == "Remember, Sarah said: I'm vegetarian"


def test_no_more_than_a_few_a_day(tmp_path: Path):
    with served(tmp_path, rates=FREE) as serving:
        foods = ("broccoli", "sprouts", "mushrooms", "olives", "celery", "beetroot")
        say(serving, *(("sarah", f"Mia hates {food}") for food in foods))
        assert listen(serving) == MOST_A_DAY
        assert listen(serving) == 0


def test_it_waits_for_two_weeks(tmp_path: Path):
    with served(tmp_path, rates=FREE) as serving:
        say(serving, ("sarah", NUTS))
        listen(serving)
        (action,) = proposed(serving)
        lasts = action.expires_at - serving.clock.now()
        assert lasts == timedelta(days=14)


def test_its_words_are_gone_with_those_of_the_chat(tmp_path: Path):
    with served(tmp_path, rates=FREE) as serving:
        say(serving, ("sarah", NUTS))
        listen(serving)
        store, household = serving.context.store, serving.system.household.id
        later = serving.clock.now() + timedelta(days=31)
        store.write_now(lambda conn: proposals.expire_due(conn, household, later))
        store.write_now(
            lambda conn: upkeep.purge_old_words(conn, household, now=later, keep=timedelta(days=30))
        )
        store.fold_log()
        assert all(b"peanuts" not in each.read_bytes() for each in tmp_path.glob("family.sqlite*"))


def test_what_is_edited_is_taken_back(tmp_path: Path):
    with served(tmp_path, rates=FREE) as serving:
        say(serving, ("sarah", NUTS))
        listening = serving.system.hearing(serving.clock)
        asyncio.run(listening.run_once())
        (action,) = proposed(serving)
        original = f"m{serving.clock.now():%H%M}-0"
        edit = InboundMessage(
            channel="replay",
            chat_id="family",
            message_id=f"{original}-edit",
            sender="sarah",
            text="Leo is allergic to cashews",
            sent_at=serving.clock.now() + timedelta(minutes=1),
            kind=MessageKind.EDIT,
            target=original,
        )

        async def feed() -> None:
            replay = serving.system.replay(serving.clock.now())
            async for _ in replay.feed(edit):
                pass
            await listening.run_once()

        serving.clock.advance_to(edit.sent_at)
        asyncio.run(feed())
        (withdrawn,) = proposed(serving, ActionStatus.WITHDRAWN)
        assert withdrawn.id == action.id
        (fresh,) = proposed(serving)
        assert "cashews" in fresh.proposal.summary


def test_arrangements_are_decided_as_if_nobody_listened(tmp_path: Path):
    said = (
        ("sarah", "Leo is allergic to peanuts"),
        ("john", "Leo has the dentist Thursday at 4pm"),
        ("sarah", "who's picking up Mia from ballet tomorrow?"),
        ("john", "me"),
    )
    for name in ("with", "without"):
        (tmp_path / name).mkdir()
    with served(tmp_path / "with", rates=FREE) as serving:
        for each in said:
            say(serving, each)
            listen(serving)
        with_it = [a.proposal for a in actions_of(serving) if a.proposal.type.is_about_calendar]
    with served(tmp_path / "without", rates=FREE) as serving:
        for each in said:
            say(serving, each)
        without = [each.proposal for each in actions_of(serving)]
    assert [replace(each, source_id="") for each in with_it] == [
        replace(each, source_id="") for each in without
    ]


@pytest.mark.parametrize(
    "text",
    [
        "I'm vegetarian",
        "my sister Anna is allergic to cats",
        "Mia's favourite colour is green",
        "Leo's teacher is Mrs Doyle",
        "my birthday is on the 4th of May",
        "Leo wears size 34",
        "Mia doesn't eat pork",
        "fyi Leo is lactose intolerant",
        "Mia can't stand mushrooms",
    ],
)
def test_plain_sentences_last(text: str):
    assert is_lasting(text, {"Leo", "Mia"})


@pytest.mark.parametrize(
    "text",
    [
        "she is allergic to nuts",
        "I can't eat tonight",
        "is Leo allergic to nuts?",
        "Leo hates it",
        "I'm so allergic to mondays lol",
        "my dentist is closed",
        "Leo's coach is late",
        "if I'm vegetarian then so are you",
        "Leo has the dentist Thursday at 4pm",
        "I love you",
        "Leo is tired",
        "I'll be vegetarian soon",
        "Mia hates her brother today",
        "",
    ],
)
def test_what_passes_jokes_or_names_nobody_does_not(text: str):
    assert not is_lasting(text, {"Leo", "Mia"})


@pytest.mark.parametrize(
    "messages",
    [
        [("sarah", "Leo is allergic to peanuts, but don't tell Mia")],
        [("sarah", NUTS), ("sarah", "oh and don't tell Mia")],
        [("sarah", NUTS), ("john", "ok"), ("sarah", "Mia mustn't know")],
    ],
)
def test_what_a_group_keeps_from_a_child_waits_for_the_others_alone(
    tmp_path: Path, messages: list[tuple[str, str]]
) -> None:
    with served(tmp_path, rates=FREE) as serving:
        say(serving, *messages)
        assert listen(serving) == 1
        (action,) = proposed(serving)
        assert action.proposal.scope == "except:,mia,"

        household = serving.system.household
        serving.context.store.write_now(
            lambda conn: approvals.confirm(
                conn,
                action.id,
                member=household.adults[0],
                household=household,
                now=serving.clock.now(),
            )
        )
        assert seen_by(serving, "john") == seen_by(serving, "leo") == [NUTS]
        assert seen_by(serving, "mia") == seen_by(serving, None) == []


def seen_by(serving: Served, member: str | None) -> list[str]:
    viewer = Viewer.of(serving.system.household.id, member)
    now = serving.clock.now()
    facts = serving.context.store.read_now(lambda conn: list_facts(conn, viewer, now=now))
    return [each.narrative for each in facts]
