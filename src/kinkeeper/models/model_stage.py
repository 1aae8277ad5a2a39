"""Asks a model by a prompt within a time; where there is no usable answer, that is counted and said why."""

import asyncio
from collections.abc import Mapping
from datetime import timedelta
from typing import TypeVar

from pydantic import BaseModel

from kinkeeper.models.errors import ModelError
from kinkeeper.models.model import ChatRequest, ModelGateway, Outcome
from kinkeeper.models.prompt_data import Data
from kinkeeper.models.prompts import Prompt, PromptTooLongError
from kinkeeper.models.structured import Answer, ask

T = TypeVar("T", bound=BaseModel)


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
        prompt: What is asked.
        inputs: Its blanks.
        output: Type of the answer; forbids unknown keys.
        household: Tenant key.
        stage: Name under which going on without a model is counted.
        within: Longest time.
        is_ambient: Whether text of a group chat is shown.
    """
    head = prompt.head
    try:
        request = ChatRequest(
            role=head.role, prompt=prompt.ref, messages=prompt.render(**inputs),
            household=household, is_ambient=is_ambient, max_output_tokens=head.max_output_tokens,
            temperature=head.temperature,
        )  # fmt: skip
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
