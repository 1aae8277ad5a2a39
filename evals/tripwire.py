"""Accuracy of the tripwire: real labelled messages, our own family chats, and drop rates on chatter."""

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from itertools import islice
from pathlib import Path

from evals.coordination import (
    CONTEXT_WINDOW,
    LabelledMessage,
    family_messages,
    read_lines,
    real_messages,
    speakers_lexicon,
)
from evals.report import Floor, Report, Table
from kinkeeper.language.lexicon import Lexicon
from kinkeeper.observer.model import Tier1Decision
from kinkeeper.observer.tripwire.gate import (
    DEFAULT_THRESHOLD,
    Evidence,
    Tripwire,
    Verdict,
    makes_coordination,
)
from kinkeeper.observer.tripwire.model import load_patterns, load_weights

THRESHOLDS = (0.5, 0.6, 0.7, 0.8, 0.9)
FLOORS = {
    "real messages, sure: precision": 0.76,
    "real messages, sure: recall": 0.72,
    "family chats, held out: precision": 0.84,
    "family chats, held out: recall": 0.83,
    "text messages dropped": 0.70,
    "household talk dropped": 0.94,
}

_SAMPLE = 5_000
_WORST = 40
_COLUMNS = ("part", "messages", "coordination", "precision", "recall", "F1")


@dataclass(frozen=True, slots=True)
class Judged:
    """A message with what the tripwire makes of it."""

    message: LabelledMessage
    verdict: Verdict

    @property
    def is_queued(self) -> bool:
        """Whether it passes the gate."""
        return self.verdict.decision is Tier1Decision.QUEUE


class Judge:
    """Runs the tripwire over labelled messages; one compiled pattern set for all lexicons."""

    def __init__(self) -> None:
        self._patterns = load_patterns()
        self._weights = load_weights()

    def tripwire(self, lexicon: Lexicon) -> Tripwire:
        """Return a tripwire for a household's words."""
        return Tripwire(self._patterns, self._weights, lexicon)

    def judge(
        self, messages: Iterable[LabelledMessage], threshold: float = DEFAULT_THRESHOLD
    ) -> list[Judged]:
        """Decide on each message in its context.

        Args:
            messages: Labelled.
            threshold: In [0, 1].
        """
        judged = []
        for message in messages:
            tripwire = self.tripwire(message.lexicon)
            verdict = tripwire.decide(
                tripwire.evidence(message.text),
                in_coordination_thread=any(
                    makes_coordination(tripwire.evidence(text)) for text in message.context
                ),
                answers_open_question=message.answers_open_question,
                threshold=threshold,
            )
            judged.append(Judged(message, verdict))
        return judged

    def drop_rate(self, threads: Iterable[Sequence[str]], lexicon: Lexicon) -> tuple[int, float]:
        """Count messages of unlabelled threads, and the share that is dropped."""
        tripwire = self.tripwire(lexicon)
        dropped = count = 0
        for thread in threads:
            heard: list[Evidence] = []
            for text in thread:
                evidence = tripwire.evidence(text)
                verdict = tripwire.decide(
                    evidence,
                    in_coordination_thread=any(map(makes_coordination, heard[-CONTEXT_WINDOW:])),
                    answers_open_question=False,
                )
                heard.append(evidence)
                count += 1
                dropped += verdict.decision is Tier1Decision.DROP
        return count, dropped / max(1, count)


def measure(data: Path, *, chats: Path = Path("evals")) -> Report:
    """Measure the tripwire.

    Args:
        data: Folder with the public sets; every `coordination_real_*.jsonl` in it is read.
        chats: Folder with our own family chats; left out where it is missing.

    Returns:
        Figures by source and slice, the trade of precision and recall over thresholds, drop rates
        on unlabelled chat, floors, and the surest mistakes.

    Raises:
        InputError: A public set is missing.
    """
    judge = Judge()
    paths = sorted(data.glob("coordination_real_*.jsonl")) or [data / "coordination_real_dev.jsonl"]
    real = [message for path in paths for message in real_messages(path)]
    judged = judge.judge(real)
    sure = [item for item in judged if item.message.is_sure]
    tables = [
        Table(title="Real messages, threshold 0.7", columns=_COLUMNS, rows=(*_parts(judged),)),
        _trade(judge, "Real messages, sure", [item.message for item in sure]),
    ]
    values = _precision_recall("real messages, sure", sure)
    if (chats / "family_chat.jsonl").exists():
        held_out = judge.judge(family_messages(chats, "heldout"))
        dev = judge.judge(family_messages(chats, "dev"))
        rows = (_row("held out", held_out), _row("development (fitted on)", dev))
        tables += [
            Table(title="Family chats, threshold 0.7", columns=_COLUMNS, rows=rows),
            _trade(judge, "Family chats, held out", [item.message for item in held_out]),
        ]
        values |= _precision_recall("family chats, held out", held_out)
        judged = [*judged, *held_out]
    drops = _drop_rates(judge, data)
    rows_dropped = tuple((name, *figures) for name, figures in drops.items())
    tables.append(
        Table(title="Dropped", columns=("source", "messages", "dropped"), rows=rows_dropped)
    )
    values |= {f"{name} dropped": share for name, (_, share) in drops.items()}
    return Report(
        suite="tripwire",
        tables=tuple(tables),
        floors=tuple(
            Floor(name=name, value=value, minimum=FLOORS[name]) for name, value in values.items()
        ),
        worst=tuple(_worst(judged)),
    )


def precision_recall(judged: Sequence[Judged]) -> tuple[float, float]:
    """Return precision and recall; 1 where nothing was said, or nothing was to be said."""
    said = sum(item.is_queued for item in judged)
    wanted = sum(item.message.is_coordination for item in judged)
    right = sum(item.is_queued and item.message.is_coordination for item in judged)
    return (right / said if said else 1.0), (right / wanted if wanted else 1.0)


def _precision_recall(name: str, judged: Sequence[Judged]) -> dict[str, float]:
    precision, recall = precision_recall(judged)
    return {f"{name}: precision": precision, f"{name}: recall": recall}


def _row(name: str, judged: Sequence[Judged]) -> tuple[str | int | float, ...]:
    precision, recall = precision_recall(judged)
    total = precision + recall
    return (
        name,
        len(judged),
        sum(item.message.is_coordination for item in judged),
        precision,
        recall,
        2 * precision * recall / total if total else 0.0,
    )


def _parts(judged: Sequence[Judged]) -> Iterator[tuple[str | int | float, ...]]:
    for certainty in ("sure", "all"):
        kept = [item for item in judged if certainty == "all" or item.message.is_sure]
        yield _row(certainty, kept)
        for name in sorted({f"{item.message.source} {item.message.slice}" for item in kept}):
            part = [item for item in kept if f"{item.message.source} {item.message.slice}" == name]
            yield _row(f"{certainty}: {name}", part)


def _trade(judge: Judge, name: str, messages: Sequence[LabelledMessage]) -> Table:
    rows = tuple(_row(f"{at:.1f}", judge.judge(messages, at)) for at in THRESHOLDS)
    return Table(title=f"{name}, by threshold", columns=("threshold", *_COLUMNS[1:]), rows=rows)


def _drop_rates(judge: Judge, data: Path) -> dict[str, tuple[int, float]]:
    messages = list(read_lines(data / "sms_real_dev.jsonl"))
    step = max(1, len(messages) // _SAMPLE)
    sampled = ([row["text"]] for row in islice(messages, 0, step * _SAMPLE, step))
    conversations = read_lines(data / "cabnc_home_conversations_dev.jsonl")
    spoken = [[turn["text"] for turn in row["turns"]] for row in islice(conversations, 0, None, 10)]
    nobody = speakers_lexicon(frozenset())
    return {
        "text messages": judge.drop_rate(sampled, nobody),
        "household talk": judge.drop_rate(spoken, nobody),
    }


def _worst(judged: Sequence[Judged]) -> Iterator[str]:
    wrong = [
        item
        for item in judged
        if item.message.is_sure and item.is_queued != item.message.is_coordination
    ]
    wrong.sort(key=lambda item: -abs(item.verdict.confidence - DEFAULT_THRESHOLD))
    for item in wrong[:_WORST]:
        kind = "queued" if item.is_queued else "missed"
        yield f"{kind} {item.verdict.confidence:.2f} [{item.message.source}] {item.message.text[:90]!r}"
