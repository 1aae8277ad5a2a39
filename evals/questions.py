"""Whether questions about a household's days are answered with what was asked for: whole turns, by rules and words."""

import asyncio
import json
import re
import tempfile
from collections import defaultdict
from collections.abc import AsyncIterator, Iterable, Mapping, Sequence
from contextlib import asynccontextmanager
from dataclasses import dataclass
from datetime import datetime, timedelta
from itertools import groupby
from operator import itemgetter
from pathlib import Path
from typing import Any, Final

from evals.report import Floor, Report, Table
from kinkeeper.actions.requests.model import Asked, ResultStatus
from kinkeeper.actions.requests.request_runner import perform
from kinkeeper.bootstrap import System, open_system
from kinkeeper.bootstrap.system import catalogue_of
from kinkeeper.conversation.conversation import Conversation
from kinkeeper.conversation.model import EventName
from kinkeeper.core.errors import InvariantError
from kinkeeper.core.ids import stable_id
from kinkeeper.core.time import VirtualClock
from kinkeeper.household.model import Member
from kinkeeper.settings.model import Settings
from kinkeeper.settings.models import EmbedderChoice

FOLDER = Path("evals/data/questions")
DEVELOPED, FRESH, AGAIN = "developed", "fresh", "again"

FLOORS: Final[Mapping[str, float]] = {
    DEVELOPED: 0.95,
    "unseen": 0.85,
    FRESH: 0.92,
    "fresh_unseen": 0.85,
    AGAIN: 0.9,
}
"""The least share that must be right of each file; answers to what is unseen are counted, never shown."""

_Row = Mapping[str, Any]


@dataclass(frozen=True, slots=True, kw_only=True)
class Answered:
    """A question with its answer.

    Attributes:
        kind: What it wants to know: "next", "place", ...
        text: The question.
        told: The answer, then what cards show, a line each.
        items: Of the longest card.
        is_right: Whether it holds all that it must, nothing that it must not, and no more than it may.
    """

    kind: str
    text: str
    told: str
    items: int
    is_right: bool


def measure(root: Path) -> Report:
    """Ask every question of our own sets.

    Args:
        root: The repository.
    """
    answered = {name: asyncio.run(answers(root, name)) for name in FLOORS}
    rows = [
        (f"{name}: {kind}", len(some), _share(some))
        for name, every in answered.items()
        for kind, some in [*_by_kind(every).items(), ("all", every)]
    ]
    return Report(
        suite="questions",
        tables=(
            Table(
                title="Questions, by rules and words",
                columns=("questions", "number", "right"),
                rows=tuple(rows),
            ),
        ),
        floors=tuple(
            Floor(name=name, value=_share(answered[name]), minimum=minimum)
            for name, minimum in FLOORS.items()
        ),
        worst=tuple(
            f"{each.text} -> {each.told!r}"
            for name in (DEVELOPED, FRESH, AGAIN)
            for each in answered[name]
            if not each.is_right
        ),
    )


async def answers(root: Path, name: str) -> list[Answered]:
    """Return what is answered to the questions of a file, each in a conversation of its own.

    Args:
        root: The repository.
        name: Of the file.
    """
    by_household = itemgetter("household")
    questions = sorted(_rows(root / FOLDER / f"{name}.jsonl"), key=by_household)
    known = list(_rows(root / FOLDER / "known.jsonl"))
    answered: list[Answered] = []
    for household, rows in groupby(questions, key=by_household):
        own = [*rows]
        begun = datetime.fromisoformat(own[0]["now"])
        async with _household(root / FOLDER / f"{household}.toml", begun) as (system, clock):
            await _make_known(
                system, clock, [each for each in known if by_household(each) == household]
            )
            talk = system.talk(clock)
            try:
                answered += [await _ask(talk.conversation, system, row) for row in own]
            finally:
                await talk.conversation.close()
    return answered


@asynccontextmanager
async def _household(file: Path, begun: datetime) -> AsyncIterator[tuple[System, VirtualClock]]:
    """Yield a household by words alone, and its clock; what is made known was said an hour before."""
    with (
        tempfile.TemporaryDirectory() as folder,
        open_system(
            Settings(embedder=EmbedderChoice.NONE),
            household_file=file,
            database=str(Path(folder) / "questions.sqlite"),
            now=begun.astimezone(),
        ) as system,
    ):
        now = begun.replace(tzinfo=system.household.zone)
        yield system, VirtualClock(now - timedelta(hours=1))


async def _make_known(system: System, clock: VirtualClock, rows: Sequence[_Row]) -> None:
    catalogue = catalogue_of(system.settings, system.store, system.recall.finder)
    for number, row in enumerate(rows):
        asked = Asked(
            household=system.household,
            member=_member(system, row["by"]),
            channel="web",
            now=clock.now().astimezone(system.household.zone),
            thread_id="known",
            turn_id=f"known {number}",
        )
        domain, action = row["do"].split(".")
        done = await perform(
            catalogue, system.store, asked, domain=domain, action=action, params=row["params"]
        )
        wanted = ResultStatus.AWAITING if row.get("awaits") else ResultStatus.DONE
        if done.status is not wanted:
            raise InvariantError(f"{row['do']} {row['params']}: {done.status}, {done.error}")
    clock.advance_to(clock.now() + timedelta(hours=1))


async def _ask(conversation: Conversation, system: System, row: _Row) -> Answered:
    member = _member(system, row["by"])
    thread = stable_id(system.household.id, "question", row["by"], row["text"])
    for text in row.get("before", ()):
        await _told(conversation, member, text, thread)
    told, items = await _told(conversation, member, row["text"], thread)
    return Answered(
        kind=row["slice"],
        text=row["text"],
        told=told,
        items=items,
        is_right=_is_right(row, told, items),
    )


async def _told(
    conversation: Conversation, member: Member, text: str, thread: str
) -> tuple[str, int]:
    """Return the answer to a message, then what its cards show, a line each; and the items of the longest card."""
    said = await conversation.say(member, text, channel="web", thread_id=thread)
    answer, cards = "", list[Sequence[Mapping[str, Any]]]()
    async for event in conversation.events(
        member, said.thread_id, after=said.after, turn_id=said.turn_id
    ):
        if event.name is EventName.CARD:
            cards.append(event.data["items"])
        elif event.name is EventName.DONE:
            answer = event.data["text"]
    shown = [
        ", ".join(str(item[name]) for name in ("text", "when", "detail") if item.get(name))
        for items in cards
        for item in items
    ]
    return "\n".join([answer, *shown]), max(map(len, cards), default=0)


def _is_right(row: _Row, told: str, items: int) -> bool:
    return (
        all(re.search(each, told, re.IGNORECASE) for each in row["must"])
        and not any(re.search(each, told, re.IGNORECASE) for each in row["must_not"])
        and items <= row.get("most", items)
    )


def _member(system: System, name: str) -> Member:
    member = system.household.member(name)
    if member is None:
        raise InvariantError(f"nobody is called {name} in {system.household.id}")
    return member


def _rows(file: Path) -> Iterable[_Row]:
    return map(json.loads, file.read_text(encoding="utf-8").splitlines())


def _by_kind(answered: Iterable[Answered]) -> Mapping[str, list[Answered]]:
    kinds: dict[str, list[Answered]] = defaultdict(list)
    for each in answered:
        kinds[each.kind].append(each)
    return kinds


def _share(answered: Sequence[Answered]) -> float:
    return sum(each.is_right for each in answered) / len(answered) if answered else 0.0
