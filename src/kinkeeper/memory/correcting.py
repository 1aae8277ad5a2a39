"""What people set right about facts: edited, wrong, over, private. Kept as evidence, never as rows of facts.

So it survives whatever is heard later, and is taken back like any other change.
"""

from dataclasses import replace
from datetime import datetime

from sqlalchemy import Connection, update

from kinkeeper.core.errors import ConflictError, InputError
from kinkeeper.core.ids import stable_id
from kinkeeper.household.viewing import HOUSEHOLD_SCOPE, Viewer, person_scope
from kinkeeper.memory.absorbing import absorb, move_to_scope
from kinkeeper.memory.counting import reserve
from kinkeeper.memory.episodes import episodes_by_id, insert_episodes
from kinkeeper.memory.evidence import STATEMENTS, for_facts, mutable_image, set_statement
from kinkeeper.memory.fact_rows import FACTS, insert_facts
from kinkeeper.memory.facts import load_fact
from kinkeeper.memory.journal import Cause, Change, changing
from kinkeeper.memory.model import Episode, Fact, Origin, Statement
from kinkeeper.memory.rulings import Ruling, Verdict
from kinkeeper.memory.settling import settle
from kinkeeper.memory.standing import Standing
from kinkeeper.memory.tables import episodes
from kinkeeper.memory.verdicts import add_verdicts, verdict_id, words_of
from kinkeeper.memory.writing import CORRECTED, Remembered

BY_HAND = "by hand"
"""Source and channel of words that a person wrote in a fact's place."""


def mark_wrong(
    conn: Connection, viewer: Viewer, fact_id: str, *, by: str, at: datetime
) -> Remembered:
    """Say that a fact never held; what it was thought to have outdated holds on.

    Args:
        conn: In a write transaction.
        viewer: On whose behalf.
        fact_id: The fact.
        by: Member id.
        at: Present time, aware.

    Raises:
        NotFoundError: There is no such fact for this viewer.
    """
    return _rule(conn, viewer, fact_id, Ruling.NEVER, by=by, at=at)


def retract_fact(
    conn: Connection, viewer: Viewer, fact_id: str, *, by: str, at: datetime
) -> Remembered:
    """Say that a fact holds no more from now on.

    Args:
        conn: In a write transaction.
        viewer: On whose behalf.
        fact_id: The fact.
        by: Member id.
        at: Present time, aware.

    Raises:
        NotFoundError: There is no such fact for this viewer.
    """
    return _rule(conn, viewer, fact_id, Ruling.ENDED, by=by, at=at)


def edit_fact(
    conn: Connection, viewer: Viewer, fact_id: str, text: str, *, by: str, at: datetime
) -> Remembered:
    """Put a person's words in the place of a fact's. Its id stays; the former words get their own.

    Args:
        conn: In a write transaction.
        viewer: On whose behalf.
        fact_id: The fact.
        text: As it shall be; one sentence.
        by: Member id.
        at: Present time, aware.

    Raises:
        InputError: The text is empty.
        NotFoundError: There is no such fact for this viewer.
        ConflictError: It holds no more.
    """
    text = " ".join(text.split())
    if not text:
        raise InputError("a fact needs words; use forget to remove it")
    fact = load_fact(conn, viewer, fact_id)
    if not fact.status.is_active:
        raise ConflictError(f"fact {fact_id!r} is {fact.status}; only what holds can be edited")
    if text == fact.narrative:
        return Remembered(change_set=None, facts=[])
    household = viewer.household
    with changing(
        conn, household, cause=Cause.EDIT, summary="a fact was edited", by=by, at=at
    ) as change:
        words = words_of(conn, household, [fact_id])[fact_id]
        edit = _edit(fact, words, text, at=at)
        _keep_former(conn, change, fact, edit)
        _store_episode(conn, change, edit, by=by, at=at)
        verdict = Verdict(
            household=household, id=verdict_id(household, words.id, edit.id), older=words.id,
            newer=edit.id, ruling=Ruling.UPDATE, made_by=by, made_at=at,
        )  # fmt: skip
        add_verdicts(conn, change, [verdict])
        facts = absorb(conn, change, [edit], at=at)
    return Remembered(change_set=change.made.id, facts=facts)


def make_private(
    conn: Connection, viewer: Viewer, fact_id: str, *, member: str, at: datetime
) -> Remembered:
    """Let only one member recall a fact, its former versions, and the turns they were said in.

    Args:
        conn: In a write transaction.
        viewer: On whose behalf.
        fact_id: The fact.
        member: Who alone may recall it; also who wants it so.
        at: Present time, aware.

    Raises:
        NotFoundError: There is no such fact for this viewer.
    """
    return _move(conn, viewer, fact_id, person_scope(member), by=member, at=at)


def share(conn: Connection, viewer: Viewer, fact_id: str, *, by: str, at: datetime) -> Remembered:
    """Let the whole household recall a fact, its former versions, and the turns they were said in.

    Args:
        conn: In a write transaction.
        viewer: On whose behalf.
        fact_id: The fact.
        by: Member id.
        at: Present time, aware.

    Raises:
        NotFoundError: There is no such fact for this viewer.
    """
    return _move(conn, viewer, fact_id, HOUSEHOLD_SCOPE, by=by, at=at)


def _rule(
    conn: Connection, viewer: Viewer, fact_id: str, ruling: Ruling, *, by: str, at: datetime
) -> Remembered:
    load_fact(conn, viewer, fact_id)
    household = viewer.household
    cause = Cause.WRONG if ruling is Ruling.NEVER else Cause.RETRACT
    with changing(
        conn, household, cause=cause, summary="a fact was taken back", by=by, at=at
    ) as change:
        words = words_of(conn, household, [fact_id])[fact_id]
        verdict = Verdict(
            household=household, id=verdict_id(household, words.id, ruling.value),
            older=words.id, ruling=ruling, made_by=by, made_at=at,
        )  # fmt: skip
        add_verdicts(conn, change, [verdict])
        facts = settle(conn, change, [words.strand], at=at)
        is_new = bool(change.images())
    return Remembered(change_set=change.made.id if is_new else None, facts=facts)


def _move(
    conn: Connection, viewer: Viewer, fact_id: str, scope: str, *, by: str, at: datetime
) -> Remembered:
    fact = load_fact(conn, viewer, fact_id)
    if fact.scope == scope:
        return Remembered(change_set=None, facts=[])
    household = viewer.household
    with changing(
        conn, household, cause=Cause.PRIVATE, summary="who may recall a fact", by=by, at=at
    ) as change:
        words = words_of(conn, household, [fact_id])[fact_id]
        facts = move_to_scope(conn, change, words.strand, scope, at=at)
        said = for_facts(conn, household, {each.id for each in facts})
        _move_episodes(conn, change, {each.episode_id for each in said}, scope)
    return Remembered(change_set=change.made.id, facts=facts)


def _move_episodes(conn: Connection, change: Change, ids: set[str], scope: str) -> None:
    household = change.made.household
    for each in episodes_by_id(conn, household, ids).values():
        if each.scope != scope:
            change.note(episodes.name, each.id, {"scope": each.scope}, {"scope": scope})
            conn.execute(
                update(episodes)
                .where(episodes.c.household == household, episodes.c.id == each.id)
                .values(scope=scope, seq=reserve(conn, household))
            )


def _edit(fact: Fact, words: Statement, text: str, *, at: datetime) -> Statement:
    identity = stable_id(fact.household, "edit", fact.id, text, at)
    return replace(
        words,
        id=identity,
        episode_id=identity,
        start=0,
        end=len(text),
        text=text,
        title=text,
        narrative=text,
        confidence=CORRECTED,
        is_correction=True,
        is_retraction=False,
        corrects=None,
        said_at=at,
        valid_from=None,
        valid_to=None,
        origin=Origin.SAID,
        standing=Standing.FULL,
        fact_id=fact.id,
    )


def _keep_former(conn: Connection, change: Change, fact: Fact, edit: Statement) -> None:
    """Give the words a fact had until now an id of their own, and its statements with them."""
    former = replace(fact, id=stable_id(fact.household, "former", fact.id, edit.id))
    change.note(FACTS, former.id, None, {})
    insert_facts(conn, [former])
    for each in for_facts(conn, fact.household, [fact.id]):
        moved = replace(each, fact_id=former.id)
        change.note(STATEMENTS, each.id, mutable_image(each), mutable_image(moved))
        set_statement(conn, moved)


def _store_episode(
    conn: Connection, change: Change, edit: Statement, *, by: str, at: datetime
) -> None:
    episode = Episode(
        household=edit.household,
        id=edit.episode_id,
        scope=edit.scope,
        member=by,
        text=edit.text,
        said_at=at,
        origin=Origin.SAID,
        source=BY_HAND,
        channel=BY_HAND,
    )
    for each in insert_episodes(conn, [episode], at=at, is_read=True):
        change.note(episodes.name, each, None, {})
