"""What of a model's plan may stand: times that we read, names that somebody said, the person's own words. Pure."""

import re
from collections.abc import Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from datetime import datetime, timedelta
from typing import Any

from kinkeeper.actions.requests.model import ActionResult, ResultStatus
from kinkeeper.actions.requests.parameters import shifted
from kinkeeper.conversation.model import Exchange, PlannedAction, PlanningContext
from kinkeeper.conversation.planning.case import (
    Case,
    Missing,
    Step,
    Thing,
    action,
    content_words,
    results_of,
)
from kinkeeper.conversation.planning.grammar import Grammar
from kinkeeper.conversation.planning.message import times_in
from kinkeeper.conversation.planning.plan_times import moment_of
from kinkeeper.conversation.planning.referents import meant, target
from kinkeeper.conversation.planning.relative import proposed_with
from kinkeeper.conversation.planning.shown import Shown
from kinkeeper.language.text import strip_controls
from kinkeeper.reading.times.distances import Distance, distances
from kinkeeper.reading.times.model import TimeSpan

# A turn with every word of others left out: what a plan made of it wants, the person wants. Pure.
#
# A model that has read words of others may want what those words want. One that was shown nothing
# but what the person said themself, the household's own file and our own requests cannot.

_LONGEST_NAME = 8
"""Words of a quotation that still is a name or a title; a longer one is somebody's text."""

_QUOTED = re.compile(r'["“”„«]([^"“”„«»]+)')
_COPIED = re.compile(
    r"^\s*>|^\s*(?:fwd?|re|from|to|cc|bcc|sent|date|subject|body)\s*:|```|^\s*[-_=*]{4,}|\n\s*\n|<[/!|]?[a-z]",
    re.IGNORECASE | re.MULTILINE,
)
"""Marks of what was copied from elsewhere: quoted lines, heads of mails, fences, rules, paragraphs, markup."""


def own_words(context: PlanningContext, grammar: Grammar) -> PlanningContext | None:
    """Return what a planner may look at without a word of others; None where the message itself hands some on.

    What was found, what was answered and what awaits a yes is left out, for titles and texts of others stand in all
    of these.

    Args:
        context: The message and what is known around it.
        grammar: Knows how others are quoted.
    """
    if hands_on(context.text, grammar):
        return None
    own = [
        Exchange(text=each.text, answer="", at=each.at, mode=each.mode)
        for each in context.history
        if each.text and not hands_on(each.text, grammar)
    ]
    return replace(context, history=own, open_edit=(), results=(), fetched={})


def hands_on(text: str, grammar: Grammar) -> bool:
    """Whether some of a message may be others' words: quoted, copied or told.

    Args:
        grammar: Knows how others are quoted.
    """
    plain = strip_controls(text)
    return (
        is_copied(text)
        or grammar.reported.search(plain) is not None
        or any(len(quoted.split()) > _LONGEST_NAME for quoted in _QUOTED.findall(plain))
    )


def is_copied(text: str) -> bool:
    """Whether a message has marks of what was copied from elsewhere, such as the head of a mail or paragraphs."""
    return _COPIED.search(text) is not None


_TIMES = frozenset(
    {"start_time", "end_time", "deadline", "remind_at", "from", "to", "on", "due_before", "as_of"}
)
_PEOPLE = frozenset({"sender_name"})
_CLOCK = re.compile(r"\d{1,2}:\d\d")
_WHO = "Who should it go to?"
_WHEN = "When should that be?"
_WHICH = "Which one do you mean?"
_NOON, _HALF_DAY, _MOST_TOLD = 12, timedelta(hours=12), 3
_REQUIRED_TIMES = frozenset({"start_time"})
_THINGS = frozenset({"find_by", "event_id"})
_OF_NOTES = frozenset({"title", "line"})
_DOMAIN_OF = {"event": "calendar", "task": "task", "note": "notes", "line": "notes"}
REFERENCES = _THINGS | _PEOPLE | {"to"}
"""Parameters that say which thing is meant, or whom."""

QUESTIONS = {
    "start_time": _WHEN,
    **dict.fromkeys(_THINGS, _WHICH),
    **dict.fromkeys(_PEOPLE | {"to"}, _WHO),
}
"""What is asked where a parameter is missing, in words of ours."""


@dataclass(frozen=True, slots=True)
class Offered:
    """What a model may choose from.

    Attributes:
        times: ISO 8601 by key.
        words: The words of the message behind each, and what is assumed about them.
        view: What else it is shown, whose aliases it may use.
    """

    times: Mapping[str, str]
    words: Mapping[str, str]
    view: Shown | None = None


def offered(case: Case, view: Shown | None = None) -> Offered:
    """Return the times that the message names, each by itself and all together, and those that it tells by others."""
    apart = [
        *distances(
            case.context.text, times_in(case.context.text, case.now, case.household), case.now
        )
    ]
    spans = [
        span
        for span in case.message.spans.values()
        if not any(span.surface in each.surface for each in apart)
    ]
    words = told_by(spans, case)
    for each in apart:
        for text in _told_by(each, spans, case):
            words.setdefault(text, f"{each.surface} {each.of}".strip())
    keys = {text: f"t{at}" for at, text in enumerate(words, 1)}
    return Offered(
        times={key: text for text, key in keys.items()},
        words={keys[text]: told for text, told in words.items()},
        view=view,
    )


def told_by(spans: Sequence[TimeSpan], case: Case) -> dict[str, str]:
    """Return as ISO 8601 what times mean, each by itself and all together, with the words behind each."""
    words: dict[str, str] = {}
    for group in [[span] for span in spans] + ([[*spans]] if len(spans) > 1 else []):
        for text, told in _meant_by(group, case):
            words.setdefault(text, told)
    return words


def _meant_by(group: Sequence[TimeSpan], case: Case) -> Iterator[tuple[str, str]]:
    """Yield what times that are said together may mean, the likeliest first, each with its words."""
    moment = moment_of(group, case.now)
    if moment is None or moment.text is None:
        return
    said = " ".join(span.surface for span in group)
    is_bare = any(span.has_time and not span.is_meridiem_known for span in group)
    if moment.start is None or not is_bare:
        yield moment.text, said
    else:
        yield moment.text, f"{said}, {moment.start:%p} assumed"
        other = moment.start + (_HALF_DAY if moment.start.hour < _NOON else -_HALF_DAY)
        if other <= case.now and moment.day is None:
            other += 2 * _HALF_DAY
        yield other.isoformat(), f"{said}, if {other:%p} is meant"
    if moment.end is not None:
        yield moment.end.isoformat(), f"end of {said}"
    elif moment.day is not None and moment.days > 1 and moment.rule is None:
        last = moment.day + timedelta(days=moment.days - 1)
        yield last.isoformat(), f"last day of {said}"


def _told_by(told: Distance, spans: Sequence[TimeSpan], case: Case) -> Iterator[str]:
    """Yield the times that are told by when something else is, the nearest of those that its words name."""
    named = content_words(told.of)
    things = [each for each in case.things if each.start and each.kind in {"event", "task"}]
    common = {each: len(named & content_words(each.title)) for each in things}
    most = max(common.values(), default=0)
    if most:
        found = [each for each in things if common[each] == most]
    else:
        found = [each for each in meant("it", case) if each.start] if told.is_pointing else []
    clocks = [span.begin.timetz() for span in spans if span.has_time and not span.has_date]
    starts = sorted({each.start for each in found if each.start})[:_MOST_TOLD]
    for start in starts:
        at = told.from_(datetime.fromisoformat(start))
        is_day = "T" not in start and told.at is None
        yield at.date().isoformat() if is_day else at.isoformat()
        yield from (datetime.combine(at, clock, case.now.tzinfo).isoformat() for clock in clocks)


def grounded(planned: PlannedAction, offer: Offered, case: Case) -> Step:
    """Return a model's request as it may stand; a question where it rests on nothing that was said.

    A time that the model worked out itself makes it an offer: a person sees it before it counts.

    Args:
        planned: As the model wants it; the words that ask for it are its reasoning.
        case: The message and what is known.
    """
    named = planned if offer.view is None else _unaliased(planned, offer, case, offer.view)
    if not isinstance(named, PlannedAction) or named.is_offer:
        return named
    return _held(named, offer, case)


def _held(planned: PlannedAction, offer: Offered, case: Case) -> Step:
    """Return a request whose things are named by the person's words or ids; a question where one is not."""
    params, is_read = _timed(planned.params, offer, case)
    for name in _REQUIRED_TIMES & set(planned.params):
        if params.get(name) is None:
            return Missing(
                action(planned.domain, planned.action, _without(params, name)), name, _WHEN
            )
    if planned.domain == "email":
        for name in ({"to"} | _PEOPLE) & set(planned.params):
            if not all(_is_said(each, case) for each in _listed(planned.params[name])):
                known = _without(params, name)
                return Missing(action(planned.domain, planned.action, known), name, _WHO)
            params[name] = planned.params[name]
    for name in _THINGS & set(params):
        known = _without(params, name)
        pointed_at = _pointed_at(str(params[name]).lower(), case)
        if len(pointed_at) == 1:
            params = {**known, **target(pointed_at[0])}
        elif not _is_known(str(params[name]), case):
            return Missing(action(planned.domain, planned.action, known), "find_by", _WHICH)
    step = action(planned.domain, planned.action, params, planned.reasoning)
    return step if is_read else replace(step, is_offer=True)


def _unaliased(planned: PlannedAction, offer: Offered, case: Case, view: Shown) -> Step:
    """Return a request with what its aliases stand for; a question where that is nothing it can be asked of."""
    which = Missing(action(planned.domain, planned.action, {}), "find_by", _WHICH)
    if (waiting := awaited(planned, view)) is not None:
        return _proposed(planned, waiting, offer, case) or which
    params = dict(planned.params)
    for name in (_THINGS | _OF_NOTES) & set(params):
        alias = str(params[name]).strip().casefold()
        if name in _OF_NOTES and planned.domain != "notes":
            continue
        done = view.done.get(alias)
        things = [view.things[alias]] if alias in view.things else []
        things = [*results_of([done])] if done is not None else things
        if not things:
            continue
        thing, params = things[0], _without(params, name)
        if len(things) > 1 or _DOMAIN_OF.get(thing.kind) != planned.domain:
            return which
        if (words := view.unsure.get(alias)) is not None:
            if not words:
                return which
            params["find_by"] = words
        elif name not in _OF_NOTES:
            params |= target(thing)
        elif thing.kind == "line":
            params |= {"title": thing.note, "line": thing.title}
        else:
            params[name] = thing.id or thing.title
    return replace(planned, params=params)


def awaited(planned: PlannedAction, view: Shown) -> ActionResult | None:
    """Return what awaits a yes and a request is to change; None where it names nothing of the kind."""
    names = _THINGS | _OF_NOTES if planned.domain == "notes" else _THINGS
    named = (view.done.get(str(planned.params.get(name)).strip().casefold()) for name in names)
    return next((each for each in named if each and each.status is ResultStatus.AWAITING), None)


def taking_back(planned: PlannedAction, view: Shown) -> Step:
    """Return the request to take back what an alias stands for; a question where that is nothing that can be."""
    done = view.done.get(str(planned.params.get("what")).strip().casefold())
    if done is None or done.action_id is None:
        return Missing(action("calendar", "delete_event", {}), "find_by", _WHICH)
    return replace(planned, params={"action_id": done.action_id})


def _proposed(
    planned: PlannedAction, waiting: ActionResult, offer: Offered, case: Case
) -> PlannedAction | None:
    """Return what awaits a yes with the changes that a model wants; it goes on waiting. None where that cannot be."""
    changes = planned.params.get("changes")
    if not isinstance(changes, Mapping) or waiting.domain != planned.domain:
        return None
    wanted, _ = _timed(changes, offer, case)
    minutes = wanted.pop("shift_minutes", None)
    for name in ("start_time", "end_time", "deadline") if minutes is not None else ():
        if (at := waiting.params.get(name)) is not None:
            wanted[name] = shifted(
                datetime.fromisoformat(at), timedelta(minutes=minutes)
            ).isoformat()
    step = action(waiting.domain, waiting.action, proposed_with(waiting, wanted), planned.reasoning)
    return replace(step, is_offer=True)


def _without(params: Mapping[str, Any], name: str) -> dict[str, Any]:
    return {key: value for key, value in params.items() if key != name}


def _timed(params: Mapping[str, Any], offer: Offered, case: Case) -> tuple[dict[str, Any], bool]:
    """Return parameters whose times are times, and whether all of these were read out of the message or are known."""
    found: dict[str, Any] = {}
    are_read = True
    said = content_words(case.context.text)
    named = [each for each in case.things if content_words(each.title) & said]
    known = {*offer.times.values()} | {
        at for thing in named for at in (thing.start, thing.original_start) if at
    }
    for name, value in params.items():
        if isinstance(value, Mapping):
            found[name], is_read = _timed(value, offer, case)
        elif name in _TIMES and isinstance(value, str):
            is_read = is_part(value, known)
            found[name] = value if is_read or _is_time(value) else None
        else:
            found[name], is_read = value, True
        are_read = are_read and is_read
    return {name: value for name, value in found.items() if value is not None}, are_read


def is_part(value: str, known: Collection[str]) -> bool:
    """Whether a time is one of some, or the day or the hour of one."""
    if _CLOCK.fullmatch(value):
        return any(f"T{value.rjust(5, '0')}" in each for each in known)
    return value in known or any(each.startswith(f"{value}T") for each in known)


def _is_time(value: str) -> bool:
    if _CLOCK.fullmatch(value):
        return True
    try:
        datetime.fromisoformat(value)
    except ValueError:
        return False
    return True


def _listed(value: object) -> Sequence[str]:
    return [value] if isinstance(value, str) else [*value] if isinstance(value, list) else []


def _is_said(name: str, case: Case) -> bool:
    """Whether the person said a name or address, now or before, or the household knows it."""
    if case.vocabulary.meanings(name):
        return True
    said = " ".join([case.context.text, *(each.text for each in case.context.history)])
    if "@" in name:
        return name.lower() in said.lower().split() or name.lower() in said.lower()
    return bool(content_words(name)) and content_words(name) <= content_words(said)


def _is_known(words: str, case: Case) -> bool:
    """Whether words for a thing are the person's, or name something that exists."""
    if any(words in {thing.id, thing.title} for thing in case.things):
        return True
    said = " ".join([case.context.text, *(each.text for each in case.context.history)])
    return bool(content_words(words) & content_words(said))


def _pointed_at(words: str, case: Case) -> Sequence[Thing]:
    """Return what words like "the second one" stand for; nothing where they only name something."""
    return meant(words, case) if case.grammar.pointing["pointer"].fullmatch(words) else ()
