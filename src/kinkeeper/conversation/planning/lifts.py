"""Reads who brings, fetches or minds somebody: to what stands in the calendar, or as a plan of its own. Pure."""

import re
from collections.abc import Sequence
from dataclasses import replace
from typing import Any

from kinkeeper.conversation.planner_facts import IN_VIEW
from kinkeeper.conversation.planning.case import Case, Groups, Step, action
from kinkeeper.conversation.planning.changing_events import named_event
from kinkeeper.conversation.planning.event_titles import is_appointment
from kinkeeper.conversation.planning.named import standing_events
from kinkeeper.conversation.planning.people import who_of
from kinkeeper.conversation.planning.plan_times import moment_of
from kinkeeper.household.model import Role
from kinkeeper.language.name_match import meant_by
from kinkeeper.language.text import enumerated
from kinkeeper.memory.statements.kin import kin

_FETCHING = re.compile(r"pick|fetch|collect|get", re.IGNORECASE)
_OWN = re.compile(r"^(?:the|my|our)\s+", re.IGNORECASE)
_AUXILIARY = frozenset({"is", "will", "are", "can", "be"})
_MINDING = re.compile(r"look|mind", re.IGNORECASE)


def taken_on(groups: Groups, case: Case) -> Sequence[Step] | None:
    """Read "gran is taking Leo to soccer on Friday" and "dad is picking me up Thursday"."""
    people = who_of(groups["who"], case)
    known = _of_known(groups, people, case) if people else None
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
        "summary": _title(groups, doer, taken, case), "who": taken, "responsible": people,
        "start_time": moment.text,
    }  # fmt: skip
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
