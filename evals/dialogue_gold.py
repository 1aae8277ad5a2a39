"""Labelled dialogues, and whether what came of a turn is what was asked for."""

import json
import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from pathlib import Path
from typing import Any, Final

from kinkeeper.actions.requests.model import ActionResult, ResultStatus
from kinkeeper.conversation.planning.clauses import bare
from kinkeeper.conversation.planning.grammar import load_grammar

READS: Final = frozenset(
    {
        "calendar.list_events",
        "calendar.find_free",
        "memory.search",
        "task.list",
        "notes.list",
        "notes.search",
        "email.search",
    }
)
_SHOWN: Final = ("events", "tasks", "notes")
_GOOD: Final = frozenset({ResultStatus.DONE.value, ResultStatus.AWAITING.value})
_DONE: Final = ResultStatus.DONE.value
_LOW: Final = frozenset(
    {
        "calendar.create_event",
        "task.create",
        "task.update",
        "task.complete",
        "notes.create",
        "notes.append",
        "notes.remove_line",
        "notes.change_line",
        "memory.store",
        "email.create_draft",
    }
)
"""Requests that need no yes where a person plainly asks for them."""

_HOLLOW = re.compile(
    r"(?:i see|thanks for telling me|good to know|noted|okay|all right|fine|good)[.!]*",
    re.IGNORECASE,
)
_ARTICLES = re.compile(r"^(?:the|a|an|my|our)\s+", re.IGNORECASE)


@dataclass(frozen=True, slots=True, kw_only=True)
class Line:
    """One message of a dialogue.

    Attributes:
        text: What is said.
        expected: What must come of it, each {"do": "domain.action|domain.action", name: value}; None is not judged.
        says: Words that the answer must have.
        silent: Words that it must not have.
        may: What may also be proposed, as in `expected`; nothing of it is missed.
    """

    text: str
    expected: Sequence[Mapping[str, Any]] | None
    says: Sequence[str]
    silent: Sequence[str]
    may: Sequence[Mapping[str, Any]] = ()


@dataclass(frozen=True, slots=True, kw_only=True)
class Dialogue:
    """Messages one after the other in one thread of a fresh household.

    Attributes:
        id: Of the row.
        slice: The kind of dialogue.
        household: Its file.
        by: Member who speaks; the first adult where None.
        now: When it begins, on the household's clock.
        lines: The messages.
    """

    id: str
    slice: str
    household: Path
    by: str | None
    now: datetime
    lines: Sequence[Line]


def dialogues_of(path: Path, root: Path) -> Iterator[Dialogue]:
    """Yield the dialogues of a file.

    Args:
        path: JSON lines.
        root: Folder that household files are named from.
    """
    for line in path.read_text(encoding="utf-8").splitlines():
        row = json.loads(line)
        yield Dialogue(
            id=row["id"],
            slice=row["slice"],
            household=root / row["household"],
            by=row.get("by"),
            now=datetime.fromisoformat(row["now"]),
            lines=tuple(map(_line, row["turns"])),
        )


def _line(row: Mapping[str, Any]) -> Line:
    return Line(
        text=row["text"],
        expected=row.get("expect"),
        says=row.get("says", ()),
        silent=row.get("silent", ()),
        may=row.get("may", ()),
    )


def is_right(line: Line, results: Sequence[ActionResult], answer: str) -> bool:
    """Return whether a turn came to what its label says: all of that, and nothing else written.

    Args:
        line: The message with its label.
        results: What was done.
        answer: What was said.
    """
    said = answer.casefold()
    if not all(each.casefold() in said for each in line.says):
        return False
    if any(each.casefold() in said for each in line.silent):
        return False
    missing, left = _compared(line, results)
    return not missing and not any(map(_writes, left))


def is_written_wrong(line: Line, results: Sequence[ActionResult]) -> bool:
    """Return whether a turn wrote something, without a yes that was due, which its label does not have.

    Args:
        line: The message with its label.
        results: What was done.
    """
    _, left = _compared(line, results)
    return any(_writes(each) and each.status is ResultStatus.DONE for each in left)


def is_hollow(line: Line, answer: str) -> bool:
    """Return whether a turn in which something was wanted was answered with a mere courtesy.

    Args:
        line: The message with its label.
        answer: What was said.
    """
    is_wanted = bool(line.expected or line.says or line.silent or line.may)
    return is_wanted and _HOLLOW.fullmatch(answer.strip()) is not None


def asks_needlessly(line: Line, results: Sequence[ActionResult]) -> bool:
    """Return whether a plain request for something of low stakes was asked about instead of carried out.

    Args:
        line: The message with its label.
        results: What was done.
    """
    asked = [
        each
        for wanted in line.expected or ()
        if wanted.get("status", _DONE) == _DONE
        for each in results
        if each.status is ResultStatus.AWAITING
        and _key(each) in _LOW
        and _is_as({**wanted, "status": ResultStatus.AWAITING.value}, each)
    ]
    grammar = load_grammar()
    return bool(asked) and grammar.starts.match(bare(line.text, grammar)) is not None


def _compared(
    line: Line, results: Sequence[ActionResult]
) -> tuple[Sequence[Mapping[str, Any]], Sequence[ActionResult]]:
    """Return what the label has and nothing came of, and what came about and is not in the label."""
    missing, left = [], list(results)
    for wanted in line.expected or ():
        found = next((each for each in left if _is_as(wanted, each)), None)
        if found is None:
            missing.append(wanted)
        else:
            left.remove(found)
    left = [each for each in left if not any(_is_as(wanted, each) for wanted in line.may)]
    return missing, left


def _writes(result: ActionResult) -> bool:
    return _key(result) not in READS and result.status.value in _GOOD


def _key(result: ActionResult) -> str:
    return f"{result.domain}.{result.action}"


def _is_as(wanted: Mapping[str, Any], result: ActionResult) -> bool:
    statuses = wanted["status"].split("|") if "status" in wanted else _GOOD
    if _key(result) not in wanted["do"].split("|") or result.status.value not in statuses:
        return False
    named = {name: value for name, value in wanted.items() if name not in {"do", "status"}}
    return all(_is_equal(value, _given(result, name)) for name, value in named.items())


def _given(result: ActionResult, name: str) -> Any:
    if name == "shows":
        rows = [row for kind in _SHOWN for row in result.result.get(kind, ())]
        return [*dict.fromkeys(row["title"] for row in rows)]
    changes = result.params.get("changes", {})
    given = {**result.params, **changes, **result.result}.get(name)
    return given.split(", ") if name in {"added", "removed"} and given is not None else given


def _is_equal(wanted: Any, given: Any) -> bool:
    if isinstance(wanted, bool):
        return bool(given) is wanted
    if given is None:
        return False
    if isinstance(wanted, list) or isinstance(given, list):
        return sorted(map(_plain, _listed(wanted))) == sorted(map(_plain, _listed(given)))
    if re.match(r"\d{4}-\d\d-\d\d", wanted):
        return str(given).startswith(wanted)
    return _plain(given) in {_plain(each) for each in wanted.split("|")}


def _listed(value: Any) -> list[Any]:
    return value if isinstance(value, list) else [value]


def _plain(value: object) -> str:
    words = re.sub(r"[^\w\s'@-]", " ", str(value).casefold())
    return _ARTICLES.sub("", " ".join(words.split()))
