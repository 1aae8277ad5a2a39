"""How the two protocols write an answer: whole, and in pieces."""

import json
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Any

HONEST = (0, 0)
"""Stands for tokens counted from what was really said."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Said:
    """What a model says.

    Attributes:
        pieces: Of the text.
        finish: Why it ended.
        refusal: Whether it is one.
        counted: Tokens of the request and of the answer; None: the server does not count.
        model: Who says it.
    """

    pieces: Sequence[str]
    finish: str = "stop"
    refusal: bool = False
    counted: tuple[int, int] | None = HONEST
    model: str = "test-model"

    @property
    def text(self) -> str:
        """The whole."""
        return "".join(self.pieces)


class Protocol:
    """Writes answers."""

    kind = "application/json"

    def whole(self, said: Said) -> bytes:
        """Return an answer's body."""
        raise NotImplementedError

    def lines(self, said: Said) -> Iterator[bytes]:
        """Return what is sent for an answer in pieces."""
        raise NotImplementedError


class OpenAIProtocol(Protocol):
    """/v1/chat/completions."""

    kind = "text/event-stream"

    def whole(self, said: Said) -> bytes:
        message: dict[str, Any] = {"role": "assistant", "content": said.text}
        if said.refusal:
            message = {"role": "assistant", "content": None, "refusal": said.text}
        choice = {"index": 0, "message": message, "finish_reason": said.finish}
        return json.dumps(
            self._record(said, "chat.completion", [choice], self._usage(said))
        ).encode()

    def lines(self, said: Said) -> Iterator[bytes]:
        key = "refusal" if said.refusal else "content"
        for piece in said.pieces:
            choice = {"index": 0, "delta": {key: piece}, "finish_reason": None}
            yield self._event(self._record(said, "chat.completion.chunk", [choice], None))
        end = {"index": 0, "delta": {}, "finish_reason": said.finish}
        yield self._event(self._record(said, "chat.completion.chunk", [end], None))
        if said.counted:
            yield self._event(self._record(said, "chat.completion.chunk", [], self._usage(said)))
        yield b"data: [DONE]\n\n"

    def _event(self, record: dict[str, Any]) -> bytes:
        return b"data: " + json.dumps(record).encode() + b"\n\n"

    def _usage(self, said: Said) -> dict[str, int] | None:
        if said.counted is None:
            return None
        sent, answered = said.counted
        return {
            "prompt_tokens": sent,
            "completion_tokens": answered,
            "total_tokens": sent + answered,
        }

    def _record(
        self, said: Said, kind: str, choices: list[Any], usage: dict[str, int] | None
    ) -> dict[str, Any]:
        return {
            "id": "c1",
            "object": kind,
            "created": 1,
            "model": said.model,
            "choices": choices,
            "usage": usage,
        }


class OllamaProtocol(Protocol):
    """/api/chat."""

    kind = "application/x-ndjson"

    def whole(self, said: Said) -> bytes:
        return json.dumps(self._record(said, said.text, is_last=True)).encode()

    def lines(self, said: Said) -> Iterator[bytes]:
        for piece in said.pieces:
            yield json.dumps(self._record(said, piece, is_last=False)).encode() + b"\n"
        yield json.dumps(self._record(said, "", is_last=True)).encode() + b"\n"

    def _record(self, said: Said, text: str, *, is_last: bool) -> dict[str, Any]:
        record: dict[str, Any] = {
            "model": said.model,
            "message": {"role": "assistant", "content": text},
            "done": is_last,
        }
        if is_last:
            record["done_reason"] = said.finish
            if said.counted:
                record |= dict(zip(("prompt_eval_count", "eval_count"), said.counted, strict=True))
        return record


def protocol_of(path: str) -> Protocol:
    """Return the protocol that a path belongs to."""
    return OllamaProtocol() if "/api/" in path else OpenAIProtocol()
