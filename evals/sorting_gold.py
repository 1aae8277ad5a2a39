"""Labelled requests and statements: public sets in place, our own from the repository; which are held out."""

import hashlib
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

from evals.coordination import read_lines

SINGLE_SETS = ("clinc_router", "hwu_router", "slurp_router")
CALENDAR_SET = "smcalflow_calendar"
COMPOSED_SET = "multidomain_mix"
OWN_REQUESTS = "sorting/requests.txt"
OWN_REQUESTS_HELD_OUT = "sorting/requests_heldout.txt"
OWN_STATEMENTS = "sorting/statements.txt"
OWN_STATEMENTS_HELD_OUT = "sorting/statements_heldout.txt"
OWN_STATEMENTS_AWKWARD = "memory/categories_heldout.jsonl"

_HELD_OUT_PERCENT = 20
_HELD_OUT_SLOTS_PERCENT = 50
_NONE = "-"
_TALK = frozenset({"chat", "followup"})


@dataclass(frozen=True, slots=True, kw_only=True)
class Request:
    """A request with the domains that it means.

    Attributes:
        text: As it was written.
        accepted: Sets of domains that are right, the best first.
        is_sure: Whether the label is no judgement call.
        is_held_out: Whether nothing was fitted on it.
        source: Name of its set.
        is_talk: Whether it only talks, or answers.
        kind: What is asked for within the domain, as its set calls it.
    """

    text: str
    accepted: tuple[frozenset[str], ...]
    is_sure: bool
    is_held_out: bool
    source: str
    is_talk: bool = False
    kind: str = "own"

    @property
    def domains(self) -> frozenset[str]:
        """The best set."""
        return self.accepted[0]


@dataclass(frozen=True, slots=True, kw_only=True)
class Statement:
    """A statement with its category.

    Attributes:
        text: As it was written.
        category: Its label.
        is_held_out: Whether nothing was fitted on it.
        source: Name of its set.
    """

    text: str
    category: str
    is_held_out: bool
    source: str


def public_requests(data: Path, name: str) -> Iterator[Request]:
    """Yield the requests of a public set; of dialogues their first turns.

    Args:
        data: Folder with the public sets.
        name: Of the set, without "_dev.jsonl".

    Raises:
        InputError: The set is missing.
    """
    for row in read_lines(data / f"{name}_dev.jsonl"):
        if row.get("context"):
            continue
        yield Request(
            text=row["text"],
            is_sure=not row.get("doubt", False),
            source=name,
            accepted=(frozenset(row["domains"]), *map(frozenset, row.get("accept", ()))),
            is_held_out=name not in SINGLE_SETS or is_held_out(row["text"]),
            kind=row.get("intent", name),
            is_talk=row.get("type") in _TALK or row.get("social") is not None,
        )


def own_requests(evals: Path, name: str) -> Iterator[Request]:
    """Yield requests that were written for this repository.

    Args:
        evals: Folder with our own labelled texts.
        name: Path of the file in it.
    """
    for label, text in _labelled_lines(evals / name):
        domains = frozenset() if label == _NONE else frozenset(label.split("+"))
        yield Request(
            text=text,
            accepted=(domains,),
            is_sure=True,
            source="own",
            is_held_out=name == OWN_REQUESTS_HELD_OUT,
        )


def public_statements(data: Path) -> Iterator[Statement]:
    """Yield the statements of the public set of memory updates, held out by what they are about.

    Args:
        data: Folder with the public sets.

    Raises:
        InputError: The set is missing.
    """
    seen: set[str] = set()
    for row in read_lines(data / "memupdate_dev.jsonl"):
        if row["old"] not in seen:
            seen.add(row["old"])
            yield Statement(
                text=row["old"],
                category=row["category"],
                source="memory updates",
                is_held_out=is_held_out(row["attr"], _HELD_OUT_SLOTS_PERCENT),
            )


def own_statements(evals: Path, name: str) -> Iterator[Statement]:
    """Yield statements that were written for this repository.

    Args:
        evals: Folder with our own labelled texts.
        name: Path of the file in it.
    """
    for label, text in _labelled_lines(evals / name):
        yield Statement(
            text=text, category=label, source="own", is_held_out=name == OWN_STATEMENTS_HELD_OUT
        )


def awkward_statements(evals: Path) -> Iterator[Statement]:
    """Yield statements whose category is hard to tell; nothing is fitted on them.

    Args:
        evals: Folder with our own labelled texts.
    """
    for row in read_lines(evals / OWN_STATEMENTS_AWKWARD):
        yield Statement(
            text=row["text"], category=row["category"], source="own, awkward", is_held_out=True
        )


def _labelled_lines(path: Path) -> Iterator[tuple[str, str]]:
    for line in path.read_text(encoding="utf-8").splitlines():
        if line and not line.startswith("#"):
            label, text = line.split(": ", 1)
            yield label, text


def is_held_out(key: str, percent: int = _HELD_OUT_PERCENT) -> bool:
    """Tell whether a text is kept from fitting, by its digest.

    Args:
        key: The text, or what it is about.
        percent: How many of a hundred are.
    """
    digest = hashlib.sha256(f"held out|{key.casefold()}".encode()).hexdigest()
    return int(digest[:8], 16) % 100 < percent
