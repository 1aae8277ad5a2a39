"""The tool servers of one household: connected when needed; confirmed calls carried out once."""

import asyncio
from collections.abc import AsyncIterator, Mapping, Sequence
from contextlib import asynccontextmanager, suppress
from datetime import timedelta
from typing import Any

import structlog

from kinkeeper.actions.effects.outside import CallTool, Verb
from kinkeeper.actions.outside.adapter import (
    NotDoneError,
    PointOfNoReturn,
    RefusedError,
    Trace,
    Work,
)
from kinkeeper.actions.requests.model import RequestKind
from kinkeeper.actions.requests.tools import ForeignTool, ToolAnswer, tool_requests
from kinkeeper.connectors.tools import tool_records
from kinkeeper.connectors.tools.connection import ToolClient, opened, reason_of
from kinkeeper.connectors.tools.model import START, ToolServer
from kinkeeper.core.errors import ConflictError, InvariantError, UnavailableError
from kinkeeper.core.time import Clock
from kinkeeper.observability.failures import surviving
from kinkeeper.store.store import Store

log = structlog.get_logger()

_IDLE = timedelta(minutes=10)
_LOOK_AGAIN = timedelta(hours=6)
_TRY_AGAIN = timedelta(minutes=5)


class Connection:
    """Keeps one server connected while it is used; one task opens and closes it.

    Args:
        idle: After how long without a call it is let go.
    """

    def __init__(self, server: ToolServer, *, idle: timedelta = _IDLE) -> None:
        self.server = server
        self._idle = idle.total_seconds()
        self._wanted = asyncio.Event()
        self._used = asyncio.Event()
        self._broken = asyncio.Event()
        self._is_open = False
        self._client: asyncio.Future[ToolClient] | None = None

    async def run(self) -> None:
        """Open and close the connection as calls come, until cancelled."""
        while True:
            await self._wanted.wait()
            self._wanted.clear()
            waiting = self._client
            if waiting is None or waiting.done():
                continue
            try:
                await self._served(waiting)
            except Exception as error:  # noqa: BLE001 - a foreign program may fail in any way, and must not end ours
                reason = f"{self.server.name}: {reason_of(error)}"
                if not waiting.done():
                    waiting.set_exception(UnavailableError(reason))
                log.warning("tools.connection.lost", server=self.server.name)
            finally:
                self._forget(waiting)

    async def _served(self, waiting: "asyncio.Future[ToolClient]") -> None:
        """Serve to the end of the closing: one that is broken off would leave the server's program running."""
        serving = asyncio.get_running_loop().create_task(self._serve(waiting))
        try:
            await asyncio.shield(serving)
        except asyncio.CancelledError:
            if self._is_open:
                self._broken.set()
            else:
                serving.cancel()
            with suppress(Exception, asyncio.CancelledError):
                await serving
            raise

    async def _serve(self, waiting: "asyncio.Future[ToolClient]") -> None:
        self._broken.clear()
        self._is_open = False
        async with opened(self.server) as client:
            self._is_open = True
            if not waiting.done():
                waiting.set_result(client)
            while not self._broken.is_set():
                self._used.clear()
                try:
                    async with asyncio.timeout(self._idle):
                        await self._either()
                except TimeoutError:
                    break
            self._forget(waiting)

    def _forget(self, client: "asyncio.Future[ToolClient]") -> None:
        """Let the next call open another connection, unless one is being opened already."""
        if self._client is client:
            self._client = None

    async def _either(self) -> None:
        """Wait until the connection is used or broken."""
        async with asyncio.TaskGroup() as group:
            waits = [group.create_task(each.wait()) for each in (self._used, self._broken)]
            await asyncio.wait(waits, return_when=asyncio.FIRST_COMPLETED)
            for each in waits:
                each.cancel()

    async def client(self) -> ToolClient:
        """Return the open connection, opened if need be.

        Raises:
            UnavailableError: The server cannot be started or reached, or not in time.
        """
        if self._client is None:
            self._client = asyncio.get_running_loop().create_future()
            # Nobody may be left to hear of a failure.
            self._client.add_done_callback(lambda done: done.cancelled() or done.exception())
            self._wanted.set()
        self._used.set()
        try:
            async with asyncio.timeout(START.total_seconds()):
                return await asyncio.shield(self._client)
        except TimeoutError as error:
            self.give_up()
            raise UnavailableError(f"{self.server.name} did not start in time") from error

    def give_up(self) -> None:
        """Let go of the connection: the next call opens another."""
        self._broken.set()
        self._client = None


class ToolServers:
    """All tool servers of one household; nothing connects outside `running`."""

    def __init__(
        self, store: Store, household: str, servers: Sequence[ToolServer], clock: Clock
    ) -> None:
        self._store = store
        self._household = household
        self._clock = clock
        self._connections = {each.name: Connection(each) for each in servers}
        self._tools: Mapping[tuple[str, str], ForeignTool] = {}
        self._requests: tuple[RequestKind, ...] = ()

    @asynccontextmanager
    async def looking(self) -> AsyncIterator[None]:
        """Serve calls for the length of the block, and look now and then at what the servers offer."""
        async with self.running(), asyncio.TaskGroup() as group:
            task = group.create_task(self._keep_looking())
            try:
                yield
            finally:
                task.cancel()

    async def _keep_looking(self) -> None:
        while True:
            all_answered = False
            with surviving("tools.look"):
                all_answered = await self.look()
            pause = _LOOK_AGAIN if all_answered else _TRY_AGAIN
            await asyncio.sleep(pause.total_seconds())

    @asynccontextmanager
    async def running(self) -> AsyncIterator[None]:
        """Serve calls for the length of the block."""
        await self._load()
        async with asyncio.TaskGroup() as group:
            tasks = [group.create_task(each.run()) for each in self._connections.values()]
            try:
                yield
            finally:
                for task in tasks:
                    task.cancel()

    async def look(self) -> bool:
        """Ask every server what it offers; one that does not answer keeps what is known of it.

        Returns:
            Whether all answered.
        """
        looks = (self._look_at(each) for each in self._connections.values())
        answered = await asyncio.gather(*looks)
        await self._load()
        return all(answered)

    async def _look_at(self, connection: Connection) -> bool:
        household, name = self._household, connection.server.name
        try:
            tools, failure = await self._listed(connection), None
        except UnavailableError as error:
            tools, failure = None, str(error)
        now = self._clock.now()

        def note(conn: Any) -> None:
            tool_records.note_server(conn, household, name, failure=failure, now=now)
            if tools is not None:
                tool_records.note_tools(conn, household, name, tools, now=now)

        await self._store.write(note)
        return failure is None

    async def _listed(self, connection: Connection) -> list[ForeignTool]:
        """Return what a server offers; a connection that turns out to be dead is opened once more."""
        try:
            return await self._list(connection)
        except UnavailableError:
            return await self._list(connection)

    async def _list(self, connection: Connection) -> list[ForeignTool]:
        client = await connection.client()
        try:
            async with asyncio.timeout(connection.server.timeout.total_seconds()):
                return await client.list()
        except Exception as error:
            connection.give_up()
            raise UnavailableError(f"{connection.server.name}: {reason_of(error)}") from error

    async def _load(self) -> None:
        servers = [each.server for each in self._connections.values()]
        known = await self._store.read(
            lambda conn: tool_records.list_tools(conn, self._household, servers)
        )
        self._tools = {(each.tool.server, each.tool.name): each.tool for each in known}
        limits = {each.name: each.longest_call for each in servers}
        # Schemas of strangers are looked over, which takes its time.
        self._requests = await asyncio.to_thread(
            tool_requests, tuple(self._tools.values()), self.ask, limits=limits
        )

    def requests(self) -> tuple[RequestKind, ...]:
        """Return a row for each tool that was offered last."""
        return self._requests

    async def ask(self, tool: ForeignTool, arguments: Mapping[str, Any]) -> ToolAnswer:
        """Call a tool that is safe to call unasked.

        Raises:
            ConflictError: It no longer is the tool that was accepted; from now on a person is asked.
        """
        known = self._tools.get((tool.server, tool.name))
        if known is None or not known.is_safe or known.definition != tool.definition:
            raise ConflictError(f"{tool.name} of {tool.server} has changed; ask for it again")
        await self.check(tool.server, tool.name, tool.definition)
        return await self.call(tool.server, tool.name, arguments)

    async def check(self, server: str, tool: str, definition: str) -> None:
        """Make sure that a tool is offered now, and describes itself as when it was accepted or shown.

        Raises:
            ConflictError: It is another tool now, or gone.
        """
        offered = {each.name: each for each in await self._listed(self._connection(server))}
        now = offered.get(tool)
        if now is None or now.definition != definition:
            await self._look_at(self._connection(server))
            await self._load()
            what = "no longer exists" if now is None else "has changed"
            raise ConflictError(f"{tool} of {server} {what}; nothing was called")

    async def call(self, server: str, tool: str, arguments: Mapping[str, Any]) -> ToolAnswer:
        """Call a tool, whatever it does."""
        connection = self._connection(server)
        client = await connection.client()
        try:
            async with asyncio.timeout(connection.server.timeout.total_seconds()):
                return await client.call(tool, arguments)
        except Exception as error:
            connection.give_up()
            raise UnavailableError(f"{server}: {reason_of(error)}") from error

    def _connection(self, server: str) -> Connection:
        found = self._connections.get(server)
        if found is None:
            raise UnavailableError(f"no tool server {server!r} is set up now (MCP_SERVERS)")
        return found


# Carries out calls of foreign tools that a person said yes to: once, with exactly the arguments
# shown.


class ToolAdapter:
    """Calls tools for the worker."""

    def __init__(self, servers: ToolServers) -> None:
        self._servers = servers

    async def call(self, work: Work, point_of_no_return: PointOfNoReturn) -> Mapping[str, Any]:
        """Call the tool once.

        Args:
            point_of_no_return: To be awaited right before the call.

        Returns:
            What the tool answered.

        Raises:
            NotDoneError: Its server cannot be reached; it will be tried again.
            RefusedError: It is another tool than the one that was shown, or it reports a failure.
        """
        effect = work.effect
        if not isinstance(effect, CallTool) or work.verb is not Verb.DO:
            raise InvariantError(f"{effect.effect!r} is not a tool call")
        try:
            await self._servers.check(effect.server, effect.tool, effect.definition)
        except UnavailableError as error:
            raise NotDoneError(str(error)) from error
        except ConflictError as error:
            raise RefusedError(str(error)) from error
        await point_of_no_return()
        answer = await self._servers.call(effect.server, effect.tool, effect.arguments)
        if answer.is_error:
            raise RefusedError(f"{effect.tool} of {effect.server} reported an error: {answer.text}")
        return {"text": answer.text, "data": answer.data}

    async def was_done(self, work: Work) -> Trace:
        """Tell that nobody knows: a foreign tool has no way to be asked."""
        return Trace.UNKNOWN
