"""A model that answers the questions of a night as a test says."""

import json
from collections.abc import Callable
from typing import Any

from kinkeeper.models.model import ChatReply, ChatRequest, Finish, Outcome, Usage
from obeying_model import blocks

Answering = Callable[[dict[str, Any]], str]
"""What it says to the questions by their keys."""


class Model:
    """Answers as a test says."""

    def __init__(self, answering: Answering) -> None:
        self.answering = answering
        self.requests: list[ChatRequest] = []
        self.fallbacks: list[Outcome] = []

    async def complete(self, request: ChatRequest) -> ChatReply:
        self.requests.append(request)
        (asked,) = blocks(request.messages[1].text).values()
        return ChatReply(
            text=self.answering(asked),
            model="scripted",
            finish=Finish.STOP,
            usage=Usage(input_tokens=1, output_tokens=1),
        )

    def stream(self, request: ChatRequest) -> Any:
        raise NotImplementedError

    async def note_fallback(self, household: str, *, stage: str, outcome: Outcome) -> None:
        self.fallbacks.append(outcome)


def always(answer: str) -> Answering:
    return lambda asked: json.dumps({"answers": [{"key": key, "answer": answer} for key in asked]})
