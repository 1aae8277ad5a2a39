"""Tables of the conversation: threads, turns as durable work, what their streams told, and how each was decided."""

from sqlalchemy import JSON, Column, Float, Index, Integer, String, Table, Text, UniqueConstraint

from kinkeeper.jobs.leases import work_columns
from kinkeeper.store.schema import Instant, metadata

_NULLABLE_JSON = JSON(none_as_null=True)

threads = Table(
    "threads",
    metadata,
    Column("household", String(64), primary_key=True),
    Column("id", String(64), primary_key=True),
    # Nobody else reads it, and nobody else speaks in it.
    Column("member", String(64), nullable=False),
    # The role to which the login of who speaks in it limits them; logins of other roles have other threads.
    Column("login", String(16)),
    Column("channel", String(32), nullable=False),
    Column("chat_id", String(128)),
    Column("created_at", Instant, nullable=False),
    Column("last_at", Instant, nullable=False),
    # Numbers handed out so far: of turns, for their order, and of events, for readers that resume.
    Column("turns", Integer, nullable=False, default=0),
    Column("events", Integer, nullable=False, default=0),
    # What its member calls it, where they named it: two members may call theirs the same.
    Column("name", String(64)),
    Index("ix_threads_member", "household", "member", "last_at"),
)

# A message to the assistant and what came of it. The words go after a while, the decisions stay.
turns = Table(
    "turns",
    metadata,
    Column("household", String(64), primary_key=True),
    Column("id", String(36), primary_key=True),
    Column("thread", String(64), nullable=False),
    Column("position", Integer, nullable=False),
    Column("member", String(64), nullable=False),
    # The role to which the login of the speaker limits them; nothing where it does not.
    Column("login", String(16)),
    Column("channel", String(32), nullable=False),
    Column("client_message_id", String(200), nullable=False),
    Column("chat_id", String(128)),
    # Whether others read along: then nothing is told that only this person may know.
    Column("is_shared", Integer, nullable=False, default=0),
    Column("text", Text, nullable=False),
    Column("received_at", Instant, nullable=False),
    *work_columns(),
    Column("stop_requested", Integer, nullable=False, default=0),
    # Whether it told others to stop: then it says nothing to open questions.
    Column("stops", Integer, nullable=False, default=0),
    # Whether it waits for slow tools behind the talk: then those after it go on.
    Column("aside", Integer, nullable=False, default=0),
    # What it came to: answered, cancelled or failed; nothing while it is under way.
    Column("outcome", String(16)),
    Column("mode", String(16)),
    Column("source", String(8)),
    Column("confidence", Float),
    Column("answer", Text),
    Column("results", _NULLABLE_JSON),
    Column("clarification", Text),
    Column("partial", _NULLABLE_JSON),
    # What was planned, step by step, before any of it was carried out: a turn that is taken up again
    # after a crash follows it.
    Column("plans", _NULLABLE_JSON),
    # Actions that the person was asked to choose among.
    Column("asked_about", _NULLABLE_JSON),
    Column("used", _NULLABLE_JSON),
    Column("finished_at", Instant),
    Column("stages", _NULLABLE_JSON),
    UniqueConstraint("household", "thread", "client_message_id"),
    Index("ix_turns_thread", "household", "thread", "position"),
    Index("ix_turns_state", "household", "state", "due_at"),
    Index("ix_turns_received", "household", "received_at"),
)

# Rows before they are shown: who was cut off resumes after the last number they saw.
turn_events = Table(
    "turn_events",
    metadata,
    Column("household", String(64), primary_key=True),
    Column("thread", String(64), primary_key=True),
    Column("number", Integer, primary_key=True, autoincrement=False),
    Column("turn", String(36), nullable=False),
    Column("name", String(16), nullable=False),
    Column("data", JSON, nullable=False),
    Column("at", Instant, nullable=False),
    Index("ix_turn_events_at", "household", "at"),
)

routing_decisions = Table(
    "routing_decisions",
    metadata,
    Column("household", String(64), primary_key=True),
    Column("turn", String(36), primary_key=True),
    Column("mode", String(16), nullable=False),
    Column("decided_by", String(16), nullable=False),
    Column("scores", JSON, nullable=False),
    Column("tie_break", Integer, nullable=False),
    Column("margin", Float),
    Column("signals", JSON, nullable=False),
    Column("weights_version", String(32)),
    Column("at", Instant, nullable=False),
    Index("ix_routing_decisions_at", "household", "at"),
)

# What a strong model later said about a decision of routing, and whether that is what was decided.
routing_reviews = Table(
    "routing_reviews",
    metadata,
    Column("household", String(64), primary_key=True),
    Column("turn", String(36), primary_key=True),
    # One of a closed set; nothing where the model gave no usable answer, so that it is not asked again.
    Column("route", String(16)),
    Column("agrees", Integer),
    # As the model's server names it, and the version of the prompt.
    Column("model", String(128), nullable=False),
    Column("prompt", Integer, nullable=False),
    Column("at", Instant, nullable=False),
    Index("ix_routing_reviews_at", "household", "at"),
)

# What triage said, and whether the turn then came to act: what its confidences are measured against.
triage_calibration = Table(
    "triage_calibration",
    metadata,
    Column("household", String(64), primary_key=True),
    Column("turn", String(36), primary_key=True),
    Column("type", String(16), nullable=False),
    Column("branch", String(16), nullable=False),
    Column("mode", String(16), nullable=False),
    Column("domains", JSON, nullable=False),
    Column("tools", JSON, nullable=False),
    Column("confidence_internal", Float, nullable=False),
    Column("confidence_tool_need", Float, nullable=False),
    Column("freshness_risk", Float, nullable=False),
    Column("source", String(8), nullable=False),
    Column("acted", Integer, nullable=False),
    Column("at", Instant, nullable=False),
    Index("ix_triage_calibration_at", "household", "at"),
)

tool_iterations = Table(
    "tool_iterations",
    metadata,
    Column("household", String(64), primary_key=True),
    Column("turn", String(36), primary_key=True),
    Column("number", Integer, primary_key=True, autoincrement=False),
    Column("actions", JSON, nullable=False),
    Column("ms", Float, nullable=False),
    Column("fatigue", Float, nullable=False),
    Column("mode", String(16), nullable=False),
    # Why the loop ended with this iteration; nothing where it went on.
    Column("ended", String(24)),
    Column("at", Instant, nullable=False),
    Index("ix_tool_iterations_at", "household", "at"),
)

# A turn that waits for tools which may outlast anybody's patience. Its words and results are the turn's.
tool_cycles = Table(
    "tool_cycles",
    metadata,
    Column("household", String(64), primary_key=True),
    Column("turn", String(36), primary_key=True),
    Column("type", String(16), nullable=False),
    Column("source", String(32), nullable=False),
    Column("topic", String(64), nullable=False),
    Column("intent", String(16), nullable=False),
    Column("warmth", Float, nullable=False),
    Column("hints", JSON, nullable=False),
    # Under way, or what it came to.
    Column("state", String(16), nullable=False),
    Column("resumed", Integer, nullable=False, default=0),
    Column("at", Instant, nullable=False),
    Column("finished_at", Instant),
    Index("ix_tool_cycles_at", "household", "at"),
)

tool_runs = Table(
    "tool_runs",
    metadata,
    Column("household", String(64), primary_key=True),
    Column("turn", String(36), primary_key=True),
    Column("number", Integer, primary_key=True, autoincrement=False),
    Column("request", String(160), nullable=False),
    Column("status", String(16), nullable=False),
    Column("ms", Float, nullable=False),
    Column("at", Instant, nullable=False),
    Index("ix_tool_runs_at", "household", "at"),
)

# Each time somebody looked at what a step came to: what they made of it, and whether that changed anything.
critic_verdicts = Table(
    "critic_verdicts",
    metadata,
    Column("household", String(64), primary_key=True),
    Column("turn", String(36), primary_key=True),
    Column("number", Integer, primary_key=True, autoincrement=False),
    Column("request", String(160), nullable=False),
    # Fits, wrong, or why there is no verdict.
    Column("verdict", String(24), nullable=False),
    # What came of it: nothing, corrected, or paused.
    Column("effect", String(16), nullable=False),
    Column("ms", Float, nullable=False),
    Column("at", Instant, nullable=False),
    Index("ix_critic_verdicts_at", "household", "at"),
)

interaction_log = Table(
    "interaction_log",
    metadata,
    Column("household", String(64), primary_key=True),
    Column("turn", String(36), primary_key=True),
    Column("event", String(32), primary_key=True),
    Column("mode", String(16), nullable=False),
    Column("confidence", Float, nullable=False),
    Column("source", String(8), nullable=False),
    Column("ms", Float, nullable=False),
    # Memories that were at hand unasked.
    Column("brought", Integer, nullable=False, default=0),
    # How much each part of what was at hand mattered to a model that wrote the answer.
    Column("relevance", JSON, nullable=False),
    Column("at", Instant, nullable=False),
    Index("ix_interaction_log_at", "household", "at"),
)

onboarding = Table(
    "onboarding",
    metadata,
    Column("household", String(64), primary_key=True),
    Column("member", String(64), primary_key=True),
    Column("exchanges", Integer, nullable=False),
    Column("phase", String(16), nullable=False),
    Column("at", Instant, nullable=False),
)

stage_failures = Table(
    "stage_failures",
    metadata,
    Column("household", String(64), primary_key=True),
    Column("turn", String(36), primary_key=True),
    Column("number", Integer, primary_key=True, autoincrement=False),
    Column("stage", String(24), nullable=False),
    # The kind of error, never its words: those may quote a message.
    Column("reason", String(64), nullable=False),
    Column("at", Instant, nullable=False),
    Index("ix_stage_failures_at", "household", "stage", "at"),
)
