"""Whole dialogues by rules alone: each in a household of its own on a real database, as the program has it."""

import asyncio
import tempfile
from collections import defaultdict
from collections.abc import Sequence
from dataclasses import dataclass
from datetime import timedelta
from pathlib import Path
from typing import Final

from evals.dialogue_gold import (
    Dialogue,
    Line,
    asks_needlessly,
    dialogues_of,
    is_hollow,
    is_right,
    is_written_wrong,
)
from evals.report import Floor, Report, Table
from kinkeeper.bootstrap import System, open_system
from kinkeeper.conversation.turn import Turn
from kinkeeper.core.time import VirtualClock
from kinkeeper.household.file import load_household
from kinkeeper.settings.model import Settings
from kinkeeper.settings.models import EmbedderChoice

FILES: Final = {
    "first set": "requests_fresh.jsonl",
    "second set": "requests_fresh2.jsonl",
    "told": "requests_told.jsonl",
    "told, second set": "requests_told2.jsonl",
    "told, unseen": "requests_told_unseen.jsonl",
    "talk": "requests_talk.jsonl",
    "talk, unseen": "requests_talk_unseen.jsonl",
    "week": "requests_week.jsonl",
    "week, unseen": "requests_week_unseen.jsonl",
    "guard, unseen": "requests_guard.jsonl",
}
FLOORS: Final = {
    "first set, turns right": 0.86,
    "second set, turns right": 0.8,
    "told, turns right": 0.93,
    "told, second set, turns right": 0.85,
    "told, unseen, turns right": 0.7,
    "talk, turns right": 0.88,
    "talk, unseen, turns right": 0.5,
    "week, turns right": 0.88,
    "week, unseen, turns right": 0.7,
    "all, nothing written wrong": 0.98,
    "all, no hollow answer": 0.99,
    "all, nothing asked needlessly": 0.97,
}
UNSEEN: Final = frozenset({"told, unseen", "talk, unseen", "week, unseen", "guard, unseen"})
"""Sets of which only figures are looked at: their texts are in no report."""
_BETWEEN: Final = timedelta(seconds=30)


@dataclass(frozen=True, slots=True, kw_only=True)
class Judged:
    """A judged message.

    Attributes:
        slice: The kind of its dialogue.
        text: The message.
        is_right: Whether it came to what its label says.
        is_written_wrong: Whether something was written at once that its label does not have.
        is_hollow: Whether it was answered with a mere courtesy though something was wanted.
        asks_needlessly: Whether a plain request of low stakes was asked about.
        came_to: What it came to, in a line.
    """

    slice: str
    text: str
    is_right: bool
    is_written_wrong: bool
    is_hollow: bool
    asks_needlessly: bool
    came_to: str


def measure(*, root: Path) -> Report:
    """Hold every dialogue.

    Args:
        root: The repository.
    """
    held = {
        name: [(each, hold(each)) for each in dialogues_of(root / "evals" / "data" / file, root)]
        for name, file in FILES.items()
    }
    values = {
        f"{name}, turns right": _turns([judged for _, judged in pairs])[1]
        for name, pairs in held.items()
    }
    values |= _without_faults([judged for pairs in held.values() for _, judged in pairs])
    return Report(
        suite="dialogues",
        tables=tuple(_table(name, pairs) for name, pairs in held.items()),
        floors=tuple(
            Floor(name=name, value=values[name], minimum=minimum)
            for name, minimum in FLOORS.items()
        ),
        worst=tuple(
            f"{each.slice}: {each.text!r} came to {each.came_to}"
            for name, pairs in held.items()
            if name not in UNSEEN
            for _, judged in pairs
            for each in judged
            if not each.is_right
        ),
    )


def _table(name: str, pairs: Sequence[tuple[Dialogue, Sequence[Judged]]]) -> Table:
    slices: dict[str, list[Sequence[Judged]]] = defaultdict(list)
    for dialogue, judged in pairs:
        slices[dialogue.slice].append(judged)
    slices["all"] = [judged for _, judged in pairs]
    return Table(
        title=f"Dialogues in households of their own, by rules alone: {name}",
        columns=(
            "dialogues",
            "number",
            "turns judged",
            "turns right",
            "all turns right",
            "written wrong",
            "hollow",
            "asked needlessly",
        ),
        rows=tuple(
            (kind, len(some), *_turns(some), _whole(some), *_faults(some))
            for kind, some in slices.items()
        ),
    )


def hold(dialogue: Dialogue) -> Sequence[Judged]:
    """Hold a dialogue in a household of its own; return its judged messages.

    Args:
        dialogue: What is said, with labels.
    """
    begins = dialogue.now.replace(tzinfo=load_household(dialogue.household).zone)
    with (
        tempfile.TemporaryDirectory() as folder,
        open_system(
            Settings(embedder=EmbedderChoice.HASHING),
            household_file=dialogue.household,
            database=str(Path(folder) / "family.sqlite"),
            now=begins,
        ) as system,
    ):
        return asyncio.run(_held(dialogue, system, VirtualClock(begins)))


async def _held(dialogue: Dialogue, system: System, clock: VirtualClock) -> Sequence[Judged]:
    household, conversation = system.household, system.talk(clock).conversation
    member = household.member(dialogue.by or "") or household.adults[0]
    judged = []
    for line in dialogue.lines:
        said = await conversation.say(member, line.text, channel="web")
        await conversation.idle()
        clock.advance_to(clock.now() + _BETWEEN)
        (turn,) = await conversation.history(member, said.thread_id, last=1)
        if line.expected is not None:
            judged.append(_judged(dialogue, line, turn))
    await conversation.close()
    return judged


def _judged(dialogue: Dialogue, line: Line, turn: Turn) -> Judged:
    answer = turn.answer or ""
    requests = ", ".join(
        f"{each.domain}.{each.action} {each.status.value} {dict(each.params)}"
        for each in turn.results
    )
    return Judged(
        slice=dialogue.slice,
        text=line.text,
        is_right=is_right(line, turn.results, answer),
        is_written_wrong=is_written_wrong(line, turn.results),
        is_hollow=is_hollow(line, answer),
        asks_needlessly=asks_needlessly(line, turn.results),
        came_to=f"{requests or 'nothing'}; {answer!r}",
    )


def _turns(held: Sequence[Sequence[Judged]]) -> tuple[int, float]:
    turns = [each.is_right for judged in held for each in judged]
    return len(turns), sum(turns) / len(turns)


def _whole(held: Sequence[Sequence[Judged]]) -> float:
    return sum(all(each.is_right for each in judged) for judged in held) / len(held)


def _without_faults(held: Sequence[Sequence[Judged]]) -> dict[str, float]:
    """Return the share of all turns without each fault, by the name of its floor."""
    written, hollow, asked = _faults(held)
    number, _ = _turns(held)
    return {
        "all, nothing written wrong": 1 - written / number,
        "all, no hollow answer": 1 - hollow / number,
        "all, nothing asked needlessly": 1 - asked / number,
    }


def _faults(held: Sequence[Sequence[Judged]]) -> tuple[int, int, int]:
    """Return how many turns wrote something wrong, were answered hollowly, and asked needlessly."""
    turns = [each for judged in held for each in judged]
    return (
        sum(each.is_written_wrong for each in turns),
        sum(each.is_hollow for each in turns),
        sum(each.asks_needlessly for each in turns),
    )
