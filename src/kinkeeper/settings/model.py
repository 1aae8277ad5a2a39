"""Every setting: its name, default, unit and meaning."""

from pathlib import Path
from typing import Self

from pydantic import ConfigDict, Field, model_validator

from kinkeeper.settings.connecting import CONNECTOR_SECRETS, ConnectorSettings
from kinkeeper.settings.embedding import EMBEDDER_SECRETS, EmbedderSettings
from kinkeeper.settings.fields import (
    DailyHours,
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
from kinkeeper.settings.mail import MAIL_SECRETS, MailSettings
from kinkeeper.settings.models import MODEL_SECRETS, ModelSettings


class Settings(ModelSettings, EmbedderSettings, ConnectorSettings, MailSettings):
    """The program's settings, from the environment, `.env` and `kinkeeper.toml` (the first that has one wins)."""

    model_config = ConfigDict(frozen=True, extra="forbid")

    env: str = Field(
        default="production", description="Name of the environment; each has a database of its own."
    )
    db_path: Path | None = Field(
        default=None, description="SQLite file; DATABASE_URL wins over it."
    )
    database_url: DatabaseUrl | None = Field(
        default=None,
        repr=False,
        description="sqlite:///FILE or postgresql://…; DATABASE_URL_FILE names a file with it.",
    )
    backup_dir: Path | None = Field(
        default=None,
        description="Folder of nightly backups, kept MESSAGE_RETENTION_DAYS; none are made without.",
    )
    family_context: Path | None = Field(
        default=None, description="Household file, or a folder of them."
    )
    tripwire_threshold: Share = Field(
        default=0.7, description="Score from which a message goes to tier 2."
    )
    extraction_threshold: Share = Field(
        default=0.6, description="Confidence below which an extraction is dropped."
    )
    attribution_threshold: Share = Field(
        default=0.6, description="Confidence from which a reply counts as an answer."
    )
    brain_min_relevance: Share = Field(
        default=0.5, description="Relevance from which brain context is used."
    )
    tripwire_patterns_path: Path | None = Field(
        default=None, description="Pattern file used instead of the shipped one."
    )
    context_window_size: NotNegative = Field(
        default=3, description="Messages of the thread that give context."
    )
    context_ttl_seconds: Positive = Field(
        default=300, description="Age up to which they do, seconds."
    )
    attribution_window_seconds: Positive = Field(
        default=600, description="How far back a reply looks, seconds."
    )
    open_question_window_seconds: Positive = Field(
        default=3600, description="How long a question can be answered, seconds."
    )
    open_question_grace_seconds: NotNegative = Field(
        default=900, description="How long a question waits before it is asked aloud, seconds."
    )
    tier2_workers: Positive = Field(default=2, description="Messages understood at a time.")
    redline_temporal_conflict: bool = Field(
        default=True, description="Speak when a child is booked twice."
    )
    redline_resource_conflict: bool = Field(
        default=True, description="Speak when two people have one job."
    )
    redline_missing_variable: bool = Field(
        default=True, description="Find jobs without owner and times that do not fit."
    )
    speak_on_missing_critical: bool = Field(
        default=True, description="Ask aloud for a missing owner."
    )
    max_speak_per_day: NotNegative = Field(
        default=4, description="Unprompted messages a local day."
    )
    max_brain_queries_per_message: NotNegative = Field(
        default=3, description="Questions to memory for one message."
    )
    brain_timeout_ms: Positive = Field(
        default=5000, description="Longest wait for memory, milliseconds."
    )
    brain_cache_ttl_seconds: NotNegative = Field(
        default=60, description="How long an answer of memory is kept, seconds."
    )
    brain_base_url: Url | None = Field(
        default=None,
        description="A program whose memory is asked instead of the calendar here, in abstract words.",
    )
    brain_query_endpoint: RoutePath = Field(
        default="/brain/query", description="Its route for questions."
    )
    brain_token: Secret | None = Field(
        default=None, description="What it lets us in with; BRAIN_TOKEN_FILE names a file with it."
    )
    passive_streaming: bool = Field(
        default=True,
        description="Look up between a session's turns what its next one may call for.",
    )
    context_budget_tokens: Positive = Field(
        default=1500, description="Most tokens of the context of a session's turn."
    )
    pending_action_ttl_hours: Positive = Field(
        default=48, description="After how long a pending action expires, hours."
    )
    max_messages_per_minute: Positive = Field(
        default=60, description="Messages a chat and minute; more are stored, not queued."
    )
    max_conflict_message_length: Positive = Field(
        default=280, description="Longest conflict alert, characters."
    )
    max_clarification_length: Positive = Field(
        default=200, description="Longest clarification, characters."
    )
    max_summary_length: Positive = Field(default=140, description="Longest summary, characters.")
    message_retention_days: Positive = Field(
        default=30, description="After how long message text is purged, days."
    )
    travel_buffer_minutes: NotNegative = Field(
        default=0, description="Added around a booking in conflict checks, minutes."
    )
    default_event_minutes: Positive = Field(
        default=60, description="Length of a booking whose length nobody said, minutes."
    )
    host: str = Field(
        default="127.0.0.1", min_length=1, description="Address the server listens on."
    )
    port: Port = Field(default=8765, description="Port it listens on; 0 takes any free one.")
    public_url: Origin | None = Field(
        default=None, description="Where people reach it, if not at HOST and PORT."
    )
    trusted_proxies: str = Field(
        default="127.0.0.1,::1",
        description="Addresses of proxies whose X-Forwarded headers count, with PUBLIC_URL set.",
    )
    trace_text: bool = Field(
        default=False, description="Keep what people wrote in the traces of decisions, too."
    )
    quiet_hours: DailyHours = Field(
        default="22:00-07:00",
        description="Local hours in which messages come without a sound; equal ends mean never.",
    )
    telegram_bot_token: Secret | None = Field(
        default=None, description="From @BotFather; TELEGRAM_BOT_TOKEN_FILE names a file with it."
    )
    telegram_group_chat_id: str | None = Field(
        default=None,
        coerce_numbers_to_str=True,
        description="A group to observe, beside the household file's `chats`.",
    )
    telegram_api_url: Url = Field(
        default="https://api.telegram.org", description="Where the Bot API is."
    )
    telegram_webhook_url: TlsUrl | None = Field(
        default=None, description="Where Telegram posts updates; it is asked for them otherwise."
    )
    telegram_webhook_secret: WebhookSecret | None = Field(
        default=None, description="What Telegram proves itself with; _FILE names a file with it."
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
