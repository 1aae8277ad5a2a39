"""What people told of the days that are asked about, beside what the calendar has of them."""

from collections.abc import Collection, Sequence
from datetime import timedelta
from typing import Any

from sqlalchemy import Connection

from kinkeeper.actions.requests.bans import bans_of, heard, words_of
from kinkeeper.actions.requests.event_search import Chosen
from kinkeeper.actions.requests.event_views import ListEvents, Wanted
from kinkeeper.actions.requests.model import Asked
from kinkeeper.actions.requests.parameters import read_who
from kinkeeper.core.time import Interval, local_days
from kinkeeper.memory.dated_statements import people_told_of, rules_out_days, tells_of_days
from kinkeeper.memory.finding.terms import stems
from kinkeeper.memory.model import Episode
from kinkeeper.memory.statements.care import childs_ban
from kinkeeper.reading.coreference import root_of
from kinkeeper.reading.second_thoughts import says_otherwise

_MOST_TOLD = 3
_INSTANT = timedelta(microseconds=1)
_AHEAD = timedelta(days=60)
_HALF = 0.5
_OF_PLANS = frozenset({Wanted.UNOWNED, Wanted.CLASH, Wanted.COUNT, Wanted.LAST, Wanted.AWAY})
"""What only the calendar can be asked for."""


def told_beside(
    conn: Connection, wanted: ListEvents, chosen: Chosen, asked: Asked
) -> list[dict[str, Any]]:
    """Return what was told of the days that a question names, or of the days to come where it names only a thing.

    Where the calendar has that thing, only what rules it out is returned.
    """
    span = chosen.span
    if wanted.wanted in _OF_PLANS:
        return []
    is_of_next = wanted.from_ is None and bool(chosen.events)
    if wanted.from_ is None:
        if wanted.query is None:
            return []
        ahead = Interval(asked.now, asked.now + _AHEAD)
        span = chosen.events[0].interval if chosen.events else ahead
    titles = [each.event.summary for each in chosen.events]
    who = read_who(wanted.who, asked)
    told = told_of([*heard(conn, asked)], span, asked, who=who, query=wanted.query, known=titles)
    return [each for each in told if each["is_ruled_out"]] if is_of_next else told


def told_of(
    said: Sequence[Episode],
    span: Interval,
    asked: Asked,
    *,
    who: Collection[str],
    query: str | None = None,
    known: Sequence[str] = (),
) -> list[dict[str, Any]]:
    """Return what was told of some days, the newest first, each with who said it and when.

    What names somebody else is left out. What names nobody is only near, and so is what names nothing of what is asked
    about, unless it names who is and the calendar has nothing.

    Args:
        said: What people told, the newest first.
        who: Ids of those who are asked about; of anybody where there are none.
        query: What is asked about.
        known: Titles of what the calendar has: what tells of that is no news, unless it rules it out (`is_ruled_out`).
    """
    zone, household = asked.household.zone, asked.household
    first, last = (each.astimezone(zone).date() for each in (span.start, span.end - _INSTANT))
    days = local_days(first, last, zone)
    names = {stem for each in household.words_for_people for stem in stems(each)}
    wanted = {root_of(each) for each in stems(query or "") if each not in names}
    bans = bans_of(said, span, asked, who=who, what=" ".join([query or "", *known]))
    found = [words_of(each, asked) | {"is_ruled_out": True, "is_near": False} for each in bans]
    texts = list[str]()
    for each in said:
        if each in bans or (query and childs_ban(each.text, household) is not None):
            continue
        people = people_told_of(each.text, each.member, household)
        is_of_others = bool(who and people) and people.isdisjoint(who)
        if is_of_others:
            continue
        if any(says_otherwise(newer, each.text) for newer in texts):
            continue
        if not tells_of_days(each.text, each.said_at, days, household):
            continue
        words = {root_of(stem) for stem in stems(each.text)}
        is_known = any(_is_in(title, words, names) for title in known)
        is_ruled_out = rules_out_days(each.text, each.said_at, days, household)
        if is_known and not is_ruled_out:
            continue
        is_of_it = not wanted or len(wanted & words) >= _HALF * len(wanted)
        texts.append(each.text)
        found.append(
            words_of(each, asked)
            | {
                "is_ruled_out": is_ruled_out and is_of_it,
                "is_near": bool(who and not people) or (not is_of_it and bool(known or not who)),
            }
        )
    return found[:_MOST_TOLD]


def _is_in(title: str, said: Collection[str], names: Collection[str]) -> bool:
    """Whether what was said tells of what has a title."""
    words = {root_of(each) for each in stems(title) if each not in names}
    return bool(words) and len(words & {*said}) > _HALF * len(words)
