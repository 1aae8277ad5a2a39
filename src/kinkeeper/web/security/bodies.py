"""How large a request's body may be, whether it says so or comes in pieces without a length."""

from collections.abc import Mapping

from starlette.exceptions import HTTPException
from starlette.types import Message, Receive, Scope

KIB = 1024
LARGEST_BYTES = 256 * KIB
_LARGER: Mapping[str, int] = {
    "/observe": 1024 * KIB,
    "/telegram/webhook": 1024 * KIB,
    "/api/events/import": 4096 * KIB,
    "/api/sessions/messages": 1024 * KIB,
    "/v1/chat/completions": 4096 * KIB,
}
_TOO_LARGE = "the body is too large; at most {kib} KiB are accepted here"


def largest_body(path: str) -> int:
    """Return how many bytes a request to a path may have."""
    return _LARGER.get(path, LARGEST_BYTES)


def announced_length(scope: Scope) -> int | None:
    """Return the Content-Length, if the request has one that is a number."""
    for name, value in scope["headers"]:
        if name == b"content-length":
            return int(value) if value.isdigit() else None
    return None


def too_large(most: int) -> HTTPException:
    """Return the refusal of a body over `most` bytes."""
    detail = _TOO_LARGE.format(kib=most // KIB)
    return HTTPException(413, detail, headers={"Connection": "close"})


def counted(receive: Receive, most: int) -> Receive:
    """Return `receive`, which raises as soon as more than `most` bytes have come."""
    total = 0

    async def receive_counted() -> Message:
        nonlocal total
        message = await receive()
        if message["type"] == "http.request":
            total += len(message.get("body", b""))
            if total > most:
                raise too_large(most)
        return message

    return receive_counted
