"""What a message is by its form: social, about the assistant, a follow-up; its intent, how sure that is. Pure."""

import re
import tomllib
from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass
from enum import StrEnum
from functools import cache
from importlib.resources import files
from typing import Any

from kinkeeper.conversation.model import Confirmation, Exchange, Mode, Social
from kinkeeper.conversation.routing.clause_words import (
    GOES_ON,
    NAMES,
    NEVER_SOCIAL,
    Clause,
    clauses_of,
    phrases,
    social_head,
    without_address,
    word_lists,
)
from kinkeeper.conversation.routing.confirmation import read_confirmation
from kinkeeper.conversation.routing.signals import IntentWeights, Signals, shipped_weights
from kinkeeper.language.text import Token, TokenKind, tokenise
from kinkeeper.reading.asked import StateKind, asked_state
from kinkeeper.reading.goal_wishes import OF_WHAT_IS_KNOWN, goal_wishes
from kinkeeper.reading.phrases import ASKED, phrase_book
from kinkeeper.reading.replies import is_question

# Whether a message asks something about the assistant itself: what it can do, what it reads, who
# sees what. Pure.

_LEAD = re.compile(
    r"^(?:(?:hi|hiya|hey|hello|oh|so|well|um+|uh+|please|ok|okay|and|but|just|quick question|good (?:morning|afternoon|evening))(?: there)? )+(?=.)"
)
_TAIL = re.compile(r" (?:please|thanks|thank you|actually|anyway|btw|by the way|then|exactly)$")
_WORD = re.compile(r"@(\w+)")
_MARKS = re.compile(r"[^\w\s]")


def asks_about(text: str) -> str | None:
    """Return the topic of a message that asks about the assistant; None where it asks something else."""
    said = " ".join(_MARKS.sub(" ", text.casefold().replace("’", "'")).split())
    said = _TAIL.sub("", _LEAD.sub("", said))
    found = (
        topic
        for topic, patterns in _topics().items()
        if any(each.fullmatch(said) for each in patterns)
    )
    state = asked_state(text)
    is_of_knowing = state is not None and state.kind is StateKind.KNOWS
    return next(found, "knows" if is_of_knowing else None)


@cache
def _topics() -> Mapping[str, tuple[re.Pattern[str], ...]]:
    path = files(__package__) / "data" / "about.toml"
    data: Mapping[str, Any] = tomllib.loads(path.read_text(encoding="utf-8"))
    words: dict[str, str] = {}

    def expanded(pattern: str) -> str:
        return _WORD.sub(lambda found: words[found[1]], pattern)

    for name, pattern in data["words"].items():
        words[name] = f"(?:{expanded(pattern)})"

    return {
        name: tuple(re.compile(expanded(each)) for each in patterns)
        for name, patterns in data["topics"].items()
    }


# Whether a message asks why the assistant said or did what it did. Pure.

_WHY = re.compile(
    r"(?:(?:but|and|so|ok|okay|hm+|wait|sorry)[\s,]+)*"
    r"(?:why(?: (?:did|do|would|have|didn't|don't) you\b.*| that| not| is that| so)?"
    r"|how (?:do|did|would|can) you (?:know|tell|come to|figure)(?: (?:that|this|it|so|out))*"
    r"|where (?:do|did|have) you (?:get|got|have|hear|read|find)\b.*(?:that|this|it)(?: from)?"
    r"|(?:who|what) (?:told|says?|made|makes) (?:you|so)\b.*|says who"
    r"|what (?:did|do) you (?:use|base|look at|go by)\b.*)",
    re.IGNORECASE,
)


def asks_why(text: str) -> bool:
    """Return whether a whole message asks for the reasons of the last answer ("why?", "how do you know that?")."""
    return _WHY.fullmatch(text.strip().rstrip("?!. ")) is not None


# The social filter: whether a message, as a whole, says nothing but hello, thanks, never mind.
# Pure.

_LONGEST = 60
_CHANCE = 0.35
_BY_STRENGTH = (Social.IGNORE, Social.CANCEL, Social.ACKNOWLEDGE)
_DECLINING = "decline"
_ANSWERS = frozenset({"yes", "no"})
"""After these a name is no one who is spoken to, but what is chosen."""


def read_social(
    text: str, *, is_offered: bool = False, has_referent: bool = False, names: Collection[str] = ()
) -> Social | None:
    """Return what a wholly social message comes to; None for every other message.

    Args:
        is_offered: Whether the last answer offered or asked something: then a yes goes on.
        has_referent: Whether "it" may be something of the turns before: then "cancel it" goes on.
        names: What the assistant is called.
    """
    tokens = tokenise(text)
    if len(tokens) > _LONGEST:
        return None
    clauses = tuple(map(without_address, clauses_of(text, names)))
    if not clauses:
        return _without_words(tokens)
    if clauses[0][0] not in _ANSWERS:
        clauses = tuple(clause for clause in clauses if not NAMES.issuperset(clause)) or clauses
    if any(not NEVER_SOCIAL.isdisjoint(clause) or _asks_of_day(clause) for clause in clauses):
        return None
    chances = [social_head().chances(clause) for clause in clauses]
    if any(each[GOES_ON] > 1 - _CHANCE for each in chances):
        return None
    kinds = {_likeliest(each) for each in chances}
    kind = next(social for social in _BY_STRENGTH if social in kinds)
    if any(_undoes(clause, has_referent=has_referent) for clause in clauses):
        return None
    if has_referent and (not phrases("referring").isdisjoint(clauses) or _is_of_goal(text)):
        return None
    if is_offered and _agrees(text, names):
        return None
    return kind


def _is_of_goal(text: str) -> bool:
    """Whether it speaks of what is worked on: "stop looking"."""
    return any(each.wish in OF_WHAT_IS_KNOWN and each.is_plain for each in goal_wishes(text))


def _likeliest(chances: Mapping[str, float]) -> Social:
    label = max((each for each in chances if each != GOES_ON), key=lambda each: chances[each])
    return Social(label.upper())


def _asks_of_day(clause: Clause) -> bool:
    lists = word_lists()
    return clause[0] in lists["asking_days"] and not lists["days"].isdisjoint(clause)


def _undoes(clause: Clause, *, has_referent: bool) -> bool:
    """Whether one certain thing is to be undone: "cancel that one", and "cancel it" after something was made."""
    lists, said = word_lists(), set(clause)
    if not said & lists["undoing"] or said & lists["dismissing"]:
        return False
    if said & lists["owned"]:
        return not said & lists["matters"]
    return bool(said & lists["picking"]) or (has_referent and bool(said & lists["things"]))


def _agrees(text: str, names: Collection[str]) -> bool:
    reading = read_confirmation(text, names=names)
    return reading is not None and reading.kind is not Confirmation.NO


def _without_words(tokens: Sequence[Token]) -> Social | None:
    """Read a message of emoji and marks: a question mark alone asks, all else says little."""
    if any(token.text[0] == ASKED for token in tokens):
        return None
    emoji = phrase_book().emoji
    shown = [token.text for token in tokens if token.kind is TokenKind.EMOJI]
    if any(emoji.get(symbol) == _DECLINING for symbol in shown):
        return Social.CANCEL
    has_words = any(token.kind is TokenKind.WORD for token in tokens)
    return Social.ACKNOWLEDGE if shown or has_words else Social.IGNORE


class IntentType(StrEnum):
    """What a message is."""

    EMPTY = "empty"
    GREETING = "greeting"
    FEEDBACK = "feedback"
    COMMAND = "command"
    QUESTION = "question"
    CONTINUATION = "continuation"
    STATEMENT = "statement"


@dataclass(frozen=True, slots=True, kw_only=True)
class Intent:
    """A message by its form.

    Attributes:
        confidence: In [0, 1].
        words: How many.
        has_question_mark: Whether it ends a clause with one.
        is_interrogative: Whether a clause begins with a question word.
        refers: Whether it speaks of something named before.
        has_link: Whether there is an address of the web in it.
    """

    type: IntentType
    confidence: float
    words: int
    has_question_mark: bool
    is_interrogative: bool
    refers: bool
    has_link: bool


_SPEAKER = "i"
_CAN = (_SPEAKER, "can")
_PLAIN = frozenset({IntentType.EMPTY, IntentType.GREETING, IntentType.FEEDBACK})


def read_intent(
    text: str, signals: Signals, *, names: Collection[str] = (), people: Collection[str] = ()
) -> Intent:
    """Return what a message is by its form.

    Args:
        signals: What is known when it comes.
        names: What the assistant is called.
        people: Words for people who are known, in small letters.
    """
    tokens = tokenise(text)
    clauses = clauses_of(text, names)
    lists, weights = word_lists(), shipped_weights().intent
    said = {word for clause in clauses for word in clause}
    count = sum(token.kind is not TokenKind.PUNCTUATION for token in tokens)
    kind = _type(text, clauses, names, people) if tokens else IntentType.EMPTY
    if kind is IntentType.STATEMENT and count < weights.continuation_below:
        kind = IntentType.CONTINUATION
    return Intent(
        type=kind,
        confidence=_confidence(kind, count, weights, is_warm=signals.is_warm),
        words=count,
        has_question_mark=any(clause[-1] == ASKED for clause in clauses),
        is_interrogative=any(clause[0] in lists["interrogatives"] for clause in clauses),
        refers=bool(said & lists["references"]),
        has_link=any(token.kind is TokenKind.LINK and "@" not in token.text for token in tokens),
    )


def commands_in(clause: Clause) -> bool:
    """Tell whether a clause asks for something to be done: "please could you add ...".

    What its speaker does or can do themselves is told, not asked for ("I work", "I can play"), but asked for in a question
    ("can I add").

    Args:
        clause: Canonical words.
    """
    lists = word_lists()
    place = next((at for at, word in enumerate(clause) if word not in lists["polite"]), 0)
    before = clause[:place]
    is_told = before == _CAN or (before[-1:] == (_SPEAKER,) and lists["modals"].isdisjoint(before))
    return clause[place] in lists["commands"] and not is_told


def _type(
    text: str, clauses: tuple[Clause, ...], names: Collection[str], people: Collection[str]
) -> IntentType:
    if clauses and any(map(commands_in, clauses)):
        return IntentType.COMMAND
    if is_question(tokenise(text), text, people):
        return IntentType.QUESTION
    if read_social(text, names=names) is Social.ACKNOWLEDGE:
        is_greeting = not clauses or not word_lists()["greetings"].isdisjoint(clauses[0])
        return IntentType.GREETING if is_greeting else IntentType.FEEDBACK
    return IntentType.STATEMENT


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


# Whether a message goes on with what was said before it. Pure.

_SHORT = 4
_BRIEF = 8
_ABOUT = "about"


def goes_on(clauses: Sequence[Clause], history: Sequence[Exchange]) -> bool:
    """Tell whether a message continues the last exchange.

    An answer to a question does, and so does what refers to something named before, what is too
    short to stand alone, and what begins with "and" or "what about". A new wish does not, though
    it may be said in the same breath as thanks.

    Args:
        history: Earlier turns, oldest first.
    """
    if not history or not clauses:
        return False
    lists = word_lists()
    words = [word for clause in clauses for word in clause if word != ASKED]
    if clauses[0][0] in lists["opening"] or any(map(_asks_about, clauses)):
        return True
    is_command = any(map(commands_in, clauses))
    if len(words) <= _SHORT and not is_command:
        return True
    said = set(words)
    refers, continues = bool(said & lists["references"]), bool(said & lists["continuing"])
    is_new = bool(said & lists["beginnings"])
    asked = _question(history[-1].answer)
    if asked and not lists["interrogatives"].isdisjoint(asked):
        return True
    if asked:
        return refers or continues or not (is_new or is_command)
    if is_command:
        return continues or (refers and len(words) <= _BRIEF)
    return continues or (refers and not is_new)


def offers_something(history: Sequence[Exchange]) -> bool:
    """Tell whether the last answer offered to do something, or asked back, so that a yes is a wish.

    Args:
        history: Earlier turns, oldest first.
    """
    if not history:
        return False
    last = history[-1]
    if last.clarification or last.mode is Mode.CLARIFY:
        return True
    clauses = clauses_of(last.answer)
    return any(
        clause[-1] == ASKED and not _wraps_up(clause) and _has_offer(clause) for clause in clauses
    )


def _asks_about(clause: Clause) -> bool:
    """Whether a clause is "what about ..."."""
    return clause[0] in word_lists()["asking_on"] and clause[1:2] == (_ABOUT,)


def _question(answer: str) -> Clause:
    """Return the question that an answer ends with; nothing where it only asks whether there is more."""
    clauses = clauses_of(answer)
    if not clauses or clauses[-1][-1] != ASKED or _wraps_up(clauses[-1]):
        return ()
    return clauses[-1]


def _wraps_up(clause: Clause) -> bool:
    """Whether a question only asks whether there is anything else."""
    return not word_lists()["wrapping_up"].isdisjoint(clause)


def _has_offer(clause: Clause) -> bool:
    return any(
        clause[at : at + len(offer)] == offer
        for offer in phrases("offers")
        for at in range(len(clause))
    )
