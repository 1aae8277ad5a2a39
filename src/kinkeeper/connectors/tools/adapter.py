"""Carries out calls of foreign tools that a person said yes to: once, with exactly the arguments shown."""

from collections.abc import Mapping
from typing import Any

from kinkeeper.actions.effects.outside import Verb
from kinkeeper.actions.effects.tools import CallTool
from kinkeeper.actions.outside.adapter import (
    NotDoneError,
    PointOfNoReturn,
    RefusedError,
    Trace,
    Work,
)
from kinkeeper.connectors.tools.servers import ToolServers
from kinkeeper.core.errors import ConflictError, InvariantError, UnavailableError


class ToolAdapter:
    """Calls tools for the worker.

    Args:
        servers: Of the household.
    """

    def __init__(self, servers: ToolServers) -> None:
        self._servers = servers

    async def call(self, work: Work, point_of_no_return: PointOfNoReturn) -> Mapping[str, Any]:
        """Call the tool once.

        Args:
            work: What.
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
