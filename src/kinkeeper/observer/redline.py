"""When the assistant speaks: rules on entities only, no scores, no model. Pure.

Order: a child in two places, two people on one job (or one person on two), a time or day that does not fit a
known activity, a job soon that nobody has. Anything else is silent.
"""

from datetime import timedelta

from kinkeeper.observer.case import Case, RedlineRules
from kinkeeper.observer.model import RedlineDecision, RedlineOutcome, RedlineRule, Stance
from kinkeeper.observer.redline_rules import (
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
        return _silent("withdrawn")
    if rules.temporal_conflict and (facts := temporal_conflict(case, rules)):
        return _speak(RedlineRule.TEMPORAL_CONFLICT, facts)
    if rules.resource_conflict and (facts := resource_conflict(case, rules)):
        return _speak(RedlineRule.RESOURCE_CONFLICT, facts)
    if rules.missing_variable and (facts := time_mismatch(case)):
        return _speak(RedlineRule.TIME_MISMATCH, facts)
    if rules.missing_variable and (facts := missing_variable(case, rules)):
        return _ask_for_owner(case, facts, rules)
    return _silent("no_rule")


def _speak(rule: RedlineRule, facts: Facts) -> RedlineOutcome:
    return RedlineOutcome(
        decision=RedlineDecision.SPEAK, rule=rule, reason=rule.value, facts=facts,
        conflict_key=_key(rule, facts),
    )  # fmt: skip


def _silent(reason: str) -> RedlineOutcome:
    return RedlineOutcome(decision=RedlineDecision.SILENT, rule=None, reason=reason)


def _key(rule: RedlineRule, facts: Facts) -> str:
    sides = "+".join(sorted(str(side) for side in facts["sides"]))
    return f"{rule}|{facts['day'] or '-'}|{','.join(sorted(facts['child']))}|{sides}"


def _ask_for_owner(case: Case, facts: Facts, rules: RedlineRules) -> RedlineOutcome:
    rule = RedlineRule.MISSING_VARIABLE
    key = _key(rule, facts)
    if not rules.speak_on_missing:
        return RedlineOutcome(
            decision=RedlineDecision.SILENT, rule=rule, reason="switched_off", facts=facts,
            conflict_key=key,
        )  # fmt: skip
    speak_at = case.sent_at + rules.grace
    if facts["starts_at"] is not None:
        speak_at = min(speak_at, facts["starts_at"] - _ASK_BEFORE)
    facts = {**facts, "starts_at": facts["starts_at"].isoformat() if facts["starts_at"] else None}
    if speak_at <= case.sent_at:
        return RedlineOutcome(
            decision=RedlineDecision.SPEAK, rule=rule, reason=rule.value, facts=facts,
            conflict_key=key,
        )  # fmt: skip
    return RedlineOutcome(
        decision=RedlineDecision.SILENT, rule=rule, reason="grace", facts=facts, conflict_key=key,
        speak_at=speak_at,
    )  # fmt: skip
