"""`kinkeeper rehearse`: a script lived through the real program on a virtual clock."""

import asyncio
import sqlite3
import tempfile
from collections.abc import AsyncIterator, Iterator, Mapping, Sequence
from concurrent.futures import ProcessPoolExecutor
from contextlib import AsyncExitStack, closing
from dataclasses import dataclass, field, replace
from datetime import datetime, time, timedelta
from functools import partial
from itertools import count
from math import inf
from multiprocessing import get_context
from pathlib import Path
from time import perf_counter
from typing import Annotated, Any, Final
from zoneinfo import ZoneInfo

import typer
from sqlalchemy import Connection, select

from kinkeeper.actions import approvals
from kinkeeper.actions.authority import PressDetails
from kinkeeper.actions.consent import Author, Origin
from kinkeeper.actions.model import ActionStatus
from kinkeeper.actions.proposals import expire_due
from kinkeeper.actions.repository import next_expiry
from kinkeeper.actions.requests.model import ResultStatus
from kinkeeper.actions.session_words import keep
from kinkeeper.background.cycles import next_cycle
from kinkeeper.bootstrap import household_path, open_system, read_households
from kinkeeper.bootstrap.consolidation import Consolidating
from kinkeeper.bootstrap.digests import digest_rounds
from kinkeeper.bootstrap.goals import goal_work
from kinkeeper.bootstrap.household_state import State, changes_between, state_of
from kinkeeper.bootstrap.memory import encoding_worker, reading_of
from kinkeeper.bootstrap.models import model_extractor, models_opened
from kinkeeper.bootstrap.nights import is_due
from kinkeeper.bootstrap.reminders import reminding
from kinkeeper.bootstrap.system import System
from kinkeeper.brain.evidence_search import EventHit, Kind, find
from kinkeeper.cli.input import records_of
from kinkeeper.cli.located import Where, located
from kinkeeper.cli.opener import log_to_stderr, settings_of
from kinkeeper.cli.terminal import answer_json
from kinkeeper.conversation.tables import turns
from kinkeeper.conversation.turn import Turn, TurnOutcome
from kinkeeper.core.errors import InputError, KinkeeperError
from kinkeeper.core.messages import InboundMessage, MessageKind
from kinkeeper.core.time import VirtualClock, instant_told
from kinkeeper.digest.repository import digest_time, next_release
from kinkeeper.household.model import Household, Member, resolve_sender
from kinkeeper.household.viewers import viewer_for
from kinkeeper.jobs.job import Pace
from kinkeeper.memory.finding.embedding_worker import EmbeddingWork
from kinkeeper.memory.finding.search import Hit, Search
from kinkeeper.memory.sessions import SessionMessage
from kinkeeper.memory.statements.secrecy import audience_of
from kinkeeper.messaging.outbound import QuietHours
from kinkeeper.models.model import ModelGateway
from kinkeeper.observer.settling.message_reader import Extractor
from kinkeeper.observer.speaker import REPLAY
from kinkeeper.settings.model import Settings
from kinkeeper.tasks.repository import next_due

CHANNEL: Final = "web"
"""Where rehearsed conversations take place."""

_NIGHT: Final = time(4, 30)
_TALK_ENDS: Final = timedelta(minutes=31)
"""After a talk has rested so long, its exchanges are encoded."""
_YES: Final = frozenset({"yes", "confirm", "ok"})
_NO: Final = frozenset({"no", "reject", "dismiss"})
_MOST_HITS: Final = 10
_GONE: Final = {"withdrawn": "withdrawn", "superseded": "withdrawn", "expired": "expired"}
"""How a card that ended without a decision is reported, by its status."""
_KINDS: Final = {
    "group": MessageKind.TEXT,
    "reaction": MessageKind.REACTION,
    "edit": MessageKind.EDIT,
}


@dataclass(frozen=True, slots=True, kw_only=True)
class Step:
    """One line of a script.

    Attributes:
        number: 1-based line.
        do: What is done: group, reaction, edit, chat, session, press, search, night or advance.
        details: The line's other fields: as, text, chat_id, message_id, thread, target, choice, query, k, id.
    """

    number: int
    at: datetime
    do: str
    details: Mapping[str, Any]

    def text(self, name: str) -> str:
        """Return a field that the step needs."""
        found = self.details.get(name)
        if not isinstance(found, str):
            raise InputError(f'"{name}" is missing; {self.do!r} needs it')
        return found


class Rehearsal:
    """One household on a clock that follows the script. Its database is written; use a scratch one.

    Args:
        system: The household, opened as of the clock's time.
        gateway: The way to models; None where there are none.
        extractor: Reads the group's messages; by rules where None.
    """

    def __init__(
        self,
        system: System,
        clock: VirtualClock,
        *,
        gateway: ModelGateway | None = None,
        extractor: Extractor | None = None,
    ) -> None:
        self._system = system
        self._household: Household = system.household
        self._clock = clock
        self._conversation = system.talk(clock, gateway).conversation
        self._observer = system.replay(clock, extractor, gateway)
        pace = Pace()
        self._encoding = encoding_worker(self._household, system.store, clock, pace)
        self._reading = reading_of(self._household, system.store, clock)
        self._hearing = system.hearing(clock)
        self._reminding = reminding(system.store, self._household, clock)
        self._digests = digest_rounds(system.settings, self._household, system.store, clock)
        self._goals = goal_work(
            system.settings,
            self._household,
            system.store,
            system.recall.finder,
            mailbox=None,
            gateway=gateway,
            clock=clock,
            pace=pace,
        )
        self._last_said = clock.now()
        self._numbers = count(1)
        self._begun: dict[str, str] = {}
        self._posted: set[str] = set()
        self._state: State = state_of(system, clock)

    async def close(self) -> None:
        """End the conversations."""
        await self._conversation.close()

    async def play(self, step: Step) -> AsyncIterator[dict[str, Any]]:
        """Yield what time brings until the step, then what came of it, then what it made happen.

        Raises:
            InputError: The step lacks something, or names somebody or something unknown.
        """
        async for event in self.advance(step.at):
            yield event
        begun = perf_counter()
        did = await self._do(step)
        await self._catch_up()
        milliseconds = round((perf_counter() - begun) * 1000, 1)
        changes, events = await self._news()
        if (action := did.pop("action", None)) is not None:
            did["card"] = self._state["cards"].get(action)
        label = {"id": step.details["id"]} if "id" in step.details else {}
        yield {
            **label,
            "at": step.at.isoformat(),
            "do": step.do,
            **did,
            "changes": changes,
            "ms": milliseconds,
        }
        for event in events:
            yield event

    async def advance(self, to: datetime) -> AsyncIterator[dict[str, Any]]:
        """Let time pass and yield what falls due on the way, each at its time."""
        while (due := await asyncio.to_thread(self._next_due)) is not None and due <= to:
            async for event in self._said_until(due):
                yield event
            self._clock.advance_to(due)
            if due.astimezone(self._household.zone).time() == _NIGHT:
                await self._sleep()
            await self._catch_up()
            for event in (await self._news())[1]:
                yield event
        async for event in self._said_until(to):
            yield event
        self._clock.advance_to(to)

    async def _said_until(self, instant: datetime) -> AsyncIterator[dict[str, Any]]:
        """Let the observer's time pass and yield what it says unasked."""
        async for line in self._observer.run_until(instant):
            yield self._event("said", text=line.get("reply"), message_id=line["message_id"])

    def _next_due(self) -> datetime | None:
        """Return when something falls due next that is not the observer's own; always later than now."""
        now, zone = self._clock.now(), self._household.zone
        local = now.astimezone(zone)
        night = datetime.combine(local.date(), _NIGHT, tzinfo=zone)
        found = [
            night if night > local else night + timedelta(days=1),
            self._last_said + _TALK_ENDS,
        ]

        def read(conn: Connection) -> None:
            marks = [find(conn, self._household.id) for find in (next_due, next_expiry, next_cycle)]
            found.extend(each for each in marks if each is not None)
            quiet = QuietHours.parse(self._system.settings.quiet_hours, zone)
            times = [digest_time(conn, self._household, each.id) for each in self._household.adults]
            found.extend(next_release(now, at, quiet) for at in times if at is not None)

        self._system.store.read_now(read)
        return min((each for each in found if each > now), default=None)

    async def _do(self, step: Step) -> dict[str, Any]:
        match step.do:
            case "group" | "reaction" | "edit":
                return await self._group(step)
            case "chat":
                return await self._chat(step)
            case "session":
                return await self._session(step)
            case "press":
                return await self._press(step)
            case "search":
                return await self._search(step)
            case "night":
                await self._sleep()
                return {}
            case "advance":
                return {}
            case _:
                raise InputError(f"unknown step {step.do!r}")

    async def _group(self, step: Step) -> dict[str, Any]:
        details, target = step.details, step.details.get("target")
        message = InboundMessage(
            channel=REPLAY,
            chat_id=str(details.get("chat_id") or self._household.id),
            message_id=str(details.get("message_id") or f"line-{step.number}"),
            sender=step.text("as"),
            text=str(details.get("text", "")),
            sent_at=step.at,
            reply_to=details.get("reply_to"),
            kind=_KINDS[step.do],
            target=target,
        )
        lines = [line async for line in self._observer.feed(message)]
        own = next(line for line in lines if "event" not in line)
        return {
            "message_id": message.message_id,
            "decision": own["redline_decision"],
            "reason": own["reason"],
            "spoken": own["reply"],
            "action": (own["action"] or {}).get("id"),
        }

    async def _chat(self, step: Step) -> dict[str, Any]:
        member, wish = self._member(step), step.details.get("thread")
        if wish == "new":
            wish = self._begun[member.id] = f"rehearsed-{next(self._numbers)}"
        thread = wish or self._begun.get(member.id)
        said = await self._conversation.say(
            member, step.text("text"), channel=CHANNEL, thread_id=thread
        )
        await self._conversation.idle()
        self._last_said = step.at
        (turn,) = await self._conversation.history(member, said.thread_id, last=1)
        return _turn_record(turn)

    async def _session(self, step: Step) -> dict[str, Any]:
        member, text = self._member(step), step.text("text")
        message = SessionMessage(
            content_session_id=str(step.details.get("thread") or f"{member.id}-{step.at.date()}"),
            user_message=text,
            source="rehearsal",
            channel="rehearsal",
            timestamp=step.at,
        )
        author = Author(is_adult=member.is_adult, origin=Origin.SAID)
        taken = await self._system.store.write(
            lambda conn: keep(
                conn,
                message,
                author,
                household=self._household,
                member=member,
                scope=audience_of(text, self._household, member.id),
                at=step.at,
            )
        )
        self._last_said = step.at
        return {"session": taken.session_id}

    async def _press(self, step: Step) -> dict[str, Any]:
        member, choice = self._member(step), str(step.details.get("choice", "yes"))
        action = self._waiting(step)
        press = PressDetails(member=member, household=self._household, now=step.at)

        def decide(conn: Connection) -> Any:
            if choice.casefold() in _YES:
                return approvals.confirm(conn, action, **press)
            if choice.casefold() in _NO:
                return approvals.reject(conn, action, **press)
            return approvals.resolve(conn, action, choice, **press)

        receipt = await self._system.store.write(decide)
        return {"answer": receipt.message, "outcome": receipt.outcome.value, "action": action}

    def _waiting(self, step: Step) -> str:
        """Return the waiting card that a press is for: by id, by words of its summary, or the newest."""
        target = str(step.details.get("target") or "")
        cards = [
            each
            for each in self._state["cards"].values()
            if each["status"] == ActionStatus.PENDING.value
        ]
        fitting = [
            each
            for each in cards
            if each["id"].startswith(target) or target.casefold() in each["summary"].casefold()
        ]
        if not fitting:
            raise InputError(f"no waiting card matches {target!r}")
        return str(max(fitting, key=lambda each: each["created_at"])["id"])

    async def _search(self, step: Step) -> dict[str, Any]:
        named = step.details.get("as")
        member = self._member(step) if named else self._household.adults[0]
        wanted = Search(
            text=step.text("query"),
            viewer=viewer_for(self._household, member, now=step.at),
            now=step.at,
            limit=int(step.details.get("k", _MOST_HITS)),
        )
        found = await find(
            wanted,
            frozenset(Kind),
            store=self._system.store,
            finder=self._system.recall.finder,
            household=self._household,
            patience=inf,
        )
        return {"hits": [_hit_record(each) for each in found.hits]}

    def _member(self, step: Step) -> Member:
        named = step.text("as")
        member = resolve_sender(self._household, named)
        if member is None:
            raise InputError(f"{named!r} does not match exactly one member of the household")
        return member

    async def _catch_up(self) -> None:
        """Do what live workers would do by now."""
        while await self._encoding.run_once() or await self._reading.run_once():
            pass
        await self._hearing.run_once()
        now = self._clock.now()
        await self._system.store.write(lambda conn: expire_due(conn, self._household.id, now))
        await self._reminding.run_once()
        await self._digests.run_once()
        await self._goals.run_once()
        if (embedder := self._system.recall.embedder) is not None:
            await EmbeddingWork(self._system.store, self._household.id, embedder).finish()

    async def _sleep(self) -> None:
        """Have the nightly upkeep of memory done, if it is due."""
        system, now = self._system, self._clock.now()
        if await system.store.read(lambda conn: is_due(conn, self._household, now=now)):
            await Consolidating(
                system.settings, self._household, system.store, self._clock, progress=lambda _: None
            ).run()

    async def _news(self) -> tuple[dict[str, Any], list[dict[str, Any]]]:
        """Return what changed since the last call, and the events that are to be told of it."""
        before, self._state = (
            self._state,
            await asyncio.to_thread(state_of, self._system, self._clock),
        )
        changes = changes_between(before, self._state)
        cards = changes.get("cards", {"added": [], "changed": []})
        waiting = ActionStatus.PENDING.value
        events = [
            self._event("card", card=each) for each in cards["added"] if each["status"] == waiting
        ]
        for each in cards["changed"]:
            was, status = before["cards"][each["id"]]["status"], each["status"]
            if status != was and status in _GONE:
                events.append(self._event(_GONE[status], card=each))
        events += await self._system.store.read(self._posts)
        return changes, events

    def _posts(self, conn: Connection) -> list[dict[str, Any]]:
        """Return what was said unasked in somebody's conversation since the last look."""
        rows = conn.execute(
            select(turns.c.id, turns.c.member, turns.c.answer, turns.c.client_message_id).where(
                turns.c.household == self._household.id, turns.c.outcome == TurnOutcome.POSTED.value
            )
        ).all()
        new = [row for row in rows if row.id not in self._posted]
        self._posted.update(row.id for row in new)
        return [
            self._event(
                "digest" if row.client_message_id.startswith("digest:") else "reminder",
                to=row.member,
                text=row.answer,
            )
            for row in new
        ]

    def _event(self, name: str, **details: Any) -> dict[str, Any]:
        at = self._clock.now().astimezone(self._household.zone)
        return {"at": at.isoformat(), "event": name, **details}


def _hit_record(hit: Hit | EventHit) -> dict[str, Any]:
    return {
        "id": hit.id,
        "kind": hit.kind.value,
        "text": hit.text,
        "score": round(hit.score, 4),
        "at": hit.at.isoformat(),
    }


def _turn_record(turn: Turn) -> dict[str, Any]:
    asks = any(
        each.status in {ResultStatus.AWAITING, ResultStatus.UNCLEAR} for each in turn.results
    )
    return {
        "answer": turn.answer or "",
        "mode": turn.mode.value if turn.mode else None,
        "used": [dict(each) for each in turn.used],
        "action": next((each.action_id for each in turn.results if each.action_id), None),
        "asked": asks or turn.clarification is not None,
        "results": [
            {
                "request": f"{each.domain}.{each.action}",
                "status": each.status.value,
                "params": dict(each.params),
                "action": each.action_id,
            }
            for each in turn.results
        ],
    }


_RESET, _HOUSEHOLD, _ADVANCE = "reset", "household", "advance"
Line = Step | Mapping[str, Any]
"""A step, or the record that stands in the place of a bad line."""

app = typer.Typer()


@app.command()
@located
def rehearse(
    where: Where,
    file: Annotated[
        Path,
        typer.Argument(
            metavar="FILE",
            help='JSON lines {"at", "do", "as", "text", …}; docs/operations.md describes them; "-" reads stdin.',
        ),
    ],
    seed: Annotated[
        Path | None, typer.Option(metavar="FILE", help="Script to play first, without showing it.")
    ] = None,
    jobs: Annotated[
        int, typer.Option(min=1, max=64, help="Number of processes for the parts between resets.")
    ] = 1,
) -> None:
    """Play a script in a scratch database on a virtual clock; shows the result of each line."""
    if rehearse_file(where, file, seed=seed, jobs=jobs):
        raise typer.Exit(2)


@dataclass(frozen=True, slots=True)
class Scene:
    """What is played with one household file.

    Attributes:
        lines: In their order.
    """

    household: Path
    lines: list[Line] = field(default_factory=list)


Part = list[Scene]
"""What is played from one reset to the next."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Stage:
    """Where parts are played."""

    settings: Settings
    household: Path


def rehearse_file(where: Where, file: Path, *, seed: Path | None, jobs: int) -> int:
    """Play a script and write what came of each line; returns how many lines were bad.

    Args:
        where: Household; a database must not be named.
        seed: A script that is played before every part, and not shown.
        jobs: Most processes, > 0.

    Raises:
        InputError: A file cannot be read, the seed has a bad line, or a database is named.
    """
    if where.db is not None:
        raise InputError("a rehearsal runs in a scratch database; leave out --db")
    log_to_stderr()
    settings = settings_of(where)
    stage = Stage(settings=settings, household=household_path(settings, where.household))
    with tempfile.TemporaryDirectory(prefix="kinkeeper-rehearsal-") as folder:
        parts = _parts(file, stage)
        database = Path(folder) / "seed.sqlite"
        # Also without a seed: a copy is several times faster than a new schema for each part.
        _seed(stage, _parts(seed, stage)[0] if seed else _first_moment(parts), database)
        bad = 0
        for record in _played(stage, database, parts, jobs):
            bad += "error" in record
            answer_json(record)
        return bad


def _seed(stage: Stage, part: Part, database: Path) -> None:
    for record in asyncio.run(_collected(stage, part, database)):
        if "error" in record:
            raise InputError(f"the seed, line {record['line']}: {record['error']}")


def _first_moment(parts: Sequence[Part]) -> Part:
    """Return a part in which nothing happens, at the time of the first step."""
    lines = [line for part in parts for scene in part for line in scene.lines]
    first = next((line for line in lines if isinstance(line, Step)), None)
    household = parts[0][0].household
    return [Scene(household, [] if first is None else [replace(first, do=_ADVANCE)])]


def _parts(file: Path, stage: Stage) -> list[Part]:
    """Read a script; the record of a bad line stands in its place."""
    zone = read_households(stage.household, stage.settings)[0].zone
    parts: list[Part] = [[Scene(stage.household)]]
    for number, record in records_of(file):
        do = None if isinstance(record, InputError) else record.get("do")
        if do == _RESET:
            parts.append([Scene(stage.household)])
            continue
        line = _line(number, record, zone)
        if do == _HOUSEHOLD and isinstance(line, Step):
            parts[-1].append(Scene(stage.household.parent / str(line.details.get("text", ""))))
            line = {"at": line.at.isoformat(), "do": _HOUSEHOLD, "changes": {}}
        parts[-1][-1].lines.append(line)
    return parts


def _line(number: int, record: Mapping[str, Any] | InputError, zone: ZoneInfo) -> Line:
    if isinstance(record, InputError):
        return {"line": number, "error": str(record)}
    at, do = record.get("at"), record.get("do")
    if not isinstance(at, str) or not isinstance(do, str):
        return {"line": number, "error": '"at" or "do" is missing or not text'}
    try:
        return Step(number=number, at=instant_told(at, zone), do=do, details=record)
    except InputError as error:
        return {"line": number, "error": str(error)}


def _played(
    stage: Stage, seed: Path, parts: Sequence[Part], jobs: int
) -> Iterator[Mapping[str, Any]]:
    if jobs == 1 or len(parts) == 1:
        for part in parts:
            yield from _play_part(stage, seed, part)
        return
    # A process that is forked would share its parent's threads' locks.
    with ProcessPoolExecutor(min(jobs, len(parts)), get_context("spawn")) as pool:
        for records in pool.map(partial(_play_part, stage, seed), parts):
            yield from records


def _play_part(stage: Stage, seed: Path, part: Part) -> list[dict[str, Any]]:
    with tempfile.TemporaryDirectory(prefix="kinkeeper-rehearsal-") as folder:
        database = Path(folder) / "family.sqlite"
        _copy(seed, database)
        return asyncio.run(_collected(stage, part, database))


def _copy(source: Path, target: Path) -> None:
    """Copy a SQLite database with all that its log holds."""
    with closing(sqlite3.connect(source)) as old, closing(sqlite3.connect(target)) as new:
        old.backup(new)


async def _collected(stage: Stage, part: Part, database: Path) -> list[dict[str, Any]]:
    return [record for scene in part async for record in _records(stage.settings, scene, database)]


async def _records(
    settings: Settings, scene: Scene, database: Path
) -> AsyncIterator[dict[str, Any]]:
    """Play a scene and yield the output lines."""
    start = next((line.at for line in scene.lines if isinstance(line, Step)), None)
    if start is None:
        for record in scene.lines:
            if not isinstance(record, Step):
                yield dict(record)
        return
    async with AsyncExitStack() as opened:
        system = opened.enter_context(
            open_system(settings, household_file=scene.household, database=str(database), now=start)
        )
        clock = VirtualClock(start)
        zones = {system.household.id: system.household.zone}
        gateway = await opened.enter_async_context(
            models_opened(settings, store=system.store, clock=clock, zones=zones)
        )
        rehearsal = Rehearsal(
            system, clock, gateway=gateway, extractor=model_extractor(settings, gateway)
        )
        opened.push_async_callback(rehearsal.close)
        for line in scene.lines:
            if not isinstance(line, Step):
                yield dict(line)
                continue
            try:
                async for record in rehearsal.play(line):
                    yield record
            except KinkeeperError as error:
                yield {"line": line.number, "error": str(error)}
