"""Tables of memory.

Episodes and statements are what was said and are never changed in substance; facts are what they
amount to. `memory_changes` holds row images of everything that changed facts, for undo and history.
Every change of an episode or fact takes the household's next number (`seq`), so that whoever keeps
an index in memory reads only what is new. Vectors may be made anew at any time.
"""

from sqlalchemy import (
    JSON,
    Boolean,
    Column,
    Float,
    Index,
    Integer,
    LargeBinary,
    String,
    Table,
    Text,
    UniqueConstraint,
    false,
)

from kinkeeper.store.schema import Instant, metadata

_NULLABLE_JSON = JSON(none_as_null=True)

# The last change number of each household, and what its fingerprints are keyed with.
memory_counters = Table(
    "memory_counters",
    metadata,
    Column("household", String, primary_key=True),
    Column("seq", Integer, nullable=False),
    Column("secret", String(64), nullable=False),
    # Up to which change number the map of concepts has followed the facts.
    Column("mapped_seq", Integer, nullable=False),
)

# Rows that are gone, for those who follow the change numbers.
memory_removals = Table(
    "memory_removals",
    metadata,
    Column("household", String, primary_key=True),
    Column("seq", Integer, primary_key=True),
    Column("kind", String(16), nullable=False),
    Column("id", String, nullable=False),
    Index(None, "household", "kind", "seq"),
)

episodes = Table(
    "episodes",
    metadata,
    Column("household", String, primary_key=True),
    Column("id", String, primary_key=True),
    Column("scope", String, nullable=False),
    Column("session", String),
    Column("kind", String(16), nullable=False),
    Column("speaker", Text),
    Column("member", String),
    Column("is_assistant", Boolean, nullable=False),
    Column("text", Text, nullable=False),
    Column("title", Text),
    Column("topic", Text),
    Column("participants", JSON, nullable=False),
    Column("said_at", Instant, nullable=False),
    Column("salience", Float, nullable=False),
    Column("origin", String(16), nullable=False),
    Column("source", String, nullable=False),
    Column("channel", String, nullable=False),
    # What makes a repeated message the same one.
    Column("message_key", String),
    Column("embed_state", String(16), nullable=False),
    # Whether statements were read out of it.
    Column("is_read", Boolean, nullable=False),
    Column("stored_at", Instant, nullable=False),
    Column("seq", Integer, nullable=False),
    # Where a person has to confirm what is read out of it: the scope of the facts, and how it came to be known.
    Column("asked_scope", String),
    Column("asked_origin", String(16)),
    UniqueConstraint("household", "message_key"),
    Index(None, "household", "seq"),
    Index(None, "household", "session", "said_at"),
    Index(None, "household", "embed_state"),
    Index(None, "household", "is_read"),
)

statements = Table(
    "statements",
    metadata,
    Column("household", String, primary_key=True),
    Column("id", String, primary_key=True),
    Column("episode_id", String, nullable=False),
    Column("scope", String, nullable=False),
    Column("start_index", Integer, nullable=False),
    Column("end_index", Integer, nullable=False),
    Column("text", Text, nullable=False),
    Column("speaker", Text),
    Column("subject", Text, nullable=False),
    Column("slot", Text),
    Column("title", Text, nullable=False),
    Column("narrative", Text, nullable=False),
    Column("category", String(16), nullable=False),
    Column("type", String(16), nullable=False),
    Column("confidence", Float, nullable=False),
    Column("is_correction", Boolean, nullable=False),
    Column("is_retraction", Boolean, nullable=False),
    Column("corrects", Text),
    Column("said_at", Instant, nullable=False),
    Column("valid_from", Instant),
    Column("valid_to", Instant),
    Column("origin", String(16), nullable=False),
    Column("standing", Integer, nullable=False),
    Column("strand", String, nullable=False),
    Column("fact_id", String),
    Index(None, "household", "episode_id"),
    Index(None, "household", "fact_id"),
    Index(None, "household", "strand"),
)

# Statements that share a key may bear on each other. A key is a digest: it holds no words.
statement_keys = Table(
    "statement_keys",
    metadata,
    Column("household", String, primary_key=True),
    Column("key", String(16), primary_key=True),
    Column("statement_id", String, primary_key=True),
    Index(None, "household", "statement_id"),
)

# What a person, a model or the nightly pass found about statements; it outranks what is read from
# their words.
memory_verdicts = Table(
    "memory_verdicts",
    metadata,
    Column("household", String, primary_key=True),
    Column("id", String, primary_key=True),
    Column("older", String, nullable=False),
    Column("newer", String),
    Column("ruling", String(16), nullable=False),
    Column("made_by", String, nullable=False),
    Column("made_at", Instant, nullable=False),
    Index(None, "household", "older"),
    Index(None, "household", "newer"),
)

facts = Table(
    "facts",
    metadata,
    Column("household", String, primary_key=True),
    Column("id", String, primary_key=True),
    Column("scope", String, nullable=False),
    Column("category", String(16), nullable=False),
    Column("type", String(16), nullable=False),
    Column("subject", Text, nullable=False),
    Column("slot", Text),
    Column("title", Text, nullable=False),
    Column("subtitle", Text),
    Column("narrative", Text, nullable=False),
    Column("speaker", Text),
    Column("details", JSON, nullable=False),
    Column("origin", String(16), nullable=False),
    Column("source", String, nullable=False),
    Column("confidence", Float, nullable=False),
    Column("evidence_count", Integer, nullable=False),
    Column("derived_from", JSON, nullable=False),
    Column("status", String(16), nullable=False),
    Column("superseded_by", String),
    Column("merged_into_id", String),
    Column("is_contradicted", Boolean, nullable=False),
    Column("doubted_by", String),
    Column("is_edited", Boolean, nullable=False),
    Column("is_transient", Boolean, nullable=False, server_default=false()),
    Column("held_from", Instant, nullable=False),
    Column("valid_from", Instant),
    Column("valid_to", Instant),
    Column("said_at", Instant, nullable=False),
    Column("created_at", Instant, nullable=False),
    Column("last_evidence_at", Instant, nullable=False),
    Column("decayed_until", Instant, nullable=False),
    # When it leaves retrieval if nothing more is heard of it; follows from the columns above.
    Column("due_at", Instant, nullable=False),
    Column("archived_at", Instant),
    Column("seq", Integer, nullable=False),
    Index(None, "household", "seq"),
    Index(None, "household", "status", "category"),
    Index(None, "household", "status", "due_at"),
    Index(None, "household", "scope", "subject", "slot"),
)

# A vector is of one text by one model; vectors of different models are never compared.
memory_vectors = Table(
    "memory_vectors",
    metadata,
    Column("household", String, primary_key=True),
    Column("kind", String(16), primary_key=True),
    Column("id", String, primary_key=True),
    Column("model", String, primary_key=True),
    Column("vector", LargeBinary, nullable=False),
    Column("seq", Integer, nullable=False),
    Index(None, "household", "model", "seq"),
)

memory_change_sets = Table(
    "memory_change_sets",
    metadata,
    Column("household", String, primary_key=True),
    Column("id", String, primary_key=True),
    Column("number", Integer, nullable=False),
    Column("cause", String(16), nullable=False),
    Column("summary", Text, nullable=False),
    Column("made_by", String),
    Column("made_at", Instant, nullable=False),
    Column("undone_at", Instant),
    Column("undone_by", String),
    UniqueConstraint("household", "number"),
)

memory_changes = Table(
    "memory_changes",
    metadata,
    Column("household", String, primary_key=True),
    Column("change_set", String, primary_key=True),
    Column("position", Integer, primary_key=True),
    Column("row_table", String(32), nullable=False),
    Column("row_id", String, nullable=False),
    Column("before", _NULLABLE_JSON),
    Column("after", _NULLABLE_JSON),
    Index(None, "household", "row_table", "row_id"),
)

# What somebody wanted forgotten: a fingerprint without words, which blocks deriving it again.
memory_tombstones = Table(
    "memory_tombstones",
    metadata,
    Column("household", String, primary_key=True),
    Column("fingerprint", String(64), primary_key=True),
    Column("scope", String, nullable=False),
    Column("forgotten_by", String),
    Column("forgotten_at", Instant, nullable=False),
)

# Who and what facts that hold name, and what joins the two: a view of the facts, one row a fact.
concept_relations = Table(
    "concept_relations",
    metadata,
    Column("household", String, primary_key=True),
    Column("fact_id", String, primary_key=True),
    Column("scope", String, nullable=False),
    Column("source", Text, nullable=False),
    Column("target", Text, nullable=False),
    Column("type", Text, nullable=False),
    Column("weight", Float, nullable=False),
    Column("said_at", Instant, nullable=False),
    Index(None, "household", "scope"),
)

# Pairs and clusters that rules cannot decide, waiting for a model's batch or a person.
memory_questions = Table(
    "memory_questions",
    metadata,
    Column("household", String, primary_key=True),
    Column("id", String, primary_key=True),
    Column("kind", String(16), nullable=False),
    Column("facts", JSON, nullable=False),
    Column("why", Text, nullable=False),
    Column("state", String(16), nullable=False),
    Column("answer", String(16)),
    Column("asked_at", Instant, nullable=False),
    Column("answered_at", Instant),
)

memory_runs = Table(
    "memory_runs",
    metadata,
    Column("household", String, primary_key=True),
    Column("id", String, primary_key=True),
    Column("state", String(16), nullable=False),
    Column("from_seq", Integer, nullable=False),
    Column("to_seq", Integer, nullable=False),
    Column("change_set", String),
    Column("report", JSON, nullable=False),
    Column("started_at", Instant, nullable=False),
    Column("ended_at", Instant),
)
