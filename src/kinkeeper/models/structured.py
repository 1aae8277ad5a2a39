"""Asks a model for a typed value, within a time: checked, corrected once, counted where there is none."""

import asyncio
import re
from collections.abc import Mapping
from dataclasses import dataclass, replace
from datetime import timedelta
from typing import Any, Generic, TypeVar

from pydantic import BaseModel, ValidationError

from kinkeeper.models.model import (
    Author,
    ChatMessage,
    ChatModel,
    ChatReply,
    ChatRequest,
    Finish,
    ModelError,
    ModelGateway,
    Outcome,
    OutputSchema,
    Usage,
)
from kinkeeper.models.prompts import Data, Prompt, PromptTooLongError

T = TypeVar("T", bound=BaseModel)

_THOUGHT = re.compile(r"\s*<think>.*?</think>", re.DOTALL)
"""What some models say to themselves first, where their server does not keep it to itself."""

_FENCED = re.compile(r"\s*```(?:json)?\s*\n(.*)\n\s*```\s*", re.DOTALL)
_ERRORS_SHOWN = 8
# A longer answer that does not fit is not worth its tokens a second time.
_LONGEST_REPEATED = 4000


@dataclass(frozen=True, slots=True, kw_only=True)
class Answer(Generic[T]):
    """A typed answer.

    Attributes:
        value: Of the right shape; whether it is true is another question.
        reply: The answer it was read from; its usage is that of all turns.
        is_repaired: Whether it took a correction.
    """

    value: T
    reply: ChatReply
    is_repaired: bool


async def ask(model: ChatModel, request: ChatRequest, output: type[T]) -> Answer[T]:
    """Ask for a value of a type.

    Args:
        request: The call, without `output`.
        output: Type of the value; forbids unknown keys.

    Raises:
        ModelError: There is no answer of this type, also not after a correction.
    """
    request = replace(request, output=output_schema(output))
    reply = await model.complete(request)
    try:
        return Answer(value=_read(reply, output), reply=reply, is_repaired=False)
    except ValidationError as error:
        wrong = error
    repaired = await model.complete(_repair(request, reply, wrong))
    repaired = replace(repaired, usage=_both(reply.usage, repaired.usage))
    try:
        return Answer(value=_read(repaired, output), reply=repaired, is_repaired=True)
    except ValidationError:
        # Not "from": its text quotes the answer.
        raise ModelError(
            f"the model {repaired.model} did not follow the schema {output.__name__}, even after being told what was wrong; use a more capable model",
            outcome=Outcome.INVALID_OUTPUT,
        ) from None


def output_schema(output: type[BaseModel]) -> OutputSchema:
    """Return the schema of a type as servers enforce it: every key is required, others are forbidden."""

    def fits(text: str) -> bool:
        try:
            _validated(text, output)
        except ValidationError:
            return False
        return True

    schema = _closed(output.model_json_schema())
    return OutputSchema(name=output.__name__, schema=schema, fits=fits)


def _closed(schema: Any) -> Any:
    if isinstance(schema, list):
        return [_closed(each) for each in schema]
    if not isinstance(schema, dict):
        return schema
    closed = {
        key: {name: _closed(each) for name, each in value.items()}
        if key in {"properties", "$defs"}
        else _closed(value)
        for key, value in schema.items()
        if key not in {"title", "default"}
    }
    if "properties" in closed:
        closed |= {"required": list(closed["properties"]), "additionalProperties": False}
    return closed


def _read(reply: ChatReply, output: type[T]) -> T:
    if reply.finish is Finish.REFUSAL:
        raise ModelError("the model refused to answer", outcome=Outcome.REFUSED_BY_MODEL)
    if reply.finish is Finish.LENGTH:
        raise ModelError(
            "the model's answer was cut off at its token limit; allow more with "
            "MODEL_MAX_OUTPUT_TOKENS",
            outcome=Outcome.TRUNCATED,
        )
    return _validated(reply.text, output)


def _validated(text: str, output: type[T]) -> T:
    thought = _THOUGHT.match(text)
    answer = text[thought.end() :] if thought else text
    fenced = _FENCED.fullmatch(answer)
    return output.model_validate_json(fenced.group(1) if fenced else answer, strict=True)


def _repair(request: ChatRequest, reply: ChatReply, wrong: ValidationError) -> ChatRequest:
    errors = wrong.errors(include_url=False, include_context=False, include_input=False)
    listed = [
        f"- {'.'.join(str(part) for part in each['loc']) or 'whole answer'}: {each['msg']}"
        for each in errors[:_ERRORS_SHOWN]
    ]
    told = "\n".join(
        ["Your answer does not fit:", *listed, "Give the whole corrected JSON object."]
    )
    turns = (
        ChatMessage(author=Author.ASSISTANT, text=reply.text[:_LONGEST_REPEATED]),
        ChatMessage(author=Author.USER, text=told),
    )
    return replace(request, messages=(*request.messages, *turns), is_repair=True)


def _both(first: Usage, second: Usage) -> Usage:
    return Usage(
        input_tokens=first.input_tokens + second.input_tokens,
        output_tokens=first.output_tokens + second.output_tokens,
        is_estimated=first.is_estimated or second.is_estimated,
        is_input_cut=first.is_input_cut or second.is_input_cut,
    )


# Asks a model by a prompt within a time; where there is no usable answer, that is counted and said
# why.


async def consult(
    models: ModelGateway,
    prompt: Prompt,
    inputs: Mapping[str, Data],
    output: type[T],
    *,
    household: str,
    stage: str,
    within: timedelta,
    is_ambient: bool = False,
) -> Answer[T] | Outcome:
    """Return a model's answer of a type, or why there is none; the stage then goes on without one.

    Args:
        models: Answer, and count where there was no answer.
        output: Type of the answer; forbids unknown keys.
        stage: Name under which going on without a model is counted.
        within: Longest time.
        is_ambient: Whether text of a group chat is shown.
    """
    head = prompt.head
    try:
        request = ChatRequest(
            role=head.role,
            prompt=prompt.ref,
            messages=prompt.render(**inputs),
            household=household,
            is_ambient=is_ambient,
            max_output_tokens=head.max_output_tokens,
            temperature=head.temperature,
        )
        async with asyncio.timeout(within.total_seconds()):
            return await ask(models, request, output)
    except TimeoutError:
        outcome = Outcome.TIMEOUT
    except PromptTooLongError:
        outcome = Outcome.OVER_BUDGET
    except ModelError as error:
        outcome = error.outcome
    await models.note_fallback(household, stage=stage, outcome=outcome)
    return outcome
