"""How well messages are understood: kind of arrangement, person, words of time; real messages and our own chats.

Each real message is replayed after its context in a household made of the people who take part, with the
tripwire wide open: this measures tier 2 alone. Our own chats go through both tiers as they are.
"""

import json
from collections import defaultdict
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any

from evals.coordination import household_of, read_lines
from evals.episode_scoring import Line
from evals.replayed import Stage, play, spoken_lines
from kinkeeper.core.messages import InboundMessage
from kinkeeper.household.model import Household
from kinkeeper.observer.speaker import REPLAY

ALL_QUEUED = {"TRIPWIRE_THRESHOLD": "0"}

_ADDRESSEE = "addressee"
_NOBODY = frozenset({"unspecified"})
_TIMES = frozenset({"date", "time", "datetime", "range", "duration", "recurring", "instant"})
_CHILD_ROLES = frozenset({"son", "daughter", "grandson", "granddaughter", "niece", "nephew"})
_GAP = timedelta(seconds=40)
_AFTERWARDS = timedelta(hours=1)
_START = datetime(2026, 3, 4, 10, tzinfo=UTC)
_MASKS = ("<#>", "<DECIMAL>", "<TIME>")


@dataclass(frozen=True, slots=True, kw_only=True)
class Understood:
    """One labelled message with what came out.

    Attributes:
        source: Where it comes from.
        text: Verbatim.
        labels: A person's judgement.
        line: The output line.
        is_sure: Whether the judgement was made without doubt.
        has_spoken: Whether the assistant spoke about it, at once or later.
    """

    source: str
    text: str
    labels: Mapping[str, Any]
    line: Line
    is_sure: bool
    has_spoken: bool = False

    @property
    def is_found(self) -> bool:
        """Whether it passed the extraction gate as something arranged."""
        extraction = self.line["extraction"]
        passed = self.line["redline_decision"] is not None
        return bool(passed and extraction and extraction["is_coordination"])

    @property
    def kind(self) -> str | None:
        """The kind of arrangement it was taken for, if any."""
        return self.line["extraction"]["coordination_type"] if self.is_found else None

    @property
    def wanted_kind(self) -> str | None:
        """The kind of arrangement it is as a person judged, if any."""
        kind: str | None = self.labels["coordination_type"]
        return None if kind == "none" else kind

    @property
    def people(self) -> frozenset[str]:
        """Who was given the job; empty for nobody."""
        extraction = self.line["extraction"] or {}
        return frozenset(extraction.get("assigned_to", ())) - _NOBODY

    @property
    def wanted_people(self) -> frozenset[str]:
        """Who has the job as a person judged; empty for nobody and for an open question."""
        return frozenset(map(_id, self.labels["assignee"] or ())) - _NOBODY

    @property
    def is_right_person(self) -> bool:
        """Whether exactly the right people have it; who is asked in a chat of two counts as named."""
        if self.people == self.wanted_people:
            return True
        asks = (self.line["extraction"] or {}).get("stance") == "asks"
        return self.wanted_people == {_ADDRESSEE} and not self.people and asks

    @property
    def is_wrong_person(self) -> bool:
        """Whether somebody has it who should not."""
        return bool(self.people - self.wanted_people)

    @property
    def is_false_speak(self) -> bool:
        """Whether the assistant spoke about what arranges nothing, at once or later."""
        return self.has_spoken and not self.labels["is_coordination"]

    def times_found(self) -> Iterator[bool]:
        """Yield, for each time that the text names readably, whether one was read there."""
        read = [
            (entity["span"][0], entity["span"][1])
            for entity in (self.line["extraction"] or {}).get("extracted_entities", ())
            if entity["type"] in _TIMES
        ]
        for surface in self.labels["datetime_text"]:
            start = self.text.find(surface)
            if start >= 0 and not any(mask in surface for mask in _MASKS):
                yield any(begin < start + len(surface) and start < end for begin, end in read)


def real_understood(path: Path, *, sure_only: bool) -> list[Understood]:
    """Replay each real message that arranges something, after its context.

    Args:
        path: `coordination_real_*.jsonl`.
        sure_only: Whether to leave out what was judged with doubt.

    Raises:
        InputError: The file is missing.
    """
    rows = list(read_lines(path))
    present: dict[str, dict[str, str]] = defaultdict(dict)
    for row in rows:
        present[row["conversation"]] |= dict(_people(row))
    with Stage(ALL_QUEUED) as stage:
        return [
            Understood(
                source=row["source"],
                text=row["text"],
                labels=row["labels"],
                line=_last_line(stage, row, present[row["conversation"]]),
                is_sure=not row["labels"]["doubt"],
            )
            for row in rows
            if row["labels"]["is_coordination"] and not (sure_only and row["labels"]["doubt"])
        ]


def _last_line(stage: Stage, row: Mapping[str, Any], people: Mapping[str, str]) -> Line:
    said = [*row["context"], {"sender": row["sender"], "text": row["text"]}]
    messages = [
        InboundMessage(
            channel=REPLAY,
            chat_id=row["id"],
            message_id=str(number),
            sender=_id(item["sender"]),
            text=item["text"],
            sent_at=_START + number * _GAP,
        )
        for number, item in enumerate(said)
    ]
    words: dict[str, list[dict[str, Any]]] = defaultdict(list)
    for name, kind in sorted(people.items()):
        words[kind].append({"id": _id(name), "words": [name]})
    if len(people) == 1:
        words["adult"].append({"id": _ADDRESSEE, "words": [_ADDRESSEE]})
    system = stage.opened_with(replace(household_of(words), id=row["id"]))
    return [heard.own for heard in play(system, messages)][-1]


def _people(row: Mapping[str, Any]) -> Iterator[tuple[str, str]]:
    """Yield who takes part in a message and its context, and whether as adult or child."""
    roles = dict(_roles(row["meta"].get("parts", "")))
    for name in [row["sender"], *(item["sender"] for item in row["context"])]:
        yield name, "child" if roles.get(name) in _CHILD_ROLES else "adult"


def _roles(parts: str) -> Iterator[tuple[str, str]]:
    """Yield name and role out of a list like "ENI Enid self, NOE Noel husband"."""
    for part in parts.split(","):
        words = part.split()
        if len(words) > 2:  # noqa: PLR2004 - code, name, role
            yield words[1], words[2]


def _id(name: str) -> str:
    return name.lower()


def family_understood(folder: Path) -> list[Understood]:
    """Replay our own family chats, each family's in the order of time.

    Args:
        folder: With `family_chat.jsonl` and `family_households.json`.

    Raises:
        InputError: A file is missing.
    """
    by_family: dict[str, list[Mapping[str, Any]]] = defaultdict(list)
    for row in read_lines(folder / "family_chat.jsonl"):
        by_family[row["household"]].append(row)
    households = json.loads((folder / "family_households.json").read_text(encoding="utf-8"))
    with Stage() as stage:
        return [
            each
            for family, rows in by_family.items()
            for each in _family(stage, replace(household_of(households[family]), id=family), rows)
        ]


def _family(
    stage: Stage, household: Household, rows: Sequence[Mapping[str, Any]]
) -> Iterator[Understood]:
    ordered = sorted(rows, key=lambda row: row["sent_at"])
    messages = [
        InboundMessage(
            channel=REPLAY,
            chat_id=row["thread"],
            message_id=str(number),
            sender=row["sender"],
            text=row["text"],
            sent_at=datetime.fromisoformat(row["sent_at"]).replace(tzinfo=UTC),
        )
        for number, row in enumerate(ordered)
    ]
    end = messages[-1].sent_at + _AFTERWARDS
    heard = list(play(stage.opened_with(household), messages, until=end))
    spoken = {line["message_id"] for each in heard for line in spoken_lines(each.lines)}
    for number, row in enumerate(ordered):
        yield Understood(
            source=row["split"],
            text=row["text"],
            labels=row,
            line=heard[number].own,
            is_sure=True,
            has_spoken=str(number) in spoken,
        )
