"""Why something was said, kept or left alone, and how much was heard and how little said. Pure."""

import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from kinkeeper.core.ids import payload_hash
from kinkeeper.observer.accounts.metrics import LedgerDay, NearMiss
from kinkeeper.observer.accounts.proof import Proof
from kinkeeper.observer.accounts.public_json import decision_line
from kinkeeper.observer.accounts.traces import Mark, Step, Trace
from kinkeeper.web.views.addresses import card_href
from kinkeeper.web.views.day_text import Wording
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
        mark: How it ended.
        mark_word: The same in words.
    """

    title: str
    mark: Mark
    mark_word: str
    text: str


@dataclass(frozen=True, slots=True, kw_only=True)
class Reading:
    """One gate's numbers, for engineers.

    Attributes:
        score: Two or more digits; "none" where there was no score.
        passed: Whether it was reached.
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
                stage=gate.stage,
                score="none" if gate.score is None else f"{gate.score:.4f}",
                threshold=f"{gate.threshold:.2f}",
                passed=gate.passed,
                decision=gate.decision,
            )
            for gate in trace.gates
        ),
        evidence=_evidence(trace.row.tripwire_evidence),
        raw=json.dumps(line, indent=2, ensure_ascii=False, sort_keys=True),
        decision_hash=decision_hash(line),
    )


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


# Activity: how much was heard, and how little of it was said. Pure.

_HUNDRED = 100


@dataclass(frozen=True, slots=True, kw_only=True)
class LedgerStep:
    """How many messages came so far.

    Attributes:
        label: "heard", "understood", ...
        width: Percent of those heard; of something that is not zero at least one.
    """

    label: str
    count: int
    width: int


@dataclass(frozen=True, slots=True, kw_only=True)
class Miss:
    """A message that was left alone although it came close."""

    quote: Quote
    score: str
    needed: str


@dataclass(frozen=True, slots=True, kw_only=True)
class Page:
    """One day.

    Attributes:
        iso: ISO date.
        long_label: In full.
        sentence: "213 messages, 9 understood, 7 saved, 1 spoken".
        steps: From heard to spoken.
        misses: Nearest first.
    """

    iso: str
    label: str
    long_label: str
    sentence: str
    steps: tuple[LedgerStep, ...]
    misses: tuple[Miss, ...]


def ledger(
    days: Sequence[LedgerDay], quotes: Mapping[NearMiss, tuple[Quote, float]], *, wording: Wording
) -> tuple[Page, ...]:
    """Return the days, newest first.

    Args:
        quotes: The near misses as they are quoted, with what they would have needed; one that is
            gone is left out.
    """
    newest_first = sorted(days, key=lambda day: day.day, reverse=True)
    return tuple(_page(day, quotes, wording) for day in newest_first)


def _page(day: LedgerDay, quotes: Mapping[NearMiss, tuple[Quote, float]], wording: Wording) -> Page:
    counts = {
        "heard": day.messages,
        "understood": day.understood,
        "saved": day.saved,
        "spoken": day.spoken,
    }
    return Page(
        iso=day.day.isoformat(),
        label=wording.heading(day.day),
        long_label=wording.long_day(day.day),
        sentence=day.sentence,
        steps=tuple(
            LedgerStep(label=label, count=count, width=_width(count, day.messages))
            for label, count in counts.items()
        ),
        misses=tuple(
            Miss(quote=quotes[miss][0], score=f"{miss.score:.2f}", needed=f"{quotes[miss][1]:.2f}")
            for miss in day.near_misses
            if miss in quotes
        ),
    )


def _width(count: int, heard: int) -> int:
    if count <= 0 or heard <= 0:
        return 0
    return max(1, min(_HUNDRED, round(count / heard * _HUNDRED)))
