"""A message that tells a secret and asks to keep it: what it tells is kept for those who may see it, and the answer says so."""

import asyncio
import json
import re
from collections.abc import Iterator
from pathlib import Path

import pytest
from sqlalchemy import Connection, select

from kinkeeper.actions.tables import pending_actions
from kinkeeper.calendar.tables import events
from kinkeeper.household.viewers import is_hidden_from
from kinkeeper.memory.tables import episodes, facts
from kinkeeper.tasks.repository import tasks
from page_visits import FREE
from secrecy_messages import TOGETHER, Secret, secrets
from web_server import Served, served

NAMES = {
    "john": ("John", "he"),
    "sarah": ("Sarah", "she"),
    "leo": ("Leo", "he"),
    "mia": ("Mia", "she"),
}
KEPT_IN = (episodes, facts, events, tasks, pending_actions)
SAYS_SO = re.compile(
    r"Saved (?:just for you|for everyone at home except)|[Oo]nly you|can't see that|Shall I "
)


@pytest.mark.slow
@pytest.mark.parametrize(("name", "seed"), [("dev", 11), ("heldout", 12)])
def test_what_is_told_with_a_wish_for_secrecy_is_kept(tmp_path: Path, name: str, seed: int) -> None:
    told = [
        *secrets(
            NAMES, ("john",), name=name, count=80, seed=seed, positions=TOGETHER, with_presents=True
        )
    ]

    async def story() -> None:
        with served(tmp_path, rates=FREE) as serving:
            answers = [await _answer(serving, each) for each in told]
            serving.system.store.read_now(lambda conn: _check(conn, told, answers))

    asyncio.run(story())


async def _answer(serving: Served, secret: Secret) -> str:
    async with serving.bearing(serving.token(secret.teller)) as client:
        answer = await client.post("/chat", json={"text": secret.messages[0]})
    said = [json.loads(line[6:]) for line in answer.text.splitlines() if line.startswith("data: ")]
    text: str = said[-1]["text"]
    return text


def _check(conn: Connection, told: list[Secret], answers: list[str]) -> None:
    rows = [
        (str(row["scope"]), str(dict(row)).lower())
        for table in KEPT_IN
        for row in conn.execute(select(table)).mappings()
    ]
    wrong = [
        f"{problem}: {each.messages[0]} -> {answer}"
        for each, answer in zip(told, answers, strict=True)
        for problem in _problems(each, answer, [s for s, row in rows if each.word.lower() in row])
    ]
    assert not wrong, "\n".join(wrong)


def _problems(secret: Secret, answer: str, scopes: list[str]) -> Iterator[str]:
    if not scopes:
        yield "lost"
    if SAYS_SO.search(answer) is None:
        yield "the answer does not say for whom"
    for scope in scopes:
        hidden = {each for each in NAMES if is_hidden_from(scope, each)}
        wanted = {secret.kept_from} if secret.kept_from else {*NAMES} - {secret.teller}
        if not wanted <= hidden:
            yield f"seen by {scope}"


@pytest.mark.slow
def test_a_card_names_nothing_beside_it_that_its_readers_may_not_see(tmp_path: Path) -> None:
    hidden = {
        "zither": "add the zither lesson to the calendar on friday at 4pm, just for me",
        "quokka": "add the quokka visit to the calendar on friday at 4pm, don't tell Leo",
    }

    async def story() -> list[str]:
        with served(tmp_path, rates=FREE) as serving:
            async with serving.bearing(serving.token("john")) as client:
                for text in (*hidden.values(), "add the dentist to the calendar on friday at 4pm"):
                    await client.post("/chat", json={"text": text})
            return serving.system.store.read_now(
                lambda conn: [
                    str(dict(row)).lower()
                    for row in conn.execute(
                        select(pending_actions).where(pending_actions.c.summary.contains("dentist"))
                    ).mappings()
                ]
            )

    cards = asyncio.run(story())
    assert cards
    assert "something private" in cards[-1]
    assert not [word for word in hidden if word in " ".join(cards)]


@pytest.mark.slow
@pytest.mark.parametrize(
    "told",
    [
        "Keep it to yourself: we're getting Leo a bonsai",
        "There is a bonsai in the shed, don't tell anyone",
        "Don't tell anyone, the bonsai is in the shed",
    ],
)
def test_a_secret_is_shared_when_its_teller_says_so(tmp_path: Path, told: str) -> None:
    async def story() -> tuple[str, set[str], set[str]]:
        with served(tmp_path, rates=FREE) as serving:
            secret = Secret((told,), "bonsai", "john", None, "")
            await _answer(serving, secret)
            before = serving.system.store.read_now(_scopes)
            answer = await _answer(serving, Secret(("share it",), "", "john", None, ""))
            return answer, before, serving.system.store.read_now(_scopes)

    answer, before, after = asyncio.run(story())
    assert "whole family can see" in answer
    assert (before, after) == ({"person:john"}, {"household"})


def _scopes(conn: Connection) -> set[str]:
    return {
        str(row["scope"])
        for table in (episodes, facts, events)
        for row in conn.execute(select(table)).mappings()
        if "bonsai" in str(dict(row))
    }
