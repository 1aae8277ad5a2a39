"""Turns over HTTP while the model server fails in every way at random: each ends honestly, and nothing is left running."""

import asyncio
import json
from collections import Counter
from collections.abc import AsyncIterator, Mapping, Sequence
from contextlib import asynccontextmanager
from dataclasses import dataclass, field, replace
from datetime import timedelta
from pathlib import Path
from typing import Any

import httpx
import numpy as np
import pytest
from sqlalchemy import func, select
from test_web_chat_api import events

from kinkeeper.actions.tables import pending_actions
from kinkeeper.bootstrap import open_houses
from kinkeeper.bootstrap.telegram import Connected
from kinkeeper.bootstrap.web import web_context
from kinkeeper.conversation.tables import turns
from kinkeeper.core.time import VirtualClock
from kinkeeper.settings.model import Settings
from kinkeeper.store.store import Store
from kinkeeper.tasks.repository import tasks
from kinkeeper.web.access import logins
from kinkeeper.web.access.model import AccessRole
from kinkeeper.web.app import create_app
from live_household import HOUSEHOLD, MONDAY
from model_plans import plan_answer, wants
from modelserver import (
    ModelServer,
    breaks_off,
    fails,
    floods,
    hangs,
    model_server,
    packs,
    pours,
    refuses,
    says,
    stalls,
    writes,
)
from modelserver.behaviours import Behaviour
from modelserver.exchange import Exchange
from page_visits import FREE
from talking import on_a_loop

_PATIENCE = 90.0
LIE = "I have emailed Zorblatt and put his visit into your calendar"
SAID = (
    "it would be lovely if grandma's cake were ordered tomorrow at 5pm",
    "somebody ought to see to the gutters before friday",
    "the trash thing is done, make it gone",
    "let Zorblatt know that we come late, and put his visit in for friday at 5",
    "add water the plants to my list",
    "what is on tomorrow?",
    "why do leaves turn yellow?",
    "I had a long day",
    "yes",
    "undo that",
    "hm, the other one rather",
    "thanks!",
)


def plan(*requests: Mapping[str, Any], **more: Any) -> str:
    return json.dumps(plan_answer(*requests, **more))


FAULTS: Sequence[Behaviour] = (
    hangs(),
    hangs("I have", " nearly"),
    breaks_off(),
    breaks_off("Do", "ne!"),
    breaks_off("I have done", is_polite=True),
    fails(500),
    fails(503),
    fails(429, Retry_After="1"),
    fails(400),
    fails(404, body=b"not json"),
    writes(b""),
    writes(b"{"),
    writes(b"\xff\xfe\x00"),
    writes(b'{"choices": []}'),
    floods(2),
    pours(),
    stalls(0.4, says("Done!")),
    packs("Done!"),
    refuses(),
    says(""),
    says(LIE + "."),
    says("Sure. ", LIE, ". Anything else?"),
    says("word " * 20_000),
    says("[" * 5_000),
    says(plan(wants("bank.transfer", amount=500))),
    says(plan(wants("task.no_such", title="x"))),
    says(plan(*[wants("task.create", title="gutters")] * 9)),
    says(plan(wants("task.list"))),
    says(plan(wants("task.create", title=["x"], who={"a": 1}))),
    says(plan(wants("task.create", title="see to the gutters"))),
    says(plan(question="Which one?")),
    says(plan(wants("email.send_email", to=["Zorblatt"], subject="x", body=LIE))),
    says('{"type": "act", "tools": ["all"], "confidence": 7}'),
    says("null"),
    says("NaN"),
)
"""What a model server may do: be late, break, babble, lie, want what there is not, want the same for ever."""


@dataclass(kw_only=True)
class Chatting:
    """One household's server, whose model fails as it likes."""

    client: httpx.AsyncClient
    store: Store
    clock: VirtualClock
    models: ModelServer
    ends: Counter[str] = field(default_factory=Counter)

    async def say(self, text: str) -> str:
        """Say something and return what is answered, once the turn has ended."""
        async with asyncio.timeout(_PATIENCE):
            answer = await self.client.post("/chat", json={"text": text})
        _, name, data = events(answer.text)[-1]
        self.ends[name] += 1
        self.clock.advance_to(self.clock.now() + timedelta(minutes=2))
        return str(data.get("text", data.get("message")))

    def rows(self, *columns: Any) -> Sequence[Any]:
        return self.store.read_now(lambda conn: conn.execute(select(*columns)).all())


@asynccontextmanager
async def chatting(folder: Path, *, seed: int) -> AsyncIterator[Chatting]:
    """Serve the sample household, with a model server that does something else with each call."""
    chance, clock = np.random.default_rng(seed), VirtualClock(MONDAY)

    async def fails_somehow(exchange: Exchange) -> None:
        await FAULTS[chance.integers(len(FAULTS))](exchange)

    with model_server() as models:
        models.will(fails_somehow)
        settings = Settings(
            family_context=HOUSEHOLD,
            db_path=folder / "home.db",
            model_url=models.url,
            model_name="test-model",
            light_model="test-model",
            model_timeout_seconds=1,
        )
        with open_houses(settings, now=MONDAY) as houses, houses.live_intakes() as intakes:
            async with houses.talking(clock) as talking:
                context = web_context(
                    houses,
                    intakes,
                    settings,
                    port=8765,
                    clock=clock,
                    working=asyncio.Event(),
                    telegram=Connected(),
                    talks=talking.talks,
                )
                key = houses.store.write_now(
                    lambda conn: logins.create_token(
                        conn, "miller", "john", role=AccessRole.OWNER, label="t", now=MONDAY
                    )
                )
                headers = {"Authorization": f"Bearer {key.secret}"}
                transport = httpx.ASGITransport(create_app(replace(context, rates=FREE)))
                async with httpx.AsyncClient(
                    transport=transport,
                    base_url=context.address,
                    headers=headers,
                    timeout=_PATIENCE,
                ) as client:
                    yield Chatting(client=client, store=houses.store, clock=clock, models=models)


async def lived_through(folder: Path, *, count: int, seed: int) -> Counter[str]:
    """Say many things, and look after each whether what was answered is so."""
    chance = np.random.default_rng(seed)
    async with chatting(folder, seed=seed) as chat:
        await chat.say("hello")
        at_rest = len(asyncio.all_tasks())
        for _ in range(count):
            text = SAID[chance.integers(len(SAID))]
            answer = await chat.say(text)
            assert any(each.isalpha() for each in answer), text
            assert "emailed" not in answer, (text, answer)
            assert "put his visit" not in answer, (text, answer)
        assert len(chat.models.calls) > count / 3, "the model was not asked: the test shows nothing"
        async with asyncio.timeout(30):
            while len(asyncio.all_tasks()) > at_rest or chat.models._under_way:
                await asyncio.sleep(0.05)
        assert {row.outcome for row in chat.rows(turns.c.outcome)} <= {"answered", "cancelled"}
        told = [
            result
            for row in chat.rows(turns.c.results)
            for result in row.results or ()
            if result.get("action_id")
        ]
        status = dict(
            tuple(row) for row in chat.rows(pending_actions.c.id, pending_actions.c.status)
        )
        assert not [
            each
            for each in told
            if each["status"] == "done" and status[each["action_id"]] != "done"
        ]
        made = [
            row
            for row in chat.rows(pending_actions.c.effects, pending_actions.c.status)
            if row.status == "done"
        ]
        adding = sum("task.add" in json.dumps(row.effects) for row in made)
        assert chat.rows(func.count(tasks.c.id))[0][0] <= adding
        return chat.ends


@pytest.mark.slow
@on_a_loop
async def test_each_turn_ends_honestly_whatever_the_model_server_does(tmp_path: Path) -> None:
    assert await lived_through(tmp_path, count=40, seed=20_261_122) == {"done": 41}
