"""The effect on what foreign tools reach: nothing of it is ours, so it is high in stakes and has no undo."""

from collections.abc import Mapping
from typing import Any, Literal

from pydantic import Field
from sqlalchemy import Connection

from kinkeeper.actions.effects.contract import Effect, Execution
from kinkeeper.actions.effects.outside import call_outside
from kinkeeper.core.errors import InputError
from kinkeeper.core.ids import canonical_json

_MOST = 100_000


class CallTool(Effect):
    """Call a foreign tool with exactly these arguments.

    Attributes:
        server: Its server, as the settings name it.
        tool: Its name there.
        definition: Digest of how it described itself when a person was asked; another one is another tool.
        arguments: Verbatim.
    """

    effect: Literal["tools.call"] = "tools.call"
    server: str = Field(min_length=1)
    tool: str = Field(min_length=1)
    definition: str = Field(min_length=1)
    arguments: Mapping[str, Any]

    def check(self, household: str) -> None:
        """Refuse arguments of unbearable length."""
        if len(canonical_json(self.arguments)) > _MOST:
            raise InputError(f"the arguments for {self.tool} are longer than {_MOST} characters")

    def apply(self, conn: Connection, execution: Execution) -> None:
        """Queue it."""
        call_outside(conn, execution)
