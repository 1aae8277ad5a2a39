"""The sample family's days as they are shown to somebody new: what was heard, and what was made of it. Pure."""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import Any

from kinkeeper.core.messages import InboundMessage
from kinkeeper.household.model import Household
from kinkeeper.web.views.people import Person, people_of

_MEANINGS = {"DROP": "left alone", "SILENT": "understood, said nothing", "SPEAK": "spoke"}


@dataclass(frozen=True, slots=True, kw_only=True)
class Heard:
    """A message of the sample, and what was made of it.

    Attributes:
        at: Local time.
        household: The sample's.
    """

    at: datetime
    household: Household
    message: InboundMessage
    line: Mapping[str, Any]


@dataclass(frozen=True, slots=True, kw_only=True)
class Scene:
    """One line of the play.

    Attributes:
        day: Weekday, where a new day begins; else empty.
        clock: Local time of day.
        iso: The moment for machines.
        person: Who wrote; None where only time passed.
        decision: drop, silent or speak.
        meaning: The decision in words.
        said: What the assistant said, if anything.
        buttons: Under what it said.
        kept: What waits for a yes because of it, if anything.
        ledger: The day so far: heard, understood, kept, spoken.
    """

    day: str
    clock: str
    iso: str
    person: Person | None
    text: str
    decision: str
    meaning: str
    said: str
    buttons: tuple[str, ...]
    kept: str
    ledger: tuple[int, int, int, int]


def scenes(rows: Iterable[Heard]) -> tuple[Scene, ...]:
    """Return the play, with the ledger counted over all its days."""
    found: list[Scene] = []
    last_day = None
    counts = [0, 0, 0, 0]
    kept: set[str] = set()
    for row in rows:
        _count(row, counts, kept)
        day = row.at.strftime("%A") if row.at.date() != last_day else ""
        last_day = row.at.date()
        found.append(_scene(row, day, counts))
    return tuple(found)


def _count(row: Heard, counts: list[int], kept: set[str]) -> None:
    is_message = "event" not in row.line
    decision = row.line.get("redline_decision")
    action = row.line.get("action")
    if action is not None:
        kept.add(action["id"])
    counts[0] += is_message
    counts[1] += is_message and decision is not None
    counts[2] = len(kept)
    counts[3] += decision == "SPEAK"


def _scene(row: Heard, day: str, counts: Sequence[int]) -> Scene:
    line, message = row.line, row.message
    decision = line.get("redline_decision") or "DROP"
    is_message = "event" not in line
    action = line.get("action") if is_message else None
    return Scene(
        day=day,
        clock=row.at.strftime("%H:%M"),
        iso=row.at.isoformat(timespec="minutes"),
        person=people_of(row.household).of(message.sender) if is_message else None,
        text=message.text if is_message else "nobody has answered",
        decision=decision.lower(),
        meaning=_MEANINGS[decision],
        said=line.get("reply") or "",
        buttons=tuple(line.get("buttons") or ()),
        kept=action["summary"] if action else "",
        ledger=(counts[0], counts[1], counts[2], counts[3]),
    )
