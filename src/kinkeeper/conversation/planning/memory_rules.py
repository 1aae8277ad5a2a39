"""Reads what is to be remembered, forgotten or recalled, what was done, and what is told of others. Pure."""

import re
from collections.abc import Sequence
from dataclasses import replace
from datetime import datetime

from kinkeeper.actions.requests.model import ActionResult, ResultStatus
from kinkeeper.conversation.model import LONGEST_READ, PlannedAction
from kinkeeper.conversation.planning.case import Case, Groups, Step, action
from kinkeeper.conversation.planning.clauses import told_beside
from kinkeeper.conversation.planning.grammar import load_grammar
from kinkeeper.conversation.planning.people import audience_of, members_in, who_of
from kinkeeper.conversation.planning.plan_grounding import is_copied
from kinkeeper.conversation.planning.plan_times import window_of
from kinkeeper.conversation.routing.intent import IntentType
from kinkeeper.conversation.routing.router import Routed
from kinkeeper.conversation.told_audience import facts_in, is_left_over
from kinkeeper.household.model import Household
from kinkeeper.language.name_match import meant_by
from kinkeeper.memory.dated_statements import tells_of_day_to_come
from kinkeeper.memory.finding.terms import stems
from kinkeeper.memory.model import Observation
from kinkeeper.memory.statements.care import is_for_home, is_told_of_self, tells_dose
from kinkeeper.memory.statements.classification import classify, is_lasting
from kinkeeper.reading.asked import (
    StateKind,
    asked_limit,
    asked_saying,
    asked_state,
    bars,
    remarks_wanted,
)

_LATELY = 2
"""Turns before a message whose deeds it may take back."""

_OURS = re.compile(r"\b(?:my|our)\b", re.IGNORECASE)
_FUNCTION = re.compile(
    r"^(?:does|do|did|is|are|was|were|has|have|had|any|the|a|an|of|to|'s|can|will|again|it|that|got)$",
    re.IGNORECASE,
)
_MOST_NAMES = 3
_BARE = re.compile(r"^(?:it|that|this|them|about it|about that|anything|something)$", re.IGNORECASE)
_NO_NAME = re.compile(
    r"^(?:what|who|which|where|how|that|this|it|he|she|a|an|the|when|if|back|later|tomorrow|at|on|in|by|crazy|again|now|cab|taxi|maybe|anytime|up|out|not)\b",
    re.IGNORECASE,
)


def called(groups: Groups, case: Case) -> Sequence[Step] | None:
    """Read "call me Sam"."""
    name = case.message.words(groups["name"])
    if (
        not name
        or _NO_NAME.match(name)
        or len(name.split()) > _MOST_NAMES
        or case.message.times(groups["name"])
    ):
        return None
    value = f"My name is {name[0].upper()}{name[1:]}"
    return [action("memory", "store", {"category": "identity", "key": "name", "value": value})]


def store(groups: Groups, case: Case) -> Sequence[Step] | None:
    """Read "remember that Emma is allergic to nuts"."""
    what, is_private = audience_of(groups["what"], case)
    _, before = audience_of(groups.get("whose", ""), case)
    value = case.message.words(what)
    if not value or _BARE.match(value):
        return None
    params = {
        "category": classify(value).category.value,
        "value": value,
        "private": before if is_private is None else is_private,
    }
    return [action("memory", "store", params)]


def search(groups: Groups, case: Case) -> Sequence[Step] | None:
    """Read "what do you know about Emma?"."""
    what = case.message.words(groups["what"]) or "name"
    return None if _BARE.match(what) else [action("memory", "search", {"query": what})]


def recalled(clause: str, case: Case) -> list[Step] | None:
    """Read what only memory answers: "what did Ben say about judo?", "is Leo allergic to anything?"."""
    words = case.message.words(clause)
    mark = "?" if "?" in case.message.text else ""
    words += mark
    people = case.household.members_by_word
    saying = asked_saying(words, people)
    if (
        saying is not None and asked_saying(clause + mark, people) is not None
    ):  # and not only a quotation
        said_by = case.context.asked.member.name if saying.who == "i" else saying.who or None
        query = saying.about or saying.who or words
        return [action("memory", "search", {"query": query, "said_by": said_by})]
    limit = asked_limit(words)
    if limit is None or not limit.is_plain or case.message.times(clause):
        return None
    return [action("memory", "search", {"query": " ".join(_asked_about(words))})]


def ask(groups: Groups, case: Case) -> Sequence[Step] | None:
    """Read a question about the household's own people and things ("what's Leo's shoe size?")."""
    words = case.message.words(groups["what"])
    if case.grammar.said["no_question"].search(case.message.text) or bars(case.message.text):
        return None
    if not members_in(words, case) and ("yes" in groups or not _OURS.search(words)):
        return None
    return [action("memory", "search", {"query": " ".join(_asked_about(words))})]


def _asked_about(words: str) -> list[str]:
    """Return the words of a question that say what it is about."""
    return [word for word in words.split() if not _FUNCTION.match(word)] or words.split()


def forget(groups: Groups, case: Case) -> Sequence[Step] | None:
    """Read "forget that …": of a list just made, the line that is named; of an event just made, whether to cancel it."""
    what = case.message.words(groups["what"])
    if not what or _BARE.match(what):
        return None
    for done in (
        each for turn in reversed(case.context.history[-_LATELY:]) for each in turn.results
    ):
        if done.status is not ResultStatus.DONE:
            continue
        lines = [str(each) for each in done.result.get("entries") or ()]
        if named := [lines[place] for place in meant_by(what, lines)]:
            title = done.result["title"]
            return [
                action("notes", "remove_line", {"title": title, "line": line}) for line in named
            ]
        is_event = (done.domain, done.action) == ("calendar", "create_event")
        if is_event and not {*stems(what)}.isdisjoint(stems(f"{done.summary}")):
            return [action("calendar", "delete_event", {"event_id": done.result["id"]})]
    return [action("memory", "forget", {"find_by": what})]


# Reads questions about what was done, and what awaits a yes. Pure.


def state_asked(case: Case) -> list[Step] | None:
    """Read "how many things wait for me?", "is the fair confirmed?", and "approve everything" of whom only adults decide for."""
    state = asked_state(case.context.text, (case.household.bot_name,))
    match state.kind if state is not None else None:
        case StateKind.APPROVE_ALL | StateKind.REJECT_ALL | StateKind.COUNT:
            return [action("memory", "list_waiting", {})]
        case StateKind.WHETHER if state is not None:
            return [action("memory", "list_waiting", {"query": state.what})]
        case _:
            return None


def remarks_set(case: Case) -> list[Step] | None:
    """Read "stop telling me things unasked", and that they may come again."""
    wanted = remarks_wanted(case.context.text)
    return None if wanted is None else [action("memory", "set_remarks", {"is_on": wanted})]


def waiting(_groups: Groups, _case: Case) -> Sequence[Step]:
    """Read "what needs my yes?"."""
    return [action("memory", "list_waiting", {})]


def done(groups: Groups, case: Case) -> Sequence[Step] | None:
    """Read "what changed since yesterday?", "did you send any mail today?"."""
    window = window_of(groups["when"], case, is_past=True)
    kind = {"kind": "email"} if groups.get("kind") else {}
    if window is None:
        return [action("memory", "list_done", kind)]
    if window.begin > case.now:
        return None
    until = window.until.isoformat() if window.until < case.now else None
    return [
        action("memory", "list_done", {"since": window.begin.isoformat(), "until": until, **kind})
    ]


# What is told of others in the household, or of all: everybody may want to know it, so that is
# offered. Pure.

_MOST_OFFERED = 3


def told_facts(case: Case, *, is_all: bool) -> list[PlannedAction]:
    """Return offers to remember for all what a message tells for good of others at home.

    What somebody tells of themselves is kept for them without a word, as all that is told is.

    Args:
        is_all: Whether it asks for nothing, so that all of it is told.
    """
    text, household, now = case.context.text, case.household, case.now
    said = [text] if is_all else told_beside(text, case.grammar, household, now=now)
    return [
        replace(_stored(told), is_offer=True)
        for each in said
        for told in facts_in(each, household, now=now)
        if told.stands_alone
        and is_lasting(told.text, household.words_for_people)
        and _is_of_others(told, case)
    ][:_MOST_OFFERED]


def _is_of_others(told: Observation, case: Case) -> bool:
    return bool(set(who_of(told.text, case)) - {case.context.asked.member.id})


def _stored(told: Observation) -> PlannedAction:
    params = {"category": told.category.value, "value": told.narrative, "private": False}
    return action("memory", "store", params)


# What of a message memory reads. Pure.

# "I moved to Leeds" is short enough to go on with what was said, and tells as much as a long sentence.
_TELLING = frozenset({IntentType.STATEMENT, IntentType.CONTINUATION})


def told_of(
    text: str,
    routed: Routed | None,
    results: Sequence[ActionResult],
    household: Household,
    *,
    now: datetime,
) -> str:
    """Return what memory reads of a message: all of one that only says how things are, else what no request carries.

    Args:
        text: The whole message, verbatim.
        routed: Where it goes; None where that is not known.
    """
    if (is_for_home(text, household) or is_told_of_self(text, household)) and all(
        _is_beside_report(each, is_dose=tells_dose(text, household)) for each in results
    ):
        return text
    if routed is None or routed.triage.confirmation is not None:
        return ""
    if routed.intent.type in _TELLING and all(map(_changes_nothing, results)):
        return text
    if is_copied(text):
        return ""
    grammar = load_grammar()
    is_dated = tells_of_day_to_come(text, household, now=now) and all(
        map(_changes_nothing, results)
    )
    if is_dated and not grammar.starts.match(text) and not grammar.said["imperative"].match(text):
        return text
    statements = told_beside(text[:LONGEST_READ], grammar, household, now=now)
    return "\n".join(each for each in statements if is_left_over(each, results, household))


def _is_beside_report(result: ActionResult, *, is_dose: bool) -> bool:
    """Whether it does no more than follow from what was told: a task is done, a fact is offered, the next dose is due."""
    follows = {("task", "complete"), *([("task", "create")] if is_dose else [])}
    return _changes_nothing(result) or (result.domain, result.action) in follows


def _changes_nothing(result: ActionResult) -> bool:
    """Whether it only asks whether what was told is to be remembered, or found nothing of that in the calendar."""
    if result.domain == "calendar":
        return result.action == "list_events" or result.status is ResultStatus.FAILED
    is_stored = (result.domain, result.action) == ("memory", "store")
    return is_stored and result.status is ResultStatus.AWAITING
