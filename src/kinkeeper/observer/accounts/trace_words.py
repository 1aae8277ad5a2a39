"""Plain words for what the records hold: people, times, patterns, extractions, rules, reasons. Pure."""

from collections.abc import Iterable, Mapping, Sequence
from datetime import date, datetime, time
from types import MappingProxyType
from typing import Any

from kinkeeper.actions.model import ActionStatus, PendingAction
from kinkeeper.household.model import Household
from kinkeeper.language.when import regions
from kinkeeper.models.model import Outcome
from kinkeeper.observer.consultation import Consultation
from kinkeeper.observer.extraction.doubt import Doubt
from kinkeeper.observer.model import UNSPECIFIED, RedlineRule

_FAMILIES: Mapping[str, str] = MappingProxyType({
    "temporal": "a day",
    "clock": "a time of day",
    "assignment": "somebody taking something on",
    "question_owner": "a question who does it",
    "transport": "bringing or fetching",
    "care": "looking after somebody",
    "pronoun_reply": "a reply about oneself",
    "acceptance": "a yes",
    "decline": "a no",
    "eta": "somebody on the way",
    "errand": "an errand",
    "appointment": "an appointment",
    "people": "a child or the kids",
    "adults": "an adult of the family",
    "activities": "an activity",
    "places": "a place",
    "change": "a change of plans",
    "rendezvous": "a place to meet",
    "schedule_question": "a question about the plan",
    "request": "a request",
    "past_narrative": "something past",
    "habit": "a habit",
    "feeling": "a feeling",
    "noise": "small talk",
})  # fmt: skip
_TASKS: Mapping[str, str] = MappingProxyType({
    "pickup": "fetching", "dropoff": "bringing", "cover": "standing in", "attend": "going along",
    "cancel": "cancelling", "move": "moving", "appointment": "an appointment", "other": "a task",
})  # fmt: skip
_RULES: Mapping[str, str] = MappingProxyType({
    RedlineRule.TEMPORAL_CONFLICT: "two things collide",
    RedlineRule.RESOURCE_CONFLICT: "two people have one job, or one person two at a time",
    RedlineRule.MISSING_VARIABLE: "it is soon, and nobody has taken it",
    RedlineRule.TIME_MISMATCH: "the time or day does not fit what is known",
})  # fmt: skip
_SILENCES: Mapping[str, str] = MappingProxyType({
    "no_rule": "nothing collides, and nobody is missing",
    "nothing_to_confirm": "there is nothing to keep for a yes",
    "acknowledged": "it only agrees with something settled",
    "declined": "a no leaves the question as it was",
    "withdrawn": "it takes something back",
    "question_answered": "somebody answered before it had to be asked aloud",
    "question_withdrawn": "what was asked was taken back",
    "passed": "what it is about was over when the message was edited",
    "asked_again": "the same was asked again after it, and that question waits instead",
    "grace": "nobody has taken it yet, and the family gets time to answer",
    "question_settled": "the question was settled before it had to be asked aloud",
    "too_late": "its time had passed before it could be asked aloud",
    "already_announced": "the same conflict was announced within a day",
    "daily_limit": "enough was said today; it waits in the pending list",
    "quiet": "quiet was asked for; it waits in the pending list",
    "switched_off": "asking for a missing owner is switched off",
    "low_confidence_no_brain": "it was not sure enough, and nothing known supports it",
})  # fmt: skip

_STANDS: Mapping[ActionStatus, str] = MappingProxyType(
    {
        ActionStatus.PENDING: "waiting",
        ActionStatus.SUPERSEDED: "a newer one took its place",
        ActionStatus.WITHDRAWN: "no longer true, so taken away",
        ActionStatus.EXPIRED: "nobody said yes in time",
        ActionStatus.REJECTED: "somebody said no",
    }
)

_DOUBTS: Mapping[str, str] = MappingProxyType({
    Doubt.NO_SUBJECT: "it was open whom or what it is for",
    Doubt.NO_OWNER: "it was open who does it",
    Doubt.SEVERAL_TIMES: "it names several times",
    Doubt.FAINT: "it was not sure that anything is arranged",
    Doubt.UNPLACED: "it was open what is to happen",
})  # fmt: skip
_NO_ANSWERS: Mapping[str, str] = MappingProxyType({
    Outcome.TIMEOUT: "took too long",
    Outcome.INVALID_OUTPUT: "answered in another form",
    Outcome.TRUNCATED: "broke off its answer",
    Outcome.REFUSED_BY_MODEL: "refused to answer",
    Outcome.UNREACHABLE: "could not be reached",
    Outcome.OVER_BUDGET: "was not asked, as the budget is spent or the talk too long",
    Outcome.PUBLIC_HOST: "was not asked, as it is on a public host",
    Outcome.CIRCUIT_OPEN: "was not asked, as it had failed several times just before",
    Outcome.OVERLOADED: "was too busy",
    Outcome.SERVER_ERROR: "failed while it answered",
    Outcome.REJECTED: "did not take the question (`kinkeeper doctor` looks at its settings)",
})  # fmt: skip


def person(member_id: str, household: Household) -> str:
    """Return a name; of somebody who is no member, what they were called."""
    member = household.member(member_id)
    return member.name if member else f"{member_id} (a guest)"


def people(member_ids: Iterable[str], household: Household) -> str:
    """Return names joined: "Leo and Mia"."""
    return " and ".join(person(member, household) for member in member_ids)


def instant(at: datetime, household: Household) -> str:
    """Return a local day and time as the region writes them: "Thu 5 Mar 2026 16:00"."""
    local = at.astimezone(household.zone)
    return f"{day(local.date(), household)} {regions.clock(local.time(), household.locale)}"


def day(of: date, household: Household) -> str:
    """Return a day as the region writes it: "Thu 5 Mar 2026", "Thu Mar 5 2026"."""
    ordered = f"{of.day} {of:%b}" if regions.is_day_first(household.locale) else f"{of:%b} {of.day}"
    return f"{of:%a} {ordered} {of.year}"


def score(value: float | None, threshold: float) -> str:
    """Return a gate's numbers: "0.85, 0.60 needed"."""
    scored = "no score" if value is None else f"{value:.2f}"
    return f"{scored}, {threshold:.2f} needed"


def families(found: Sequence[str]) -> str:
    """Return the pattern families that were found, in words."""
    if not found:
        return "none of the usual signs"
    return ", ".join(_FAMILIES.get(name, name.replace("_", " ")) for name in found)


def understood(extraction: Mapping[str, Any], household: Household) -> str:
    """Return an extraction in words: "fetching, Leo, soccer, Thu 5 Mar 2026, 15:00, by Sarah"."""
    owners = [who for who in extraction["assigned_to"] if who != UNSPECIFIED]
    days = [day(date.fromisoformat(each), household) for each in extraction["dates"]]
    times = [time.fromisoformat(each) for each in extraction["times"]]
    parts = [
        _TASKS.get(extraction["task"] or "", ""),
        people(extraction["child"], household),
        (extraction["activity"] or "").replace("-", " "),
        ", ".join(days),
        ", ".join(regions.clock(each, household.locale) for each in times),
        f"by {people(owners, household)}" if owners else "",
    ]
    return ", ".join(part for part in parts if part) or "nothing definite"


def consulted(asked: Consultation) -> str:
    """Return why a model was asked, and what came of it."""
    why = _DOUBTS.get(asked.doubt, asked.doubt.replace("_", " "))
    if asked.answer is None:
        trouble = _NO_ANSWERS.get(asked.outcome, f"failed ({asked.outcome.value})")
        return f"A model was to help, since {why}, but {trouble}; the rules decided alone."
    left = ""
    if asked.discarded:
        left = f" {asked.discarded} of its values had no ground in the talk and were left out."
    said = "saw an arrangement" if asked.answer.is_arrangement else "saw none, so nothing was added"
    return f"Asked a model, since {why}; {asked.model} {said}.{left}"


def left_out(parts: int) -> str:
    """Return that so many parts of a message were not read."""
    what = "its last part was" if parts == 1 else f"its last {parts} parts were"
    return f"It arranges too much at once; {what} left out."


def rule(name: str | None, facts: Mapping[str, Any], household: Household) -> str:
    """Return why a rule speaks, with what it collides with where that is known."""
    words = _RULES.get(name or "", name or "a rule asked for it")
    booked = facts.get("booked") or facts.get("slot")
    if not booked or not booked.get("start"):
        return words
    start = instant(datetime.fromisoformat(booked["start"]), household)
    return f"{words} ({', '.join(filter(None, [booked['label'], start]))})"


def silence(reason: str) -> str:
    """Return why nothing was said."""
    return _SILENCES.get(reason, reason.replace("_", " "))


def status(action: PendingAction) -> str:
    """Return where an action stands, in a few plain words."""
    if action.undone_at is not None:
        return "taken back"
    return _STANDS.get(action.status, action.status.value)
