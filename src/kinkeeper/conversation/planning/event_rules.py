"""Reads requests that change the calendar. Pure."""

import re
from collections.abc import Mapping, Sequence
from datetime import datetime, timedelta
from typing import Any

from kinkeeper.conversation.planning.calendar_questions import span
from kinkeeper.conversation.planning.case import Case, Groups, Missing, Step, action
from kinkeeper.conversation.planning.moments import Moment, moment_of
from kinkeeper.conversation.planning.named import best_match, content_words, results_of
from kinkeeper.conversation.planning.people import members_in, who_of
from kinkeeper.conversation.planning.task_rules import add as add_task
from kinkeeper.conversation.planning.task_rules import deadline_changes
from kinkeeper.household.vocabulary import WordKind
from kinkeeper.language.when.model import SpanKind

_AGAIN = re.compile(
    r"^(?:it|that|this|them|those|everything|something|one|him|her|the (?:time|date)|time|date|up)$",
    re.IGNORECASE,
)
_DETERMINER = re.compile(
    r"^(?:(?:the|my|our|a|an|another|new|this|that|any|next)\s+)+", re.IGNORECASE
)
_KIND = re.compile(r"\s+(?:appointment|event|entry|booking)$", re.IGNORECASE)
_PLACE = re.compile(
    r"^(?P<title>.+?) (?:at|in) (?P<where>(?:the |our |my )?(?!\d)[^,]{2,40})$", re.IGNORECASE
)
_OUT_OF = re.compile(r"\b(?:off|from)(?: of)? (?:the|my|our)\b", re.IGNORECASE)
"""Somebody is taken out of an event, which is not to cancel it."""

_EARLIER = frozenset({"forward", "earlier", "up", "ahead"})
_OBJECT_OF_TASK = re.compile(
    r"\b(?:list|lists|to-do|note|notes|email|mail|alarm|reminder|timer|music|song|request|action|command|order|item|file|account|card|subscription|line|lines|message|messages|file|light|lights|volume|playlist|radio|podcast|taxi|uber|cab|pizza)\b",
    re.IGNORECASE,
)


def create(groups: Groups, case: Case) -> Sequence[Step] | None:
    """Read "put dinner with the Garcias on Friday at 7"; without a place in the calendar a time is needed."""
    what, whole = groups.get("what", ""), " ".join(groups.values())
    is_placed = bool(groups.get("calendar")) or ("early" in groups and "firm" not in groups)
    if _OBJECT_OF_TASK.search(what) and not groups.get("calendar"):
        return None
    moment = moment_of(case.message.times(whole), case.now)
    if "weak" in groups and not _is_appointment(what, case):
        return None
    if "bare" in groups and case.grammar.said["no_line"].search(what):
        return None
    if "firm" in groups and case.grammar.said["elsewhere"].search(what):
        return None
    if moment is None and not is_placed and not ("firm" in groups and _is_appointment(what, case)):
        return None
    tail = groups.get("tail", "")
    return _created(f"{what} {tail}" if tail else what, moment, case, groups=groups)


def stated(groups: Groups, case: Case) -> Sequence[Step] | None:
    """Read "meeting with Sarah at 3pm": an appointment with a time of day, and nothing else."""
    said, what = case.grammar.said, groups["what"]
    title = case.message.title(what)
    moment = moment_of(case.message.times(what), case.now)
    if moment is None or moment.start is None or (moment.is_part and moment.end is None):
        return None
    if moment.rule is None and moment.start <= case.now:
        return None
    who = groups.get("who", "")
    if said["past"].search(case.message.text) or said["no_event"].search(title):
        return None
    if not (
        _is_appointment(title, case)
        or (who and not moment.is_part and said["visit"].search(case.message.text))
    ):
        return None
    if moment.is_part and not _is_appointment(title, case):
        return None
    if not who and said["errand_told"].match(title):
        return add_task({"what": what}, case)
    return _created(what, moment, case, groups=groups)


def _created(
    what: str, moment: Moment | None, case: Case, *, groups: Groups
) -> Sequence[Step] | None:
    title = re.sub(
        r"^(?:that|for|to|called|titled|named|about)\s+",
        "",
        case.message.title(what),
        flags=re.IGNORECASE,
    )
    title = re.sub(
        r"\s+(?:to|on|at|for|in|from|by|and|is|are|will be)$", "", title, flags=re.IGNORECASE
    )
    title, where = _placed(_DETERMINER.sub("", title), case)
    if _AGAIN.match(title):
        return None
    who = members_in(f"{title} {groups.get('who', '')}", case)
    if moment is None or not title:
        field = "start_time" if moment is None else "summary"
        known = {
            "summary": title,
            "location": where,
            "who": who,
            "start_time": moment and moment.text,
        }
        question = (
            f"When is {_lower(title)}?"
            if title and moment is None
            else "What should I put in the calendar?"
        )
        if not title and moment is None:
            question = "What should I put in the calendar, and when?"
            field = "summary"
        return [Missing(action("calendar", "create_event", known), field, question)]
    params = {"summary": title, "location": where, "who": who, **_times(moment, case, groups)}
    return [action("calendar", "create_event", params)]


def _times(moment: Moment, case: Case, groups: Groups) -> dict[str, Any]:
    lengths = case.message.lengths(" ".join(groups.values()))
    end = moment.end if not moment.is_part or groups.get("block") else None
    if end is None and lengths and moment.start is not None:
        end = moment.start + (lengths[0].until - lengths[0].begin)
    if moment.start is None and moment.day is not None and moment.days > 1:
        end_day = moment.day + timedelta(days=moment.days)
        return {"start_time": moment.text, "end_time": end_day.isoformat(), "rrule": moment.rule}
    return {"start_time": moment.text, "end_time": end and end.isoformat(), "rrule": moment.rule}


def _placed(title: str, case: Case) -> tuple[str, str | None]:
    """Return a title without the place at its end, and the place."""
    found = _PLACE.match(title)
    if found is None or members_in(found["where"], case):
        return title, None
    where = re.sub(r"^(?:the|our|my)\s+", "", found["where"], flags=re.IGNORECASE)
    return found["title"], where


def _is_appointment(title: str, case: Case) -> bool:
    """Whether a title speaks of something that stands in calendars."""
    if case.grammar.said["appointment"].search(title):
        return True
    words = title.lower().split()
    kinds = (WordKind.ACTIVITY, WordKind.GENERIC_ACTIVITY)
    parts = {
        " ".join(words[i:j])
        for i in range(len(words))
        for j in range(i + 1, min(i + 4, len(words) + 1))
    }
    return any(word.kind in kinds for part in parts for word in case.vocabulary.meanings(part))


def cancel(groups: Groups, case: Case) -> Sequence[Step] | None:
    """Read "cancel the dentist"."""
    what = groups["what"]
    if _OBJECT_OF_TASK.search(case.message.title(what)):
        return None
    if _OUT_OF.search(what):
        return None
    part = f"{what} {groups.get('late', '')}"
    if case.grammar.said["everything"].fullmatch(case.message.title(what)):
        return _cleared(part, case)
    several = [each for each in re.split(r"\s*,\s*|\s+and\s+", what) if each]
    if len(several) > 1 and all(
        _is_appointment(case.message.title(each), case) for each in several
    ):
        return [
            step
            for each in several
            for step in cancel(
                {**groups, "what": f"{each} {groups.get('late', '')}", "late": ""}, case
            )
            or ()
        ]
    target = named_event(part, case)
    if not target.get("find_by"):
        return None
    task = best_match(str(target["find_by"]), case.open_tasks())
    event = best_match(
        str(target["find_by"]), (each for each in case.things if each.kind == "event")
    )
    if task is not None and event is None:
        return [action("task", "delete", {"find_by": task.id or task.title})]
    scope = "series" if groups.get("all") else None
    return [action("calendar", "delete_event", {**target, "scope": scope})]


def _cleared(part: str, case: Case) -> Sequence[Step] | None:
    """Read "clear my calendar for Friday": what stands there is looked up first, then each of it is cancelled."""
    days = span(part, case)
    if not days:
        return None
    look = action("calendar", "list_events", days)
    found = next((each for each in case.context.results if each.action == "list_events"), None)
    events = results_of([found]) if found is not None else ()
    return [
        look,
        *(
            action("calendar", "delete_event", {"event_id": each.id, "on": each.original_start or each.start})
            for each in events
        ),
    ]  # fmt: skip


def named_event(part: str, case: Case) -> dict[str, Any]:
    """Return what finds an event: its words, and the day or time that was said with them."""
    title = _KIND.sub("", _DETERMINER.sub("", _adjectival(part, case)))
    title = re.sub(r"\s+(?:on|at|in|from|for)$", "", title.strip())
    if not title or _AGAIN.match(title):
        return {}
    moment = moment_of(case.message.times(part), case.now)
    on = moment.text if moment is not None and moment.day is not None else None
    return {"find_by": title, "on": on}


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
    is_known = bool(task or event) or _is_appointment(name, case)
    if ("weak" in groups and not is_known) or _OBJECT_OF_TASK.search(name):
        return None
    if not changes and groups.get("by"):
        return None
    if not changes:
        if not is_known:
            return None
        known = action("calendar", "update_event", target)
        return [Missing(known, "changes", f"When should {_lower(name)} be?")]
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


def moved(groups: Groups, case: Case) -> Sequence[Step] | None:
    """Read "the haircut moved to 12 on Saturday"."""
    if case.grammar.said["hearsay"].search(groups["what"]):
        return None
    name = case.message.title(groups["what"])
    is_known = best_match(name, case.things) is not None
    return move(groups, case) if is_known or _is_appointment(name, case) else None


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
    if not guests or _OBJECT_OF_TASK.search(groups["what"]):
        return None
    return _changed(groups, case, {"who": guests})


def _changed(groups: Groups, case: Case, changes: Mapping[str, Any]) -> Sequence[Step] | None:
    target = named_event(groups["what"], case)
    return [action("calendar", "update_event", {**target, "changes": changes})] if target else None


def _lower(title: str) -> str:
    first = title.split(maxsplit=1)[0] if title else ""
    return title if first.isupper() or not content_words(title) else title[0].lower() + title[1:]
