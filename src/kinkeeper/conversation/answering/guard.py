"""Decides whether a sentence that a model wrote may be shown: never one that claims what no receipt has. Pure.

What was carried out is told from receipts, without a model. Where a request was made and nothing came of it, and where people speak of themselves, only
questions, denials, opinions, advice and sentences that speak of nothing in particular pass. In answers to questions about
the world, any claim of a deed is refused, unless it is only a state that memory or the earlier talk tells in the same
words, and what is neither about the question nor goes on with what was said before is left out.
"""

from collections.abc import Iterable
from dataclasses import dataclass
from enum import StrEnum
from functools import cache
from importlib.resources import files

from kinkeeper.conversation.answering.claims import (
    Sentence,
    continues,
    deeds_of,
    is_personal,
    names_affairs,
    refers,
    request_deed,
    sentences,
)
from kinkeeper.conversation.answering.templates import is_question
from kinkeeper.conversation.model import AnswerContext, Branch, Mode, TurnType
from kinkeeper.household.model import Member, Named
from kinkeeper.language.dictionary import first_names
from kinkeeper.memory.finding.terms import stems, words

_STATE = "?"
_NEEDS_A_TOOL = 0.5
_ENGLISH = 0.15
_FEW_WORDS = 6
_FEW_SIGNS = 8  # a smile or three dots, but no heap of brackets


class Fault(StrEnum):
    """Why a sentence may not be shown."""

    CLAIM = "claim"  # says that something was done that was not
    UNGROUNDED = "ungrounded"  # names what no receipt, reading or memory has
    UNREADABLE = "unreadable"  # not in words that can be checked


class Strictness(StrEnum):
    """What a turn lets a model say."""

    ASKED = "asked"
    TALK = "talk"


@dataclass(frozen=True, slots=True)
class Guard:
    """What may be said about one turn.

    Attributes:
        strictness: How closely it is looked at.
        known: Stems of what memory, knowledge and earlier talk say.
        asked: Stems of the message.
        names: Words for the household's people, places and activities.
    """

    strictness: Strictness
    known: frozenset[str]
    asked: frozenset[str]
    names: frozenset[str]

    @classmethod
    def of(cls, context: AnswerContext, known: Iterable[str] = ()) -> "Guard":
        """Return the guard of a turn.

        Args:
            known: What else an answer may rest on: sources that were found.
        """
        lines = [*known, *context.memories, *context.gists, *context.world, context.called]
        lines += [f"{key} {value}" for key, value in context.known.items()]
        lines += [part for turn in context.history for part in (turn.text, turn.answer)]
        lines += [context.asked.member.name, context.asked.household.bot_name]
        return cls(
            _strictness(context),
            frozenset(stems(" ".join(lines))),
            frozenset(stems(context.text)),
            _names(context),
        )

    def fault(self, sentence: Sentence, before: str = "") -> Fault | None:
        """Return why a sentence may not be shown; None where it may.

        Args:
            before: What was already shown of the answer.
        """
        said = list(words(sentence.text))
        is_noise = not said and len(sentence.text.strip()) > _FEW_SIGNS
        if is_noise or any(not word.isascii() for word in said) or _is_foreign(said):
            return Fault.UNREADABLE
        match self.strictness:
            case Strictness.ASKED:
                return self._fault_of_reply(sentence)
            case Strictness.TALK:
                return self._fault_of_talk(sentence, frozenset(stems(before)))

    def first_fault(self, text: str, before: str = "") -> Fault | None:
        """Return why a text may not be shown; None where it may.

        Args:
            before: What was already shown of the answer.
        """
        for sentence in sentences(text):
            if fault := self.fault(sentence, before):
                return fault
            before += sentence.text
        return None

    def _fault_of_reply(self, sentence: Sentence) -> Fault | None:
        if deeds_of(sentence):
            return Fault.CLAIM
        if not sentence.stated or sentence.disowns:
            return None
        unknown = sentence.stems - _plain_words() - self.known
        return Fault.UNGROUNDED if unknown or refers(sentence) else None

    def _fault_of_talk(self, sentence: Sentence, before: frozenset[str]) -> Fault | None:
        deeds = deeds_of(sentence)
        if deeds - {_STATE}:
            return Fault.CLAIM
        content = sentence.stems - _plain_words()
        if deeds and not (content and content <= self.known):
            return Fault.CLAIM
        is_on_topic = not content.isdisjoint(self.known | self.asked | before)
        goes_on = bool(before) and continues(sentence)
        if sentence.stated and content and not is_on_topic and not goes_on:
            return Fault.UNGROUNDED
        is_of_the_family = sentence.clauses and (
            names_affairs(sentence) or {*words(sentence.text)} & self.names
        )
        return Fault.UNGROUNDED if is_of_the_family and content - self.known - self.asked else None


def may_respond(context: AnswerContext) -> bool:
    """Whether a model may put a turn into words: nothing was done, and nothing is to be asked."""
    if context.clarification or context.triage.social or context.triage.confirmation:
        return False
    if context.mode not in {Mode.RESPOND, Mode.CLARIFY, Mode.ACT}:
        return False
    if context.results:
        return False  # receipts are told as they are
    return context.triage.branch is not Branch.ACT and context.mode is not Mode.ACT


def is_request(context: AnswerContext) -> bool:
    """Whether the person wanted something done, as far as routing or the words tell."""
    triage = context.triage
    return (
        triage.type is TurnType.ACTION
        or triage.branch is Branch.ACT
        or triage.confidence_tool_need >= _NEEDS_A_TOOL
        or request_deed(context.text)
    )


def _strictness(context: AnswerContext) -> Strictness:
    is_close = is_request(context) or is_personal(context.text) or _names_somebody(context)
    return Strictness.TALK if is_question(context.text) and not is_close else Strictness.ASKED


def _names_somebody(context: AnswerContext) -> bool:
    """Whether a message names somebody or something of the household, or anybody by a first name."""
    said = {*words(context.text)}
    return not said.isdisjoint(_of_the_house(context)) or not said.isdisjoint(first_names())


def _names(context: AnswerContext) -> frozenset[str]:
    """Return the words for whom and what the turn may be about: the household's, and names that were just said."""
    named = {*_of_the_house(context)}
    for said in (context.text, *(turn.text for turn in context.history)):
        named.update(word for word in words(said) if word in first_names())
    return frozenset(named)


def _of_the_house(context: AnswerContext) -> frozenset[str]:
    household = context.asked.household
    things: tuple[Member | Named, ...] = (
        *household.members,
        *household.activities,
        *household.places,
    )
    named = {
        word
        for each in things
        for name in (each.name, *each.aliases)
        for word in words(name)
        if stems(word)
    }
    return frozenset(named) - {*words(household.bot_name)}


def _is_foreign(said: list[str]) -> bool:
    """Whether words are hardly English: too few of them are words of its grammar."""
    if len(said) < _FEW_WORDS:
        return False
    grammar = sum(not stems(word) for word in said)
    return grammar < _ENGLISH * len(said)


@cache
def _plain_words() -> frozenset[str]:
    text = (files(__package__) / "data" / "plain_words.txt").read_text(encoding="utf-8")
    lines = [line for line in text.splitlines() if not line.startswith("#")]
    return frozenset(stems(" ".join(lines)))
