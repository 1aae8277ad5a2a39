"""All of memory as lines of JSON: to keep, to read elsewhere, or to import again."""

from collections.abc import Callable, Iterator
from datetime import datetime
from enum import StrEnum
from typing import Any, Protocol, TypeVar

from sqlalchemy import Connection

from kinkeeper.core.ids import canonical_json
from kinkeeper.household.viewers import Viewer
from kinkeeper.memory.context.session_facts import Names, name_of
from kinkeeper.memory.episodes import episodes_changed
from kinkeeper.memory.facts import facts_changed
from kinkeeper.memory.memory_rows import Changed
from kinkeeper.memory.model import Episode, Fact

_AT_ONCE = 1000


class Exported(StrEnum):
    """What can be exported."""

    EPISODES = "episodes"
    FACTS = "facts"


class _Scoped(Protocol):
    @property
    def scope(self) -> str: ...


_Row = TypeVar("_Row", bound=_Scoped)


def exported_lines(
    conn: Connection, household: str, what: Exported, *, names: Names, viewer: Viewer | None = None
) -> Iterator[str]:
    """Yield a line for each episode or fact, in the order of their last change.

    A line holds the fields that an import takes, and all others too. Facts that hold no more are
    among them, with their status.

    Args:
        viewer: Only what they may see; None exports everybody's own memories too.
    """
    for record in exported_records(conn, household, what, names=names, viewer=viewer):
        yield f"{canonical_json(record)}\n"


def exported_records(
    conn: Connection, household: str, what: Exported, *, names: Names, viewer: Viewer | None = None
) -> Iterator[dict[str, Any]]:
    """Yield what `exported_lines` writes, as records."""
    if what is Exported.EPISODES:
        rows = _rows(conn, household, episodes_changed, viewer)
        return (_episode_record(each, names) for each in rows)
    return map(_fact_record, _rows(conn, household, facts_changed, viewer))


def _rows(
    conn: Connection,
    household: str,
    changed: Callable[..., list[Changed[_Row]]],
    viewer: Viewer | None,
) -> Iterator[_Row]:
    seq = 0
    while part := changed(conn, household, after_seq=seq, limit=_AT_ONCE):
        for each in part:
            row = each.value
            if row is not None and (viewer is None or viewer.sees(row.scope)):
                yield row
        seq = part[-1].seq


def _episode_record(episode: Episode, names: Names) -> dict[str, Any]:
    return {
        "id": episode.id,
        "text": episode.text,
        "speaker": name_of(episode.speaker, names),
        "at": _iso(episode.said_at),
        "session": episode.session,
        "scope": episode.scope,
        "kind": episode.kind.value,
        "member": episode.member,
        "is_assistant": episode.is_assistant,
        "title": episode.title,
        "topic": episode.topic,
        "participants": list(episode.participants),
        "salience": episode.salience,
        "origin": episode.origin.value,
        "source": episode.source,
        "channel": episode.channel,
    }


def _fact_record(fact: Fact) -> dict[str, Any]:
    return {
        "id": fact.id,
        "text": fact.narrative,
        "category": fact.category.value,
        "confidence": fact.confidence,
        "at": _iso(fact.said_at),
        "scope": fact.scope,
        "evidence": list(fact.derived_from),
        "type": fact.type.value,
        "subject": fact.subject,
        "slot": fact.slot,
        "title": fact.title,
        "subtitle": fact.subtitle,
        "details": list(fact.details),
        "origin": fact.origin.value,
        "source": fact.source,
        "status": fact.status.value,
        "superseded_by": fact.superseded_by,
        "merged_into_id": fact.merged_into_id,
        "is_contradicted": fact.is_contradicted,
        "doubted_by": fact.doubted_by,
        "is_edited": fact.is_edited,
        "valid_from": _iso(fact.valid_from),
        "valid_to": _iso(fact.valid_to),
        "created_at": _iso(fact.created_at),
        "last_evidence_at": _iso(fact.last_evidence_at),
    }


def _iso(instant: datetime | None) -> str | None:
    return None if instant is None else instant.isoformat()
