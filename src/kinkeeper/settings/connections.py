"""The settings of what the household's assistant is connected to: its calendar server, tools of others."""

import json
from datetime import timedelta
from typing import Annotated, Any, Self

from pydantic import (
    AfterValidator,
    BaseModel,
    BeforeValidator,
    ConfigDict,
    Field,
    SecretStr,
    model_validator,
)

from kinkeeper.connectors.caldav.address import Address
from kinkeeper.connectors.tools.model import ToolServer
from kinkeeper.core.errors import InputError
from kinkeeper.settings.fields import Positive, Secret, Url

_BUILT_IN = frozenset({"task", "calendar", "email", "memory", "notes"})


def _server_address(secret: SecretStr) -> SecretStr:
    try:
        Address.parse(secret.get_secret_value())
    except InputError as error:
        raise ValueError(str(error)) from error
    return secret


def _from_json(value: Any) -> Any:
    if not isinstance(value, str):
        return value
    try:
        return json.loads(value)
    except ValueError as error:
        raise ValueError("must be a JSON object of servers by name") from error


def _server_name(name: str) -> str:
    if name in _BUILT_IN:
        raise ValueError(
            f"{name!r} is a name this program uses itself; give the server another name"
        )
    return name


class ToolServerSettings(BaseModel):
    """One server of foreign tools: a command that is started here, or an address."""

    model_config = ConfigDict(frozen=True, extra="forbid")

    command: str | None = Field(default=None, min_length=1)
    args: tuple[str, ...] = ()
    env: dict[str, SecretStr] = Field(default_factory=dict)
    url: Url | None = None
    headers: dict[str, SecretStr] = Field(default_factory=dict)
    safe: frozenset[str] = frozenset()
    timeout_seconds: Annotated[float, Field(gt=0, le=600)] = 20
    allow_private: bool = False

    @model_validator(mode="after")
    def _require_one_way(self) -> Self:
        if (self.command is None) == (self.url is None):
            raise ValueError("a tool server needs either a command or a url")
        return self

    def server(self, name: str) -> ToolServer:
        """Return it as it is reached.

        Args:
            name: Under which it stands in the settings.
        """
        return ToolServer(
            name=name, command=self.command, args=self.args, url=self.url, safe=self.safe,
            env={key: value.get_secret_value() for key, value in self.env.items()},
            headers={key: value.get_secret_value() for key, value in self.headers.items()},
            timeout=timedelta(seconds=self.timeout_seconds), allows_private=self.allow_private,
        )  # fmt: skip


ToolServers = Annotated[
    dict[
        Annotated[str, Field(pattern=r"^[a-z][a-z0-9_-]{0,31}$"), AfterValidator(_server_name)],
        ToolServerSettings,
    ],
    BeforeValidator(_from_json),
]


class ConnectorSettings(BaseModel):
    """Where the household's calendar is kept besides here, and whose tools may be asked for."""

    caldav_url: Annotated[Secret, AfterValidator(_server_address)] | None = Field(
        default=None,
        description="CalDAV calendar: https://user:password@host/calendar/; or set CALDAV_URL_FILE to a file "
        "that contains it.",
    )
    caldav_sync_minutes: Positive = Field(
        default=5, description="How often to sync with the calendar server, in minutes."
    )
    mcp_servers: ToolServers = Field(
        default={},
        description="External tool servers (Model Context Protocol) as a JSON object keyed by name: command, args "
        "and env, or url and headers. Optional: safe (tools that need no confirmation), timeout_seconds, allow_private.",
    )

    @property
    def tool_servers(self) -> tuple[ToolServer, ...]:
        """The servers of foreign tools, as they are reached."""
        return tuple(each.server(name) for name, each in self.mcp_servers.items())


CONNECTOR_SECRETS = frozenset({"caldav_url", "mcp_servers"})
