"""Reads what is asked of the calendar in no plain question: to find time, or anything that speaks of it. Pure."""

from collections.abc import Sequence
from datetime import datetime, timedelta
from typing import Any

from kinkeeper.conversation.planning.case import Case, Groups, Step, action
from kinkeeper.conversation.planning.people import members_in, together, who_of
from kinkeeper.conversation.planning.plan_times import Moment, moment_of
from kinkeeper.core.time import midnight


def asked(_groups: Groups, case: Case) -> Sequence[Step] | None:
    """Read any other question that speaks of the calendar or of what stands in it."""
    text = case.message.text
    if case.grammar.said["no_question"].search(text):
        return None
    return [action("calendar", "list_events", {**span(text, case), "who": members_in(text, case)})]


def span(part: str, case: Case) -> dict[str, Any]:
    """Return the days that a part of the message names."""
    moment = moment_of(case.message.times(part), case.now)
    if moment is None:
        return {}
    day = moment.day or (moment.start.date() if moment.start is not None else None)
    return {"from": day.isoformat(), "days_ahead": max(moment.days, 1)} if day is not None else {}


def find_time(groups: Groups, case: Case) -> Sequence[Step] | None:
    """Read "find an hour for the two of us next week"."""
    if not groups.get("length") and not groups.get("slot"):
        return None
    part = " ".join(groups.values())
    moment = moment_of(case.message.times(case.message.text), case.now)
    return [action("calendar", "find_free", _free(moment, part, case))]


def _free(moment: Moment | None, part: str, case: Case) -> dict[str, Any]:
    first, last = _between(moment, case)
    lengths = case.message.lengths(part)
    minutes = int((lengths[0].until - lengths[0].begin).total_seconds() // 60) if lengths else 0
    if not minutes and "couple of hours" in part.lower():
        minutes = 120
    room = int((last - first).total_seconds() // 60)
    return {
        "between": {"from": first.isoformat(), "to": last.isoformat()},
        "duration": min(minutes, room) if minutes else min(60, room),
        "who": _who(part, case),
    }  # fmt: skip


def _who(part: str, case: Case) -> list[str]:
    who = together(part, case) or who_of(part, case)
    return who if who != [case.context.asked.member.id] else []


def _between(moment: Moment | None, case: Case) -> tuple[datetime, datetime]:
    zone = case.household.zone
    if moment is None:
        return case.now, midnight(case.now.date() + timedelta(days=8), zone)
    if moment.start is not None:
        end = moment.end or moment.start + timedelta(hours=1)
        return moment.start, end
    day = moment.day or case.now.date()
    first = max(midnight(day, zone), case.now) if day == case.now.date() else midnight(day, zone)
    return first, midnight(day + timedelta(days=max(moment.days, 1)), zone)
