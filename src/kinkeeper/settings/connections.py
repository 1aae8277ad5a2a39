"""The settings of what the household is connected to: its calendar server, mail account, tools of others."""

import json
from collections.abc import Callable
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
from kinkeeper.connectors.mail.account import Account, parse_account
from kinkeeper.connectors.tools.model import ToolServer
from kinkeeper.core.addresses import is_mail_address
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


# The settings of the household's mail account.


def _server(protocol: str) -> Callable[[SecretStr], SecretStr]:
    def check(secret: SecretStr) -> SecretStr:
        parse_account(secret.get_secret_value(), protocol=protocol)
        return secret

    return check


def _address(text: str) -> str:
    if not is_mail_address(text):
        raise ValueError("must be an email address: name@example.org")
    return text


class MailSettings(BaseModel):
    """Where mail is sent and read."""

    smtp_url: Annotated[Secret, AfterValidator(_server("smtp"))] | None = Field(
        default=None,
        description="Outgoing mail server: smtps://user:password@host; or set SMTP_URL_FILE to a file that contains it.",
    )
    imap_url: Annotated[Secret, AfterValidator(_server("imap"))] | None = Field(
        default=None,
        description="Mailbox: imaps://user:password@host; or set IMAP_URL_FILE to a file that contains it.",
    )
    mail_from: Annotated[str, AfterValidator(_address)] | None = Field(
        default=None, description="Sender address, if your login is not an email address."
    )

    @property
    def smtp_account(self) -> Account | None:
        """The login for sending, if there is one."""
        url = self.smtp_url
        return parse_account(url.get_secret_value(), protocol="smtp") if url else None

    @property
    def imap_account(self) -> Account | None:
        """The login of the mailbox, if there is one."""
        url = self.imap_url
        return parse_account(url.get_secret_value(), protocol="imap") if url else None

    @property
    def mail_sender(self) -> str | None:
        """The address that mail is sent from; None where no account is set up."""
        accounts = [each for each in (self.smtp_account, self.imap_account) if each]
        logins = [each.address for each in accounts if each.address]
        return (self.mail_from or next(iter(logins), None)) if accounts else None

    @model_validator(mode="after")
    def _require_sender(self) -> Self:
        if (self.smtp_url or self.imap_url) and self.mail_sender is None:
            raise ValueError("MAIL_FROM is needed, because the login is not an email address")
        return self


MAIL_SECRETS = frozenset({"smtp_url", "imap_url"})
