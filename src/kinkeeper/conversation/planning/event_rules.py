"""Reads requests that change the calendar. Pure."""

import re
from collections.abc import Mapping, Sequence
from dataclasses import replace
from datetime import datetime, timedelta
from typing import Any

from kinkeeper.conversation.model import PlannedAction
from kinkeeper.conversation.planning.calendar_questions import span
from kinkeeper.conversation.planning.case import Case, Groups, Missing, Step, action
from kinkeeper.conversation.planning.describing import described
from kinkeeper.conversation.planning.moments import Moment, from_today, moment_of
from kinkeeper.conversation.planning.named import best_match, content_words, results_of
from kinkeeper.conversation.planning.people import is_speaker, who_of
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
_OUT_OF = re.compile(r"\b(?:off|from)(?: of)? (?:the|my|our)\b", re.IGNORECASE)
"""Somebody is taken out of an event, which is not to cancel it."""

_EARLIER = frozenset({"forward", "earlier", "up", "ahead"})
_OWN = re.compile(r"^(?:its|his|her|their|the|a|an|my|our)\s+", re.IGNORECASE)
_BUSY = "Busy"
_LONGEST_NAME = 6  # words of what is named and not told
_OBJECT_OF_TASK = re.compile(
    r"\b(?:list|lists|to-do|note|notes|email|mail|alarm|reminder|timer|music|song|request|action|command|order|item|file|account|card|subscription|line|lines|message|messages|file|light|lights|volume|playlist|radio|podcast|taxi|uber|cab|pizza)\b",
    re.IGNORECASE,
)


def placed(groups: Groups, case: Case) -> Sequence[Step] | None:
    """Read "put Wren down for a swim gala on Saturday at 9:30": who takes part stands before what it is."""
    moment = moment_of(case.message.times(" ".join(groups.values())), case.now)
    if moment is None and not _is_appointment(case.message.title(groups["what"]), case):
        return None
    if who_of(groups["who"], case):
        return _created(groups["what"], moment, case, groups=groups)
    thing = _DETERMINER.sub("", groups["who"])
    what = f"{thing} {_OWN.sub('', groups['what'])}"
    return _created(what, moment, case, groups={**groups, "who": ""}) if moment else None


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
    """Read "meeting with Sarah at 3pm", "Otis has a party on Sunday": what takes place, and nothing else.

    What is told of times to come and might be for the calendar, but was not clearly said to be, is offered.
    """
    said, what = case.grammar.said, groups["what"] or groups.get("being", "")
    title = described(what, case).title
    moment = moment_of(case.message.times(what), case.now)
    if moment is None or (moment.day is None and moment.start is None):
        return None
    if _is_over(moment, case) or said["past"].search(case.message.text):
        return None
    if case.message.text.rstrip().endswith("?"):
        return None
    if said["no_event"].search(title) and not groups.get("being"):
        return None
    who = groups.get("who", "")
    if not who and said["errand_told"].match(title):
        task = add_task({"what": what}, case)
        return task if moment.start is not None else _as_offer(task)
    if _is_certain(moment, title, who, case):
        return _created(what, moment, case, groups=groups)
    if not who and said["own_errand"].fullmatch(title):
        return _as_offer(add_task({"what": what}, case))
    return _offered(what, moment, case, groups=groups)


def _is_over(moment: Moment, case: Case) -> bool:
    if moment.rule is not None:
        return False
    if moment.start is not None:
        return moment.start <= case.now
    return moment.day is not None and moment.day < case.now.date()


def _is_certain(moment: Moment, title: str, who: str, case: Case) -> bool:
    """Whether a statement is plainly of an appointment."""
    is_appointment = _is_appointment(title, case)
    if moment.start is None:
        return is_appointment and (bool(who) or _is_name(title.split(",", maxsplit=1)[0], case))
    if moment.is_part:
        return is_appointment and moment.end is not None
    is_visit = bool(who) and case.grammar.said["visit"].search(case.message.text) is not None
    return is_appointment or is_visit


def _offered(what: str, moment: Moment, case: Case, *, groups: Groups) -> Sequence[Step] | None:
    """Offer to note what is told of a day to come; None where it is no more than talk."""
    title = described(what, case).title
    who, said = groups.get("who", ""), case.grammar.said
    is_told = bool(groups.get("being")) or bool(who and said["visit"].search(who))
    if moment.day is None or said["told"].search(title) or said["nobody"].match(who):
        return None
    if not is_told and (who or not _is_name(title, case)):
        return None
    return _as_offer(_created(what, moment, case, groups=groups))


def _is_name(title: str, case: Case) -> bool:
    """Whether words name something without saying anything of it or asking for it ("inset day")."""
    said = case.grammar.said
    if said["told"].search(title) or said["imperative"].match(title):
        return False
    return 0 < len(title.split()) <= _LONGEST_NAME


def _as_offer(steps: Sequence[Step] | None) -> Sequence[Step] | None:
    return [
        replace(each, is_offer=True) if isinstance(each, PlannedAction) else each
        for each in steps or ()
    ] or None


def _is_noun_phrase(what: str, case: Case) -> bool:
    """Whether words name something without saying anything of it ("inset day on 4 January")."""
    title = case.message.title(what)
    is_told = case.grammar.said["told"].search(title)
    return bool(title) and is_told is None and len(title.split()) <= _LONGEST_NAME


def _created(
    what: str, moment: Moment | None, case: Case, *, groups: Groups
) -> Sequence[Step] | None:
    found = described(what, case, who=groups.get("who", ""))
    title = found.title
    if groups.get("being"):
        being = described(groups["being"], case)
        found = replace(found, where=being.where, responsible=being.responsible)
        title = _of_whom(groups["who"], being.title)
    if _AGAIN.match(title):
        return None
    if not title and groups.get("block") and moment is not None:
        title = _BUSY
    known = {
        "summary": title, "location": found.where, "who": list(found.who),
        "responsible": list(found.responsible),
    }  # fmt: skip
    if moment is None or not title:
        return [_unknown(title, moment, known)]
    moment = from_today(moment, case.message.times(what), case.now)
    days = case.message.several(what)
    if not found.is_whole or (moment.rule is None and not days and case.message.is_torn(what)):
        question = f"I could not read all of the times. When exactly is {_lower(title)}?"
        return [
            Missing(
                action("calendar", "create_event", {"summary": title, "who": list(found.who)}),
                "start_time",
                question,
            )
        ]
    moments = [moment_of([*each], case.now) for each in days] if moment.rule is None else []
    times = [_times(each, case, groups) for each in moments if each is not None]
    return [
        action("calendar", "create_event", known | each)
        for each in times or [_times(moment, case, groups)]
    ]


def _unknown(title: str, moment: Moment | None, known: Mapping[str, Any]) -> Missing:
    """Return what has to be asked of an event without a time or name."""
    field = "start_time" if title else "summary"
    question = f"When is {_lower(title)}?" if title else "What should I put in the calendar?"
    if not title and moment is None:
        question = "What should I put in the calendar, and when?"
    known = {**known, "start_time": moment and moment.text}
    return Missing(action("calendar", "create_event", known), field, question)


def _of_whom(who: str, being: str) -> str:
    """Return what somebody is or does as a title: "Piet away for work", "At my sister's"."""
    name = re.sub(r"(?:'s|'ll| is| are|'ll be| will be)+$", "", who).strip()
    if is_speaker(name) or re.match(r"^(?:i'm|we're|i am|we are|i'll|we'll)", who, re.IGNORECASE):
        return being[:1].upper() + being[1:]
    return f"{name[:1].upper()}{name[1:]} {being}"


def _times(moment: Moment, case: Case, groups: Groups) -> dict[str, Any]:
    lengths = case.message.lengths(" ".join(groups.values()))
    end = moment.end if not moment.is_part or groups.get("block") else None
    if end is None and lengths and moment.start is not None:
        end = moment.start + (lengths[0].until - lengths[0].begin)
    if moment.start is None and moment.day is not None and moment.days > 1:
        last = moment.day + timedelta(days=moment.days - 1)
        return {"start_time": moment.text, "end_time": last.isoformat(), "rrule": moment.rule}
    return {"start_time": moment.text, "end_time": end and end.isoformat(), "rrule": moment.rule}


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
    part = f"{what} {groups.get('late', '')}"
    if _OUT_OF.search(what) or (groups.get("told") and not _is_told_ahead(part, case)):
        return None
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
