"""Goals as people take them on, ask after them and call them off. Pure."""

from collections.abc import Mapping, Sequence
from dataclasses import replace
from itertools import chain
from typing import Any, Final

from kinkeeper.conversation.model import PlannedAction
from kinkeeper.conversation.planning.case import Case, Missing, Step, action
from kinkeeper.conversation.planning.grammar import word_sets
from kinkeeper.conversation.planning.plan_times import moment_of
from kinkeeper.conversation.planning.write_guard import lead_of
from kinkeeper.language.name_match import meant_by
from kinkeeper.language.text import tokenise
from kinkeeper.reading.goal_wishes import (
    OF_WHAT_IS_KNOWN,
    GoalWish,
    Wished,
    goal_wishes,
    question_of,
)
from kinkeeper.reading.modality import Modality, modality_of

_ASK_WHEN: Final = "When shall I ask you again?"
_ASK_WHAT: Final = "What shall I ask you about?"
_ACTIONS: Final = {
    GoalWish.HOW: "show",
    GoalWish.STOP: "cancel",
    GoalWish.PAUSE: "pause",
    GoalWish.RESUME: "resume",
}


def certain(clause: str, case: Case) -> list[Step] | None:
    """Return what a clause asks about goals in words that mean nothing else; None where it does not.

    That is: to watch something, to ask something again, or anything about a goal that there is.

    Args:
        clause: With marks, without politeness.
    """
    for wished in goal_wishes(clause):
        has_time = bool(case.message.times(wished.about))
        if wished.wish is GoalWish.ASK and (wished.is_plain or has_time):
            return [_asked_again(wished.about, case)]
        if wished.wish is GoalWish.WATCH and not has_time:
            return [_taken_on(wished, clause, case)]
    goals: Sequence[Mapping[str, Any]] = case.context.fetched.get("goals", ())
    for wished in goal_wishes(case.message.title(clause)):
        if wished.wish is GoalWish.WHICH:
            return [action("goal", "list", {})]
        if wished.wish in OF_WHAT_IS_KNOWN and (goal := _meant(wished, goals, case)) is not None:
            return [action("goal", _ACTIONS[wished.wish], {"find_by": goal})]
    return None


def sought(clause: str, case: Case) -> list[Step] | None:
    """Return what a clause asks to find that is not kept here; None where it asks for nothing of the kind.

    Args:
        clause: With marks, without politeness; no other rule made anything of it.
    """
    lead = lead_of(clause, case).split()
    # "Look" may stand before a request, and be its first word.
    said = (clause, f"{lead[-1]} {clause}") if lead else (clause,)
    for wished in chain.from_iterable(map(goal_wishes, said)):
        if wished.wish is GoalWish.FIND and not _is_kept(case.message.words(wished.about)):
            return [_taken_on(wished, clause, case)]
    return None


def _taken_on(wished: Wished, clause: str, case: Case) -> PlannedAction:
    """Return a new goal; one that is only told of is offered."""
    kind = "watch" if wished.wish is GoalWish.WATCH else ""
    step = action("goal", "create", {"text": case.message.words(wished.about), "kind": kind})
    return replace(step, is_offer=modality_of(lead_of(clause, case)) is not Modality.NAMED)


def _is_kept(about: str) -> bool:
    """Whether something that is to be found is of a kind that is kept here."""
    words = {token.text.casefold() for token in tokenise(about)}
    return not words.isdisjoint(word_sets("out_of_scope")["kept"])


def _asked_again(about: str, case: Case) -> Step:
    """Return the question that is to be asked again: in its words, else what was spoken of last."""
    moment = moment_of(case.message.times(about), case.now)
    text = question_of(case.message.title(about)) or _spoken_of(case)
    known = action("goal", "create", {"kind": "ask", "text": text, "at": moment and moment.text})
    if not text:
        return Missing(known, "text", _ASK_WHAT)
    return known if moment is not None and moment.text else Missing(known, "at", _ASK_WHEN)


def _spoken_of(case: Case) -> str:
    """Return the question that was left open last, else what the person said before."""
    if not case.context.history:
        return ""
    last = case.context.history[-1]
    return last.clarification or last.text


def _meant(wished: Wished, goals: Sequence[Mapping[str, Any]], case: Case) -> str | None:
    """Return the id of the goal that is meant: by its words, else the one spoken of just before, or the only one there is."""
    if wished.about:
        found = [goals[at] for at in meant_by(wished.about, [each["title"] for each in goals])]
    else:
        last = case.context.history[-1].results if case.context.history else ()
        told = [each.result for each in last if each.domain == "goal"]
        spoken_of = {row.get("id") for each in told for row in (each, *each.get("goals", ()))}
        found = [each for each in goals if each["id"] in spoken_of]
        found = found or ([*goals] if wished.is_plain else [])
    return str(found[0]["id"]) if len(found) == 1 else None
