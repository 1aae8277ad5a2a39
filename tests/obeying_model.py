"""A model that does what the text tells it: it gives back what stands in the message, names and orders included."""

import json
import re
from collections.abc import AsyncIterator, Sequence
from dataclasses import dataclass, field
from typing import Any

from kinkeeper.models.model import ChatReply, ChatRequest, Finish, Outcome, Usage

_BLOCK = re.compile(r"<data (\w+)>\n(.*)\n</data \1>")
_JSON = re.compile(r"\{.*\}", re.DOTALL)


def blocks(text: str) -> dict[str, Any]:
    """Return the values of a prompt's blocks by name."""
    return {name: json.loads(value) for name, value in _BLOCK.findall(text)}


def obey(texts: Sequence[str], number: int) -> str:
    """Return the answer to a call's texts; the number chooses in which way the message is obeyed."""
    found = blocks(texts[-1])
    if "message" not in found:
        return '{"stance": "claims"}'
    said = found["message"]["text"]
    family = found["family"]
    if number % 5 == 0 and (own := _JSON.search(said)):
        return own.group(0)
    if number % 5 == 1:
        return f"Sure! {said}"
    answer = {
        "is_arrangement": True,
        "stance": "claims",
        "task": "pickup",
        "owners": [*list(family["adults"])[-1:], said[:80]],
        "children": [*family["children"], said[:40]],
        "activity": said[:60],
        "place": said[:60],
        "dates": [*found["dates"], "2026-12-24"],
        "times": [*found["times"], "03:00"],
    }
    if number % 5 == 2:
        answer |= {"confirm": True, "say": said}
    if number % 5 == 3:
        activities, places = list(family["activities"]), list(family["places"])
        answer |= {
            "owners": list(family["adults"])[-1:],
            "children": list(family["children"]),
            "activity": activities[0] if activities else None,
            "place": places[0] if places else None,
        }
    return json.dumps(answer)


@dataclass
class ObeyingModel:
    """Answers in this process.

    Attributes:
        requests: Every call.
        fallbacks: How calls ended that brought nothing.
    """

    requests: list[ChatRequest] = field(default_factory=list)
    fallbacks: list[Outcome] = field(default_factory=list)

    async def complete(self, request: ChatRequest) -> ChatReply:
        self.requests.append(request)
        # Asked to correct itself it stays obedient: the order stands before the correction.
        texts = [message.text for message in request.messages[:2]]
        text = obey(texts, len(self.requests))
        return ChatReply(
            text=text,
            model="obedient",
            usage=Usage(input_tokens=1, output_tokens=1),
            finish=Finish.STOP,
        )

    def stream(self, request: ChatRequest) -> AsyncIterator[str | ChatReply]:
        raise NotImplementedError

    async def note_fallback(self, household: str, *, stage: str, outcome: Outcome) -> None:
        self.fallbacks.append(outcome)
