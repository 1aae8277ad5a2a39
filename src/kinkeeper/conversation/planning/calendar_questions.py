"""Reads questions to the calendar. Pure."""

import re
from collections.abc import Sequence
from datetime import datetime, timedelta
from typing import Any

from kinkeeper.conversation.planning.case import Case, Groups, Step, action
from kinkeeper.conversation.planning.moments import Moment, moment_of
from kinkeeper.conversation.planning.people import is_speaker, members_in, who_of, without_people
from kinkeeper.core.time import midnight

_FAR = 92
"""Days looked ahead for the next time that something is."""

_NOT_ASKED = re.compile(
    r"^(?:any ?thing|something|it|that|this|them|there|everyone|everybody|much|plans?|a|the|to|for|at|up|off|on|next|now|going|doing|with|someone|anyone|him|her|us|they|he|she)$",
    re.IGNORECASE,
)
_FILLER = re.compile(
    r"^(?:(?:does|do|did|finish|finishes|start|starts|end|begin|have|get|the|my|our|a|an|any|next|to|at|for|from|on|with|in|going|this|that|all|of|is|are|has|have|got|up|off|home)\s+)+|\s+(?:to|at|for|from|on|with|in|appointment|and|up|off)$",
    re.IGNORECASE,
)
_ASKS_MORE = re.compile(
    r"[\s,]+and\s+(?:who|when|where|what|how|at what|is|are|does|do)\b.*$", re.IGNORECASE
)
"""A further question about the same thing ("... and when does it end")."""

_BIRTHDAY = re.compile(
    r"\b(?:birthday|anniversary|name|age|allerg\w*|favou?rite|number|address|size|password|code)\b",
    re.IGNORECASE,
)


def ask(groups: Groups, case: Case) -> Sequence[Step] | None:
    """Read "when is Leo's next soccer?" and "who's picking up Emma on Thursday?"."""
    said = f"{groups.get('who', '')} {groups.get('what', '')}"
    if _BIRTHDAY.search(said) or case.grammar.said["no_question"].search(case.message.text):
        return None
    who = members_in(said, case)
    query = _subject(groups.get("what", ""), case)
    when = span(f"{groups.get('what', '')} {groups.get('when', '')}", case)
    if not query and not who and not when:
        return None
    if not when and not _is_scheduled(query, who, case):
        return None
    return [
        action("calendar", "list_events", {"days_ahead": _FAR, **when, "query": query, "who": who})
    ]


def _subject(what: str, case: Case) -> str | None:
    """Return what an event is about, without the people it is for."""
    words = without_people(_ASKS_MORE.sub("", case.message.title(what)), case)
    before = None
    while before != words:
        before, words = words, _FILLER.sub("", words).strip()
    return None if not words or _NOT_ASKED.match(words) or is_speaker(words) else words


def asked(_groups: Groups, case: Case) -> Sequence[Step] | None:
    """Read any other question that speaks of the calendar or of what stands in it."""
    text = case.message.text
    if case.grammar.said["no_question"].search(text):
        return None
    return [action("calendar", "list_events", {**span(text, case), "who": members_in(text, case)})]


def _is_scheduled(query: str | None, who: Sequence[str], case: Case) -> bool:
    """Whether a question without a day is one for the calendar: by an activity, or a word of appointments."""
    if query is None:
        return (
            bool(who) and case.grammar.said["where_question"].search(case.message.text) is not None
        )
    if case.grammar.said["appointment"].search(query):
        return True
    if any(query.lower() in thing.title.lower() for thing in case.things if thing.kind == "event"):
        return True
    words = query.lower().split()
    return any(
        word.kind in {"activity", "generic_activity"}
        for start in range(len(words)) for end in range(start + 1, len(words) + 1)
        for word in case.vocabulary.meanings(" ".join(words[start:end]))
    ) or case.grammar.said["when_question"].match(case.message.text) is not None  # fmt: skip


def span(part: str, case: Case) -> dict[str, Any]:
    """Return the days that a part of the message names."""
    moment = moment_of(case.message.times(part), case.now)
    if moment is None:
        return {}
    day = moment.day or (moment.start.date() if moment.start is not None else None)
    return {"from": day.isoformat(), "days_ahead": max(moment.days, 1)} if day is not None else {}


def free(groups: Groups, case: Case) -> Sequence[Step] | None:
    """Read "am I free for lunch tomorrow?"."""
    part = " ".join(groups.values())
    moment = moment_of(case.message.times(case.message.text), case.now)
    is_about_somebody = bool(members_in(part, case)) or is_speaker(groups.get("who", ""))
    if moment is None and not case.message.lengths(part) and not is_about_somebody:
        return None
    who = groups.get("who", "")
    if who and not is_speaker(who) and not members_in(who, case):
        return None  # nobody knows when strangers have time
    return [action("calendar", "find_free", _free(moment, part, case))]


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
    """Return whose time is meant; two of us are the speaker and the other grown-up where there is just one."""
    if case.grammar.said["two_of_us"].search(part):
        adults = [each.id for each in case.household.adults]
        if len(adults) == 2 and case.context.asked.member.id in adults:  # noqa: PLR2004 - two of us
            return adults
    who = who_of(part, case)
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
