"""Answers a turn: from receipts and what is known by templates, or by a model where one is set up and may."""

import re
from collections.abc import AsyncGenerator, Awaitable, Callable, Mapping, Sequence
from contextlib import aclosing
from dataclasses import dataclass, replace
from typing import Any, Final, Protocol

import structlog

from kinkeeper.actions.requests.model import Asked, ResultStatus
from kinkeeper.brain.answer_text import BEARS, answer_of, dated
from kinkeeper.brain.model import BrainQuery, Knowledge, Source, SourceKind
from kinkeeper.conversation.answering.about import Standing, explained, not_able, told_about
from kinkeeper.conversation.answering.guard import may_respond
from kinkeeper.conversation.answering.names_and_times import moment_words, plain
from kinkeeper.conversation.answering.nothing_done import chosen, closest, reply
from kinkeeper.conversation.answering.templates import is_question, not_known, said_besides, told
from kinkeeper.conversation.model import Answer, AnswerContext, Mode
from kinkeeper.core.errors import UnavailableError
from kinkeeper.household.viewers import Viewer
from kinkeeper.memory.finding.terms import stems
from kinkeeper.reading.asked import asked_saying, asks_how_they_are, asks_to_give
from kinkeeper.reading.deeds import asks_for_deed
from kinkeeper.reading.replies import asks_who_does

log = structlog.get_logger()

Know = Callable[[BrainQuery, Viewer], Awaitable[Knowledge]]
"""Tells what calendar and memory know about a question, on behalf of a viewer; raises UnavailableError."""

THOUGHT: Final = "thought"
"""Kind of what an answer mentions that nobody asked about."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Thought:
    """Something that came to mind before, and bears on what is asked.

    Attributes:
        text: In one or two sentences.
        used: Itself and what it rests on, each {"kind", "id", "text"}.
    """

    text: str
    used: tuple[Mapping[str, Any], ...]


Thoughts = Callable[[Asked, str], Awaitable[Thought | None]]
"""Tells what came to mind that bears on a message, for who sent it."""

_UNREACHABLE = (
    "I can't look that up just now; please ask again in a moment.",
    "I can't reach my memory at the moment; please try again shortly.",
)
_ASKS_ONE_THING = re.compile(
    r"^\W*(?:so |and |but |hey )?(?!.*\b(?:you|about|everything|anything|all|else)\b)"
    r"(?:who|whose|what|which|where|when|how|is|are|am|was|were|do|does|did|has|have|can|may)\b",
    re.IGNORECASE,
)
"""What lies near such a question answers it no better than nothing does."""

_MATCHES = 0.6


class Writer(Protocol):
    """Lets a model put answers into words; `responder.Responder` is the one that does."""

    def answer(
        self, context: AnswerContext, base: Answer, sources: Sequence[Source] = ()
    ) -> AsyncGenerator[str | Answer]:
        """Yield an answer piece by piece, and the whole of it last; `base` is what is said without a model."""
        ...


class Answerer:
    """Answers the turns of one household.

    Args:
        know: Answers questions from calendar and memory; None where nothing does.
        responder: Lets a model speak; None where there is none.
        standing: How the assistant is set up, for questions about itself; None where nobody asks them.
        thoughts: What came to mind meanwhile; None where nothing does.
    """

    def __init__(
        self,
        *,
        know: Know | None = None,
        responder: Writer | None = None,
        standing: Standing | None = None,
        thoughts: Thoughts | None = None,
    ) -> None:
        self._standing = standing
        self._thoughts = thoughts
        self._know = know
        self._responder = responder

    async def answer(self, context: AnswerContext) -> AsyncGenerator[str | Answer]:
        """Yield an answer piece by piece, and the whole of it last."""
        base = told(context)
        if (sure := explained(context) or self._about_itself(context)) is not None:
            yield sure
            yield replace(base, text=sure, confidence=1.0)
            return
        base, sources = await self._looked_up(context, base)
        if self._responder is not None and may_respond(context):
            async with aclosing(self._responder.answer(context, base, sources)) as pieces:
                async for piece in pieces:
                    if not isinstance(piece, Answer):
                        yield piece
                        continue
                    whole = await self._whole(piece, context)
                    if missing := whole.text.removeprefix(piece.text):
                        yield missing
                    yield whole
            return
        base = await self._whole(base, context)
        if base.text:
            yield base.text
        yield base

    async def _looked_up(
        self, context: AnswerContext, base: Answer
    ) -> tuple[Answer, Sequence[Source]]:
        """Return the answer out of what is known, where it is asked for, and what that rests on."""
        known = await self._known_of_deed(context)
        if known is not None and known.is_of_deeds:
            looked_up = base.text if asks_who_does(context.text) else ""
            base, sources = self._listed(context, base, known)
            return replace(base, text=f"{looked_up} {base.text}".strip()), sources
        if _only_memory_was_read(context) and (small := _small_talk(context)):
            return replace(base, text=small), ()
        if _asks_what_is_known(context) or _only_memory_was_read(context):
            return await self._known(context, base, known)
        if _left_open(context):
            besides = SourceKind.EVENT if "events" in context.results[0].result else None
            return await self._known(context, base, known, besides=besides)
        return base, ()

    async def _whole(self, answer: Answer, context: AnswerContext) -> Answer:
        """Return an answer with who may see a secret, and with what came to mind that bears on the question."""
        answer = replace(answer, text=f"{answer.text}{_missing(answer, context)}".strip())
        if self._thoughts is None or not answer.text or not _only_asks(context):
            return answer
        thought = await self._thoughts(context.asked, context.text)
        if thought is None or thought.text in answer.text:
            return answer
        text = f"{answer.text} By the way: {thought.text}"
        return replace(answer, text=text, used=(*answer.used, *thought.used))

    def _about_itself(self, context: AnswerContext) -> str | None:
        """Return what is told of the assistant itself, where nothing was done and that is asked."""
        if self._standing is None or context.results or context.clarification:
            return None
        if context.triage.confirmation or context.is_stopped:
            return None
        if asked_saying(context.text, context.asked.household.members_by_word) is not None:
            return None
        return told_about(context, self._standing) or not_able(context, self._standing)

    async def _known_of_deed(self, context: AnswerContext) -> Knowledge | None:
        """Return what is known about a question for a deed, or for who does it; None for another message, or where memory cannot be reached."""
        is_read_only = not any(each.action_id for each in context.results)
        is_asked = (
            asks_for_deed(context.text) is not None
            or asks_who_does(context.text)
            or asks_how_they_are(context.text)
            or asks_to_give(context.text) is not None
        )
        if self._know is None or not is_read_only or not is_asked:
            return None
        try:
            return await self._know(BrainQuery(text=context.text), context.asked.viewer)
        except UnavailableError:
            return None

    async def _known(
        self,
        context: AnswerContext,
        base: Answer,
        known: Knowledge | None,
        *,
        besides: SourceKind | None = None,
    ) -> tuple[Answer, Sequence[Source]]:
        """Return the answer out of what is known, and what it rests on; nothing of a kind that was looked at.

        Args:
            known: What memory answered already; None asks it.
        """
        if not context.results and (lately := _said_lately(context)):
            text, said = lately
            return replace(base, text=text, confidence=BEARS, used=(*base.used, said)), ()
        if self._know is None:
            return base, ()
        asked = context.asked
        viewer = asked.viewer
        try:
            knowledge = known or await self._know(BrainQuery(text=context.text), viewer)
        except UnavailableError as error:
            log.warning("conversation.answer.unknowing", reason=type(error).__name__)
            if context.results:
                return base, ()
            return replace(base, text=chosen(_UNREACHABLE, asked.turn_id), confidence=0.0), ()
        if knowledge.is_list:
            return self._listed(context, base, knowledge)
        found = [each for each in knowledge.sources if each.kind is not besides]
        if knowledge.relevance < BEARS or not found:
            is_one_thing = _only_memory_was_read(context) and _ASKS_ONE_THING.match(context.text)
            return (replace(base, text=not_known(context)) if is_one_thing else base), ()
        told = dated(_best(found, asked.member.name), asked.household.zone)
        sources = [_to_asker(each, asked.member.name) for each in told]
        answer = replace(
            base,
            text=f"{answer_of(sources)}{_waiting(context)}",
            confidence=knowledge.relevance,
            used=(*base.used, *_used(sources)),
        )
        return answer, sources

    def _listed(
        self, context: AnswerContext, base: Answer, knowledge: Knowledge
    ) -> tuple[Answer, Sequence[Source]]:
        """Return the answer that all sources are together, or what is said where there are none."""
        sources = [_to_asker(each, context.asked.member.name) for each in knowledge.sources]
        lead = knowledge.lead
        if not sources and self._standing is not None:
            lead = told_about(context, self._standing) or lead
        told = " ".join((lead, *(each.sentence for each in sources))).strip()
        return replace(base, text=told, confidence=1.0, used=_used(sources)), sources


def _used(sources: Sequence[Source]) -> tuple[Mapping[str, Any], ...]:
    return tuple(
        {"kind": source.kind.value, "id": source.id, "text": plain(source.text)}
        for source in sources
    )


def _waiting(context: AnswerContext) -> str:
    """Return the card that a question names beside what is remembered; a memory is no reason to hide it."""
    is_card = context.nearest is not None and context.nearest.kind == "card"
    return closest(context) if is_card else ""


def _missing(answer: Answer, context: AnswerContext) -> str:
    """Return who may see a secret that the message tells, with a space before it; empty where the answer says so."""
    saved = said_besides(context)
    return f" {saved}" if saved and saved not in answer.text else ""


def _asks_what_is_known(context: AnswerContext) -> bool:
    """Whether nothing was done and the person asks something that is no small talk."""
    if (
        context.results
        or context.clarification
        or context.triage.social
        or context.triage.confirmation
    ):
        return False
    if context.mode not in {Mode.RESPOND, Mode.CLARIFY} or not is_question(context.text):
        return False
    return _small_talk(context) is None


def _only_asks(context: AnswerContext) -> bool:
    """Whether a message asks something, and nothing was changed or is to be decided because of it."""
    is_open = context.clarification or context.is_stopped
    is_talk = context.triage.social or context.triage.confirmation
    has_changed = any(
        each.action_id or each.status is not ResultStatus.DONE for each in context.results
    )
    return not (is_open or is_talk or has_changed) and is_question(context.text)


def _small_talk(context: AnswerContext) -> str | None:
    asked = context.asked
    names = {"me": asked.household.bot_name, "name": context.called or asked.member.name}
    return reply(context.text, turn=asked.turn_id, names=names)


def _best(sources: Sequence[Source], asker: str) -> Sequence[Source]:
    """Return sources without what the asker said in passing, unless there is nothing better."""
    others = [
        each for each in sources if each.speaker != asker or each.kind is not SourceKind.EPISODE
    ]
    return others or sources


def _to_asker(source: Source, asker: str) -> Source:
    if source.speaker != asker:
        return source
    told = source.sentence.replace(f"{asker} said:", "you said:", 1)
    told = told.replace(f"{asker} noted:", "You noted:", 1)
    if told.startswith(f"{asker}: "):
        told = f"You told me: {told.removeprefix(f'{asker}: ')}"
    return replace(source, sentence=told)


def _only_memory_was_read(context: AnswerContext) -> bool:
    """Whether facts were looked up and nothing else: the brain tells them better, and knows the calendar, too."""
    return (
        bool(context.results)
        and context.clarification is None
        and all(
            done.status is ResultStatus.DONE and not done.action_id and "facts" in done.result
            for done in context.results
        )
    )


def _left_open(context: AnswerContext) -> bool:
    """Whether a question about something that is named was put to the calendar or the tasks alone, which do not tell."""
    if len(context.results) != 1 or context.clarification is not None:
        return False
    (done,) = context.results
    names_something = done.params.get("query") or done.params.get("who")
    is_told = any(not each["is_near"] for each in done.result.get("told") or ())
    if done.status is not ResultStatus.DONE or not names_something or is_told:
        return False
    if done.result.get("tasks") == [] or (
        done.result.get("waiting") == [] and done.result.get("event", done) is None
    ):
        return True
    events = done.result.get("events")
    if not isinstance(events, list):
        return False
    is_placeless = done.params.get("wanted") == "place" and not any(
        each.get("location") for each in events
    )
    return not events or is_placeless


def _said_lately(context: AnswerContext) -> tuple[str, Mapping[str, Any]] | None:
    """Return what was said on this topic within a day that answers a question, and where, if anything does."""
    wanted = {*stems(context.text)}
    for about, value in context.known.items():
        named = {*stems(about)}
        if named and len(named & wanted) >= _MATCHES * len(wanted | named):
            asked = context.asked
            when = moment_words(value, now=asked.now, locale=asked.household.locale)
            said = f"{_yours(plain(about))} is {when or plain(value)}"
            used = {"kind": "turn", "id": context.said_in.get(about, ""), "text": said}
            return f"{said}, as somebody said earlier.", used
    return None


def _yours(words: str) -> str:
    """Return what was said of "my" things as it is told to who said it."""
    turned = re.sub(r"^(?:my|our)\b", "your", words, flags=re.IGNORECASE)
    return turned[:1].upper() + turned[1:]
