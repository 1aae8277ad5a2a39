"""Plain words for what the records hold: people, times, patterns, extractions, rules, reasons. Pure."""

from collections.abc import Iterable, Mapping, Sequence
from datetime import date, datetime, time
from types import MappingProxyType
from typing import Any

from kinkeeper.actions.model import ActionStatus, PendingAction
from kinkeeper.household.model import Household
from kinkeeper.models.model import Outcome
from kinkeeper.observer.consultation import Consultation
from kinkeeper.observer.extraction.doubt import Doubt
from kinkeeper.observer.model import UNSPECIFIED, RedlineRule
from kinkeeper.reading.times import regions

_FAMILIES: Mapping[str, str] = MappingProxyType({
    "temporal": "a day",
    "clock": "a time of day",
    "assignment": "somebody taking on a job",
    "question_owner": "a question about who does it",
    "transport": "dropping off or picking up",
    "care": "looking after somebody",
    "pronoun_reply": "a reply in the first person",
    "acceptance": "a yes",
    "decline": "a no",
    "eta": "somebody on the way",
    "errand": "an errand",
    "appointment": "an appointment",
    "people": "a child or the kids",
    "adults": "an adult in the family",
    "activities": "an activity",
    "places": "a place",
    "change": "a change of plans",
    "rendezvous": "a place to meet",
    "schedule_question": "a question about the plan",
    "request": "a request",
    "past_narrative": "something in the past",
    "habit": "a habit",
    "feeling": "a feeling",
    "noise": "small talk",
})  # fmt: skip
_TASKS: Mapping[str, str] = MappingProxyType({
    "pickup": "pickup", "dropoff": "drop-off", "cover": "covering", "attend": "attending",
    "cancel": "cancelling", "move": "moving", "appointment": "an appointment", "other": "a task",
})  # fmt: skip
_RULES: Mapping[str, str] = MappingProxyType({
    RedlineRule.TEMPORAL_CONFLICT: "two plans clash",
    RedlineRule.RESOURCE_CONFLICT: "two people have the same job, or one person has two at once",
    RedlineRule.MISSING_VARIABLE: "it is soon, and nobody has taken it",
    RedlineRule.TIME_MISMATCH: "the time or day does not match what is known",
})  # fmt: skip
_SILENCES: Mapping[str, str] = MappingProxyType({
    "no_rule": "nothing clashes, and somebody is in charge",
    "not_agreed": "the earlier messages do not support it, so nothing was said",
    "reader_alone": "only the trained reader noticed it, so it waits for approval",
    "nothing_to_confirm": "there is nothing to save for approval",
    "acknowledged": "it only agrees with something already settled",
    "declined": "somebody said no, so the question stays open",
    "withdrawn": "it withdraws something",
    "question_answered": "somebody answered before the group had to be asked",
    "question_withdrawn": "the question was withdrawn",
    "passed": "the event was over by the time the message was edited",
    "asked_again": "the same question was asked again later, and that one is waiting instead",
    "grace": "nobody has taken it yet, but the family still has time to answer",
    "question_settled": "the question was settled before the group had to be asked",
    "too_late": "its time had passed before the group could be asked",
    "already_announced": "the same conflict was announced less than a day ago",
    "daily_limit": "the daily limit was reached; it waits in the pending list",
    "quiet": "somebody asked for quiet; it waits in the pending list",
    "switched_off": "asking about unassigned jobs is switched off",
    "low_confidence_no_brain": "it was not certain enough, and nothing known supports it",
})  # fmt: skip

_STANDS: Mapping[ActionStatus, str] = MappingProxyType(
    {
        ActionStatus.PENDING: "waiting",
        ActionStatus.SUPERSEDED: "replaced by a newer one",
        ActionStatus.WITHDRAWN: "no longer true, so withdrawn",
        ActionStatus.EXPIRED: "nobody approved it in time",
        ActionStatus.REJECTED: "dismissed",
    }
)

_DOUBTS: Mapping[str, str] = MappingProxyType({
    Doubt.NO_SUBJECT: "it was unclear whom or what it is for",
    Doubt.NO_OWNER: "it was unclear who does it",
    Doubt.SEVERAL_TIMES: "it mentions more than one time",
    Doubt.FAINT: "it was unclear whether anything is being arranged",
    Doubt.UNPLACED: "it was unclear what will happen",
})  # fmt: skip
_EFFECTS: Mapping[str, str] = MappingProxyType(
    {
        "opened": "saw a plan, saved for approval ({card})",
        "agreed": "agrees with what is waiting for approval ({card})",
        "corrected": "understood it differently, so a corrected card is waiting ({card})",
        "offered": "understood it differently, so a card shows both versions ({card})",
        "withdrawn": "understood that the plan is off, so a card was withdrawn ({card})",
        "left": "saw something that changes nothing",
    }
)

_NO_ANSWERS: Mapping[str, str] = MappingProxyType({
    Outcome.TIMEOUT: "took too long",
    Outcome.INVALID_OUTPUT: "answered in the wrong format",
    Outcome.TRUNCATED: "gave an incomplete answer",
    Outcome.REFUSED_BY_MODEL: "refused to answer",
    Outcome.UNREACHABLE: "could not be reached",
    Outcome.OVER_BUDGET: "was not asked, because the budget is used up or the conversation is too long",
    Outcome.PUBLIC_HOST: "was not asked, because it is on a public host",
    Outcome.CIRCUIT_OPEN: "was not asked, because it had just failed several times",
    Outcome.OVERLOADED: "was too busy",
    Outcome.SERVER_ERROR: "failed while answering",
    Outcome.REJECTED: "rejected the request (`kinkeeper doctor` checks its settings)",
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
    return f"{regions.short_day(of, household.locale)} {of.year}"


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
        return (
            f"A model should have helped, because {why}, but it {trouble}; the rules decided alone."
        )
    left = ""
    if asked.discarded:
        left = (
            f" {asked.discarded} of its values had no basis in the conversation and were left out."
        )
    said = "found a plan" if asked.answer.is_arrangement else "found none, so nothing was added"
    return f"Asked a model, because {why}; {asked.model} {said}.{left}"


def left_out(parts: int) -> str:
    """Return that so many parts of a message were not read."""
    what = "its last part was" if parts == 1 else f"its last {parts} parts were"
    return f"It contains too many plans at once; {what} left out."


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


def talk(outcome: str, engine: str | None, effects: Sequence[Mapping[str, Any]]) -> str:
    """Return what a model that read the talk made of a message.

    Args:
        outcome: How its call ended.
        engine: Who read it.
        effects: What followed for the message.
    """
    if not engine:
        trouble = _NO_ANSWERS.get(Outcome(outcome), f"failed ({outcome})")
        return (
            f"A model should have read the conversation too, but it {trouble}; nothing was changed."
        )
    if not effects:
        return f"Read as part of the conversation by {engine}, which found no plan in it."
    done = [
        _EFFECTS[each["effect"]].format(card=(each["action"] or "")[:8]).strip() for each in effects
    ]
    return f"Read as part of the conversation by {engine}, which {'; '.join(done)}."
