"""The least that a server in Python does: reads the body, answers. Plays the Bot API and a model, too.

Run as a program it serves on a free loopback port and says which.
"""

import asyncio
import json
import socket
import sys
from collections.abc import AsyncIterator

import uvicorn
import uvloop
from starlette.applications import Starlette
from starlette.requests import Request
from starlette.responses import JSONResponse, Response, StreamingResponse
from starlette.routing import Mount, Route
from starlette.types import Receive, Scope, Send

LISTENING = "listening at"
TOKEN = "12345678:bench"  # noqa: S105 - of no bot
_ANSWER = json.dumps({"message_id": "m0", "queued": False, "repeat": False}).encode()
_COMPLETION = json.dumps(
    {
        "id": "c1",
        "object": "chat.completion",
        "created": 1,
        "model": "none",
        "choices": [
            {
                "index": 0,
                "finish_reason": "stop",
                "message": {"role": "assistant", "content": '{"who": "leo", "hour": 16}'},
            }
        ],
        "usage": {"prompt_tokens": 600, "completion_tokens": 20, "total_tokens": 620},
    }
).encode()
_BOT_API: dict[str, object] = {
    "getMe": {"id": 12345678, "is_bot": True, "first_name": "Bench", "username": "bench_bot"},
    "getWebhookInfo": {"url": "", "has_custom_certificate": False, "pending_update_count": 0},
    "setMyCommands": True,
    "setWebhook": True,
}


async def answer(request: Request) -> Response:
    """Read what was sent and answer as if it were stored."""
    await request.body()
    return Response(_ANSWER, status_code=202, media_type="application/json")


async def completion(request: Request) -> Response:
    """Answer as a model that always says the same."""
    await request.body()
    return Response(_COMPLETION, media_type="application/json")


async def echo(request: Request) -> Response:
    """Send back what came, as one server-sent event."""
    body = await request.body()

    async def told() -> AsyncIterator[bytes]:
        yield b"id: 1\nevent: done\ndata: " + body + b"\n\n"

    return StreamingResponse(told(), media_type="text/event-stream")


class Streams:
    """Streams that are told whatever is posted."""

    def __init__(self) -> None:
        self._open: list[asyncio.Queue[bytes]] = []

    async def listen(self, _scope: Scope, _receive: Receive, send: Send) -> None:
        """Send what is posted from now on."""
        told: asyncio.Queue[bytes] = asyncio.Queue()
        self._open.append(told)
        headers = [(b"content-type", b"text/event-stream")]
        await send({"type": "http.response.start", "status": 200, "headers": headers})
        body = b": open\n\n"
        while True:
            await send({"type": "http.response.body", "body": body, "more_body": True})
            body = await told.get()

    async def tell(self, request: Request) -> Response:
        """Hand what was posted to every stream."""
        body = await request.body()
        for told in self._open:
            told.put_nowait(body)
        return Response(status_code=204)


async def bot_api(request: Request) -> Response:
    """Answer a bot that asks who it is; it is in no group."""
    method = request.path_params["method"]
    if method in _BOT_API:
        return JSONResponse({"ok": True, "result": _BOT_API[method]})
    refusal = {"ok": False, "error_code": 400, "description": "Bad Request: chat not found"}
    return JSONResponse(refusal, status_code=400)


def main() -> None:
    """Serve until killed."""
    streams = Streams()
    app = Starlette(
        routes=[
            Route("/observe", answer, methods=["POST"]),
            Route("/chat", echo, methods=["POST"]),
            Route("/tell", streams.tell, methods=["POST"]),
            Mount("/stream", app=streams.listen),
            Route("/v1/chat/completions", completion, methods=["POST"]),
            Route("/bot{token}/{method}", bot_api, methods=["GET", "POST"]),
        ]
    )
    config = uvicorn.Config(
        app,
        http="httptools",
        ws="none",
        lifespan="off",
        log_config=None,
        access_log=False,
        server_header=False,
        date_header=False,
        timeout_graceful_shutdown=1,
    )
    with socket.create_server(("127.0.0.1", 0), backlog=512) as listener:
        sys.stdout.write(f"{LISTENING} http://127.0.0.1:{listener.getsockname()[1]}\n")
        sys.stdout.flush()
        with asyncio.Runner(loop_factory=uvloop.new_event_loop) as runner:
            runner.run(uvicorn.Server(config).serve([listener]))


if __name__ == "__main__":
    main()
