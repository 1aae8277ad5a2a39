"""Which of the things that were shown or made words point at: "it", "the second one", "the first two". Pure."""

import re
from collections.abc import Iterator, Sequence
from typing import Any, Final

from kinkeeper.actions.requests.model import ActionResult
from kinkeeper.conversation.planning.case import Case
from kinkeeper.conversation.planning.named import Thing, best_match, results_of
from kinkeeper.conversation.planning.plan_times import moment_of
from kinkeeper.conversation.planning.shown_lines import lines_shown

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


def meant(said: str, case: Case) -> list[Thing]:
    """Return the things that words like "it" or "the second one" point at; none where nobody can tell."""
    lists = [lines_shown(each) or results_of([each]) for each in latest(case)]
    lists = [each for each in lists if each]
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
