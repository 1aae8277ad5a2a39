"""What a message is by its form: its intent, how long-winded it is, how sure that is. Pure."""

from collections.abc import Collection
from dataclasses import dataclass
from enum import StrEnum

from kinkeeper.conversation.model import Social
from kinkeeper.conversation.routing.clause_words import Clause, clauses_of, word_lists
from kinkeeper.conversation.routing.signals import Signals
from kinkeeper.conversation.routing.social import read_social
from kinkeeper.conversation.routing.weights import IntentWeights, shipped_weights
from kinkeeper.language.text import TokenKind, tokenise
from kinkeeper.reading.phrases import ASKED
from kinkeeper.reading.replies import is_question


class IntentType(StrEnum):
    """What a message is."""

    EMPTY = "empty"
    GREETING = "greeting"
    FEEDBACK = "feedback"
    COMMAND = "command"
    QUESTION = "question"
    CONTINUATION = "continuation"
    STATEMENT = "statement"


class Complexity(StrEnum):
    """How much there is in it."""

    SIMPLE = "simple"
    MODERATE = "moderate"
    COMPLEX = "complex"


@dataclass(frozen=True, slots=True, kw_only=True)
class Intent:
    """A message by its form.

    Attributes:
        type: What it is.
        complexity: How much there is in it.
        confidence: In [0, 1].
        words: How many.
        has_question_mark: Whether it ends a clause with one.
        is_interrogative: Whether a clause begins with a question word.
        refers: Whether it speaks of something named before.
        has_link: Whether there is an address of the web in it.
    """

    type: IntentType
    complexity: Complexity
    confidence: float
    words: int
    has_question_mark: bool
    is_interrogative: bool
    refers: bool
    has_link: bool


_SPEAKER = "i"
_PLAIN = frozenset({IntentType.EMPTY, IntentType.GREETING, IntentType.FEEDBACK})


def read_intent(text: str, signals: Signals, *, names: Collection[str] = ()) -> Intent:
    """Return what a message is by its form.

    Args:
        text: Any.
        signals: What is known when it comes.
        names: What the assistant is called.
    """
    tokens = tokenise(text)
    clauses = clauses_of(text, names)
    lists, weights = word_lists(), shipped_weights().intent
    said = {word for clause in clauses for word in clause}
    count = sum(token.kind is not TokenKind.PUNCTUATION for token in tokens)
    kind = _type(text, clauses, names) if tokens else IntentType.EMPTY
    if kind is IntentType.STATEMENT and count < weights.continuation_below:
        kind = IntentType.CONTINUATION
    return Intent(
        type=kind,
        complexity=_complexity(count, has_conjunction=bool(said & lists["conjunctions"])),
        confidence=_confidence(kind, count, weights, is_warm=signals.is_warm), words=count,
        has_question_mark=any(clause[-1] == ASKED for clause in clauses),
        is_interrogative=any(clause[0] in lists["interrogatives"] for clause in clauses),
        refers=bool(said & lists["references"]),
        has_link=any(token.kind is TokenKind.LINK and "@" not in token.text for token in tokens),
    )  # fmt: skip


def commands_in(clause: Clause) -> bool:
    """Tell whether a clause asks for something to be done: "please could you add ...".

    What its speaker does themselves is told, not asked for ("I work", "I play"), but asked for in a question ("can I add").

    Args:
        clause: Canonical words.
    """
    lists = word_lists()
    place = next((at for at, word in enumerate(clause) if word not in lists["polite"]), 0)
    is_told = clause[:place][-1:] == (_SPEAKER,) and lists["modals"].isdisjoint(clause[:place])
    return clause[place] in lists["commands"] and not is_told


def _type(text: str, clauses: tuple[Clause, ...], names: Collection[str]) -> IntentType:
    if clauses and any(map(commands_in, clauses)):
        return IntentType.COMMAND
    if is_question(tokenise(text), text):
        return IntentType.QUESTION
    if read_social(text, names=names) is Social.ACKNOWLEDGE:
        is_greeting = not clauses or not word_lists()["greetings"].isdisjoint(clauses[0])
        return IntentType.GREETING if is_greeting else IntentType.FEEDBACK
    return IntentType.STATEMENT


def _complexity(count: int, *, has_conjunction: bool) -> Complexity:
    weights = shipped_weights().intent
    if count > weights.complex_above:
        return Complexity.COMPLEX
    is_moderate = count > weights.moderate_above or has_conjunction
    return Complexity.MODERATE if is_moderate else Complexity.SIMPLE


def _confidence(kind: IntentType, count: int, weights: IntentWeights, *, is_warm: bool) -> float:
    confidence = weights.confidence
    if kind in _PLAIN:
        confidence += weights.plain
    if kind is IntentType.QUESTION:
        confidence += weights.question
    if is_warm:
        confidence += weights.warm
    if count < weights.short_below or count > weights.long_above:
        confidence += weights.odd_length
    return min(1.0, max(0.0, confidence))
