"""first tables."""

from collections.abc import Sequence
from typing import Any

import sqlalchemy as sa
from alembic import op

revision = "0001"
down_revision = None
branch_labels = None
depends_on = None


def string(name: str, length: int | None = None, *, null: bool = False) -> sa.Column[Any]:
    """Return a column of text, with a limit where it has one."""
    return sa.Column(name, sa.String(length), nullable=null)


def instant(name: str, *, null: bool = False) -> sa.Column[Any]:
    """Return a column of instants, which are texts of one length."""
    return string(name, 27, null=null)


def integer(name: str, *, null: bool = False, autoincrement: bool | None = None) -> sa.Column[Any]:
    """Return a column of whole numbers."""
    auto: Any = "auto" if autoincrement is None else autoincrement
    return sa.Column(name, sa.Integer(), nullable=null, autoincrement=auto)


def large(name: str) -> sa.Column[Any]:
    """Return a column of whole numbers of any size."""
    return sa.Column(name, sa.BigInteger(), nullable=False)


def text(name: str, *, null: bool = False) -> sa.Column[Any]:
    """Return a column of long text."""
    return sa.Column(name, sa.Text(), nullable=null)


def json(name: str, *, null: bool = False) -> sa.Column[Any]:
    """Return a column of JSON."""
    return sa.Column(name, sa.JSON(), nullable=null)


def json_or_null(name: str) -> sa.Column[Any]:
    """Return a column of JSON in which nothing is NULL."""
    return sa.Column(name, sa.JSON(none_as_null=True), nullable=True)


def real(name: str, *, null: bool = False) -> sa.Column[Any]:
    """Return a column of numbers."""
    return sa.Column(name, sa.Float(), nullable=null)


def flag(name: str) -> sa.Column[Any]:
    """Return a column of yes and no."""
    return sa.Column(name, sa.Boolean(), nullable=False)


def binary(name: str, *, null: bool = False) -> sa.Column[Any]:
    """Return a column of bytes."""
    return sa.Column(name, sa.LargeBinary(), nullable=null)


def table(
    name: str, *columns: sa.Column[Any], key: str, unique: Sequence[str] = (), **options: bool
) -> None:
    """Create a table; keys are columns with spaces between."""
    primary = sa.PrimaryKeyConstraint(*key.split(), name=op.f(f"pk_{name}"))
    others = [
        sa.UniqueConstraint(*each.split(), name=op.f("_".join(["uq", name, *each.split()])))
        for each in unique
    ]
    op.create_table(name, *columns, primary, *others, **options)


def index(on: str, columns: str, *, named: str = "", where: str | None = None) -> None:
    """Create an index, named after its columns where nothing else is said."""
    name = op.f(f"ix_{on}_{named or columns.replace(' ', '_')}")
    condition = None if where is None else sa.text(where)
    op.create_index(
        name, on, columns.split(), unique=False, sqlite_where=condition, postgresql_where=condition
    )


def upgrade() -> None:
    """Apply this revision."""
    table(
        "access_keys",
        string("household", 64),
        string("id", 32),
        string("kind", 16),
        string("digest", 64),
        string("member", 64),
        string("role", 16),
        string("label", 80),
        instant("created_at"),
        instant("expires_at", null=True),
        instant("seen_at"),
        instant("ended_at", null=True),
        key="household id",
        unique=["digest"],
    )
    index("access_keys", "household kind ended_at", named="kind")
    table(
        "action_refusals",
        string("household", 64),
        string("action_id", 36),
        integer("number", autoincrement=False),
        string("reason", 16),
        instant("at"),
        string("by_member", 64, null=True),
        key="household action_id number",
    )
    index("action_refusals", "household at", named="at")
    table(
        "action_sources",
        string("household", 64),
        string("source_type", 32),
        string("source_id", 256),
        string("slot", 64),
        string("action_id", 36),
        instant("added_at"),
        key="household source_type source_id slot",
    )
    index("action_sources", "household action_id", named="action")
    table(
        "action_transitions",
        string("household", 64),
        string("action_id", 36),
        integer("number", autoincrement=False),
        string("from_status", 16, null=True),
        string("to_status", 16),
        string("cause", 16),
        instant("at"),
        string("by_member", 64, null=True),
        text("detail", null=True),
        key="household action_id number",
    )
    index("action_transitions", "household at", named="at")
    table(
        "caldav_calendars",
        string("household", 64),
        text("url"),
        text("name"),
        text("sync_token", null=True),
        text("ctag", null=True),
        instant("synced_at", null=True),
        instant("failing_since", null=True),
        text("failure", null=True),
        integer("waiting"),
        instant("claimed_until", null=True),
        key="household",
    )
    table(
        "caldav_objects",
        string("household", 64),
        string("path", 1024),
        string("kind", 16),
        string("local_id", 128, null=True),
        string("state", 16),
        text("etag", null=True),
        text("handled", null=True),
        string("agreed", 64),
        string("offered", 64),
        string("trying", 64),
        string("pushed", 64),
        string("action_id", 36, null=True),
        text("note", null=True),
        key="household path",
    )
    index("caldav_objects", "household local_id", named="local")
    table(
        "calendar_horizons",
        string("household"),
        instant("covers_from"),
        instant("covers_until"),
        key="household",
    )
    table(
        "chat_moves",
        string("household", 64),
        string("channel", 32),
        string("old_chat_id", 128),
        string("new_chat_id", 128),
        instant("moved_at"),
        key="household channel old_chat_id",
    )
    table(
        "concept_relations",
        string("household"),
        string("fact_id"),
        string("scope"),
        text("source"),
        text("target"),
        text("type"),
        real("weight"),
        instant("said_at"),
        key="household fact_id",
    )
    index("concept_relations", "household scope")
    table(
        "conversation_encodings",
        string("household", 64),
        string("stage", 16),
        string("turn", 36),
        string("thread", 64),
        string("member", 64),
        string("topic", 36),
        instant("said_at"),
        integer("had_effect", null=True),
        real("salience", null=True),
        string("state", 16),
        integer("attempt"),
        integer("failures"),
        integer("epoch"),
        integer("begun"),
        instant("lease_until", null=True),
        instant("due_at"),
        text("error", null=True),
        key="household stage turn",
    )
    index("conversation_encodings", "household stage thread said_at", named="line")
    index("conversation_encodings", "state household due_at", named="state")
    table(
        "conversation_gists",
        string("household", 64),
        string("turn", 36),
        string("thread", 64),
        string("topic", 36),
        text("text"),
        instant("made_at"),
        instant("expires_at"),
        key="household turn",
    )
    index("conversation_gists", "household expires_at", named="expiry")
    index("conversation_gists", "household topic made_at")
    table(
        "conversation_names",
        string("household", 64),
        string("member", 64),
        text("name"),
        instant("said_at"),
        key="household member",
    )
    table(
        "conversation_topics",
        string("household", 64),
        string("id", 36),
        string("thread", 64),
        text("label"),
        json("words"),
        binary("vector", null=True),
        string("model", 128, null=True),
        integer("exchanges"),
        integer("streak"),
        json("recalls"),
        integer("is_focus"),
        instant("last_at"),
        instant("expires_at"),
        key="household id",
    )
    index("conversation_topics", "household expires_at", named="expiry")
    index("conversation_topics", "household thread last_at")
    table(
        "critic_verdicts",
        string("household", 64),
        string("turn", 36),
        integer("number", autoincrement=False),
        string("request", 160),
        string("verdict", 24),
        string("effect", 16),
        real("ms"),
        instant("at"),
        key="household turn number",
    )
    index("critic_verdicts", "household at", named="at")
    table(
        "embeddings",
        string("household", 64),
        string("model", 160),
        string("text_hash", 64),
        integer("dimension"),
        binary("vector"),
        instant("made_at"),
        key="household model text_hash",
    )
    index("embeddings", "household made_at", named="made")
    table(
        "episodes",
        string("household"),
        string("id"),
        string("scope"),
        string("session", null=True),
        string("kind", 16),
        text("speaker", null=True),
        string("member", null=True),
        flag("is_assistant"),
        text("text"),
        text("title", null=True),
        text("topic", null=True),
        json("participants"),
        instant("said_at"),
        real("salience"),
        string("origin", 16),
        string("source"),
        string("channel"),
        string("message_key", null=True),
        string("embed_state", 16),
        flag("is_read"),
        instant("stored_at"),
        integer("seq"),
        key="household id",
        unique=["household message_key"],
    )
    index("episodes", "household embed_state")
    index("episodes", "household is_read")
    index("episodes", "household seq")
    index("episodes", "household session said_at")
    table(
        "event_changes",
        string("household"),
        string("change_id"),
        string("event_id"),
        integer("revision"),
        string("operation"),
        instant("original_start", null=True),
        json_or_null("before"),
        json_or_null("after"),
        instant("changed_at"),
        instant("undone_at", null=True),
        key="household change_id",
        unique=["household event_id revision"],
    )
    table(
        "events",
        string("household"),
        string("id"),
        string("scope"),
        string("kind"),
        text("summary"),
        string("activity", null=True),
        string("task", null=True),
        json("who"),
        json("responsible"),
        text("place", null=True),
        string("start_local", 32),
        integer("duration_s"),
        string("tz"),
        flag("is_all_day"),
        text("rrule", null=True),
        json("exdates"),
        string("state"),
        string("about", null=True),
        string("source_type"),
        string("source_id"),
        string("confirmed_by", null=True),
        string("action_id", null=True),
        key="household id",
    )
    index("events", "household about")
    index("events", "household source_type source_id")
    table(
        "facts",
        string("household"),
        string("id"),
        string("scope"),
        string("category", 16),
        string("type", 16),
        text("subject"),
        text("slot", null=True),
        text("title"),
        text("subtitle", null=True),
        text("narrative"),
        text("speaker", null=True),
        json("details"),
        string("origin", 16),
        string("source"),
        real("confidence"),
        integer("evidence_count"),
        json("derived_from"),
        string("status", 16),
        string("superseded_by", null=True),
        string("merged_into_id", null=True),
        flag("is_contradicted"),
        string("doubted_by", null=True),
        flag("is_edited"),
        instant("held_from"),
        instant("valid_from", null=True),
        instant("valid_to", null=True),
        instant("said_at"),
        instant("created_at"),
        instant("last_evidence_at"),
        instant("decayed_until"),
        instant("due_at"),
        instant("archived_at", null=True),
        integer("seq"),
        key="household id",
    )
    index("facts", "household scope subject slot")
    index("facts", "household seq")
    index("facts", "household status category")
    index("facts", "household status due_at")
    table(
        "failed_updates",
        integer("id", autoincrement=True),
        string("household", 64),
        string("channel", 32),
        string("update_id", 64),
        text("content", null=True),
        text("error"),
        instant("received_at"),
        key="id",
        unique=["household channel update_id"],
        sqlite_autoincrement=True,
    )
    index("failed_updates", "household received_at", named="received")
    table(
        "feedback",
        integer("id", autoincrement=True),
        string("household", 64),
        string("kind", 16),
        string("subject", 36),
        string("answer", 24),
        string("by_member", 64),
        instant("at"),
        key="id",
        unique=["household kind subject by_member"],
        sqlite_autoincrement=True,
    )
    index("feedback", "household at", named="at")
    table(
        "foreign_tools",
        string("household", 64),
        string("server", 64),
        string("name", 128),
        text("description"),
        json("schema"),
        string("definition", 64),
        string("accepted", 64),
        instant("first_seen_at"),
        instant("seen_at"),
        instant("changed_at", null=True),
        key="household server name",
    )
    table(
        "interaction_log",
        string("household", 64),
        string("turn", 36),
        string("event", 32),
        string("mode", 16),
        real("confidence"),
        string("source", 8),
        real("ms"),
        integer("brought"),
        json("relevance"),
        instant("at"),
        key="household turn event",
    )
    index("interaction_log", "household at", named="at")
    table(
        "mail_drafts",
        string("household", 64),
        string("id", 36),
        json("mail"),
        string("written_by", 64),
        instant("written_at"),
        key="household id",
    )
    index("mail_drafts", "household written_at", named="written")
    table(
        "member_only_chats",
        string("household", 64),
        string("channel", 32),
        string("chat_id", 128),
        instant("since"),
        key="household channel chat_id",
    )
    table(
        "memory_change_sets",
        string("household"),
        string("id"),
        integer("number"),
        string("cause", 16),
        text("summary"),
        string("made_by", null=True),
        instant("made_at"),
        instant("undone_at", null=True),
        string("undone_by", null=True),
        key="household id",
        unique=["household number"],
    )
    table(
        "memory_changes",
        string("household"),
        string("change_set"),
        integer("position"),
        string("row_table", 32),
        string("row_id"),
        json_or_null("before"),
        json_or_null("after"),
        key="household change_set position",
    )
    index("memory_changes", "household row_table row_id")
    table(
        "memory_counters",
        string("household"),
        integer("seq"),
        string("secret", 64),
        integer("mapped_seq"),
        key="household",
    )
    table(
        "memory_questions",
        string("household"),
        string("id"),
        string("kind", 16),
        json("facts"),
        text("why"),
        string("state", 16),
        string("answer", 16, null=True),
        instant("asked_at"),
        instant("answered_at", null=True),
        key="household id",
    )
    table(
        "memory_removals",
        string("household"),
        integer("seq"),
        string("kind", 16),
        string("id"),
        key="household seq",
    )
    index("memory_removals", "household kind seq")
    table(
        "memory_runs",
        string("household"),
        string("id"),
        string("state", 16),
        integer("from_seq"),
        integer("to_seq"),
        string("change_set", null=True),
        json("report"),
        instant("started_at"),
        instant("ended_at", null=True),
        key="household id",
    )
    table(
        "memory_tombstones",
        string("household"),
        string("fingerprint", 64),
        string("scope"),
        string("forgotten_by", null=True),
        instant("forgotten_at"),
        key="household fingerprint",
    )
    table(
        "memory_vectors",
        string("household"),
        string("kind", 16),
        string("id"),
        string("model"),
        binary("vector"),
        integer("seq"),
        key="household kind id model",
    )
    index("memory_vectors", "household model seq")
    table(
        "memory_verdicts",
        string("household"),
        string("id"),
        string("older"),
        string("newer", null=True),
        string("ruling", 16),
        string("made_by"),
        instant("made_at"),
        key="household id",
    )
    index("memory_verdicts", "household newer")
    index("memory_verdicts", "household older")
    table(
        "messages",
        integer("id", autoincrement=True),
        string("household", 64),
        string("channel", 32),
        string("chat_id", 128),
        string("message_id", 128),
        string("revision", 160),
        string("thread_id", 128),
        string("sender", 128),
        integer("is_member"),
        text("text", null=True),
        string("kind", 16),
        string("reply_to", 128, null=True),
        string("target", 128, null=True),
        instant("sent_at"),
        instant("received_at"),
        key="id",
        unique=["household channel chat_id revision"],
        sqlite_autoincrement=True,
    )
    index("messages", "household chat_id message_id", named="chat_message")
    index("messages", "household chat_id sent_at", named="chat_sent")
    table(
        "model_budgets",
        string("household", 64),
        string("day", 10),
        integer("calls"),
        large("tokens"),
        large("cost_micros"),
        key="household day",
    )
    table(
        "model_calls",
        integer("id", autoincrement=True),
        string("household", 64),
        instant("at"),
        string("role", 16),
        string("prompt_id", 128),
        integer("prompt_version"),
        string("prompt_hash", 64),
        string("model", 256),
        string("outcome", 24),
        real("milliseconds"),
        integer("input_tokens", null=True),
        integer("output_tokens", null=True),
        integer("is_estimated"),
        large("cost_micros"),
        json("sent", null=True),
        text("answered", null=True),
        key="id",
        sqlite_autoincrement=True,
    )
    index("model_calls", "household at", named="at")
    table(
        "model_fallbacks",
        integer("id", autoincrement=True),
        string("household", 64),
        instant("at"),
        string("stage", 64),
        string("outcome", 24),
        key="id",
        sqlite_autoincrement=True,
    )
    index("model_fallbacks", "household at", named="at")
    table(
        "notes",
        string("household", 64),
        string("id", 64),
        string("scope"),
        text("title"),
        text("body"),
        string("made_by", 64, null=True),
        instant("created_at"),
        instant("changed_at"),
        key="household id",
    )
    index("notes", "household changed_at", named="changed")
    table(
        "observer_confidence_log",
        string("household", 64),
        string("message", 20),
        string("stage", 16),
        string("confidence_type", 24),
        real("score", null=True),
        real("threshold"),
        integer("passed"),
        string("decision", 24),
        instant("logged_at"),
        key="household message stage",
        sqlite_with_rowid=False,
    )
    table(
        "observer_messages",
        string("household", 64),
        string("id", 20),
        string("chat_id", 128),
        string("message_id", 128),
        string("thread_id", 128),
        string("sender", 128),
        instant("sent_at"),
        json("context_window"),
        real("tripwire_confidence"),
        json("tripwire_patterns"),
        json("tripwire_evidence"),
        string("tier1_decision", 8),
        string("override", 16, null=True),
        integer("is_coordination_talk"),
        instant("processed_at", null=True),
        json("extraction", null=True),
        string("attribution_source", 128, null=True),
        json("brain_queries", null=True),
        json("brain_context", null=True),
        real("brain_relevance", null=True),
        json("consulted", null=True),
        integer("unread_parts", null=True),
        string("redline_decision", 8, null=True),
        string("redline_trigger_rule", 32, null=True),
        json("redline_facts", null=True),
        string("reason", 64),
        text("reply", null=True),
        json("buttons", null=True),
        string("action_id", 64, null=True),
        json("withdrawn_actions"),
        integer("notification_id", null=True),
        instant("speak_at", null=True),
        string("conflict_key", 256, null=True),
        instant("created_at"),
        string("state", 16),
        integer("attempt"),
        integer("failures"),
        integer("epoch"),
        integer("begun"),
        instant("lease_until", null=True),
        instant("due_at"),
        text("error", null=True),
        key="household id",
    )
    index("observer_messages", "household chat_id sent_at", named="chat")
    index(
        "observer_messages",
        "household redline_decision processed_at",
        named="redline",
        where="redline_decision IS NOT NULL",
    )
    index("observer_messages", "household speak_at", named="speak_at", where="speak_at IS NOT NULL")
    index("observer_messages", "state household chat_id", named="state")
    index("observer_messages", "household thread_id sent_at", named="thread")
    index("observer_messages", "household tripwire_confidence tier1_decision", named="tripwire")
    table(
        "occurrence_overrides",
        string("household"),
        string("event_id"),
        instant("original_start"),
        instant("start_at", null=True),
        integer("duration_s", null=True),
        string("state", null=True),
        json_or_null("responsible"),
        text("place", null=True),
        key="household event_id original_start",
    )
    table(
        "occurrence_people",
        string("household"),
        string("event_id"),
        instant("original_start"),
        string("person"),
        flag("is_booked"),
        integer("span_days"),
        instant("start_at"),
        instant("end_at"),
        key="household event_id original_start person",
    )
    index("occurrence_people", "household person span_days start_at end_at")
    table(
        "occurrences",
        string("household"),
        string("event_id"),
        instant("original_start"),
        integer("span_days"),
        instant("start_at"),
        instant("end_at"),
        string("state"),
        json("responsible"),
        text("place", null=True),
        key="household event_id original_start",
    )
    index("occurrences", "household span_days start_at end_at")
    table(
        "onboarding",
        string("household", 64),
        string("member", 64),
        integer("exchanges"),
        string("phase", 16),
        instant("at"),
        key="household member",
    )
    table(
        "open_questions",
        string("household", 64),
        string("id", 20),
        string("chat_id", 128),
        string("message_id", 128),
        string("thread_id", 128),
        string("asker", 128),
        instant("asked_at"),
        instant("until"),
        json("extraction"),
        string("action_id", 64, null=True),
        string("status", 16),
        string("answered_by", 128, null=True),
        instant("closed_at", null=True),
        key="household id",
    )
    index("open_questions", "household chat_id status asked_at", named="chat")
    table(
        "outbox",
        integer("id", autoincrement=True),
        string("household", 64),
        string("dedupe_key", 256),
        string("kind", 16),
        string("channel", 32),
        string("chat_id", 128),
        string("route", 16),
        string("audience", 64, null=True),
        string("reply_to", 128, null=True),
        integer("edits", null=True),
        string("answer_to", 128, null=True),
        text("body", null=True),
        json("buttons"),
        string("conflict_key", 256, null=True),
        string("action_id", 64, null=True),
        integer("is_unprompted"),
        integer("is_soundless"),
        integer("is_alarm"),
        instant("deliver_by", null=True),
        string("state", 16),
        integer("attempts"),
        integer("unknowns"),
        instant("not_before", null=True),
        instant("lease_until", null=True),
        text("error", null=True),
        string("channel_message_id", 128, null=True),
        string("ephemeral_id", 128, null=True),
        instant("created_at"),
        instant("sent_at", null=True),
        key="id",
        unique=["household dedupe_key"],
        sqlite_autoincrement=True,
    )
    index("outbox", "household action_id", named="action")
    index("outbox", "household conflict_key created_at", named="conflict")
    index("outbox", "household is_unprompted created_at", named="created")
    index("outbox", "household edits", named="edits")
    index("outbox", "household state channel chat_id", named="state")
    table(
        "outside_work",
        string("household", 64),
        string("id", 36),
        string("verb", 8),
        string("action_id", 36),
        string("decided_by", 64),
        instant("queued_at"),
        instant("called_at", null=True),
        string("state", 16),
        integer("attempt"),
        integer("failures"),
        integer("epoch"),
        integer("begun"),
        instant("lease_until", null=True),
        instant("due_at"),
        text("error", null=True),
        key="household id verb",
    )
    index("outside_work", "household action_id", named="action")
    index("outside_work", "household state due_at", named="due")
    table(
        "pending_actions",
        string("household", 64),
        string("id", 36),
        string("scope"),
        string("type", 32),
        string("origin", 16),
        string("source_type", 32),
        string("source_id", 256),
        string("slot", 64),
        string("chat_id", 128, null=True),
        string("first_day", 10, null=True),
        string("last_day", 10, null=True),
        string("subject", 128, null=True),
        json("extraction"),
        real("extraction_confidence"),
        text("summary"),
        json_or_null("suggested_event"),
        string("stakes", 8),
        json("request"),
        json("effects"),
        json("choices"),
        text("merge_key", null=True),
        string("conflict_key", 256, null=True),
        string("payload_hash", 64),
        integer("version"),
        string("status", 16),
        instant("created_at"),
        instant("expires_at"),
        instant("decided_at", null=True),
        string("decided_by", 64, null=True),
        text("choice", null=True),
        json_or_null("receipt"),
        instant("undone_at", null=True),
        string("undone_by", 64, null=True),
        key="household id",
    )
    index("pending_actions", "household merge_key created_at", named="merge")
    index("pending_actions", "household source_type source_id", named="source")
    index(
        "pending_actions", "household status expires_at first_day last_day subject", named="status"
    )
    table(
        "press_refusals",
        integer("id", autoincrement=True),
        string("household", 64),
        string("reason", 16),
        string("action_id", 36, null=True),
        string("by_member", 64, null=True),
        instant("at"),
        key="id",
        sqlite_autoincrement=True,
    )
    index("press_refusals", "household at", named="at")
    table(
        "press_tokens",
        string("household", 64),
        string("digest", 64),
        string("action_id", 36),
        string("payload_hash", 64),
        integer("version"),
        string("verb", 16),
        text("choice", null=True),
        string("channel", 32),
        string("chat_id", 128),
        integer("outbox_id"),
        integer("attempt"),
        string("message_key", 128, null=True),
        string("member", 64, null=True),
        instant("created_at"),
        instant("expires_at"),
        instant("used_at", null=True),
        string("used_by", 64, null=True),
        text("answer", null=True),
        key="household digest",
    )
    index("press_tokens", "household expires_at", named="expires")
    index("press_tokens", "household outbox_id attempt", named="outbox")
    table(
        "private_chats",
        string("household", 64),
        string("channel", 32),
        string("member", 64),
        string("chat_id", 128),
        instant("since"),
        key="household channel member",
    )
    table(
        "quiet_periods",
        string("household", 64),
        instant("until"),
        string("by_member", 64),
        instant("set_at"),
        key="household",
    )
    table(
        "routing_decisions",
        string("household", 64),
        string("turn", 36),
        string("mode", 16),
        string("decided_by", 16),
        json("scores"),
        integer("tie_break"),
        real("margin", null=True),
        json("signals"),
        string("weights_version", 32, null=True),
        instant("at"),
        key="household turn",
    )
    index("routing_decisions", "household at", named="at")
    table(
        "row_changes",
        string("household", 64),
        string("change_id", 64),
        string("kind", 16),
        string("row_id", 64),
        integer("revision"),
        json_or_null("before"),
        json_or_null("after"),
        instant("changed_at"),
        instant("undone_at", null=True),
        key="household change_id",
        unique=["household kind row_id revision"],
    )
    table(
        "stage_failures",
        string("household", 64),
        string("turn", 36),
        integer("number", autoincrement=False),
        string("stage", 24),
        string("reason", 64),
        instant("at"),
        key="household turn number",
    )
    index("stage_failures", "household stage at", named="at")
    table(
        "statement_keys",
        string("household"),
        string("key", 16),
        string("statement_id"),
        key="household key statement_id",
    )
    index("statement_keys", "household statement_id")
    table(
        "statements",
        string("household"),
        string("id"),
        string("episode_id"),
        string("scope"),
        integer("start_index"),
        integer("end_index"),
        text("text"),
        text("speaker", null=True),
        text("subject"),
        text("slot", null=True),
        text("title"),
        text("narrative"),
        string("category", 16),
        string("type", 16),
        real("confidence"),
        flag("is_correction"),
        flag("is_retraction"),
        text("corrects", null=True),
        instant("said_at"),
        instant("valid_from", null=True),
        instant("valid_to", null=True),
        string("origin", 16),
        integer("standing"),
        string("strand"),
        string("fact_id", null=True),
        key="household id",
    )
    index("statements", "household episode_id")
    index("statements", "household fact_id")
    index("statements", "household strand")
    table(
        "task_reminders",
        string("household", 64),
        string("task_id", 64),
        instant("next_at", null=True),
        instant("told_at", null=True),
        key="household task_id",
    )
    index("task_reminders", "household next_at", named="next")
    table(
        "tasks",
        string("household", 64),
        string("id", 64),
        string("scope"),
        text("title"),
        text("description"),
        string("priority", 8),
        string("deadline", 40, null=True),
        flag("is_all_day"),
        string("remind_at", 40, null=True),
        text("rrule", null=True),
        string("tz", 64),
        json("who"),
        string("status", 8),
        instant("done_at", null=True),
        string("done_by", 64, null=True),
        string("asked_by", 64, null=True),
        string("channel", 32),
        string("thread_id", 128, null=True),
        instant("created_at"),
        instant("changed_at"),
        key="household id",
    )
    index("tasks", "household status", named="status")
    table(
        "telegram_progress",
        string("household", 64),
        string("bot", 32),
        large("next_update"),
        instant("handled_at"),
        key="household bot",
    )
    table(
        "telegram_strangers",
        string("household", 64),
        string("bot", 32),
        string("chat_id", 32),
        integer("times"),
        instant("last_at"),
        key="household bot chat_id",
    )
    table(
        "threads",
        string("household", 64),
        string("id", 64),
        string("member", 64),
        string("channel", 32),
        string("chat_id", 128, null=True),
        instant("created_at"),
        instant("last_at"),
        integer("turns"),
        integer("events"),
        key="household id",
    )
    index("threads", "household member last_at", named="member")
    table(
        "tool_cycles",
        string("household", 64),
        string("turn", 36),
        string("type", 16),
        string("source", 32),
        string("topic", 64),
        string("intent", 16),
        real("warmth"),
        json("hints"),
        string("state", 16),
        integer("resumed"),
        instant("at"),
        instant("finished_at", null=True),
        key="household turn",
    )
    index("tool_cycles", "household at", named="at")
    table(
        "tool_iterations",
        string("household", 64),
        string("turn", 36),
        integer("number", autoincrement=False),
        json("actions"),
        real("ms"),
        real("fatigue"),
        string("mode", 16),
        string("ended", 24, null=True),
        instant("at"),
        key="household turn number",
    )
    index("tool_iterations", "household at", named="at")
    table(
        "tool_runs",
        string("household", 64),
        string("turn", 36),
        integer("number", autoincrement=False),
        string("request", 160),
        string("status", 16),
        real("ms"),
        instant("at"),
        key="household turn number",
    )
    index("tool_runs", "household at", named="at")
    table(
        "tool_servers",
        string("household", 64),
        string("server", 64),
        instant("looked_at"),
        instant("failing_since", null=True),
        text("failure", null=True),
        key="household server",
    )
    table(
        "triage_calibration",
        string("household", 64),
        string("turn", 36),
        string("type", 16),
        string("branch", 16),
        string("mode", 16),
        json("domains"),
        json("tools"),
        real("confidence_internal"),
        real("confidence_tool_need"),
        real("freshness_risk"),
        string("source", 8),
        integer("acted"),
        instant("at"),
        key="household turn",
    )
    index("triage_calibration", "household at", named="at")
    table(
        "turn_events",
        string("household", 64),
        string("thread", 64),
        integer("number", autoincrement=False),
        string("turn", 36),
        string("name", 16),
        json("data"),
        instant("at"),
        key="household thread number",
    )
    index("turn_events", "household at", named="at")
    table(
        "turns",
        string("household", 64),
        string("id", 36),
        string("thread", 64),
        integer("position"),
        string("member", 64),
        string("channel", 32),
        string("client_message_id", 200),
        string("chat_id", 128, null=True),
        integer("is_shared"),
        text("text"),
        instant("received_at"),
        string("state", 16),
        integer("attempt"),
        integer("failures"),
        integer("epoch"),
        integer("begun"),
        instant("lease_until", null=True),
        instant("due_at"),
        text("error", null=True),
        integer("stop_requested"),
        integer("stops"),
        integer("aside"),
        string("outcome", 16, null=True),
        string("mode", 16, null=True),
        string("source", 8, null=True),
        real("confidence", null=True),
        text("answer", null=True),
        json_or_null("results"),
        text("clarification", null=True),
        json_or_null("partial"),
        json_or_null("plans"),
        json_or_null("asked_about"),
        json_or_null("used"),
        instant("finished_at", null=True),
        json_or_null("stages"),
        key="household id",
        unique=["household thread client_message_id"],
    )
    index("turns", "household received_at", named="received")
    index("turns", "household state due_at", named="state")
    index("turns", "household thread position", named="thread")
    table(
        "volatile_facts",
        string("household", 64),
        string("topic", 36),
        string("about", 128),
        text("value"),
        string("turn", 36),
        instant("said_at"),
        instant("expires_at"),
        key="household topic about",
    )
    index("volatile_facts", "household expires_at", named="expiry")
