"""What of a model's plan may stand: times that we read, names that somebody said, the person's own words. Pure."""

import re
from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass, replace
from datetime import datetime
from typing import Any

from kinkeeper.conversation.model import Exchange, PlannedAction, PlanningContext
from kinkeeper.conversation.planning.case import Case, Missing, Step, Thing, action, content_words
from kinkeeper.conversation.planning.grammar import Grammar
from kinkeeper.conversation.planning.plan_times import moment_of
from kinkeeper.conversation.planning.referents import meant, target
from kinkeeper.language.text import strip_controls

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
_REQUIRED_TIMES = frozenset({"start_time"})
_THINGS = frozenset({"find_by", "event_id"})
REFERENCES = _THINGS | _PEOPLE | {"to"}
"""Parameters that say which thing is meant, or whom."""

QUESTIONS = {
    "start_time": _WHEN, **dict.fromkeys(_THINGS, _WHICH), **dict.fromkeys(_PEOPLE | {"to"}, _WHO),
}  # fmt: skip
"""What is asked where a parameter is missing, in words of ours."""


@dataclass(frozen=True, slots=True)
class Offered:
    """The times a model may choose from.

    Attributes:
        times: ISO 8601 by key.
        words: The words of the message behind each.
    """

    times: Mapping[str, str]
    words: Mapping[str, str]


def offered(case: Case) -> Offered:
    """Return the times that the message names, each by itself and all together."""
    spans = list(case.message.spans.values())
    times: dict[str, str] = {}
    words: dict[str, str] = {}
    for group in [[span] for span in spans] + ([spans] if len(spans) > 1 else []):
        moment = moment_of(group, case.now)
        if moment is None or moment.text is None:
            continue
        for text in (moment.text, moment.end.isoformat() if moment.end is not None else None):
            if text is not None and text not in times.values():
                key = f"t{len(times) + 1}"
                times[key], words[key] = text, " ".join(span.surface for span in group)
    return Offered(times, words)


def grounded(planned: PlannedAction, offer: Offered, case: Case) -> Step:
    """Return a model's request as it may stand; a question where it rests on nothing that was said.

    What the model worked out itself, a time or what was asked for, becomes an offer: a person sees it before it counts.

    Args:
        planned: As the model wants it; the words that ask for it are its reasoning.
        case: The message and what is known.
    """
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
    return step if is_read and _quotes(planned.reasoning, case) else replace(step, is_offer=True)


def _quotes(words: str, case: Case) -> bool:
    """Whether words stand in the message, or in what the same person said before."""
    wanted = _letters(words)
    said = [case.context.text, *(each.text for each in case.context.history)]
    return bool(wanted) and any(wanted in _letters(each) for each in said)


def _letters(text: str) -> str:
    return "".join(filter(str.isalnum, text.casefold()))


def _without(params: Mapping[str, Any], name: str) -> dict[str, Any]:
    return {key: value for key, value in params.items() if key != name}


def _timed(params: Mapping[str, Any], offer: Offered, case: Case) -> tuple[dict[str, Any], bool]:
    """Return parameters whose times are times, and whether all of these were read out of the message or are known."""
    found: dict[str, Any] = {}
    are_read = True
    known = {*offer.times.values(), *(thing.start for thing in case.things if thing.start)}
    for name, value in params.items():
        if isinstance(value, Mapping):
            found[name], is_read = _timed(value, offer, case)
        elif name in _TIMES and isinstance(value, str):
            is_read = _is_part(value, known)
            found[name] = value if is_read or _is_time(value) else None
        else:
            found[name], is_read = value, True
        are_read = are_read and is_read
    return {name: value for name, value in found.items() if value is not None}, are_read


def _is_part(value: str, known: Collection[str]) -> bool:
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
