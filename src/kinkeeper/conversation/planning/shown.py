"""What a model is shown of what exists and of what was just done, each by an alias that holds in that prompt alone. Pure.

Aliases and their order rest on what the things are, not on their ids: the same state always gives the same prompt.
"""

from collections.abc import Collection, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass
from datetime import datetime
from typing import Any, Final
from uuid import UUID

from kinkeeper.actions.requests.model import ActionResult, ResultStatus
from kinkeeper.conversation.planning.case import Case, Thing, content_words, results_of
from kinkeeper.conversation.planning.referents import lines_shown
from kinkeeper.models.prompts import Data

_LETTERS: Final = {"event": "e", "task": "d", "note": "n", "line": "i"}
"""What an alias of a kind begins with; times have "t", what was done "r"."""

_TURNS, _DONE, _THINGS, _OWN_THINGS, _LISTS, _LONGEST_NAME = 4, 8, 30, 12, 12, 3
_STANDING: Final = {ResultStatus.AWAITING: "waits", ResultStatus.DONE: "done"}


@dataclass(frozen=True, slots=True, kw_only=True)
class Shown:
    """What a message may refer to.

    Attributes:
        things: What exists, by alias.
        done: What was done or awaits a yes, by alias, the oldest first.
        unsure: Of things that the message names no better than another: the words that both have in common with it.
        lists: Names of lists.
        words: The only words of things that are shown; None shows all.
    """

    things: Mapping[str, Thing]
    done: Mapping[str, ActionResult]
    unsure: Mapping[str, str]
    lists: Sequence[str]
    words: frozenset[str] | None

    @property
    def known(self) -> dict[str, Data]:
        """The things as a prompt tells them."""
        return {
            alias: [self.part(each.title), each.start or self.part(each.note)]
            for alias, each in self.things.items()
        }

    def told(self, result: ActionResult) -> dict[str, Data]:
        """Return a request and what became of it as a prompt tells it."""
        told: dict[str, Data] = {"request": f"{result.domain}.{result.action}"}
        if result.status in _STANDING:
            told["is"] = _STANDING[result.status]
        told["params"] = self._params(result.params)
        if found := [self.alias_of(each) for each in _things_of(result)]:
            told["things"] = [each for each in found if each]
        elif about := [part for each in results_of([result]) if (part := self.part(each.title))]:
            told["about"] = about
        return told

    def alias_of(self, thing: Thing) -> str:
        """Return the alias of a thing; "" where it is not shown."""
        return next((key for key, each in self.things.items() if _is_same(each, thing)), "")

    def part(self, text: str) -> str:
        """Return of a text what may be shown."""
        if self.words is None:
            return text
        return "\n".join(filter(None, (_among(self.words, line) for line in text.splitlines())))

    def _params(self, params: Mapping[str, Any]) -> dict[str, Data]:
        told = {
            name: self._params(value) if isinstance(value, Mapping) else self._value(name, value)
            for name, value in params.items()
        }
        return {name: value for name, value in told.items() if value not in ("", [], {})}

    def _value(self, name: str, value: object) -> Data:
        if isinstance(value, list | tuple):
            return [told for each in value if (told := self._value(name, each))]
        text = str(value)
        for alias, each in self.things.items():
            if each.id == text:
                return alias
        if _is_id(text):
            return ""
        return text if name == "rrule" or _is_time(text) else self.part(text)


def shown(case: Case, said: Sequence[str] | None = None) -> Shown:
    """Return what a model is shown beside a message.

    Args:
        case: What the viewer may read.
        said: Texts that are the person's own: of anything else no other words are shown than theirs, and only what the
            message names or the thread spoke of. None shows all that is known.
    """
    names = content_words(" ".join(case.household.words_for_people))
    words = None if said is None else content_words(" ".join(said)) | names
    done = _lately(case)
    spoken_of = [each for result in done for each in _things_of(result)]
    asked = content_words(case.context.text)
    days = _days(case)

    def fit(thing: Thing) -> tuple[int, bool]:
        return len(content_words(thing.title) & asked), (thing.start or "")[:10] in days

    known = [*spoken_of, *(each for result in done for each in results_of([result]))]
    others = [each for each in case.things if each.kind in _LETTERS and not _is_of(each, known)]
    if said is not None:
        named = [each for each in others if content_words(each.title) & asked - names]
        others = sorted(named or [each for each in others if fit(each)[1]], key=fit, reverse=True)
    most = _THINGS if said is None else _OWN_THINGS
    chosen = sorted([*spoken_of, *others][:most], key=_order)
    things = _by_alias(chosen)
    unsure = {
        alias: _among(asked, each.title)
        for alias, each in things.items()
        if said is not None and each in others
        if any(
            rival is not each and rival.kind == each.kind and fit(rival) >= fit(each)
            for rival in others
        )
    }
    return Shown(
        things=things,
        done={f"r{at}": each for at, each in enumerate(done, 1)},
        unsure=unsure,
        lists=_lists(case, is_own=said is not None),
        words=words,
    )


def _by_alias(things: Sequence[Thing]) -> dict[str, Thing]:
    """Return things by alias, each once, counted by kind."""
    found: dict[str, Thing] = {}
    for each in things:
        if not _is_of(each, found.values()):
            letter = _LETTERS[each.kind]
            found[f"{letter}{sum(key[0] == letter for key in found) + 1}"] = each
    return found


def _lately(case: Case) -> Sequence[ActionResult]:
    """Return what was done in the last turns of the thread, or awaits a yes, as it stood last; what was dropped is left out."""
    found: dict[str, ActionResult] = {}
    told = [each for turn in case.context.history[-_TURNS:] for each in turn.results]
    for each in [*told, *case.context.open_edit]:
        key = each.action_id or str(id(each))
        found.pop(key, None)
        if each.status in _STANDING:
            found[key] = each
    return [*found.values()][-_DONE:]


def _things_of(result: ActionResult) -> Sequence[Thing]:
    """Return the things that a result is about and that exist."""
    missing = {ResultStatus.AWAITING: "create", ResultStatus.DONE: "delete"}.get(result.status)
    if missing is not None and result.action.startswith(missing):
        return ()
    found = lines_shown(result) or results_of([result])
    return [each for each in found if each.kind in _LETTERS]


def _days(case: Case) -> Collection[str]:
    """Return the days that the message names, as dates."""
    return {each.begin.date().isoformat() for each in case.message.spans.values() if each.has_date}


def _lists(case: Case, *, is_own: bool) -> Sequence[str]:
    """Return the names of lists; beside the person's own words only short ones, which are names and no texts."""
    names = [str(each) for each in case.context.fetched.get("lists", ())]
    kept = [each for each in names if not is_own or len(each.split()) <= _LONGEST_NAME]
    return sorted(kept, key=str.casefold)[:_LISTS]


def _among(words: Collection[str], text: str) -> str:
    """Return the words of a text that are among some, in their order, with the small words between two of them."""
    said = text.split()
    telling = [content_words(each) for each in said]
    kept = [bool(each) and each <= {*words} for each in telling]
    between = [
        not each and any(kept[at - 1 : at]) and any(kept[at + 1 : at + 2])
        for at, each in enumerate(telling)
    ]
    return " ".join(
        each
        for each, is_kept, is_between in zip(said, kept, between, strict=True)
        if is_kept or is_between
    )


def _order(thing: Thing) -> tuple[str, str, str, str]:
    return thing.kind, thing.start or "~", thing.title.casefold(), thing.note


def _is_of(thing: Thing, things: Collection[Thing]) -> bool:
    return any(_is_same(each, thing) for each in things)


def _is_same(one: Thing, other: Thing) -> bool:
    """Whether two are the same thing, and of a series the same time of it as far as that is known."""
    if one.kind != other.kind or (one.id or one.title, one.note) != (
        other.id or other.title,
        other.note,
    ):
        return False
    starts = {each.original_start or each.start for each in (one, other)} - {None, ""}
    return len(starts) <= 1 or not (one.rrule or other.rrule)


def _is_id(text: str) -> bool:
    with suppress(ValueError):
        return bool(UUID(text))
    return False


def _is_time(text: str) -> bool:
    with suppress(ValueError):
        return bool(datetime.fromisoformat(text))
    return not any(map(str.isalpha, text)) or text in {"True", "False"}
