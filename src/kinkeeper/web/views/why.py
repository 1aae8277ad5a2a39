"""Why something was said, kept or left alone: the trace as a ladder in plain words. Pure."""

import json
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from kinkeeper.core.ids import payload_hash
from kinkeeper.observer.accounts.lines import decision_line
from kinkeeper.observer.accounts.proof import Proof
from kinkeeper.observer.accounts.trace import Mark, Step, Trace
from kinkeeper.web.views.addresses import card_href
from kinkeeper.web.views.quotes import Quote

_TITLES = {
    "heard": "Heard it",
    "tripwire": "Filter",
    "override": "Closer look",
    "model": "Asked a model",
    "withdrawal": "Taken back",
    "understanding": "Understanding",
    "attribution": "Who it refers to",
    "length": "Length",
    "extraction": "What it says",
    "brain": "Context",
    "redline": "Speak or stay silent",
    "action": "What was saved",
}
_WORDS = {Mark.PASSED: "Yes", Mark.STOPPED: "Stopped", Mark.NOTED: "Noted"}


@dataclass(frozen=True, slots=True, kw_only=True)
class Rung:
    """One step of the ladder.

    Attributes:
        title: What was done.
        mark: How it ended.
        mark_word: The same in words.
        text: What happened.
    """

    title: str
    mark: Mark
    mark_word: str
    text: str


@dataclass(frozen=True, slots=True, kw_only=True)
class Reading:
    """One gate's numbers, for engineers.

    Attributes:
        stage: Which gate.
        score: Two or more digits; "none" where there was no score.
        threshold: What was needed.
        passed: Whether it was reached.
        decision: What followed.
    """

    stage: str
    score: str
    threshold: str
    passed: bool
    decision: str


@dataclass(frozen=True, slots=True, kw_only=True)
class Why:
    """The page.

    Attributes:
        title: The outcome in a few words.
        message_id: The channel's id.
        chat_id: Its chat.
        quote: What was said; None where the message itself is gone.
        said: What the assistant answered, if anything.
        rungs: In order.
        card_href: Where what was kept is decided, if something was kept and waits.
        readings: Gates' numbers.
        evidence: What each sign added to the first look's score.
        raw: The whole decision as JSON.
        decision_hash: SHA-256 of that decision.
    """

    title: str
    message_id: str
    chat_id: str
    quote: Quote | None
    said: str
    rungs: tuple[Rung, ...]
    card_href: str
    readings: tuple[Reading, ...]
    evidence: tuple[tuple[str, str], ...]
    raw: str
    decision_hash: str


def why(trace: Trace, quote: Quote | None) -> Why:
    """Return the page.

    Args:
        trace: Of the message.
        quote: The message as it is shown.
    """
    line = decision_line(trace.row, None)
    return Why(
        title=_title(trace),
        message_id=trace.message_id,
        chat_id=trace.chat_id,
        quote=quote,
        said=trace.row.reply or "",
        rungs=tuple(_rung(step) for step in trace.steps),
        card_href=card_href(trace.action) if trace.action else "",
        readings=tuple(
            Reading(
                stage=gate.stage, score="none" if gate.score is None else f"{gate.score:.4f}",
                threshold=f"{gate.threshold:.2f}", passed=gate.passed, decision=gate.decision,
            )
            for gate in trace.gates
        ),
        evidence=_evidence(trace.row.tripwire_evidence),
        raw=json.dumps(line, indent=2, ensure_ascii=False, sort_keys=True),
        decision_hash=decision_hash(line),
    )  # fmt: skip


@dataclass(frozen=True, slots=True, kw_only=True)
class ProofWords:
    """What deciding again came to, in words.

    Attributes:
        is_same: Whether the same was decided.
        text: One line.
        differences: What differs, where something does.
        hash: SHA-256 of the decision made again; empty where none was made.
    """

    is_same: bool
    text: str
    differences: tuple[str, ...] = ()
    hash: str = ""


def proof_words(proof: Proof | str) -> ProofWords:
    """Return a proof in words.

    Args:
        proof: What deciding again came to, or why it could not be.
    """
    if isinstance(proof, str):
        return ProofWords(is_same=False, text=f"This decision can't be re-run: {proof}.")
    part = (
        " This compares only the first decision, made before the waiting time."
        if proof.is_first_part
        else ""
    )
    if proof.is_same:
        return ProofWords(
            is_same=True, text=f"Yes, exactly the same decision.{part}", hash=proof.now
        )
    names = tuple(name.replace("_", " ") for name in proof.differences)
    text = f"No, it would decide differently now.{part}"
    return ProofWords(is_same=False, text=text, differences=names, hash=proof.now)


def decision_hash(line: Mapping[str, Any]) -> str:
    """Return the SHA-256 of a decision, as `decision_line` gives it."""
    return payload_hash(line)


def _title(trace: Trace) -> str:
    row = trace.row
    if row.redline_decision == "SPEAK":
        return "Why it spoke"
    if row.tier1_decision == "DROP":
        return "Why it ignored this"
    if trace.action is not None:
        return "Why it saved this without speaking"
    return "Why it stayed silent"


def _rung(step: Step) -> Rung:
    title = _TITLES.get(step.stage, step.stage.replace("_", " ").capitalize())
    return Rung(title=title, mark=step.mark, mark_word=_WORDS[step.mark], text=step.text)


def _evidence(evidence: Mapping[str, Any] | None) -> tuple[tuple[str, str], ...]:
    """Return what each sign added to the first look's score, strongest first."""
    contributions = (evidence or {}).get("contributions") or ()
    ordered = sorted(contributions, key=lambda each: -abs(each[1]))
    return tuple((str(name), f"{weight:+.3f}") for name, weight in ordered)
