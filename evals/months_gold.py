"""Months of a household as they are written down: what is said, what of it is worth keeping, and what is asked."""

import json
import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from enum import StrEnum
from functools import cached_property
from pathlib import Path
from typing import Any, Final

FOLDER: Final = Path("evals/data/memory/months")
_NOTHING: Final = re.compile(
    r"nothing is known|do(?:n't| not) know that|nothing about|have nothing|not something I know|^nobody is down|^nothing (?:with|about)",
    re.IGNORECASE,
)


class Want(StrEnum):
    """What a question should come to."""

    KNOWN = "known"
    UNKNOWN = "unknown"
    LEAK = "leak"
    OLD = "old"


class Came(StrEnum):
    """What a question came to."""

    RIGHT = "right"
    WRONG = "wrong"
    UNANSWERED = "said to be unknown"
    LEAKED = "leaked"


@dataclass(frozen=True, slots=True, kw_only=True)
class Keep:
    """Something said that is worth keeping.

    Attributes:
        id: Of the label.
        words: Words that what is remembered must hold.
        about: Whom or what it is about.
        categories: Those that are right.
        is_outdated: Whether something said later makes it hold no more.
    """

    id: str
    words: Sequence[str]
    about: str
    categories: Sequence[str]
    is_outdated: bool


@dataclass(frozen=True, slots=True, kw_only=True)
class Message:
    """Something said.

    Attributes:
        at: Local, naive.
        by: Member id.
        way: "chat", "session" or "private".
        text: The words.
        keeps: What of it is worth keeping.
        may_keep: Words of what may be kept or not.
    """

    at: datetime
    by: str
    way: str
    text: str
    keeps: Sequence[Keep]
    may_keep: Sequence[Sequence[str]]


@dataclass(frozen=True, slots=True, kw_only=True)
class Question:
    """Something asked.

    Attributes:
        at: Local, naive.
        by: Member id.
        text: The words.
        want: What it should come to.
        must: Patterns that the answer holds, all of them.
        must_not: Patterns that it does not hold.
    """

    at: datetime
    by: str
    text: str
    want: Want
    must: Sequence[str]
    must_not: Sequence[str]

    def came_to(self, answer: str) -> Came:
        """Return what an answer is.

        Args:
            answer: All that whoever asked was shown.
        """
        if any(re.search(each, answer, re.IGNORECASE) for each in self.must_not):
            return Came.LEAKED if self.want is Want.LEAK else Came.WRONG
        if not answer or _NOTHING.search(answer):
            return Came.UNANSWERED if self.want in {Want.KNOWN, Want.OLD} else Came.RIGHT
        if self.want is Want.UNKNOWN:
            return Came.WRONG
        is_held = all(re.search(each, answer, re.IGNORECASE) for each in self.must)
        return Came.RIGHT if is_held else Came.WRONG


@dataclass(frozen=True)
class Months:
    """A household's months.

    Attributes:
        household: Its file, from the root of the repository.
        rows: Messages and questions in their order.
    """

    household: Path
    rows: Sequence[Message | Question]

    @cached_property
    def messages(self) -> Sequence[Message]:
        """What is said."""
        return [row for row in self.rows if isinstance(row, Message)]


def load_months(file: Path) -> Months:
    """Return the months of a file.

    Args:
        file: One JSON object a line; `evals/data/memory/README.md` describes it.
    """
    head, *rows = map(json.loads, file.read_text(encoding="utf-8").splitlines())
    outdated = {each for row in rows for each in row.get("outdates", ())}
    return Months(
        household=Path(head["file"]),
        rows=[
            _message(row, outdated) if row["kind"] == "message" else _question(row) for row in rows
        ],
    )


def _message(row: Mapping[str, Any], outdated: set[str]) -> Message:
    return Message(
        at=datetime.fromisoformat(row["at"]),
        by=row["by"],
        way=row["way"],
        text=row["text"],
        may_keep=row["may_keep"],
        keeps=[
            Keep(
                id=each["id"],
                words=each["words"],
                about=each["about"],
                categories=each["category"],
                is_outdated=each["id"] in outdated,
            )
            for each in row["keeps"]
        ],
    )


def _question(row: Mapping[str, Any]) -> Question:
    return Question(
        at=datetime.fromisoformat(row["at"]),
        by=row["by"],
        text=row["q"],
        want=Want(row["want"]),
        must=row["must"],
        must_not=row["must_not"],
    )
