"""Episodes: what happened, word for word. Kept for good; every query sees only what its viewer may."""

from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import replace
from datetime import datetime
from typing import Any

from sqlalchemy import (
    ColumnElement,
    Connection,
    Select,
    and_,
    bindparam,
    func,
    insert,
    or_,
    select,
    update,
)

from kinkeeper.core.errors import NotFoundError
from kinkeeper.core.ids import stable_id
from kinkeeper.household.viewers import Viewer, person_scope
from kinkeeper.memory.memory_rows import (
    Changed,
    episode_from_row,
    episode_row,
    in_parts,
    removed,
    reserve,
)
from kinkeeper.memory.model import Category, EmbedState, Episode, EpisodeKind, FactStatus
from kinkeeper.memory.tables import episodes, facts, statements
from kinkeeper.store.prepared import Prepared, in_own_scope, is_one_of

EPISODE = "episode"
CONTEXT = "context"
"""Kind of the vector of an episode with what was said right before it."""

_columns = episodes.c


def _spans(is_outdated: ColumnElement[bool]) -> Prepared:
    """Return the query, run with every search, of parts of episodes that newer words or a person ended."""
    return Prepared(
        select(statements.c.episode_id, statements.c.start_index, statements.c.end_index)
        .join(
            facts,
            and_(facts.c.household == statements.c.household, facts.c.id == statements.c.fact_id),
        )
        .where(
            statements.c.household == bindparam("household"),
            is_one_of(statements.c.episode_id, "episodes"),
            is_outdated,
        )
        .order_by(statements.c.start_index)
    )


_IS_REPLACED = or_(
    *(
        facts.c.status == status.value
        for status in (FactStatus.SUPERSEDED, FactStatus.RETRACTED, FactStatus.MERGED_INTO)
    )
)
# An announced change counts from its day on, whether or not the nightly upkeep has stored it. The end
# that a statement itself names does not outdate its words: they still tell what was said then.
_HAS_ENDED = and_(
    facts.c.valid_to <= bindparam("at", type_=facts.c.valid_to.type),
    or_(
        _IS_REPLACED,
        facts.c.superseded_by.is_not(None),
        and_(
            facts.c.status != FactStatus.DEPRECATED.value,
            facts.c.category != Category.EMOTIONAL.value,
            or_(statements.c.valid_to.is_(None), statements.c.valid_to > facts.c.valid_to),
        ),
    ),
)
_OUTDATED = _spans(or_(_HAS_ENDED, _IS_REPLACED))
_OUTDATED_THEN = _spans(
    or_(
        _HAS_ENDED,
        # What never held was wrong at any time.
        facts.c.valid_to <= facts.c.held_from,
        facts.c.status == FactStatus.MERGED_INTO.value,
    )
)


def insert_episodes(
    conn: Connection,
    new: Sequence[Episode],
    *,
    at: datetime,
    is_read: bool = False,
    keys: Mapping[str, str] | None = None,
) -> list[str]:
    """Store episodes; one whose id is known is left as it is.

    Args:
        is_read: Whether nothing is to be read out of them later.
        keys: By episode id, what makes a repeated message the same one.

    Returns:
        Ids of those that were not known.
    """
    if not new:
        return []
    household = new[0].household
    known = _known(conn, household, [episode.id for episode in new])
    fresh = list({each.id: each for each in new if each.id not in known}.values())
    if not fresh:
        return []
    first = reserve(conn, household, len(fresh))
    rows = [
        episode_row(replace(episode, seq=first + place))
        | {
            "message_key": (keys or {}).get(episode.id),
            "is_read": is_read or episode.is_assistant or not episode.origin.may_become_fact,
            "stored_at": at,
        }
        for place, episode in enumerate(fresh)
    ]
    conn.execute(insert(episodes), rows)
    return [episode.id for episode in fresh]


def reply_id(household: str, episode_id: str) -> str:
    """Return the id of what the assistant answered to an episode, if it did."""
    return stable_id(household, "reply", episode_id)


def find_episode(conn: Connection, viewer: Viewer, episode_id: str) -> Episode | None:
    """Return an episode; None where there is none or the viewer may not see it."""
    row = conn.execute(_seen_by(viewer).where(_columns.id == episode_id)).mappings().one_or_none()
    return None if row is None else episode_from_row(row)


def load_episode(conn: Connection, viewer: Viewer, episode_id: str) -> Episode:
    """Return an episode.

    Raises:
        NotFoundError: There is none that this viewer may see.
    """
    found = find_episode(conn, viewer, episode_id)
    if found is None:
        raise NotFoundError(f"there is no episode {episode_id!r}", id=episode_id)
    return found


def list_episodes(
    conn: Connection,
    viewer: Viewer,
    *,
    before: datetime | None = None,
    session: str | None = None,
    kind: EpisodeKind | None = None,
    limit: int = 50,
) -> list[Episode]:
    """Return episodes, newest first.

    Args:
        before: Only those said before, where given.
        session: Only of this session, where given.
        kind: Only of this kind, where given.
        limit: Most of them, > 0.
    """
    query = _seen_by(viewer)
    if before is not None:
        query = query.where(_columns.said_at < before)
    if session is not None:
        query = query.where(_columns.session == session)
    if kind is not None:
        query = query.where(_columns.kind == kind.value)
    query = query.order_by(_columns.said_at.desc(), _columns.seq.desc()).limit(limit)
    return _episodes(conn, query)


def latest_episodes(
    conn: Connection, viewer: Viewer, *, since: datetime, within: int
) -> list[Episode]:
    """Return what was said since then and may be seen, of the last so many that were kept or changed; the latest first.

    It costs the same however much is remembered.
    """
    latest = (
        select(_columns.seq)
        .where(_columns.household == viewer.household)
        .order_by(_columns.seq.desc())
        .limit(within)
        .subquery()
    )
    query = _seen_by(viewer).where(
        _columns.seq >= select(func.min(latest.c.seq)).scalar_subquery(), _columns.said_at >= since
    )
    return _episodes(conn, query.order_by(_columns.seq.desc()))


def was_anything_heard(
    conn: Connection, household: str, *, since: datetime, until: datetime
) -> bool:
    """Return whether anything was said in a span of time that memory keeps, whoever may know it."""
    query = select(_columns.id).where(
        _columns.household == household,
        _columns.said_at >= since,
        _columns.said_at <= until,
        _columns.is_assistant.is_(False),
    )
    return conn.execute(query.limit(1)).first() is not None


def neighbours(
    conn: Connection, viewer: Viewer, episode_id: str, *, before: int = 2, after: int = 1
) -> list[Episode]:
    """Return what was said around an episode in its session and scope, itself included, in order, with the answers.

    Args:
        before: How many earlier ones, >= 0.
        after: How many later ones, >= 0.

    Raises:
        NotFoundError: There is none that this viewer may see.
    """
    middle = load_episode(conn, viewer, episode_id)
    if middle.session is None:
        return [middle]
    own = middle.scope if middle.member is None else person_scope(middle.member)
    is_answer = and_(_columns.is_assistant, _columns.scope == own)
    line = _seen_by(viewer).where(
        _columns.session == middle.session, or_(_columns.scope == middle.scope, is_answer)
    )
    place = (middle.said_at, middle.seq)
    earlier = line.where(_is_before(place)).order_by(_columns.said_at.desc(), _columns.seq.desc())
    later = line.where(_is_after(place)).order_by(_columns.said_at, _columns.seq)
    return [
        *reversed(_episodes(conn, earlier.limit(before))),
        middle,
        *_episodes(conn, later.limit(after)),
    ]


def episodes_by_id(conn: Connection, household: str, ids: Iterable[str]) -> dict[str, Episode]:
    """Return episodes by id, of all scopes; unknown ones are left out."""
    found: dict[str, Episode] = {}
    for part in in_parts(sorted(set(ids))):
        query = select(episodes).where(_columns.household == household, _columns.id.in_(part))
        found |= {episode.id: episode for episode in _episodes(conn, query)}
    return found


def episodes_changed(
    conn: Connection, household: str, *, after_seq: int, limit: int = 1000
) -> list[Changed[Episode]]:
    """Return episodes of all scopes that were changed or are gone, in the order of their numbers.

    Args:
        after_seq: Last number that is known already.
        limit: Most of them, > 0.
    """
    query = (
        select(episodes)
        .where(_columns.household == household, _columns.seq > after_seq)
        .order_by(_columns.seq)
        .limit(limit)
    )
    here = [Changed(seq=each.seq, id=each.id, value=each) for each in _episodes(conn, query)]
    gone: list[Changed[Episode]] = removed(
        conn, household, EPISODE, after_seq=after_seq, limit=limit
    )
    return sorted([*here, *gone], key=lambda change: change.seq)[:limit]


def mark_episodes_embedded(conn: Connection, household: str, ids: Iterable[str]) -> None:
    """Note that the dense leg knows episodes, in the transaction that stores their vectors."""
    for part in in_parts(sorted(set(ids))):
        conn.execute(
            update(episodes)
            .where(_columns.household == household, _columns.id.in_(part))
            .values(embed_state=EmbedState.ACTIVE.value)
        )


def unread_episodes(conn: Connection, household: str, *, limit: int = 20) -> list[Episode]:
    """Return episodes of all scopes out of which nothing was read yet, oldest first."""
    query = (
        select(episodes)
        .where(_columns.household == household, _columns.is_read.is_(False))
        .order_by(_columns.said_at, _columns.seq)
        .limit(limit)
    )
    return _episodes(conn, query)


def unread_of(conn: Connection, household: str, ids: Sequence[str]) -> frozenset[str]:
    """Return those of some episodes out of which nothing was read yet."""
    query = select(_columns.id).where(
        _columns.household == household, _columns.id.in_(ids), _columns.is_read.is_(False)
    )
    return frozenset(conn.execute(query).scalars())


def claim_reading(conn: Connection, household: str, episode_id: str) -> bool:
    """Note that an episode was read, in the transaction that writes what was found.

    Returns:
        Whether it was unread until now; otherwise somebody else wrote what is in it.
    """
    changed = conn.execute(
        update(episodes)
        .where(
            _columns.household == household, _columns.id == episode_id, _columns.is_read.is_(False)
        )
        .values(is_read=True)
    )
    return changed.rowcount == 1


def count_episodes(conn: Connection, household: str) -> dict[str, int]:
    """Return how many episodes there are, how many wait for the dense leg, and how many to be read."""
    waits = _columns.embed_state == EmbedState.PENDING.value
    query = select(
        func.count().label("all"),
        func.count().filter(waits).label("pending"),
        func.count().filter(_columns.is_read.is_(False)).label("unread"),
    ).where(_columns.household == household)
    return dict(conn.execute(query).mappings().one())


def outdated_spans(
    conn: Connection,
    household: str,
    episode_ids: Collection[str],
    *,
    at: datetime,
    is_past: bool = False,
) -> dict[str, tuple[tuple[int, int], ...]]:
    """Return which parts of episodes hold no more: sentences that newer words or a person ended.

    What only faded, or reached the end that it names itself, was not ended by anybody and is not among them.

    Args:
        at: Present time, aware; or a time in the past.
        is_past: Whether it is in the past: only what had ceased to hold by then is outdated.

    Returns:
        By episode id, start and end of each outdated part, in order; episodes without any are
        left out.
    """
    found: dict[str, list[tuple[int, int]]] = {}
    values: dict[str, object] = {"household": household, "episodes": [*{*episode_ids}]}
    query = _OUTDATED_THEN if is_past else _OUTDATED
    for episode_id, start, end in query.execute(conn, values | {"at": at}):
        found.setdefault(episode_id, []).append((start, end))
    return {each: tuple(spans) for each, spans in found.items()}


def _seen_by(viewer: Viewer) -> Select[Any]:
    seen = (_columns.household == viewer.household, in_own_scope(_columns.scope))
    return select(episodes).where(*seen).params(viewer.parameters)


def _is_before(place: tuple[datetime, int]) -> ColumnElement[bool]:
    at, seq = place
    return or_(_columns.said_at < at, and_(_columns.said_at == at, _columns.seq < seq))


def _is_after(place: tuple[datetime, int]) -> ColumnElement[bool]:
    at, seq = place
    return or_(_columns.said_at > at, and_(_columns.said_at == at, _columns.seq > seq))


def _episodes(conn: Connection, query: Select[Any]) -> list[Episode]:
    return [episode_from_row(row) for row in conn.execute(query).mappings()]


def _known(conn: Connection, household: str, ids: Sequence[str]) -> set[str]:
    found: set[str] = set()
    for part in in_parts(ids):
        query = select(_columns.id).where(_columns.household == household, _columns.id.in_(part))
        found |= set(conn.execute(query).scalars())
    return found
