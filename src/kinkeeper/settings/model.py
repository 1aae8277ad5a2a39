"""Every setting: its name, default, unit and meaning; and which hosts the settings let the program talk to."""

from pathlib import Path
from typing import Self
from urllib.parse import urlsplit

from pydantic import ConfigDict, Field, model_validator

from kinkeeper.settings.connections import (
    CONNECTOR_SECRETS,
    MAIL_SECRETS,
    ConnectorSettings,
    MailSettings,
)
from kinkeeper.settings.fields import (
    DailyHours,
    DailyTime,
    DatabaseUrl,
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


class Settings(ModelSettings, EmbedderSettings, ConnectorSettings, MailSettings):
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
        default=True,
        description="Look up likely useful memories in the background between turns.",
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
