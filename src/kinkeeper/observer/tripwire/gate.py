"""The tripwire, the first gate over ambient messages; and whether a message answers what is open.

It scores what a message itself says, adds what the thread around it is worth, and decides DROP or
QUEUE. It extracts nothing and knows no time, no store and no model server.
"""

import math
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

from kinkeeper.core.messages import InboundMessage, MessageKind
from kinkeeper.language.lexicon import Lexicon, Mention
from kinkeeper.language.text import Token, TokenKind, tokenise
from kinkeeper.observer.answers.questions import Asked
from kinkeeper.observer.model import Stance, Tier1Decision
from kinkeeper.observer.tripwire.model import (
    Contribution,
    PatternSet,
    Weights,
    household_words,
    load_patterns,
    load_weights,
)
from kinkeeper.reading.replies import Reply, ReplyKind

DEFAULT_THRESHOLD = 0.7
THREAD_BOOST = 0.15
SHORT_REPLY_BOOST = 0.2
SHORT_REPLY_WORDS = 5
OPENS_THREAD = 0.8

_MOST_TOKENS = 512
_NAMED_CONTRIBUTIONS = 5
_LARGEST_LOG_ODDS = 30.0
_MARK, _EMOJI = TokenKind.PUNCTUATION, TokenKind.EMOJI  # a member looked up per token would show


@dataclass(frozen=True, slots=True, kw_only=True)
class Evidence:
    """What a message says for being coordination, by itself.

    Attributes:
        score: In [0, 1].
        families: Pattern families found, in file order.
        contributions: The features that weigh most, largest first: name and log-odds.
        word_count: Words, emoji and punctuation not counted.
    """

    score: float
    families: tuple[str, ...]
    contributions: tuple[tuple[str, float], ...]
    word_count: int


@dataclass(frozen=True, slots=True, kw_only=True)
class Verdict:
    """The gate's decision on one message.

    Attributes:
        confidence: Score with what the thread adds, in [0, 1].
        decision: QUEUE at or above the threshold, or on an override; else DROP.
        override: "attribution" where it answers an open question, which queues it whatever its score.
    """

    confidence: float
    decision: Tier1Decision
    override: str | None
    patterns: tuple[str, ...]


class Tripwire:
    """Scores messages of one household.

    Args:
        lexicon: The household's words.
    """

    def __init__(self, patterns: PatternSet, weights: Weights, lexicon: Lexicon) -> None:
        self._patterns = patterns
        self._weights = weights
        self._lexicon = lexicon

    def evidence(self, text: str) -> Evidence:
        """Score a message by itself.

        Args:
            text: Verbatim, any Unicode; only its first 4,096 characters and 512 tokens count.

        Returns:
            The evidence; an empty message scores 0. Never raises.
        """
        tokens = tokenise(text)[:_MOST_TOKENS]
        return self.weigh(tokens, self._lexicon.find(tokens))

    def weigh(self, tokens: Sequence[Token], mentions: Sequence[Mention]) -> Evidence:
        """Score a message that has been read already.

        Args:
            mentions: The household's words in it.

        Returns:
            The same as `evidence` of its text.
        """
        if len(tokens) > _MOST_TOKENS:
            tokens = tokens[:_MOST_TOKENS]
            mentions = self._lexicon.find(tokens)
        if not tokens:
            return Evidence(score=0.0, families=(), contributions=(), word_count=0)
        words = household_words(self._patterns, mentions, tokens)
        families = self._patterns.matched(" ".join(words))
        contributions = self._weights.contributions(words, families)
        weights = [item.weight for item in contributions]
        log_odds = self._weights.bias + math.fsum(weights)
        return Evidence(
            score=_logistic(log_odds),
            families=tuple(families),
            contributions=tuple(
                (f"{item.kind}: {item.name}", item.weight)
                for item in _strongest(contributions, weights)
            ),
            word_count=_count_words(tokens),
        )

    def decide(
        self,
        evidence: Evidence,
        *,
        in_coordination_thread: bool,
        answers_open_question: bool,
        threshold: float = DEFAULT_THRESHOLD,
    ) -> Verdict:
        """Decide on a message in its thread.

        Args:
            in_coordination_thread: Whether one of the last messages of the thread, still live,
                `makes_coordination`.
            answers_open_question: Whether it is a reply, emoji or reaction that takes, refuses or
                accepts something asked for and not yet taken.
            threshold: In [0, 1].

        Returns:
            The verdict. An answer to an open question is queued whatever its score.
        """
        confidence = with_context(evidence, in_coordination_thread=in_coordination_thread)
        passes = confidence >= threshold
        return Verdict(
            confidence=confidence,
            decision=Tier1Decision.QUEUE if passes or answers_open_question else Tier1Decision.DROP,
            override="attribution" if answers_open_question else None,
            patterns=evidence.families,
        )


def with_context(evidence: Evidence, *, in_coordination_thread: bool) -> float:
    """Add to a message's score what its thread is worth.

    Args:
        in_coordination_thread: As `Tripwire.decide` takes it.

    Returns:
        The confidence in [0, 1]: a live coordination thread adds 0.15, and 0.20 more to a reply of
        five words or fewer.
    """
    if not in_coordination_thread:
        return evidence.score
    is_short = evidence.word_count <= SHORT_REPLY_WORDS
    boost = THREAD_BOOST + (SHORT_REPLY_BOOST if is_short else 0.0)
    # Rounded, so that a score that lacks exactly the boost passes on every machine.
    return min(1.0, round(evidence.score + boost, 9))


def makes_coordination(evidence: Evidence) -> bool:
    """Tell whether a message asks for or makes an arrangement, so that its thread is about one."""
    return evidence.score >= OPENS_THREAD


def load_tripwire(lexicon: Lexicon, patterns_path: Path | None = None) -> Tripwire:
    """Build the tripwire of a household with the shipped weights.

    Args:
        lexicon: The household's words.
        patterns_path: Pattern file; None means the one shipped with the program.

    Returns:
        The tripwire.

    Raises:
        ConfigError: The pattern file is wrong; every problem is named.
    """
    return Tripwire(load_patterns(patterns_path), load_weights(), lexicon)


def _count_words(tokens: Sequence[Token]) -> int:
    return len([token for token in tokens if token.kind is not _MARK and token.kind is not _EMOJI])


def _strongest(
    contributions: Sequence[Contribution], weights: Sequence[float]
) -> list[Contribution]:
    """Return those that weigh most, largest first; of equals the first."""
    ordered = sorted(weights)
    ends = ordered[:_NAMED_CONTRIBUTIONS] + ordered[-_NAMED_CONTRIBUTIONS:]
    least = sorted(map(abs, set(ends)))[-_NAMED_CONTRIBUTIONS:][0]
    heavy = [item for item in contributions if not -least < item[0] < least]
    return sorted(heavy, key=_magnitude, reverse=True)[:_NAMED_CONTRIBUTIONS]


def _magnitude(item: Contribution) -> float:
    return abs(item.weight)


def _logistic(log_odds: float) -> float:
    bounded = max(-_LARGEST_LOG_ODDS, min(_LARGEST_LOG_ODDS, log_odds))
    return 1 / (1 + math.exp(-bounded))


# Whether a message answers what is open in its chat, as far as tier 1 can tell. Pure.

_SPEAKER = frozenset({"i", "i'll", "i'm"})
_TAKING = frozenset({ReplyKind.CLAIM, ReplyKind.YIELD, ReplyKind.ASSIGN})


def takes_up(
    message: InboundMessage, sender: str, reply: Reply | None, asked: Sequence[Asked], *, asks: bool
) -> bool:
    """Tell whether a message takes on or accepts what is open in its chat, as far as its form tells.

    Args:
        sender: Member id, or the name as sent.
        reply: What it says as a short answer, if anything.
        asks: Whether it asks for somebody itself.
    """
    reference = message.target or message.reply_to
    if reply is None or not asked or (message.kind is MessageKind.REACTION and reference is None):
        return False
    is_own_word = reply.kind in _TAKING or not _SPEAKER.isdisjoint(reply.cue.split())
    is_clear = reply.is_whole or (reply.stands_alone and is_own_word)
    if reference is None and not is_clear:
        # A yes of the one who was asked counts, whatever follows it.
        is_yes = reply.kind is ReplyKind.ACCEPT and not asks
        asked = [question for question in asked if is_yes and question.addressee == sender]
    return any(
        _settles(reply.kind, sender, question)
        for question in asked
        if reference in {None, question.message_id}
    )


def _settles(kind: ReplyKind, sender: str, question: Asked) -> bool:
    """Whether an answer of this kind can settle a question; thanks and "you do it" only settle an offer."""
    if kind in _TAKING:
        return True
    if question.asker == sender or question.stance != Stance.ASKS:
        return False
    is_offer = question.addressee == question.asker
    return kind is ReplyKind.ACCEPT or (
        is_offer and kind in {ReplyKind.HAND, ReplyKind.ACKNOWLEDGE}
    )
