"""Time of scoring one message, beside a bare scan of the same text by the same engine."""

import json
from collections.abc import Callable, Sequence
from pathlib import Path
from statistics import median, quantiles
from time import thread_time_ns
from typing import Any

from bench.report import Ratio
from kinkeeper.language.lexicon import Lexicon, Term
from kinkeeper.observer.tripwire.gate import Tripwire
from kinkeeper.observer.tripwire.model import load_patterns, load_weights

_ROUNDS = 12
_LIMIT_MICROSECONDS = 200.0
_SAMPLE = 2_000
_TEXT_MESSAGES, _TALK = "sms_real_dev.jsonl", "cabnc_home_conversations_dev.jsonl"
_WORDS = (
    ("child", ("Leo", "Mia", "Noor", "Tomasz")),
    ("adult", ("John", "Sarah", "Grandma Ruth")),
    ("activity", ("soccer", "ballet", "chess club", "judo", "orchestra")),
    ("place", ("Westside Park", "Madison Dance Academy")),
)
_MESSAGES = (
    "I'll pick up Leo from school tomorrow at 3pm and take him to soccer",
    "thx!",
    "socer tmrw 4",
    "did you see what the neighbours did to their fence, it is painted bright green now 😂",
    "Who's picking up Mia Thursday after chess club?",
    "kk",
    "I can’t believe it’s {n} already, where does the time go. The garden needs work and so do I",
    "Madison Dance Academy moved ballet to 5:{n} on Wednesday, can Grandma Ruth take her?",
    "lol no",
    "got the oil changed today, {n} dollars, next due in July",
    "omw, {n} minutes",
    """so we were at the shop and she said, in front of everybody, that the cake was for her, and then the
whole queue started laughing and I had to put the bags down because I was crying, honestly the best {n}
minutes of the week, remind me to tell you the rest when you are home""",
)
_VARIANTS = 25


def measure(data: Path | None = None) -> tuple[Ratio, ...]:
    """Time scoring and the bare scan, interleaved message by message.

    Args:
        data: Folder with the public data sets: then real text messages and household talk are
            scored, else lines written for this benchmark.

    Returns:
        Scoring as a ratio to the scan; its 99th percentile as a ratio to the limit of 0.2 ms; and
        the same for messages met for the first time, whose words nobody remembers yet. CPU time of
        the thread; but for the first time, each message counts with its best round, so that a busy
        machine matters less.
    """
    patterns = load_patterns()
    lexicon = Lexicon(
        Term(kind, word.lower().replace(" ", "-"), (word,))
        for kind, words in _WORDS
        for word in words
    )
    tripwire = Tripwire(patterns, load_weights(), lexicon)
    name, messages = _messages(data)
    tripwire.evidence(messages[0])  # reads the word lists
    first = [_microseconds(tripwire.evidence, text) for text in messages]
    scoring, scanning = [float("inf")] * len(messages), [float("inf")] * len(messages)
    for _ in range(_ROUNDS):
        for index, text in enumerate(messages):
            scoring[index] = min(scoring[index], _microseconds(tripwire.evidence, text))
            scanning[index] = min(scanning[index], _microseconds(patterns.scan, text))
    return (
        Ratio(
            name=f"score a message, {name}",
            microseconds=median(scoring),
            p99_microseconds=_p99(scoring),
            peer="bare scan of the same patterns",
            peer_microseconds=median(scanning),
            target=None,
        ),
        _against_limit(f"score a message, p99 of {len(messages):,}", _p99(scoring), target=1.0),
        _against_limit("score a message met for the first time, p99", _p99(first), target=None),
    )


def _against_limit(name: str, p99: float, *, target: float | None) -> Ratio:
    return Ratio(
        name=name,
        microseconds=p99,
        p99_microseconds=p99,
        peer=f"limit of {_LIMIT_MICROSECONDS:g} µs",
        peer_microseconds=_LIMIT_MICROSECONDS,
        target=target,
    )


def _messages(data: Path | None) -> tuple[str, list[str]]:
    """Return what is scored, and its name."""
    if data is None or not all((data / name).is_file() for name in (_TEXT_MESSAGES, _TALK)):
        lines = [text.replace("{n}", str(10 + n)) for n in range(_VARIANTS) for text in _MESSAGES]
        return "own lines", lines
    sent = [record["text"] for record in _records(data / _TEXT_MESSAGES)]
    said = [turn["text"] for record in _records(data / _TALK) for turn in record["turns"]]
    return "real text messages and household talk", [*_sample(sent), *_sample(said)]


def _records(path: Path) -> list[dict[str, Any]]:
    return [json.loads(line) for line in path.read_text(encoding="utf-8").splitlines()]


def _sample(texts: Sequence[str]) -> Sequence[str]:
    """Return texts from all over a list, the same ones every time."""
    return texts[:: max(1, len(texts) // _SAMPLE)][:_SAMPLE]


def _p99(found: Sequence[float]) -> float:
    return quantiles(found, n=100)[-1]


def _microseconds(operation: Callable[[str], object], text: str) -> float:
    start = thread_time_ns()
    operation(text)
    return (thread_time_ns() - start) / 1_000
