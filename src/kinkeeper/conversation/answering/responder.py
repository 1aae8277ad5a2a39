"""Lets a model put an answer into words, and shows of it only what the guard has passed."""

import asyncio
from collections.abc import AsyncGenerator, Mapping, Sequence
from contextlib import aclosing
from dataclasses import replace
from datetime import timedelta

import structlog

from kinkeeper.brain.model import Source as Known
from kinkeeper.conversation.answering.claims import is_complete, sentences
from kinkeeper.conversation.answering.guard import Fault, Guard, Strictness
from kinkeeper.conversation.answering.names_and_times import plain
from kinkeeper.conversation.answering.relevance import (
    Relevance,
    chosen_lines,
    relevance_of,
    talk_lines,
)
from kinkeeper.conversation.model import Answer, AnswerContext, Source
from kinkeeper.models.model import (
    Author,
    ChatMessage,
    ChatReply,
    ChatRequest,
    Finish,
    ModelError,
    ModelGateway,
    Outcome,
)
from kinkeeper.models.prompts import Data, Prompt, PromptTooLongError, load_prompt

log = structlog.get_logger()

STAGE = "conversation.answer"
"""Name under which going on without a model is counted."""

GUARD_STAGE = "conversation.guard"
"""Name under which answers are counted of which the guard did not let a sentence pass."""

_PATIENCE = timedelta(seconds=20)
_LONGEST_MESSAGE = 2000
_UNDONE = "To be clear: I have not changed or sent anything."
_MODEL_CONFIDENCE = 0.7
_THINKING, _THOUGHT = "<think>", "</think>"
_PACKAGE = "kinkeeper.conversation.answering"


class _FaultyError(Exception):
    """The guard has refused a sentence."""

    def __init__(self, fault: Fault) -> None:
        super().__init__(fault.value)
        self.fault = fault


class Responder:
    """Has answers written by the household's primary model.

    Args:
        models: The way to it, which also counts where it did not answer.
        patience: Longest time an answer may take.

    Raises:
        ConfigError: A prompt's file is wrong.
    """

    def __init__(self, models: ModelGateway, *, patience: timedelta = _PATIENCE) -> None:
        self._models = models
        self._patience = patience
        self._identity = load_prompt(_PACKAGE, "identity")
        self._respond = load_prompt(_PACKAGE, "respond")

    async def answer(
        self, context: AnswerContext, base: Answer, sources: Sequence[Known] = ()
    ) -> AsyncGenerator[str | Answer]:
        """Yield a model's answer sentence by sentence, and the whole of it last.

        Where the model fails, is late, or claims what was not done, the rest is said by template.

        Args:
            base: What is said without a model.
            sources: What calendar and memory know about it.
        """
        relevance = relevance_of(context, sources)
        guard = Guard.of(context, [source.sentence for source in sources])
        log.info("conversation.answer.relevance", turn=context.asked.turn_id, **relevance.parts)
        shown = ""
        wrong: Fault | Outcome | None = None
        try:
            request = self._request(context, sources, relevance)
            async with asyncio.timeout(self._patience.total_seconds()):
                async with aclosing(self._passed(request, guard)) as pieces:
                    async for piece in pieces:
                        shown += piece
                        yield piece
        except _FaultyError as error:
            wrong = error.fault
        except TimeoutError:
            wrong = Outcome.TIMEOUT
        except PromptTooLongError:
            wrong = Outcome.OVER_BUDGET
        except ModelError as error:
            wrong = error.outcome
        if wrong is None and not shown.strip():
            wrong = Outcome.INVALID_OUTPUT
        if wrong is None:
            base = replace(base, source=Source.MODEL, confidence=_MODEL_CONFIDENCE)
        else:
            await self._note(context, wrong)
            rest = base.text if not shown else _UNDONE if isinstance(wrong, Fault) else ""
            shown += rest
            if rest:
                yield rest
        yield replace(base, text=shown.strip(), relevance=relevance.parts)

    async def _passed(self, request: ChatRequest, guard: Guard) -> AsyncGenerator[str]:
        """Yield what the guard passes: of talk each sentence once it is whole, else the whole answer at once."""
        waiting = passed = ""
        async with aclosing(self._models.stream(request)) as pieces:
            async for piece in pieces:
                if isinstance(piece, ChatReply):
                    if piece.finish is Finish.REFUSAL:
                        raise ModelError("the model refused", outcome=Outcome.REFUSED_BY_MODEL)
                    continue
                waiting = _without_thought(waiting + piece)
                if (
                    guard.strictness is Strictness.TALK
                    and is_complete(waiting)
                    and not _is_thought(waiting)
                ):
                    said, fault = _passing(waiting, guard, passed)
                    passed, waiting = passed + said, ""
                    if said:
                        yield said
                    if fault:
                        raise _FaultyError(fault)
        if _is_thought(waiting):
            return
        said, fault = _passing(waiting, guard, passed)
        if said.strip():
            yield said
        if fault:
            raise _FaultyError(fault)

    def _request(
        self, context: AnswerContext, sources: Sequence[Known], relevance: Relevance
    ) -> ChatRequest:
        prompt, inputs = self._prompt(context, sources, relevance)
        asked = context.asked
        system, user = self._identity.render(you_are=asked.household.bot_name)
        task, filled = prompt.render(**inputs)
        return ChatRequest(
            role=prompt.head.role,
            prompt=prompt.ref,
            messages=(
                ChatMessage(author=Author.SYSTEM, text=f"{system.text}\n\n{task.text}"),
                ChatMessage(author=Author.USER, text=f"{user.text}\n{filled.text}"),
            ),
            household=asked.household.id,
            is_ambient=False,
            max_output_tokens=prompt.head.max_output_tokens,
            temperature=prompt.head.temperature,
        )

    def _prompt(
        self, context: AnswerContext, sources: Sequence[Known], relevance: Relevance
    ) -> tuple[Prompt, Mapping[str, Data]]:
        person = context.called or context.asked.member.name
        message = plain(context.text, _LONGEST_MESSAGE)
        return self._respond, {
            "person": person,
            "moment": list(context.world) if relevance.takes("world") else [],
            "talk": talk_lines(context, relevance),
            "known": chosen_lines(context, sources, relevance),
            "message": message,
        }

    async def _note(self, context: AnswerContext, wrong: Fault | Outcome) -> None:
        """Count an answer that was not shown, or not to its end."""
        household = context.asked.household.id
        if not isinstance(wrong, Fault):
            await self._models.note_fallback(household, stage=STAGE, outcome=wrong)
            return
        log.warning("conversation.answer.replaced", turn=context.asked.turn_id, fault=wrong.value)
        await self._models.note_fallback(
            household, stage=GUARD_STAGE, outcome=Outcome.INVALID_OUTPUT
        )


def _without_thought(text: str) -> str:
    """Return a text without what some models say to themselves first, once that is over."""
    _, end, answer = text.partition(_THOUGHT)
    return answer.lstrip() if end and _is_thought(text) else text


def _is_thought(text: str) -> bool:
    return text.lstrip().startswith(_THINKING)


def _passing(text: str, guard: Guard, before: str = "") -> tuple[str, Fault | None]:
    """Return what of a text may be shown, and the fault at which it ends, if there is one.

    Talk is shown up to its fault, without the sentences that may be left out; anything else whole or not at all.
    """
    if guard.strictness is not Strictness.TALK:
        fault = guard.first_fault(text, before)
        return ("" if fault else text), fault
    passed = ""
    for sentence in sentences(text):
        fault = guard.fault(sentence, before + passed)
        if fault is None:
            passed += sentence.text
        elif fault is not Fault.UNGROUNDED:
            return passed, fault
    return passed, None
