"""The API over HTTP: a call comes in, is carried out under the lock, and is answered."""

import asyncio
import json
import socket
import threading
from collections.abc import Callable
from http import HTTPStatus
from typing import Any

import uvicorn
from starlette.applications import Starlette
from starlette.requests import Request
from starlette.responses import Response
from starlette.routing import Route

from botapi import ephemeral, methods_chats, methods_edits, methods_messages, methods_webhook
from botapi.accounts import Bot
from botapi.faults import Fault, Faults
from botapi.parameters import Arguments, read_arguments
from botapi.polling import Poll
from botapi.refusals import Refusal
from botapi.webhooks import Deliveries
from botapi.world import Call, World

Method = Callable[[World, Bot, Arguments], Any]
METHODS: dict[str, Method] = {
    name.lower(): method
    for module in (methods_chats, methods_messages, methods_edits, methods_webhook, ephemeral)
    for name, method in module.METHODS.items()
}
_QUICK = 0.02


class Server:
    """The API on a free port of this machine, in a thread of its own."""

    def __init__(self, world: World, faults: Faults) -> None:
        self._world = world
        self._faults = faults
        self._waiting: set[asyncio.Event] = set()
        # Named in full: only then are answers sent at once, not held back for 40 ms each.
        self._socket = socket.socket(socket.AF_INET, socket.SOCK_STREAM, socket.IPPROTO_TCP)
        self._socket.bind(("127.0.0.1", 0))
        self._socket.listen(64)
        self.port: int = self._socket.getsockname()[1]
        routes = [
            Route("/bot{token}/{method}", self._call, methods=["GET", "POST"]),
            Route("/file/bot{token}/documents/{file_id}", self._file, methods=["GET"]),
        ]
        app = Starlette(routes=routes, exception_handlers={404: _not_found, 405: _not_found})
        config = uvicorn.Config(
            app, log_config=None, access_log=False, lifespan="off", ws="none", http="h11"
        )
        self._server = _QuickServer(config)
        self._deliveries = Deliveries(world)
        self._thread = threading.Thread(target=self._run, name="bot api", daemon=True)

    def start(self) -> None:
        self._thread.start()

    def stop(self) -> None:
        """End waiting calls and the thread."""
        with self._world.changing():
            self._world.closing = True
        self._server.should_exit = True
        self._thread.join()
        self._socket.close()

    def _run(self) -> None:
        asyncio.run(self._serve())

    async def _serve(self) -> None:
        loop = asyncio.get_running_loop()

        def wake() -> None:
            if not loop.is_closed():
                loop.call_soon_threadsafe(self._wake)

        self._world.wakers.append(wake)
        try:
            await self._server.serve(sockets=[self._socket])
        finally:
            self._world.wakers.remove(wake)
            await self._deliveries.stop()

    def _wake(self) -> None:
        for event in self._waiting:
            event.set()
        self._deliveries.wake()

    async def _call(self, request: Request) -> Response:
        token, name = request.path_params["token"], request.path_params["method"]
        with self._world.changed:
            bot = self._world.bots.get(token)
            self._world.calls_running += 1
        try:
            if bot is None:
                refusal = Refusal(401, "Unauthorized")
                if ":" not in token:
                    refusal = Refusal(404, "Not Found")
                return _respond(refusal.as_json())
            return await self._with_faults(request, bot, name)
        finally:
            with self._world.changing():
                self._world.calls_running -= 1

    async def _with_faults(self, request: Request, bot: Bot, name: str) -> Response:
        fault = self._faults.take(name)
        if fault is not None and not fault.processed:
            early = await self._suffer(fault, request, None)
            if early is not None:
                return early
        try:
            result = await self._carry_out(request, bot, name)
        except Refusal as refusal:
            result = refusal.as_json()
        response = _respond(result)
        if fault is not None and fault.processed:
            return await self._suffer(fault, request, response) or response
        return response

    async def _carry_out(self, request: Request, bot: Bot, name: str) -> dict[str, Any]:
        arguments = await read_arguments(request)
        call = Call(bot=bot, method=name, arguments=arguments.values)
        with self._world.changed:
            self._world.calls.append(call)
        try:
            if name.lower() == "getupdates":
                answer = _good(await self._poll(request, bot, arguments))
            else:
                method = METHODS.get(name.lower(), _unknown_method)
                with self._world.changing():
                    answer = _good(method(self._world, bot, arguments))
        except Refusal as refusal:
            call.answer = refusal.as_json()
            raise
        call.answer = answer
        return answer

    async def _poll(self, request: Request, bot: Bot, arguments: Arguments) -> Any:
        woken = asyncio.Event()
        self._waiting.add(woken)
        with self._world.changed:
            self._world.calls_running -= 1
        try:
            poll = Poll(self._world, bot, arguments, woken=woken)
            return await poll.answer(request)
        finally:
            self._waiting.discard(woken)
            with self._world.changed:
                self._world.calls_running += 1

    async def _suffer(
        self, fault: Fault, request: Request, response: Response | None
    ) -> Response | None:
        """Do what the fault says; return an answer that stands instead, if there is one."""
        if fault.kind == "drop":
            await self._server.hang_up(request)
            return Response()
        if fault.kind == "answer":
            kind = "application/json" if fault.body.startswith("{") else "text/html"
            return Response(fault.body, fault.status, media_type=kind)
        if fault.kind == "garble" and response is not None:
            half = bytes(response.body)[: len(response.body) // 2]
            return Response(half, media_type="application/json")
        if fault.kind == "delay":
            await asyncio.sleep(fault.seconds)
        elif fault.hold is not None:
            await asyncio.to_thread(fault.hold.stand)
        return None

    async def _file(self, request: Request) -> Response:
        content = self._world.files.get(request.path_params["file_id"])
        if content is None or request.path_params["token"] not in self._world.bots:
            return _respond(Refusal(404, "Not Found").as_json())
        return Response(content, media_type="application/octet-stream")


class _QuickServer(uvicorn.Server):
    """A server that stops soon after it is told to, and can cut a connection."""

    async def main_loop(self) -> None:
        while not self.should_exit:
            await asyncio.sleep(_QUICK)

    async def shutdown(self, sockets: list[socket.socket] | None = None) -> None:
        for server in self.servers:
            server.close()
        for protocol in list(self.server_state.connections):
            protocol.transport.abort()

    async def hang_up(self, request: Request) -> None:
        """Cut the connection that a request came by."""
        assert request.client is not None
        for protocol in list(self.server_state.connections):
            if protocol.transport.get_extra_info("peername") == tuple(request.client):
                protocol.transport.abort()
        while (await request.receive())["type"] != "http.disconnect":
            pass


def _unknown_method(world: World, bot: Bot, arguments: Arguments) -> Any:
    raise Refusal(404, "Not Found: method not found")


def _good(result: Any) -> dict[str, Any]:
    if isinstance(result, tuple):
        return {"ok": True, "result": result[0], "description": result[1]}
    return {"ok": True, "result": result}


def _respond(body: dict[str, Any]) -> Response:
    status = body.get("error_code", HTTPStatus.OK)
    text = json.dumps(body, ensure_ascii=False)
    return Response(text, status, media_type="application/json")


async def _not_found(request: Request, error: Exception) -> Response:
    return _respond(Refusal(404, "Not Found").as_json())
