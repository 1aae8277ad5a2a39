"""When the assistant speaks: rules on entities only, no scores, no model. Pure.

Order: a child in two places, two people on one job (or one person on two), a time or day that does not fit a
known activity, a job soon that nobody has. Anything else is silent.
"""

from dataclasses import replace
from datetime import timedelta

from kinkeeper.observer.model import RedlineDecision, RedlineOutcome, RedlineRule, Stance
from kinkeeper.observer.redline.case import Case, RedlineRules
from kinkeeper.observer.redline.redline_rules import (
    Facts,
    missing_variable,
    resource_conflict,
    temporal_conflict,
    time_mismatch,
)

_ASK_BEFORE = timedelta(hours=1)


def decide(case: Case, rules: RedlineRules) -> RedlineOutcome:
    """Apply the rules to one message.

    Args:
        case: The message and the household's days.
        rules: Which rules are on, and their numbers.

    Returns:
        SPEAK with the first rule that matches; SILENT with the reason otherwise. A missing owner in its
        grace is SILENT with `speak_at` set.
    """
    if case.extraction.stance is Stance.WITHDRAWS:
        return RedlineOutcome.silent("withdrawn")
    if rules.temporal_conflict and (facts := temporal_conflict(case, rules)):
        return _speak(RedlineRule.TEMPORAL_CONFLICT, facts)
    if rules.resource_conflict and (facts := resource_conflict(case, rules)):
        return _speak(RedlineRule.RESOURCE_CONFLICT, facts)
    if rules.missing_variable and (facts := time_mismatch(case)):
        verdict = _speak(RedlineRule.TIME_MISMATCH, facts)
        return verdict if rules.speak_on_missing else _switched_off(verdict)
    if rules.missing_variable and (facts := missing_variable(case, rules)):
        return _ask_for_owner(case, facts, rules)
    return RedlineOutcome.silent("no_rule")


def _speak(rule: RedlineRule, facts: Facts) -> RedlineOutcome:
    return RedlineOutcome(
        decision=RedlineDecision.SPEAK, rule=rule, reason=rule.value, facts=facts,
        conflict_key=_key(rule, facts),
    )  # fmt: skip


def _key(rule: RedlineRule, facts: Facts) -> str:
    sides = "+".join(sorted(str(side) for side in facts["sides"]))
    return f"{rule}|{facts['day'] or '-'}|{','.join(sorted(facts['child']))}|{sides}"


def _switched_off(verdict: RedlineOutcome) -> RedlineOutcome:
    """The rule still finds it, and it waits among the pending; only speaking is off."""
    return replace(verdict, decision=RedlineDecision.SILENT, reason="switched_off", speak_at=None)


def _ask_for_owner(case: Case, facts: Facts, rules: RedlineRules) -> RedlineOutcome:
    starts_at = facts["starts_at"]
    verdict = _speak(
        RedlineRule.MISSING_VARIABLE,
        {**facts, "starts_at": starts_at.isoformat() if starts_at else None},
    )
    if not rules.speak_on_missing:
        return _switched_off(verdict)
    speak_at = case.sent_at + rules.grace
    if starts_at is not None:
        speak_at = min(speak_at, starts_at - _ASK_BEFORE)
    if speak_at <= case.sent_at:
        return verdict
    return replace(verdict, decision=RedlineDecision.SILENT, reason="grace", speak_at=speak_at)
