"""Which of the things or lines that were shown or made words point at: "it", "the second one". Pure."""

import re
from collections.abc import Iterator, Mapping, Sequence
from typing import Any, Final

from kinkeeper.actions.requests.model import ActionResult
from kinkeeper.conversation.planning.case import (
    Case,
    Groups,
    Step,
    Thing,
    action,
    best_match,
    results_of,
)
from kinkeeper.conversation.planning.list_rules import DETERMINER, lines_of
from kinkeeper.conversation.planning.plan_times import moment_of
from kinkeeper.notes.model import entries

# Lines of a note that was read out or changed, which may be pointed at: "the second one", "scrap
# the bread". Pure.

_RECENT: Final = 3
"""Turns after which a list that was read out is forgotten."""


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
    words = [DETERMINER.sub("", line) for line in lines_of(said, case)]
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


MAKES: Final = frozenset({"create", "update", "create_event", "update_event"})
_ORDINALS: Final = {
    "first": 0, "1st": 0, "former": 0, "next": 0, "top": 0, "second": 1, "2nd": 1, "third": 2, "3rd": 2,
    "fourth": 3, "4th": 3, "fifth": 4, "5th": 4, "sixth": 5, "seventh": 6, "eighth": 7, "ninth": 8, "tenth": 9,
    "last": -1, "latter": -1, "final": -1, "bottom": -1,
}  # fmt: skip
_NUMBERS: Final = {
    "one": 0, "1": 0, "two": 1, "2": 1, "three": 2, "3": 2, "four": 3, "4": 3, "five": 4, "5": 4, "6": 5,
    "7": 6, "8": 7, "9": 8,
}  # fmt: skip
_SEVERAL = re.compile(r"^(?:both|all of|them$|those$|these$)", re.IGNORECASE)
_KIND = re.compile(r"\b(event|appointment|meeting|task|reminder|note)\b", re.IGNORECASE)
_KINDS = {"appointment": "event", "meeting": "event", "reminder": "task"}


def latest(case: Case) -> Iterator[ActionResult]:
    """Yield what was done, the latest first."""
    yield from reversed(case.context.results)
    for exchange in reversed(case.context.history):
        yield from reversed(exchange.results)


def timed_last(case: Case) -> list[ActionResult]:
    """Return which of the things that the last turn made or changed a new time may be of, the latest first.

    Of several it is of those that have a time of its kind: no day is set right of what has none, and no hour. Where nothing
    has such, it is of the latest.
    """
    rounds = (case.context.results, *(each.results for each in reversed(case.context.history)))
    last = next(filter(None, rounds), ())
    made = {
        thing.id or thing.title: (thing.start or "", each)
        for each in last
        if each.action in MAKES and each.domain != "notes"
        for thing in results_of([each])
    }
    dated = [(start, each) for start, each in reversed(made.values()) if start]
    hours = [each for start, each in dated if "T" in start and "T00:00" not in start]
    is_of_hours = not any(each.has_date for each in case.message.spans.values())
    return (is_of_hours and hours) or [each for _, each in dated] or [*latest(case)][:1]


def meant(said: str, case: Case, among: Sequence[ActionResult] = ()) -> list[Thing]:
    """Return the things that words like "it" or "the second one" point at; none where nobody can tell.

    Args:
        among: Results one of whose things it is, where that is known.
    """
    lists = [lines_shown(each) or results_of([each]) for each in latest(case)]
    lists = [each for each in ([results_of(among)] if among else lists) if each]
    kind = _KIND.search(said)
    if kind is not None and lists:
        wanted = _KINDS.get(kind[1].lower(), kind[1].lower())
        lists = [
            chosen for each in lists if (chosen := tuple(one for one in each if one.kind == wanted))
        ]
    if not lists:
        return []
    if _SEVERAL.match(said):
        return [*lists[0]]
    words = said.lower().replace("#", " ").split()
    if "other" in words:
        return _other(lists)
    places = _places(words)
    if places:
        listed = next((each for each in lists if len(each) > 1), lists[0])
        return [listed[each] for each in places] if _are_in(places, listed) else []
    if words[-1] == "one" or words[:2] == ["the", "one"]:
        return _described(said, lists[0], case) or ([lists[0][0]] if len(lists[0]) == 1 else [])
    return [lists[0][0]] if len(lists[0]) == 1 else []


def _places(words: Sequence[str]) -> list[int]:
    """Return the places that words name: "the second one", "the first two", "1 and 3"."""
    words = [word.strip(",.") for word in words]
    named = [_ORDINALS[word] for word in words if word in _ORDINALS]
    counts = [_NUMBERS[word] + 1 for word in words if word in _NUMBERS]
    if len(named) == 1 and counts and words[-1] != "one" and counts[0] > 1:
        return [*range(counts[0])] if named[0] >= 0 else [*range(-counts[0], 0)]
    is_numbered = words[0] in {"number", "no"} or words[0] in _NUMBERS
    return named or ([_NUMBERS[word] for word in words if word in _NUMBERS] if is_numbered else [])


def _are_in(places: Sequence[int], listed: Sequence[Thing]) -> bool:
    return all(-len(listed) <= place < len(listed) for place in places)


def _other(lists: Sequence[Sequence[Thing]]) -> list[Thing]:
    """Return the only thing of the latest list that was not spoken of since."""
    since: set[str] = set()
    for each in lists:
        if len(each) > 1:
            rest = [one for one in each if (one.id or one.title) not in since]
            return rest if len(rest) == 1 else []
        since |= {one.id or one.title for one in each}
    return []


def _described(said: str, things: Sequence[Thing], case: Case) -> list[Thing]:
    words = re.sub(
        r"^the (?:one )?(?:on|at|in|with|about|for)?\s*|\s+one$", "", said, flags=re.IGNORECASE
    )
    moment = moment_of(case.message.times(said), case.now)
    if moment is not None:
        text = moment.text or ""
        if moment.day is None and moment.start is not None:
            text = f"T{moment.start:%H:%M}"
        fitting = [each for each in things if each.start and text[:16] in each.start]
        return fitting if len(fitting) == 1 else []
    found = best_match(case.message.words(words), things)
    return [found] if found is not None else []


def target(thing: Thing) -> dict[str, Any]:
    """Return the parameters that name a thing."""
    if thing.kind == "event" and thing.id:
        return {"event_id": thing.id, "on": thing.original_start or thing.start}
    return {"find_by": thing.id or thing.title}
