"""Lines of a note that was read out or changed, which may be pointed at: "the second one", "scrap the bread". Pure."""

import re
from collections.abc import Iterator, Mapping, Sequence
from typing import Final

from kinkeeper.actions.requests.model import ActionResult
from kinkeeper.conversation.planning.case import Case, Groups, Step, action
from kinkeeper.conversation.planning.list_rules import lines_of
from kinkeeper.conversation.planning.named import Thing, best_match
from kinkeeper.notes.text import entries

_RECENT: Final = 3
"""Turns after which a list that was read out is forgotten."""

_OWN = re.compile(r"^(?:the|my|our|some|any)\s+", re.IGNORECASE)


def lines_shown(result: ActionResult) -> tuple[Thing, ...]:
    """Return the lines of one note that a result is about; none where it is not about one note."""
    if result.domain != "notes":
        return ()
    return tuple(Thing(kind="line", id="", title=line, note=note) for note, line in _lines(result))


def _lines(result: ActionResult) -> Iterator[tuple[str, str]]:
    known: Mapping[str, object] = result.result
    title = str(known.get("title") or result.params.get("title") or "")
    if result.action == "list" and result.params.get("title"):
        for note in result.result.get("notes", ()):
            yield from ((note["title"], line) for line in note.get("entries", ()))
    elif result.action == "change_line":
        yield title, str(known.get("added") or result.params.get("new") or "")
    elif result.action in {"append", "create"}:
        yield from ((title, line) for line in entries(str(result.params.get("body", ""))))
    elif result.action == "remove_line":
        yield title, str(known.get("removed") or result.params.get("line") or "")


def taken_off(thing: Thing) -> Step:
    """Return what takes a line off its note."""
    return action("notes", "remove_line", {"title": thing.note, "line": thing.title})


def gone(groups: Groups, case: Case) -> Sequence[Step] | None:
    """Read "scrap the bread" and "got the limes" after a list was shown; None where one of it is no line of it."""
    said = groups["lines"] or groups["lines2"]
    unique = lines_in_view(case)
    words = [_OWN.sub("", line) for line in lines_of(said, case)]
    found = [best_match(each, unique) for each in words]
    return [taken_off(each) for each in found if each is not None] if all(found) else None


def lines_in_view(case: Case) -> list[Thing]:
    """Return the lines of lists that were shown or changed in the last turns, as far as they were not taken off.

    Args:
        case: The message, and what was done before it.
    """
    shown = [
        line
        for exchange in (*case.context.history[-_RECENT:],)
        for result in exchange.results
        for line in lines_shown(result)
        if result.action != "remove_line"
    ]
    return [*{(each.note, each.title): each for each in shown}.values()]
