"""Reads requests that change, move or cancel what stands in the calendar, or take somebody there. Pure."""

import re
from collections.abc import Mapping, Sequence
from dataclasses import replace
from datetime import date, datetime, timedelta
from typing import Any

from kinkeeper.conversation.lookups import IN_VIEW
from kinkeeper.conversation.model import PlannedAction
from kinkeeper.conversation.planning.calendar_questions import span
from kinkeeper.conversation.planning.case import (
    Case,
    Groups,
    Missing,
    Step,
    action,
    best_match,
    results_of,
    standing_events,
)
from kinkeeper.conversation.planning.creating_events import (
    DETERMINER,
    NO_EVENT,
    POINTS_BACK,
    is_appointment,
    lowered,
)
from kinkeeper.conversation.planning.event_updates import UNREAD_TIME, News, Told
from kinkeeper.conversation.planning.list_rules import things_to_buy
from kinkeeper.conversation.planning.people import PRONOUNS, who_of
from kinkeeper.conversation.planning.plan_times import moment_of
from kinkeeper.conversation.planning.referents import target as target_of
from kinkeeper.conversation.planning.task_rules import deadline_changes
from kinkeeper.conversation.planning.told_events import LOOKED_FOR, Meant, in_one
from kinkeeper.household.model import Role
from kinkeeper.language.name_match import meant_by
from kinkeeper.language.text import enumerated, tokenise
from kinkeeper.memory.statements.names import kin
from kinkeeper.reading.modality import Modality, modality_of
from kinkeeper.reading.own_lists import SHOPPING
from kinkeeper.reading.phrases import phrase_book, words_written_out
from kinkeeper.reading.times.model import SpanKind

_DAY = timedelta(days=1)
_KIND = re.compile(r"\s+(?:appointment|event|entry|booking)$", re.IGNORECASE)

_OUT_OF = re.compile(r"\b(?:off|from)(?: of)? (?:the|my|our)\b", re.IGNORECASE)
"""Somebody is taken out of an event, which is not to cancel it."""

_WAYS = ("earlier", "later", "sooner", "longer", "shorter")
_STANDS = re.compile(
    r"\b(?:is|are|isn't|aren't|still|stays?|stands|goes ahead|going ahead|as usual)\b"
)
"""Of what is named behind what is cancelled, something is told."""

_EARLIER = frozenset({"forward", "earlier", "up", "ahead"})


def cancel(groups: Groups, case: Case) -> Sequence[Step] | None:
    """Read "cancel the dentist"."""
    what = _cancelled(groups, case)
    if (groups.get("none") and _is_told(what, case)) or NO_EVENT.search(case.message.title(what)):
        return None
    part = f"{what} {groups.get('late', '')}"
    is_asked = bool(groups.get("told")) and case.message.text.rstrip().endswith("?")
    if is_asked or _OUT_OF.search(what) or (groups.get("told") and not _is_told_ahead(part, case)):
        return None
    if case.grammar.said["everything"].fullmatch(case.message.title(what)):
        return _cleared(part, case)
    several = [each for each in re.split(r"\s*,\s*|\s+and\s+", what) if each]
    if len(several) > 1 and all(is_appointment(case.message.title(each), case) for each in several):
        return [
            step
            for each in several
            for step in cancel(
                {**groups, "what": f"{each} {groups.get('late', '')}", "late": ""}, case
            )
            or ()
        ]
    target = named_event(part, case)
    return _called_off(target, part, groups, case) if target.get("find_by") else None


def _called_off(target: Mapping[str, Any], part: str, groups: Groups, case: Case) -> Sequence[Step]:
    """Return what takes one thing off the calendar, the tasks or the shopping list, by its name."""
    task = best_match(str(target["find_by"]), case.open_tasks())
    event = best_match(
        str(target["find_by"]), (each for each in case.things if each.kind == "event")
    )
    if task is not None and event is None:
        return [action("task", "delete", {"find_by": task.id or task.title})]
    if event is None and _is_bought(groups, target, case):
        return [action("notes", "remove_line", {"title": SHOPPING, "line": target["find_by"]})]
    scope = "series" if groups.get("all") else None
    return _within_days(str(target["find_by"]), part, case) or [
        action("calendar", "delete_event", {**target, "scope": scope})
    ]


def _within_days(title: str, part: str, case: Case) -> Sequence[Step]:
    """Return what cancels all times of a series in several days that were named, once they are looked up; else nothing."""
    meant = Meant(Told(news=News.OFF, about=title, when=part), case)
    window, series = meant.window, [each for each in meant.events if each.rrule]
    if window is None or window.until - window.begin <= _DAY or not (series or meant.has_looked):
        return ()
    if meant.is_out_of_view():
        return meant.look()
    times = meant.times(series)
    looked = meant.look() if meant.has_looked else []
    if not times:
        known = {"find_by": title}
        question = f"I can't find {title} on those days. Which day do you mean?"
        return [*looked, Missing(action("calendar", "delete_event", known), "on", question)]
    if len({each.id for each in times}) > 1:
        return ()
    steps: list[Step] = [action("calendar", "delete_event", target_of(each)) for each in times]
    return [*looked, *in_one(steps, times, window)]


def _is_told(what: str, case: Case) -> bool:
    """Whether what follows a "no" is a statement that sets something right ("its Mrs Dunn now"), and no name of an event."""
    end = min(
        (at for at, each in enumerate(what) if each in {",", *case.message.spans}), default=None
    )
    first, book, plain = UNREAD_TIME.sub("", what[:end]), phrase_book(), words_written_out()
    words = [word for token in tokenise(first) for word in book.respell(token)]
    return modality_of(" ".join(plain.get(word, word) for word in words)) is not Modality.NAMED


def _is_bought(groups: Groups, target: Mapping[str, Any], case: Case) -> bool:
    """Whether what is to go is a thing that families buy, and stands on no calendar ("scrap the milk")."""
    title, is_told = str(target["find_by"]), bool(groups.get("told") or groups.get("none"))
    return (
        not is_told
        and target.get("on") is None
        and not is_appointment(title, case)
        and things_to_buy(title) is not None
    )


def _cancelled(groups: Groups, case: Case) -> str:
    """Return what is cancelled without what is told behind it: that other things stand, or after a "no" whatever else."""
    first, *others = re.split(r"\s*,\s*", groups["what"])
    is_told = [
        _STANDS.search(each) is not None
        or (bool(groups.get("none")) and not is_appointment(case.message.title(each), case))
        for each in others
    ]
    return first if others and all(is_told) else groups["what"]


def _is_told_ahead(part: str, case: Case) -> bool:
    """Whether "… is off on Friday" tells of a thing, and of a day to come."""
    moment = moment_of(case.message.times(part), case.now)
    is_ahead = moment is None or moment.day is None or moment.day >= case.now.date()
    return is_ahead and not who_of(case.message.title(part), case)


def _cleared(part: str, case: Case) -> Sequence[Step] | None:
    """Read "clear my calendar for Friday": what stands there is looked up first, then each of it is cancelled."""
    days = span(part, case)
    if not days:
        return None
    look = action("calendar", "list_events", days, reasoning=LOOKED_FOR)
    found = next((each for each in case.context.results if each.action == "list_events"), None)
    events = results_of([found]) if found is not None else ()
    return [
        look,
        *(
            action(
                "calendar",
                "delete_event",
                {"event_id": each.id, "on": each.original_start or each.start},
            )
            for each in events
        ),
    ]


def named_event(part: str, case: Case) -> dict[str, Any]:
    """Return what finds an event: its words, and the day or time that was said with them."""
    title = _KIND.sub("", DETERMINER.sub("", _adjectival(part, case)))
    title = re.sub(r"\s+(?:on|at|in|from|for)$", "", title.strip())
    if not title or POINTS_BACK.match(title):
        return {}
    moment = moment_of(case.message.times(part), case.now)
    if moment is None or moment.day is None:
        return {"find_by": title, "on": None}
    if moment.start is None and moment.days > 1:
        return {"find_by": title, "on": _first_within(title, moment.day, moment.days, case)}
    return {"find_by": title, "on": moment.text}


def _first_within(title: str, day: date, days: int, case: Case) -> str | None:
    """Return when something first takes place in the days that were named, as far as that is known."""
    first, last = day.isoformat(), (day + timedelta(days=days)).isoformat()
    near = (
        each
        for each in case.things
        if each.kind == "event" and each.start is not None and first <= each.start < last
    )
    found = best_match(title, near)
    return found.original_start or found.start if found is not None else None


def _adjectival(part: str, case: Case) -> str:
    """Return a title of which times are left out also where they stand before the noun ("the Friday meeting")."""
    bare = re.sub(r"\b(the|my|our)\s+[\ue100-\ue1ff](?:'s|s)?\s+", r"\1 ", part)
    bare = re.sub(r"^[\ue100-\ue1ff](?:'s|s)?\s+", "", bare)
    return case.message.title(bare)


def move(groups: Groups, case: Case) -> Sequence[Step] | None:
    """Read "move soccer to 5" and "push it back half an hour"; a task is moved where only a task is meant."""
    target = named_event(groups["what"], case)
    if not target:
        return None
    name = str(target["find_by"])
    changes = new_time(groups, case) or _from_to(groups, target, case)
    task = best_match(name, case.open_tasks())
    event = best_match(name, (each for each in case.things if each.kind == "event"))
    is_known = bool(task or event) or is_appointment(name, case)
    if ("weak" in groups and not is_known) or NO_EVENT.search(name):
        return None
    if not changes and groups.get("by"):
        return None
    if not changes:
        if not is_known:
            return None
        known = action("calendar", "update_event", target)
        return [Missing(known, "changes", f"When should {lowered(name)} be?")]
    if task is not None and event is None:
        changes = deadline_changes(groups.get("to") or groups.get("by", ""), case)
        return [action("task", "update", {"find_by": task.id or task.title, "changes": changes})]
    return [action("calendar", "update_event", {**target, "changes": changes})]


def new_time(groups: Groups, case: Case) -> dict[str, Any]:
    """Return what a new time changes: all that was said of it, and no more."""
    moment = moment_of(case.message.times(groups.get("to", "")), case.now)
    if moment is not None and groups.get("to"):
        old = moment_of(case.message.times(groups.get("what", "")), case.now)
        start = moment.partial
        if (
            moment.start is not None
            and moment.day is None
            and old is not None
            and old.day is not None
            and old.days == 1
        ):
            start = datetime.combine(old.day, moment.start.timetz()).isoformat()
        end = moment.end if moment.end is not None and not moment.is_part and moment.day else None
        return {"start_time": start, **({"end_time": end.isoformat()} if end else {})}
    minutes = _shift(groups, case)
    return {"shift_minutes": minutes} if minutes else {}


def _from_to(groups: Groups, target: dict[str, Any], case: Case) -> dict[str, Any]:
    """Read "from Friday to Saturday", which looks like one span of time; the first of it is when it was."""
    times = case.message.times(groups.get("by", ""))
    if not times or times[0].kind is not SpanKind.RANGE:
        return {}
    first, last = times[0].begin, times[0].until
    if times[0].has_time:
        return {"start_time": last.isoformat() if times[0].has_date else f"{last:%H:%M}"}
    target["on"] = first.date().isoformat()
    if last.timetz() != first.timetz():
        return {"start_time": last.isoformat()}
    return {"start_time": (last - timedelta(days=1)).date().isoformat()}


def _shift(groups: Groups, case: Case) -> int:
    by = groups.get("by", "")
    lengths, times = case.message.lengths(by), case.message.times(by)
    words = (
        f"{groups.get('dir', '')} {groups.get('dir2', '')} {case.message.words(by)}".lower().split()
    )
    sign = -1 if set(words) & _EARLIER else 1
    if lengths:
        return sign * int((lengths[0].until - lengths[0].begin).total_seconds() // 60)
    if times and times[0].surface.lower().endswith(("later", "earlier")):
        return int((times[0].begin - case.now).total_seconds() // 60)
    return 0


def nudged(groups: Groups, case: Case) -> Sequence[Step] | None:
    """Read "make the dentist half an hour earlier"."""
    way = f"{groups['by']} {groups.get('dir2', '')}"
    if not case.message.words(way).lower().endswith(_WAYS):
        return None
    return move(groups, case)


def moved(groups: Groups, case: Case) -> Sequence[Step] | None:
    """Read "the haircut moved to 12 on Saturday"; that a task of that name moves with it is only a guess."""
    if case.grammar.said["hearsay"].search(groups["what"]):
        return None
    name = case.message.title(groups["what"])
    is_known = best_match(name, case.things) is not None
    steps = move(groups, case) if is_known or is_appointment(name, case) else None
    return steps and [_offered(each) for each in steps]


def _offered(step: Step) -> Step:
    """Return a step; as an offer where it would change a task."""
    if isinstance(step, PlannedAction) and step.domain == "task":
        return replace(step, is_offer=True)
    return step


def rename(groups: Groups, case: Case) -> Sequence[Step] | None:
    """Read "rename dinner with the Garcias to tapas night"."""
    return _changed(groups, case, {"summary": case.message.words(groups["name"])})


def relocate(groups: Groups, case: Case) -> Sequence[Step] | None:
    """Read "change the location of the book club to the library"."""
    where = re.sub(
        r"^(?:the|our|my)\s+", "", case.message.words(groups["where"]), flags=re.IGNORECASE
    )
    return _changed(groups, case, {"location": where})


def invite(groups: Groups, case: Case) -> Sequence[Step] | None:
    """Read "add Sarah to the dinner"."""
    guests = who_of(groups["guest"], case)
    is_put_in = case.grammar.describing["in_calendar"].match(f" to {groups['what']}") is not None
    if not guests or is_put_in or NO_EVENT.search(groups["what"]) or groups["what"][:4] == "for ":
        return None
    target = named_event(groups["what"], case)
    standing = standing_events(case.context)
    places = meant_by(str(target.get("find_by")), [each.title for each in standing])
    there = standing[places[0]].who if target and places else ()
    return _changed(groups, case, {"who": [*dict.fromkeys((*there, *guests))]})


def _changed(groups: Groups, case: Case, changes: Mapping[str, Any]) -> Sequence[Step] | None:
    target = named_event(groups["what"], case)
    return [action("calendar", "update_event", {**target, "changes": changes})] if target else None


# Reads who brings, fetches or minds somebody: to what stands in the calendar, or as a plan of its
# own. Pure.

_FETCHING = re.compile(r"pick|fetch|collect|get", re.IGNORECASE)
_OWN = re.compile(r"^(?:the|my|our)\s+", re.IGNORECASE)
_AUXILIARY = frozenset({"is", "will", "are", "can", "be"})
_MINDING = re.compile(r"look|mind", re.IGNORECASE)


def taken_on(groups: Groups, case: Case) -> Sequence[Step] | None:
    """Read "gran is taking Leo to soccer on Friday" and "dad is picking me up Thursday"."""
    people = who_of(groups["who"], case)
    is_of_people = groups["whom"].lower() in PRONOUNS or who_of(groups["whom"], case)
    known = _of_known(groups, people, case) if people and is_of_people else None
    return known or _on_its_own(groups, people, case)


def _of_known(groups: Groups, people: list[str], case: Case) -> Sequence[Step] | None:
    """Return that people see to something that stands in the calendar, or may stand there beyond what was looked up."""
    target = named_event(f"{groups.get('what') or ''} {groups.get('when', '')}", case)
    if not groups.get("what") or not target:
        return None
    name, day = str(target["find_by"]), (target["on"] or "")[:10]
    standing = standing_events(case.context)
    on_day = [each for each in standing if (each.start or "").startswith(day)]
    if not meant_by(name, [each.title for each in on_day]):
        is_seen = day < (case.now + IN_VIEW).date().isoformat() and "events" in case.context.fetched
        if is_seen or not is_appointment(name, case):
            return None
    return [action("calendar", "update_event", {**target, "changes": {"responsible": people}})]


def _on_its_own(groups: Groups, people: list[str], case: Case) -> Sequence[Step] | None:
    """Return the offer to put into the calendar that people see to children on a day to come."""
    children = {each.id for each in case.household.members if each.role is Role.CHILD}
    doer = _called(groups["who"], people, case)
    if not doer:
        return None
    taken = [each for each in who_of(groups["whom"], case) if each not in people]
    moment = moment_of(case.message.times(case.message.text), case.now)
    if not taken or not children.issuperset(taken) or moment is None or moment.day is None:
        return None
    if moment.day < case.now.date() or moment.days > 1 or moment.rule is not None:
        return None
    params: dict[str, Any] = {
        "summary": _title(groups, doer, taken, case),
        "who": taken,
        "responsible": people,
        "start_time": moment.text,
    }
    return [replace(action("calendar", "create_event", params), is_offer=True)]


def _called(said: str, people: list[str], case: Case) -> str:
    """Return what those who do it are called; empty where that is somebody who is neither a member nor a relation."""
    if people:
        return enumerated([case.household.names[each] for each in people])
    words = [each for each in _OWN.sub("", said).split() if each.lower() not in _AUXILIARY]
    is_relation = len(words) == 1 and words[0].lower() in kin()
    return words[0][:1].upper() + words[0][1:] if is_relation else ""


def _title(groups: Groups, doer: str, taken: list[str], case: Case) -> str:
    doing, way = ("take", "takes"), "to"
    if _FETCHING.match(groups["verb"]):
        doing, way = ("pick up", "picks up"), groups.get("way") or ""
    elif _MINDING.match(groups["verb"]):
        doing, way = ("look after", "looks after"), groups.get("way") or ""
    is_one = " and " not in doer
    where = case.message.title(f"{way} {groups['what']}") if groups.get("what") else ""
    whom = enumerated([case.household.names[each] for each in taken])
    return " ".join(part for part in (doer, doing[is_one], whom, where) if part)
