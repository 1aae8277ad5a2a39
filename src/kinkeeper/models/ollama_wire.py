"""Ollama's own protocol: /api/chat, pieces as lines of JSON. Its OpenAI one does not take the context's size. Pure."""

from collections.abc import Mapping
from typing import Any

import msgspec

from kinkeeper.models.endpoints import RoleModel
from kinkeeper.models.manners import Manners
from kinkeeper.models.model import ChatReply, ChatRequest, Finish
from kinkeeper.models.tokens import usage_of
from kinkeeper.models.wire import (
    answer_limit,
    decoded,
    failed,
    messages_of,
    model_of,
    temperature_of,
    unreadable,
)


class _Message(msgspec.Struct):
    content: str = ""


class _Answer(msgspec.Struct):
    message: _Message = msgspec.field(default_factory=_Message)
    model: str | None = None
    done: bool = False
    done_reason: str | None = None
    prompt_eval_count: int | None = None
    eval_count: int | None = None
    error: Any = None


class _Listed(msgspec.Struct):
    name: str


class _List(msgspec.Struct):
    models: list[_Listed]


_decoder = msgspec.json.Decoder(_Answer)
_list_decoder = msgspec.json.Decoder(_List)


class OllamaWire:
    """Speaks it."""

    def path(self, base: str) -> str:
        """Return where calls are posted to: beside the /v1 that the base address may name."""
        return f"{base.removesuffix('/v1')}/api/chat"

    def body(
        self, request: ChatRequest, role: RoleModel, manners: Manners, *, is_streamed: bool
    ) -> Mapping[str, Any]:
        """Return what is posted."""
        body: dict[str, Any] = {
            "model": role.model,
            "messages": messages_of(request, is_schema_told=not manners.takes_schema),
            "stream": is_streamed,
            # A model that first thinks aloud spends the answer's tokens on it.
            "think": False,
            "options": {
                "temperature": temperature_of(request, role),
                "num_predict": answer_limit(request, role),
                "num_ctx": role.context_tokens,
            },
        }
        if request.output is not None:
            body["format"] = request.output.schema if manners.takes_schema else "json"
        return body

    def reply(self, data: bytes, request: ChatRequest, role: RoleModel) -> ChatReply:
        """Return the answer that a whole body holds."""
        reading = OllamaReading(request, role)
        reading.take(data)
        if not reading.is_done:
            raise unreadable()
        return reading.reply()

    def reading(self, request: ChatRequest, role: RoleModel) -> "OllamaReading":
        """Return what reads an answer that comes in pieces."""
        return OllamaReading(request, role)

    def list_path(self, base: str) -> str:
        """Return where a server lists its models."""
        return f"{base.removesuffix('/v1')}/api/tags"

    def listed(self, data: bytes) -> tuple[str, ...]:
        """Return the models that such a list names."""
        return tuple(each.name for each in decoded(_list_decoder, data).models)


class OllamaReading:
    """An answer as far as it came."""

    def __init__(self, request: ChatRequest, role: RoleModel) -> None:
        self._request = request
        self._role = role
        self._texts: list[str] = []
        self._last = _Answer()

    @property
    def is_done(self) -> bool:
        """Whether the server said that this was all."""
        return self._last.done

    def take(self, line: bytes) -> str:
        """Read one line, an object of its own."""
        if not line.strip():
            return ""
        self._last = decoded(_decoder, line)
        if self._last.error is not None:
            raise failed()
        self._texts.append(self._last.message.content)
        return self._last.message.content

    def reply(self) -> ChatReply:
        """Return the whole answer."""
        text, last = "".join(self._texts), self._last
        usage = usage_of(
            self._request, text,
            input_tokens=last.prompt_eval_count, output_tokens=last.eval_count,
        )  # fmt: skip
        finish = Finish.LENGTH if last.done_reason == "length" else Finish.STOP
        return ChatReply(
            text=text, model=model_of(last.model, self._role), usage=usage, finish=finish
        )
