"""Time of scoring one message, beside a bare scan of the same text by the same engine."""

from collections.abc import Callable
from statistics import median, quantiles
from time import perf_counter_ns

from kinkeeper.benchmarks.report import Ratio
from kinkeeper.language.lexicon import Lexicon, Term
from kinkeeper.observer.tripwire import Tripwire
from kinkeeper.observer.tripwire_model import load_weights
from kinkeeper.observer.tripwire_patterns import load_patterns

_ROUNDS = 7
_BUDGET_MICROSECONDS = 1_000.0
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


def measure() -> tuple[Ratio, ...]:
    """Time scoring and the bare scan, interleaved message by message.

    Returns:
        Scoring as a ratio to the scan, and its 99th percentile against the budget of one
        millisecond. Each message counts with its best round, so that a busy machine matters less.
    """
    patterns = load_patterns()
    lexicon = Lexicon(
        Term(kind, word.lower().replace(" ", "-"), (word,))
        for kind, words in _WORDS
        for word in words
    )
    tripwire = Tripwire(patterns, load_weights(), lexicon)
    messages = [text.replace("{n}", str(10 + n)) for n in range(_VARIANTS) for text in _MESSAGES]
    scoring = [float("inf")] * len(messages)
    scanning = [float("inf")] * len(messages)
    for _ in range(_ROUNDS):
        for index, text in enumerate(messages):
            scoring[index] = min(scoring[index], _microseconds(tripwire.evidence, text))
            scanning[index] = min(scanning[index], _microseconds(patterns.scan, text))
    p99 = quantiles(scoring, n=100)[-1]
    return (
        Ratio(
            name="score a message",
            microseconds=median(scoring),
            p99_microseconds=p99,
            peer="bare scan of the same patterns",
            peer_microseconds=median(scanning),
            target=None,
        ),
        Ratio(
            name="score a message, within its budget",
            microseconds=median(scoring),
            p99_microseconds=p99,
            peer="-",
            peer_microseconds=None,
            target=_BUDGET_MICROSECONDS,
        ),
    )


def _microseconds(operation: Callable[[str], object], text: str) -> float:
    start = perf_counter_ns()
    operation(text)
    return (perf_counter_ns() - start) / 1_000
