"""Months of a household lived through the server's own application: said, asked, slept over, on a virtual clock."""

import asyncio
import json
import tempfile
from collections import defaultdict
from collections.abc import AsyncIterator, Mapping, Sequence
from contextlib import asynccontextmanager
from dataclasses import dataclass
from datetime import datetime, time, timedelta
from pathlib import Path
from typing import Final

import httpx
from sqlalchemy import Connection, select

from evals.months_gold import Message, Months, Question
from kinkeeper.bootstrap import System, open_system
from kinkeeper.bootstrap.consolidation import Consolidating
from kinkeeper.bootstrap.memory import reading_of
from kinkeeper.bootstrap.nights import is_due
from kinkeeper.conversation.model import EventName
from kinkeeper.core.time import VirtualClock
from kinkeeper.household.model import Member
from kinkeeper.memory.facts import facts_by_id
from kinkeeper.memory.finding.embedding_worker import EmbeddingWork
from kinkeeper.memory.memory_rows import statement_from_row
from kinkeeper.memory.model import Fact, Statement
from kinkeeper.memory.tables import facts, statements
from kinkeeper.memory.upkeep.runs import RunState
from kinkeeper.settings.model import Settings
from kinkeeper.settings.models import EmbedderChoice
from kinkeeper.web.access import logins
from kinkeeper.web.access.model import usual_role
from kinkeeper.web.app import create_app
from kinkeeper.web.context import House, WebContext
from kinkeeper.web.security.request_limits import RateLimits

_ADDRESS: Final = "http://127.0.0.1:8765"
_NIGHT: Final = time(4, 30)


@dataclass(frozen=True, slots=True, kw_only=True)
class Asked:
    """A question and what it was answered.

    Attributes:
        question: The question.
        told: What the conversation showed.
        known: What the brain answered; "" where it knows nothing.
        found: Texts that the search found, best first.
    """

    question: Question
    told: str
    known: str
    found: Sequence[str]


@dataclass(frozen=True, slots=True, kw_only=True)
class Lived:
    """What became of the months.

    Attributes:
        asked: Every question.
        read: What was read out of each message, in its order.
        facts: All facts at the end, by id.
        ended: The end, aware.
        nights_asked: Number of nights that asked a person instead of being done.
    """

    asked: Sequence[Asked]
    read: Sequence[tuple[Message, Sequence[Statement]]]
    facts: Mapping[str, Fact]
    ended: datetime
    nights_asked: int


def live(months: Months, root: Path, embedder: EmbedderChoice) -> Lived:
    """Live months through in a household of its own.

    Args:
        months: What is said and asked.
        root: The repository.
        embedder: What compares texts.
    """
    with (
        tempfile.TemporaryDirectory() as folder,
        open_system(
            Settings(embedder=embedder),
            household_file=root / months.household,
            database=str(Path(folder) / "family.sqlite"),
            now=months.rows[0].at.astimezone(),
        ) as system,
    ):
        return asyncio.run(_Months(system, months).lived())


class _Months:
    """One household on a clock that follows what is said.

    Args:
        system: The household.
        months: What is said and asked.
    """

    def __init__(self, system: System, months: Months) -> None:
        self._system = system
        self._months = months
        self._zone = system.household.zone
        self._clock = VirtualClock(months.rows[0].at.replace(tzinfo=self._zone))
        self._reading = reading_of(system.household, system.store, self._clock)
        self._nights_asked = 0

    async def lived(self) -> Lived:
        """Say and ask everything, and sleep in between."""
        asked: list[Asked] = []
        async with self._served() as clients:
            for number, row in enumerate(self._months.rows):
                await self._until(row.at.replace(tzinfo=self._zone))
                if isinstance(row, Message):
                    await self._said(clients[row.by], row)
                else:
                    asked.append(await _asked(clients[row.by], row, f"question-{number}"))
        return self._system.store.read_now(lambda conn: self._outcome(conn, asked))

    @asynccontextmanager
    async def _served(self) -> AsyncIterator[Mapping[str, httpx.AsyncClient]]:
        """Yield a client for each member, of the server's application on this clock."""
        system, talk = self._system, self._system.talk(self._clock)
        household = system.household
        house = House(
            participants=system.participants,
            store=system.store,
            intake=system.intake(refuses_chats=True),
            finder=system.recall.finder,
            streaming=talk.streaming,
            conversation=talk.conversation,
        )
        context = WebContext(
            houses={household.id: house},
            store=system.store,
            clock=self._clock,
            address=_ADDRESS,
            rates=RateLimits(read=None, write=None),
        )
        transport = httpx.ASGITransport(create_app(context))
        clients = {
            member.id: httpx.AsyncClient(
                transport=transport,
                base_url=_ADDRESS,
                headers={"Authorization": f"Bearer {self._token(member)}"},
            )
            for member in household.members
        }
        try:
            yield clients
        finally:
            for client in clients.values():
                await client.aclose()
            await talk.conversation.close()

    def _token(self, member: Member) -> str:
        household = self._system.household
        issued = self._system.store.write_now(
            lambda conn: logins.create_token(
                conn,
                household.id,
                member.id,
                role=usual_role(household, member),
                label="months",
                now=self._clock.now(),
            )
        )
        return issued.secret

    async def _until(self, at: datetime) -> None:
        """Let the clock go on, and sleep every night before."""
        day = self._clock.now().astimezone(self._zone)
        night = datetime.combine(day.date(), _NIGHT, tzinfo=self._zone)
        while night <= at:
            if night > day:
                self._clock.advance_to(night)
                await self._sleep()
            night += timedelta(days=1)
        self._clock.advance_to(at)

    async def _sleep(self) -> None:
        """Have the upkeep done as a night does it."""
        system = self._system
        if not system.store.read_now(
            lambda conn: is_due(conn, system.household, now=self._clock.now())
        ):
            return
        runs = await Consolidating(
            system.settings, system.household, system.store, self._clock, progress=lambda _: None
        ).run()
        self._nights_asked += runs[-1].state is RunState.ASKS

    async def _said(self, client: httpx.AsyncClient, message: Message) -> None:
        if message.way == "chat":
            await _told(client, message.text, f"{message.by}-{message.at.date()}")
        else:
            pair = {
                "contentSessionId": f"{message.by}-{message.at.date()}",
                "source": "months",
                "channel": "test",
                "userMessage": message.text,
                "timestamp": self._clock.now().isoformat(),
                "metadata": {"private": True} if message.way == "private" else {},
            }
            (await client.post("/api/sessions/messages", json=pair)).raise_for_status()
        while await self._reading.run_once():
            pass
        if (embedder := self._system.recall.embedder) is not None:
            await EmbeddingWork(self._system.store, self._system.household.id, embedder).finish()

    def _outcome(self, conn: Connection, asked: Sequence[Asked]) -> Lived:
        said = statements.c.household == self._system.household.id
        read = defaultdict[datetime, list[Statement]](list)
        for row in conn.execute(select(statements).where(said)).mappings():
            statement = statement_from_row(dict(row))
            read[statement.said_at].append(statement)
        ids = conn.execute(
            select(facts.c.id).where(facts.c.household == self._system.household.id)
        ).scalars()
        return Lived(
            asked=asked,
            read=[
                (each, read[each.at.replace(tzinfo=self._zone)]) for each in self._months.messages
            ],
            facts=facts_by_id(conn, self._system.household.id, list(ids)),
            ended=self._clock.now(),
            nights_asked=self._nights_asked,
        )


async def _asked(client: httpx.AsyncClient, question: Question, thread: str) -> Asked:
    brain = (await client.get("/brain/query", params={"q": question.text})).raise_for_status()
    search = await client.get("/api/memory/search", params={"query": question.text})
    known = brain.json()
    return Asked(
        question=question,
        told=await _told(client, question.text, thread),
        known=known["answer"] if known["sources"] else "",
        found=[each["text"] for each in search.raise_for_status().json()["results"]],
    )


async def _told(client: httpx.AsyncClient, text: str, thread: str) -> str:
    """Say something to the assistant; return all that it shows."""
    shown: list[str] = []
    wish = {"text": text, "thread": thread}
    async with client.stream("POST", "/chat", json=wish) as answer:
        answer.raise_for_status()
        name = ""
        async for line in answer.aiter_lines():
            kind, _, value = line.partition(": ")
            if kind == "event":
                name = value
            elif kind == "data" and name == EventName.CARD:
                shown += [
                    json.dumps(each, ensure_ascii=False) for each in json.loads(value)["items"]
                ]
            elif kind == "data" and name == EventName.DONE:
                shown.insert(0, json.loads(value)["text"])
    return "\n".join(shown)
