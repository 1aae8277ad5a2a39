"""Labelled turns: what is social, and what follows up on what was said before; public sets, read in place."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path

from evals.coordination import read_lines
from evals.sorting_gold import is_held_out

SOCIAL_SET = "social_filter"
FOLLOW_UP_SETS = ("sgd_followup_social", "smcalflow_calendar")
FREE_SOURCES = frozenset({"clinc150", "hwu64"})
"""Sources that may be fitted on; all others are only measured."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Line:
    """One earlier line of a dialogue.

    Attributes:
        is_assistant: Whether the assistant said it.
        text: What.
    """

    is_assistant: bool
    text: str


@dataclass(frozen=True, slots=True, kw_only=True)
class SocialText:
    """A message with what kind of social message it is.

    Attributes:
        text: As it was written.
        label: "greeting", "thanks", "goodbye", "ack", "cancel", "negate" or "none".
        before: Lines before it, oldest first.
        is_sure: Whether the label is no judgement call.
        is_held_out: Whether nothing was fitted on it.
        source: Where it comes from.
    """

    text: str
    label: str
    before: Sequence[Line]
    is_sure: bool
    is_held_out: bool
    source: str


@dataclass(frozen=True, slots=True, kw_only=True)
class FollowUp:
    """A turn of a dialogue, with whether it continues what was said before.

    Attributes:
        text: As it was written.
        before: Lines before it, oldest first.
        is_followup: Whether it continues.
        domains: That it is for.
        source: Name of its set.
    """

    text: str
    before: Sequence[Line]
    is_followup: bool
    domains: frozenset[str]
    source: str


def social_texts(data: Path) -> Iterator[SocialText]:
    """Yield the messages of the public set of social messages and of what looks like them.

    Args:
        data: Folder with the public sets.

    Raises:
        InputError: The set is missing.
    """
    for row in read_lines(data / f"{SOCIAL_SET}_dev.jsonl"):
        source = row["meta"]["source"].partition(":")[0]
        yield SocialText(
            text=row["text"],
            label=row["social"],
            before=_lines(row),
            is_sure=not row["doubt"],
            is_held_out=source not in FREE_SOURCES or is_held_out(row["text"]),
            source=source,
        )


def follow_ups(data: Path, name: str) -> Iterator[FollowUp]:
    """Yield the turns of a public set of dialogues that are neither talk nor of unclear kind, first turns left out.

    Args:
        data: Folder with the public sets.
        name: Of the set.

    Raises:
        InputError: The set is missing.
    """
    for row in read_lines(data / f"{name}_dev.jsonl"):
        kind = row["type"]
        if not row["context"] or kind is None or kind == "chat":
            continue
        yield FollowUp(
            text=row["text"],
            before=_lines(row),
            is_followup=kind.startswith("followup"),
            domains=frozenset(row["domains"]),
            source=name,
        )


def requests_in_context(data: Path, name: str) -> Iterator[tuple[str, bool]]:
    """Yield the requests of a public set that some part of the assistant can do, with whether lines stand before.

    Args:
        data: Folder with the public sets.
        name: Of the set.

    Raises:
        InputError: The set is missing.
    """
    for row in read_lines(data / f"{name}_dev.jsonl"):
        if row["domains"] and row.get("social") is None:
            yield row["text"], bool(row.get("context"))


def _lines(row: dict[str, list[dict[str, str]]]) -> Sequence[Line]:
    return [
        Line(is_assistant=each["sender"] != "user", text=each["text"]) for each in row["context"]
    ]
