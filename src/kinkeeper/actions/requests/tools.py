"""Requests to foreign tools: rows made of what their servers say of themselves, none of which is believed.

A tool that the settings call safe only reads; every other call awaits a person, who is shown the arguments.
"""

import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import timedelta
from typing import Any, ClassVar, Protocol, Self

from pydantic import BaseModel, ConfigDict, model_validator

from kinkeeper.actions.consent import Stakes
from kinkeeper.actions.effects.outside import CallTool
from kinkeeper.actions.model import ActionType
from kinkeeper.actions.requests.model import Asked, Card, Found, Prepared, RequestKind
from kinkeeper.core.ids import canonical_json

_LONGEST = 140


@dataclass(frozen=True, slots=True, kw_only=True)
class ForeignTool:
    """A tool as its server describes it, made harmless to show.

    Attributes:
        server: As the settings name it.
        description: In its own words, of bearable length.
        schema: JSON Schema of its arguments.
        definition: Digest of how it describes itself.
        is_safe: Whether the household's owner lets it be called unasked.
    """

    server: str
    name: str
    description: str
    schema: Mapping[str, Any]
    definition: str
    is_safe: bool


@dataclass(frozen=True, slots=True, kw_only=True)
class ToolAnswer:
    """What a tool answered, made harmless to show; never an instruction to anybody.

    Attributes:
        data: As JSON, where it gave any.
        is_error: Whether the tool calls it a failure.
    """

    text: str
    data: Any = None
    is_error: bool = False


class CallTools(Protocol):
    """Calls tools."""

    async def __call__(self, tool: ForeignTool, arguments: Mapping[str, Any]) -> ToolAnswer:
        """Call one.

        Raises:
            UnavailableError: Its server cannot be reached, or does not answer in time.
            ConflictError: It no longer is the tool that it was.
        """
        ...


class ForeignArguments(BaseModel):
    """Arguments of a foreign tool: whatever its own schema takes."""

    model_config = ConfigDict(frozen=True, extra="allow")

    foreign: ClassVar[Mapping[str, Any]] = {}

    @model_validator(mode="before")
    @classmethod
    def _fit(cls, values: Any) -> Any:
        from jsonschema import Draft202012Validator  # noqa: PLC0415 - slow to load, for tools only

        first = next(Draft202012Validator(dict(cls.foreign)).iter_errors(values), None)
        if first is not None:
            place = ".".join(map(str, first.absolute_path))
            raise ValueError(f"{place}: {first.message}" if place else first.message)
        return values

    @classmethod
    def model_json_schema(cls, *args: Any, **options: Any) -> dict[str, Any]:  # noqa: ARG003 - as the library calls it
        """Return the tool's own schema: pydantic would follow what a stranger wrote into it."""
        return dict(cls.foreign)

    @classmethod
    def of(cls, tool: ForeignTool) -> type[Self]:
        """Return the type of one tool's arguments."""
        from jsonschema import Draft202012Validator  # noqa: PLC0415 - as above
        from jsonschema.exceptions import SchemaError  # noqa: PLC0415

        schema = dict(tool.schema)
        try:
            Draft202012Validator.check_schema(schema)
        except SchemaError:
            schema = {"type": "object"}
        return type(f"Arguments_{tool.name}", (cls,), {"foreign": schema, "__module__": __name__})

    def as_json(self) -> dict[str, Any]:
        """Return the arguments as they are sent."""
        return dict(self.model_extra or {})


def tool_requests(
    tools: Sequence[ForeignTool], call: CallTools, *, limits: Mapping[str, timedelta]
) -> tuple[RequestKind, ...]:
    """Return a row for each tool.

    Args:
        call: Calls those that are safe.
        limits: Longest time a call may take, by server.
    """
    return tuple(_request(tool, call, limits[tool.server]) for tool in tools)


@dataclass(frozen=True, slots=True)
class _Asking:
    """Asks one tool, or prepares to."""

    tool: ForeignTool
    call: CallTools

    async def read(self, params: ForeignArguments, asked: Asked) -> Found:
        tool = self.tool
        answer = await self.call(tool, params.as_json())
        items = tuple({"text": line} for line in answer.text.splitlines() if line.strip())
        return Found(
            result={
                "server": tool.server,
                "tool": tool.name,
                "text": answer.text,
                "data": answer.data,
                "is_error": answer.is_error,
            },
            card=Card(kind="result", title=f"{tool.server}: {tool.name}", items=items),
        )

    async def prepare(self, params: ForeignArguments, asked: Asked) -> Prepared:
        tool, arguments = self.tool, params.as_json()
        effect = CallTool(
            server=tool.server, tool=tool.name, definition=tool.definition, arguments=arguments
        )
        return Prepared(
            type=ActionType.FOREIGN_TOOL,
            summary=_short(f"{tool.server}: {tool.name} {canonical_json(arguments)}"),
            effects=(effect.frozen(),),
            shown={
                "program": tool.server,
                "tool": tool.name,
                "its own description": tool.description,
                **{f"“{name}”": _shown(value) for name, value in arguments.items()},
            },
            result={"title": f"{tool.name} of {tool.server}"},
        )


def _request(tool: ForeignTool, call: CallTools, limit: timedelta) -> RequestKind:
    asking = _Asking(tool, call)
    return RequestKind(
        domain=tool.server,
        name=tool.name,
        description=f'External tool; in its own words: "{tool.description}"',
        parameters=ForeignArguments.of(tool),
        stakes=Stakes.LOW if tool.is_safe else Stakes.HIGH,
        progress=f"Asking {tool.server}…",
        is_foreign=True,
        limit=limit,
        read=asking.read if tool.is_safe else None,
        prepare=None if tool.is_safe else asking.prepare,
    )


def _shown(value: Any) -> str:
    """Return an argument verbatim, for people."""
    return value if isinstance(value, str) else json.dumps(value, ensure_ascii=False)


def _short(text: str) -> str:
    line = " ".join(text.split())
    return line if len(line) <= _LONGEST else f"{line[: _LONGEST - 1]}…"
