"""Every setting: its name, default, unit and meaning; and which hosts the settings let the program talk to."""

import json
from collections.abc import Callable
from datetime import timedelta
from pathlib import Path
from typing import Annotated, Any, Self
from urllib.parse import urlsplit

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
from kinkeeper.settings.fields import (
    DailyHours,
    DailyTime,
    DatabaseUrl,
    HostNames,
    NotNegative,
    Origin,
    Port,
    Positive,
    RoutePath,
    Secret,
    Share,
    TlsUrl,
    Url,
    WebhookSecret,
)
from kinkeeper.settings.models import (
    EMBEDDER_SECRETS,
    MODEL_SECRETS,
    EmbedderSettings,
    ModelSettings,
)

_BUILT_IN = frozenset({"task", "calendar", "email", "goal", "memory", "notes"})


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
            name=name,
            command=self.command,
            args=self.args,
            url=self.url,
            safe=self.safe,
            env={key: value.get_secret_value() for key, value in self.env.items()},
            headers={key: value.get_secret_value() for key, value in self.headers.items()},
            timeout=timedelta(seconds=self.timeout_seconds),
            allows_private=self.allow_private,
        )


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


class WebSettings(BaseModel):
    """What the work on goals may read of the web; by default nothing."""

    web_reading: bool = Field(
        default=False,
        description="Whether pages are read for goals: those whose address a person wrote, and those of WEB_HOSTS.",
    )
    web_hosts: HostNames = Field(
        default=(),
        description="Hosts whose pages may be read without anyone naming them, such as results of a search; separated "
        "by commas.",
    )
    web_private_hosts: HostNames = Field(
        default=(),
        description="Hosts in the home network or on this machine whose pages may be read; separated by commas.",
    )
    web_search_url: Url | None = Field(
        default=None,
        description="Address of a SearXNG server that searches the web for goals; it receives words of the goal.",
    )


class Settings(ModelSettings, EmbedderSettings, ConnectorSettings, MailSettings, WebSettings):
    """The program's settings, from the environment, `.env` and `kinkeeper.toml` (the first that has one wins)."""

    model_config = ConfigDict(frozen=True, extra="forbid")

    env: str = Field(
        default="production", description="Environment name; each environment has its own database."
    )
    db_path: Path | None = Field(
        default=None, description="SQLite file; DATABASE_URL takes precedence."
    )
    database_url: DatabaseUrl | None = Field(
        default=None,
        repr=False,
        description="sqlite:///FILE or postgresql://…; or set DATABASE_URL_FILE to a file that contains it.",
    )
    backup_dir: Path | None = Field(
        default=None,
        description="Folder for nightly backups, kept for MESSAGE_RETENTION_DAYS; no backups are made if unset.",
    )
    family_context: Path | None = Field(
        default=None, description="Household file, or a folder of household files."
    )
    tripwire_threshold: Share = Field(
        default=0.7, description="Minimum score for a message to be read in full (tier 2)."
    )
    extraction_threshold: Share = Field(
        default=0.6, description="Extractions below this confidence are dropped."
    )
    attribution_threshold: Share = Field(
        default=0.6, description="Minimum confidence for a reply to count as an answer."
    )
    brain_min_relevance: Share = Field(
        default=0.5, description="Minimum relevance for context from memory to be used."
    )
    tripwire_patterns_path: Path | None = Field(
        default=None, description="Pattern file to use instead of the built-in one."
    )
    context_window_size: NotNegative = Field(
        default=3, description="Number of earlier messages in the thread used as context."
    )
    context_ttl_seconds: Positive = Field(
        default=300, description="Maximum age of those messages, in seconds."
    )
    attribution_window_seconds: Positive = Field(
        default=600, description="How far back a reply can refer, in seconds."
    )
    open_question_window_seconds: Positive = Field(
        default=3600, description="How long a question can still be answered, in seconds."
    )
    open_question_grace_seconds: NotNegative = Field(
        default=900,
        description="How long the family has to answer before the assistant asks in the group, in seconds.",
    )
    tier2_workers: Positive = Field(
        default=2, description="Number of messages read in full at the same time."
    )
    redline_temporal_conflict: bool = Field(
        default=True, description="Speak up when a child is double-booked."
    )
    redline_resource_conflict: bool = Field(
        default=True, description="Speak up when two people have taken the same job."
    )
    redline_missing_variable: bool = Field(
        default=True,
        description="Look for unassigned jobs and for times that don't match the calendar.",
    )
    speak_on_missing_critical: bool = Field(
        default=True, description="Ask in the group who takes an unassigned job."
    )
    max_speak_per_day: NotNegative = Field(
        default=4, description="Maximum number of unprompted messages per day (local time)."
    )
    max_brain_queries_per_message: NotNegative = Field(
        default=3, description="Maximum number of memory queries per message."
    )
    brain_timeout_ms: Positive = Field(
        default=5000, description="Timeout for a memory query, in milliseconds."
    )
    brain_cache_ttl_seconds: NotNegative = Field(
        default=60, description="How long memory answers are cached, in seconds."
    )
    brain_base_url: Url | None = Field(
        default=None,
        description="URL of another program to ask for context instead of the local calendar; it never receives message text.",
    )
    brain_query_endpoint: RoutePath = Field(
        default="/brain/query", description="Query path on that program."
    )
    brain_token: Secret | None = Field(
        default=None,
        description="Access token for that program; or set BRAIN_TOKEN_FILE to a file that contains it.",
    )
    passive_streaming: bool = Field(
        default=True, description="Look up likely useful memories in the background between turns."
    )
    context_budget_tokens: Positive = Field(
        default=1500, description="Maximum context size for one turn, in tokens."
    )
    pending_action_ttl_hours: Positive = Field(
        default=48, description="Minimum lifetime of a pending action, in hours."
    )
    max_messages_per_minute: Positive = Field(
        default=60,
        description="Maximum messages per chat and minute; further messages are stored but not read.",
    )
    max_conflict_message_length: Positive = Field(
        default=280, description="Maximum length of a conflict alert, in characters."
    )
    max_clarification_length: Positive = Field(
        default=200, description="Maximum length of a clarifying question, in characters."
    )
    max_summary_length: Positive = Field(
        default=140, description="Maximum length of a summary, in characters."
    )
    message_retention_days: Positive = Field(
        default=30, description="How long message text is kept, in days."
    )
    travel_buffer_minutes: NotNegative = Field(
        default=0, description="Travel time added around events in conflict checks, in minutes."
    )
    default_event_minutes: Positive = Field(
        default=60, description="Assumed length of an event without an end time, in minutes."
    )
    host: str = Field(
        default="127.0.0.1", min_length=1, description="Address the server listens on."
    )
    port: Port = Field(default=8765, description="Port the server listens on; 0 picks a free port.")
    public_url: Origin | None = Field(
        default=None,
        description="Address people use to reach the server, if it differs from HOST and PORT.",
    )
    trusted_proxies: str = Field(
        default="127.0.0.1,::1",
        description="Proxies whose X-Forwarded headers are trusted when PUBLIC_URL is set.",
    )
    trace_text: bool = Field(
        default=False, description="Also keep message text in decision traces."
    )
    quiet_hours: DailyHours = Field(
        default="22:00-07:00",
        description="Local hours during which messages arrive silently; use equal times to turn this off.",
    )
    digest_at: DailyTime = Field(
        default="18:00",
        description="Local time of the daily digest of waiting plans, for adults who have not chosen a time; or off.",
    )
    idle_thought: bool = Field(
        default=True,
        description="Whether adults are told unasked, at most once a day and each alone, what the calendar, tasks and "
        "memory show; each can also turn it off for themselves.",
    )
    telegram_bot_token: Secret | None = Field(
        default=None,
        description="Bot token from @BotFather; or set TELEGRAM_BOT_TOKEN_FILE to a file that contains it.",
    )
    telegram_group_chat_id: str | None = Field(
        default=None,
        coerce_numbers_to_str=True,
        description="Group chat to observe, in addition to `chats` in the household file.",
    )
    telegram_api_url: Url = Field(
        default="https://api.telegram.org", description="Address of the Telegram Bot API."
    )
    telegram_webhook_url: TlsUrl | None = Field(
        default=None,
        description="HTTPS address that Telegram posts updates to; without it, the server polls Telegram.",
    )
    telegram_webhook_secret: WebhookSecret | None = Field(
        default=None,
        description="Shared secret that Telegram sends with each update; or set TELEGRAM_WEBHOOK_SECRET_FILE.",
    )

    @model_validator(mode="after")
    def _require_secret_of_webhook(self) -> Self:
        if self.telegram_webhook_url and self.telegram_webhook_secret is None:
            raise ValueError("TELEGRAM_WEBHOOK_URL needs TELEGRAM_WEBHOOK_SECRET")
        return self


SECRETS = (
    MODEL_SECRETS
    | EMBEDDER_SECRETS
    | CONNECTOR_SECRETS
    | MAIL_SECRETS
    | {"brain_token", "database_url", "telegram_bot_token", "telegram_webhook_secret"}
)
"""Settings that are never shown; each can also be read from a file named by NAME_FILE."""


# Which hosts the settings let this program talk to. Pure.


def outbound_hosts(settings: Settings) -> tuple[str, ...]:
    """Return the hosts that the program will contact by itself; with default settings none."""
    addresses = [settings.database_url, settings.brain_base_url, *_model_urls(settings)]
    if settings.telegram_bot_token is not None:
        addresses.append(str(settings.telegram_api_url))
    if settings.caldav_url is not None:
        addresses.append(settings.caldav_url.get_secret_value())
    addresses += [server.url for server in settings.tool_servers]
    addresses.append(settings.web_search_url)
    accounts = (settings.smtp_account, settings.imap_account)
    hosts = {urlsplit(address).hostname for address in addresses if address}
    hosts |= {account.host for account in accounts if account}
    return tuple(sorted(host for host in hosts if host))


def _model_urls(settings: Settings) -> tuple[str | None, ...]:
    return (
        settings.model_url,
        settings.light_model_url,
        settings.strong_model_url,
        settings.extraction_model_url,
        settings.embedder_url,
    )
