"""What was just put on a list, made or proposed, and is wanted a little different, or at another time. Pure.

These are read with the words of their times put back: "make that three" is no hour where a list was spoken of.
"""

import re
from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from datetime import datetime, timedelta
from typing import Any, Final

from kinkeeper.actions.requests.model import ActionResult, ResultStatus
from kinkeeper.actions.requests.parameters import shifted
from kinkeeper.conversation.planning.case import (
    Case,
    Groups,
    Step,
    Thing,
    action,
    best_match,
    further,
    results_of,
)
from kinkeeper.conversation.planning.event_updates import is_beside_now
from kinkeeper.conversation.planning.message import read_message
from kinkeeper.conversation.planning.people import PRONOUNS, is_person, who_of
from kinkeeper.conversation.planning.plan_times import moment_of, without
from kinkeeper.conversation.planning.references import asked_which, changed, combined
from kinkeeper.conversation.planning.referents import (
    MAKES,
    latest,
    lines_in_view,
    target,
    timed_last,
)
from kinkeeper.conversation.planning.relative import in_its_frame, proposed_with
from kinkeeper.reading.hours import hour_set_right
from kinkeeper.reading.modality import Modality, modality_of

# Second thoughts about a time that was just said: "make that 10" after "in 20 minutes", "no, half
# past". Pure.

_HOUR: Final = timedelta(hours=1)
_NUMBERS: Final = {
    "a": 1.0, "an": 1.0, "one": 1.0, "half": 0.5, "half an": 0.5, "two": 2.0, "three": 3.0, "four": 4.0, "five": 5.0,
    "ten": 10.0, "quarter": 15.0, "a quarter": 15.0, "fifteen": 15.0, "twenty": 20.0, "twenty-five": 25.0, "thirty": 30.0,
    "forty": 40.0, "forty-five": 45.0, "fifty": 50.0,
}  # fmt: skip

_HALF_DAY: Final = 12


def another_length(groups: Groups, case: Case) -> Sequence[Step] | None:
    """Read "make that 10" and "no, an hour" where the time that is meant was counted from when it was said."""
    counted = _counted_from(case)
    if counted is None:
        return None
    at, unit = counted
    amount, unit = _number(groups["amount"]), groups["unit"] or unit
    if amount is None:
        return None
    length = amount * (_HOUR if unit.lower().startswith("h") else timedelta(minutes=1))
    return _moved(lambda _old: shifted(at, length), case)


def _counted_from(case: Case) -> tuple[datetime, str] | None:
    """Return from when on, and in which unit, the last time was counted; None where it was not."""
    for exchange in reversed(case.context.history):
        said = case.grammar.amending["counted_on"].search(exchange.text)
        if said is not None:
            return exchange.at.astimezone(case.household.zone).replace(microsecond=0), said["unit"]
        if case.grammar.amending["another_length"].fullmatch(exchange.text.strip(" .!")) is None:
            return None
    return None


def another_hour(case: Case) -> list[Step] | None:
    """Read "wait, it's 3 not 4" and "not 4, 3": the hour of what was just made gives way to another.

    It is the nearest such hour to the one that was given, morning or afternoon.
    """
    said = hour_set_right(case.context.text)
    if said is None:
        return None
    things = results_of([each for each in timed_last(case) if each.action in MAKES])
    start = things[0].start if len(things) == 1 else None
    if start is None or "T" not in start:
        return None
    was, (hour, minute) = datetime.fromisoformat(start), said.old
    if (was.hour % _HALF_DAY, was.minute) != (hour % _HALF_DAY, minute):
        return None

    def near(before: datetime) -> datetime:
        hour, minute = said.new
        halves = (hour % _HALF_DAY, hour % _HALF_DAY + _HALF_DAY)
        later = [before.replace(hour=each, minute=minute) for each in halves]
        return min(later, key=lambda each: abs(each - before))

    steps = _moved(near, case)
    return [*steps] if steps else None


def part_of_hour(groups: Groups, case: Case) -> Sequence[Step] | None:
    """Read "make it 10 past" and "quarter to": the nearest such time to what it is."""
    minutes = 30 if groups["part"].lower().startswith("half") else _number(groups["part"])
    if minutes is None:
        return None
    past = timedelta(minutes=minutes)
    if groups["way"].lower() in {"to", "before"}:
        past = _HOUR - past

    def near(old: datetime) -> datetime:
        hour = old.replace(minute=0, second=0, microsecond=0)
        return min(
            (hour + past + by for by in (-_HOUR, timedelta(), _HOUR)),
            key=lambda each: abs(each - old),
        )

    return _moved(near, case)


def _moved(when: Callable[[datetime], datetime], case: Case) -> Sequence[Step] | None:
    """Return what puts the one thing that was just made or changed at another time."""
    found = [each for each in timed_last(case) if each.action in MAKES]
    things = results_of(found)
    if not things or "T" not in (things[0].start or ""):
        return None
    new = {"start_time": when(datetime.fromisoformat(things[0].start or "")).isoformat()}
    return [_step(found[0], new)] if len(things) == 1 else [asked_which(things, new)]


def _step(last: ActionResult, changes: Mapping[str, Any]) -> Step:
    if last.status is ResultStatus.AWAITING:
        return action(last.domain, last.action, proposed_with(last, changes))
    (thing,) = results_of([last])
    return changed(thing, changes)


def _number(words: str) -> float | None:
    said = " ".join(words.lower().replace("-", " ").split())
    if said.isdecimal():
        return float(said)
    return _NUMBERS.get(said) or _NUMBERS.get(said.replace(" ", "-"))


_COUNT = re.compile(
    r"^(?:\d+(?:[.,]\d+)?|an?|some|one|two|three|four|five|six|seven|eight|nine|ten|twelve|half a dozen|a dozen|a couple of|a few)\s+",
    re.IGNORECASE,
)
_NUMBER_ALONE = re.compile(r"^(?:\S+|half a dozen|a dozen|a couple|a few)$", re.IGNORECASE)
_UNNAMED = re.compile(r"^(?:it|that|this|them|those)$", re.IGNORECASE)
_DENIES = re.compile(
    r"\W*(?:no|nope|sorry|oops|wait|actually|i meant|i mean|make (?:that|it))\b", re.IGNORECASE
)
_TOO = re.compile(r"[\s,]*\b(?:too|as well|also|please|but)\b[\s,]*", re.IGNORECASE)
_JOINS = re.compile(r"\W*(?:oh )?(?:and|also|plus)\b", re.IGNORECASE)
_WORD = re.compile(r"\w")
_PART_OF_HOUR = re.compile(r"(?:at )?(?P<part>half past|quarter past|quarter to)", re.IGNORECASE)
_PARTS: Final = {
    "half past": timedelta(minutes=30),
    "quarter past": timedelta(minutes=15),
    "quarter to": timedelta(minutes=45),
}
_CHANGING: Final = frozenset({"update_event", "delete_event"})
_EMPTIED: Final = frozenset({"append", "create", "list", "change_line"})


def amended(clause: str, case: Case) -> list[Step] | None:
    """Return what a clause wants different about what was just done, or None where it does not speak of that.

    Args:
        clause: With marks, without politeness.
        case: The message, and what was done before it.
    """
    said = case.message.words(clause)
    for name, read in _READERS.items():
        found = case.grammar.amending[name].fullmatch(said)
        steps = read(_merged(found.groupdict("")), case) if found is not None else None
        if steps:
            return [*steps]
    return None


def _merged(groups: Groups) -> Groups:
    """Return what a pattern of several forms found, each under its name without the number of the form."""
    said = {name.rstrip("234"): value.strip() for name, value in groups.items() if value}
    return {name: said.get(name, "") for name in (each.rstrip("234") for each in groups)}


def _emptied(_groups: Groups, case: Case) -> Sequence[Step] | None:
    """Read "cross off everything": all that stands on the list which was spoken of last."""
    last = next((each for each in latest(case) if each.domain in {"notes", "task"}), None)
    if last is None:
        return None
    if last.domain == "notes" and last.action in _EMPTIED:
        title = last.params.get("title") or last.result.get("title")
        return [action("notes", "clear", {"title": title})] if title else None
    tasks = [each for each in results_of([last]) if each.kind == "task" and each.is_open]
    if (last.domain, last.action) != ("task", "list"):
        return None
    return [action("task", "complete", target(each)) for each in tasks]


def _counted(groups: Groups, case: Case) -> Sequence[Step] | None:
    """Read "make the milk 4 litres" and "make that three"."""
    line = _line(groups["line"], case) or _counted_line(groups, case)
    if line is None or any(map(is_beside_now, case.message.spans.values())):
        return None
    noun, amount = _COUNT.sub("", line.title), groups["amount"].strip()
    new = f"{amount} {noun}" if _NUMBER_ALONE.match(amount) else f"{amount} of {noun}"
    return [_changed(line, amount if noun in amount else new)]


def _counted_line(groups: Groups, case: Case) -> Thing | None:
    """Return the line of which "make it two packs of nappies" speaks."""
    noun = groups["amount"].rpartition(" of ")[2]
    return best_match(noun, lines_in_view(case)) if _UNNAMED.match(groups["line"]) else None


def _exchanged(groups: Groups, case: Case) -> Sequence[Step] | None:
    """Read "swap the cheddar for feta", "brown instead of white" of white bread, and "I meant feta" of the last line."""
    old, new = groups["line"], groups["new"]
    line = _line(old or "it", case)
    if line is None or not (old or _is_thing(new, case)):
        return None
    part = re.compile(rf"\b{re.escape(old or line.title)}\b", re.IGNORECASE)
    return [_changed(line, part.sub(lambda _: new, line.title) if part.search(line.title) else new)]


def _is_thing(said: str, case: Case) -> bool:
    """Whether words name a thing and no time, person, list or sentence."""
    is_list = case.grammar.said["list_named"].search(f"on {said}") is not None
    is_of_time = bool(case.message.spans) or is_person(said, case)
    return not (is_list or is_of_time) and modality_of(said) is Modality.NAMED


def _line(said: str, case: Case) -> Thing | None:
    """Return the line of a list in view that words mean; the only one that was just added where they only point."""
    lines = lines_in_view(case)
    if not _UNNAMED.match(said):
        return best_match(said, lines)
    last = next(latest(case), None)
    added = [each for each in lines if last is not None and last.action == "append"]
    just = str(last.params.get("body", "")).splitlines() if last is not None else []
    new = [each for each in added if each.title in just]
    return new[0] if len(new) == 1 else None


def _changed(line: Thing, new: str) -> Step:
    return action("notes", "change_line", {"title": line.note, "line": line.title, "new": new})


def _every_time(groups: Groups, case: Case) -> Sequence[Step] | None:
    """Read "every week, not just this one" of a change of one time of a series that awaits a yes."""
    last = _waiting(case)
    if last is None or not last.result.get("rrule"):
        return None
    scope = "following" if groups["onwards"] else "occurrence" if groups["once"] else "series"
    before = last.result.get("before")
    known = before if isinstance(before, Mapping) else last.result
    meant = {"event_id": last.result.get("id"), "on": known.get("original_start")}
    rest = {
        key: value
        for key, value in last.params.items()
        if key not in {"find_by", "event_id", "on", "scope", "until"}
    }
    return [action("calendar", last.action, {**meant, **rest, "scope": scope})]


def _waiting(case: Case) -> ActionResult | None:
    last = next(latest(case), None)
    is_change = last is not None and last.domain == "calendar" and last.action in _CHANGING
    return last if is_change and last and last.status is ResultStatus.AWAITING else None


def _somebody_else(groups: Groups, case: Case) -> Sequence[Step] | None:
    """Read "not me, Marcus": what was just made is for somebody else."""
    things = results_of([each for each in [next(latest(case), None)] if each is not None])
    who, gone = who_of(groups["who"], case), who_of(groups["gone"], case)
    if len(things) != 1 or things[0].kind not in {"event", "task"} or not who:
        return None
    (thing,) = things
    if groups["gone"].lower() in PRONOUNS:
        gone = [each for each in thing.who if each not in who]
    if not gone:
        return None
    if thing.kind == "task":
        stay = [each for each in thing.who if each not in gone]
        changes = {"who": [*dict.fromkeys((*stay, *who))]}
        return [action("task", "update", {**target(thing), "changes": changes})]
    field, now = (
        ("responsible", thing.responsible) if {*gone} & {*thing.responsible} else ("who", thing.who)
    )
    stay = [each for each in now if each not in gone]
    changes = {field: [*dict.fromkeys((*stay, *who))]}
    return [action("calendar", "update_event", {**target(thing), "changes": changes})]


def _named_only(groups: Groups, case: Case) -> Sequence[Step] | None:
    """Read "no, Marcus": the one person of what was just made is another."""
    things = results_of([each for each in [next(latest(case), None)] if each is not None])
    who = who_of(groups["who"], case)
    if len(things) != 1 or len(who) != 1 or not _DENIES.match(case.message.text):
        return None
    (thing,) = things
    if (
        not is_person(groups["who"], case)
        or len(thing.who) > 1
        or thing.kind not in {"event", "task"}
    ):
        return None
    last = next(latest(case))
    if last.status is ResultStatus.AWAITING:
        return [action(last.domain, last.action, proposed_with(last, {"who": who}))]
    name = "calendar.update_event" if thing.kind == "event" else "task.update"
    domain, _, does = name.partition(".")
    return [action(domain, does, {**target(thing), "changes": {"who": who}})]


def _another_for(groups: Groups, case: Case) -> Sequence[Step] | None:
    """Read "and one for Ben at half past": what was just made, once more for somebody else."""
    last, who = next(latest(case), None), who_of(groups["who"], case)
    if last is None or last.action not in {"create_event", "create"} or not who:
        return None
    field = "start_time" if last.domain == "calendar" else "deadline"
    old = str(last.params.get(field) or "")
    start = _at(groups["rest"].strip(" ,"), old, case)
    if start is None:
        return None
    known = {
        key: value for key, value in last.params.items() if key not in {"end_time", "remind_at"}
    }
    name: dict[str, Any] = {
        key: _renamed(str(known[key]), last, who, case)
        for key in ("summary", "title")
        if key in known
    }
    return [further(last.domain, last.action, {**known, **name, "who": who, field: start})]


def _left_out(groups: Groups, case: Case) -> Sequence[Step] | None:
    """Read "not Fridays", of a reminder on several days that was just made."""
    last = next(latest(case), None)
    known = {} if last is None else {**last.result, **last.params}
    rule, due = str(known.get("rrule") or ""), str(known.get("deadline") or "")
    marked = read_message(groups["days"], case.now, case.household, case.grammar)
    if last is None or last.domain != "task" or last.action != "create" or not rule or not due:
        return None
    if _WORD.search(marked.title(marked.text)):
        return None
    first = datetime.fromisoformat(due).date()
    kept = without(rule, first, marked.times(marked.text))
    things = results_of([last])
    if kept is None or kept.left_out or len(things) != 1:
        return None
    changes = {"deadline": f"{kept.first}{due[10:]}", "rrule": kept.rule}
    return [action("task", "update", {**target(things[0]), "changes": changes})]


def _for_another(groups: Groups, case: Case) -> Sequence[Step] | None:
    """Read "and Mia at half past": once more what was just made, where the message plainly goes on with it."""
    return _another_for(groups, case) if _JOINS.match(case.message.text) else None


def _at(said: str, old: str, case: Case) -> str | None:
    """Return a time as it was, or as the words have it; None where they say something else."""
    said = _TOO.sub("", said)
    if not said:
        return old
    part = _PART_OF_HOUR.fullmatch(said)
    if part is not None and "T" in old:
        shift = _PARTS[part["part"].lower()]
        return (datetime.fromisoformat(old).replace(minute=0) + shift).isoformat()
    marked = read_message(said, case.now, case.household, case.grammar)
    moment = moment_of(marked.times(marked.text), case.now)
    is_time = moment is not None and not _WORD.search(marked.title(marked.text))
    if not is_time or moment is None or not old:
        return None
    before = Thing(kind="event", id="", title="", start=old)
    framed = in_its_frame(
        {"start_time": moment.partial}, marked.text, before, replace(case, message=marked)
    )
    return combined(str((framed)["start_time"]), old)


def _renamed(title: str, last: ActionResult, who: Sequence[str], case: Case) -> str:
    """Return a title with the names of others than before."""
    before = [str(each) for each in last.params.get("who", ())]
    names = case.household.names
    if len(before) == 1 and len(who) == 1 and before[0] in names:
        return re.sub(rf"\b{re.escape(names[before[0]])}\b", names[who[0]], title)
    return title


_READERS: Final[Mapping[str, Callable[[Groups, Case], Sequence[Step] | None]]] = {
    "emptied": _emptied,
    "counted": _counted,
    "exchanged": _exchanged,
    "every_time": _every_time,
    "somebody_else": _somebody_else,
    "another_for": _another_for,
    "for_another": _for_another,
    "left_out": _left_out,
    "named_only": _named_only,
    "another_length": another_length,
    "part_of_hour": part_of_hour,
}
