"""What people set right about facts: edited, wrong, over, private. Kept as evidence, never as rows of facts.

So it survives whatever is heard later, and is taken back like any other change.
"""

from collections.abc import Iterable
from contextlib import AbstractContextManager
from dataclasses import replace
from datetime import datetime, timedelta

from sqlalchemy import Connection, select, update

from kinkeeper.core.errors import ConflictError, DeniedError, InputError, NotFoundError
from kinkeeper.core.ids import stable_id
from kinkeeper.household.model import Household
from kinkeeper.household.viewers import Viewer, kept_to, narrowest, person_of, person_scope
from kinkeeper.memory.episodes import episodes_by_id, insert_episodes, reply_id
from kinkeeper.memory.evidence import (
    STATEMENTS,
    add_verdicts,
    for_facts,
    in_strands,
    mutable_image,
    out_of,
    set_statement,
    statements_by_id,
    verdict_id,
    words_of,
)
from kinkeeper.memory.fact_sync import settle
from kinkeeper.memory.facts import FACTS, insert_facts, load_fact
from kinkeeper.memory.ingest import CORRECTED, Remembered, absorb, move_to_scope
from kinkeeper.memory.journal import Cause, Change, changing
from kinkeeper.memory.memory_rows import reserve
from kinkeeper.memory.model import (
    Episode,
    EpisodeKind,
    Fact,
    Origin,
    Ruling,
    Standing,
    Statement,
    Verdict,
)
from kinkeeper.memory.statements.secrecy import audience_of, points_back
from kinkeeper.memory.tables import episodes
from kinkeeper.memory.timeline import Line, canonical

_SHORTLY = timedelta(minutes=15)
_MOST_SHORTLY = 5

BY_HAND = "by hand"
"""Source and channel of words that a person wrote in a fact's place."""


def mark_wrong(
    conn: Connection, viewer: Viewer, fact_id: str, *, by: str, at: datetime
) -> Remembered:
    """Say that a fact never held; what it was thought to have outdated holds on.

    Raises:
        NotFoundError: There is no such fact for this viewer.
    """
    return _rule(conn, viewer, fact_id, Ruling.NEVER, by=by, at=at)


def retract_fact(
    conn: Connection, viewer: Viewer, fact_id: str, *, by: str, at: datetime
) -> Remembered:
    """Say that a fact holds no more from now on.

    Raises:
        NotFoundError: There is no such fact for this viewer.
    """
    return _rule(conn, viewer, fact_id, Ruling.ENDED, by=by, at=at)


def edit_fact(
    conn: Connection,
    viewer: Viewer,
    fact_id: str,
    text: str,
    *,
    by: str,
    at: datetime,
    scope: str | None = None,
) -> Remembered:
    """Put a person's words in the place of a fact's. Its id stays; the former words get their own.

    Args:
        text: As it shall be; one sentence.
        scope: Of those who may recall the new words, where they are fewer than before.

    Raises:
        InputError: The text is empty.
        NotFoundError: There is no such fact for this viewer.
        ConflictError: It holds no more.
    """
    text = " ".join(text.split())
    if not text:
        raise InputError("a fact cannot be empty; use forget to remove it")
    fact = load_fact(conn, viewer, fact_id)
    if not fact.status.is_active:
        raise ConflictError(f"fact {fact_id!r} is {fact.status}; only current facts can be edited")
    if text == fact.narrative:
        return Remembered(change_set=None, facts=[])
    household = viewer.household
    with changing(
        conn, household, cause=Cause.EDIT, summary="a fact was edited", by=by, at=at
    ) as change:
        words = words_of(conn, household, [fact_id])[fact_id]
        edit = _edit(fact, words, text, at=at)
        _keep_former(conn, change, fact, edit)
        kept = fact.scope if scope is None else kept_to(fact.scope, scope)
        _store_episode(conn, change, replace(edit, scope=kept), by=by, at=at)
        verdict = Verdict(
            household=household,
            id=verdict_id(household, words.id, edit.id),
            older=words.id,
            newer=edit.id,
            ruling=Ruling.UPDATE,
            made_by=by,
            made_at=at,
        )
        add_verdicts(conn, change, [verdict])
        facts = absorb(conn, change, [edit], at=at)
        if kept != fact.scope:
            told = list(statements_by_id(conn, household, [edit.id]).values())
            facts = move_to_scope(conn, change, told, kept, at=at)
    return Remembered(change_set=change.made.id, facts=facts)


def set_scope(
    conn: Connection, viewer: Viewer, fact_id: str, scope: str, *, by: str, at: datetime
) -> Remembered:
    """Change who may recall a fact: its present words for those who could not, all that tells it for those who could.

    Sharing it shows neither former versions nor the turns it was said in. What another member told stays visible to
    those it was told to.

    Args:
        scope: Of those who may recall it afterwards.

    Raises:
        NotFoundError: There is no such fact for this viewer.
        DeniedError: Only others told it.
    """
    fact = load_fact(conn, viewer, fact_id)
    if fact.scope == scope:
        return Remembered(change_set=None, facts=[])
    check_may_set_scope(conn, viewer, fact_id)
    household, told = viewer.household, _movable(conn, viewer.household, fact_id, by)
    words = Line([each for each in sorted(told, key=canonical) if each.fact_id == fact_id]).words
    kept = narrowest({fact.scope, scope}) or person_scope(by)
    facts: list[Fact] = []
    with _moving(conn, household, by=by, at=at) as change:
        if kept != fact.scope:
            facts = move_to_scope(conn, change, told, kept, at=at)
            _narrow_turns(conn, change, {each.episode_id for each in told}, kept, by=by)
        if kept != scope:
            present = list(statements_by_id(conn, household, [words.id]).values())
            facts = move_to_scope(conn, change, present, scope, at=at)
    return Remembered(change_set=change.made.id, facts=facts)


def may_set_scope(conn: Connection, viewer: Viewer, fact_id: str) -> bool:
    """Return whether a viewer may change who may recall a fact: not where only others told it."""
    return bool(_movable(conn, viewer.household, fact_id, viewer.member))


def check_may_set_scope(conn: Connection, viewer: Viewer, fact_id: str) -> None:
    """Make sure that a viewer may change who may recall a fact.

    Raises:
        DeniedError: Only others told it.
    """
    if not may_set_scope(conn, viewer, fact_id):
        raise DeniedError("somebody else said this; only they can change who sees it")


def turns_of(conn: Connection, viewer: Viewer, fact_id: str) -> tuple[str, ...]:
    """Return the ids of the turns in which a viewer told what they may move of a fact."""
    return tuple(
        sorted({e.episode_id for e in _movable(conn, viewer.household, fact_id, viewer.member)})
    )


def narrow_last(
    conn: Connection, household: Household, *, session: str, member: str, wish: str, at: datetime
) -> tuple[str, str] | None:
    """Keep secret what a member said last in a session, because they ask for it right afterwards.

    Args:
        wish: The message that asks for it ("and keep that quiet").

    Returns:
        Id and new scope of the episode; None where they said nothing shortly before.
    """
    said = episodes.c
    query = (
        select(said.id, said.text, said.scope)
        .where(
            said.household == household.id,
            said.session == session,
            said.member == member,
            said.is_assistant.is_(False),
            said.kind == EpisodeKind.TURN.value,
            said.said_at > at - _SHORTLY,
            said.said_at <= at,
        )
        .order_by(said.said_at.desc(), said.seq.desc())
        .limit(_MOST_SHORTLY)
    )
    people = household.members_by_word
    rows = [row for row in conn.execute(query) if not points_back(row.text, people)]
    if not rows:
        return None
    last, own = rows[0], person_scope(member)
    scope = narrowest({last.scope, audience_of(f"{last.text}\n{wish}", household, member)}) or own
    asked = update(episodes).where(said.household == household.id, said.id == last.id)
    conn.execute(asked.where(said.asked_scope.is_not(None)).values(asked_scope=scope))
    if scope != last.scope:
        _move_told(conn, household.id, last.id, scope, by=member, at=at)
    return last.id, scope


def set_told_scope(
    conn: Connection, viewer: Viewer, episode_id: str, scope: str, *, by: str, at: datetime
) -> Remembered:
    """Change who may recall what a member said, and the facts that were read out of it; those still to be read follow.

    Args:
        scope: Of those who may recall it afterwards.

    Raises:
        NotFoundError: They said no such thing.
    """
    said = episodes_by_id(conn, viewer.household, [episode_id]).get(episode_id)
    if said is None or said.member != viewer.member or not viewer.sees(said.scope):
        raise NotFoundError(f"there is no episode {episode_id!r}", episode_id=episode_id)
    if said.scope == scope:
        return Remembered(change_set=None, facts=[])
    return _move_told(conn, viewer.household, episode_id, scope, by=by, at=at)


def _move_told(
    conn: Connection, household: str, episode_id: str, scope: str, *, by: str, at: datetime
) -> Remembered:
    """Change who may recall what a member said, and what they said of the same elsewhere.

    The latter follows where fewer see it afterwards; nobody asks to share it.
    """
    strands = {each.strand for each in out_of(conn, household, [episode_id])}
    own = [
        each
        for each in in_strands(conn, household, strands)
        if each.speaker == by
        and (each.episode_id == episode_id or narrowest({each.scope, scope}) == scope)
    ]
    turns = {each.episode_id for each in own} - {episode_id}
    with _moving(conn, household, by=by, at=at) as change:
        facts = move_to_scope(conn, change, own, scope, at=at)
        _narrow_turns(conn, change, turns, scope, by=by)
        _move_turns(conn, change, {episode_id}, scope)
    return Remembered(change_set=change.made.id, facts=facts)


def _moving(
    conn: Connection, household: str, *, by: str, at: datetime
) -> AbstractContextManager[Change]:
    return changing(
        conn, household, cause=Cause.PRIVATE, summary="who may recall a fact", by=by, at=at
    )


def _movable(conn: Connection, household: str, fact_id: str, member: str | None) -> list[Statement]:
    """Return what a member may move of a fact's strand: what no other member told, and what only they see anyway.

    Words that a person wrote in a fact's place are those of whoever told it. Nothing, where the fact rests on none.
    """
    strands = {each.strand for each in for_facts(conn, household, [fact_id])}
    statements = in_strands(conn, household, strands)
    said = episodes_by_id(conn, household, {each.episode_id for each in statements})
    tellers = {
        each.speaker
        for each in statements
        if each.episode_id in said and said[each.episode_id].member == each.speaker
    }
    others = tellers - {member, None}
    found = [
        each for each in statements if each.speaker not in others or person_of(each.scope) == member
    ]
    return found if any(each.fact_id == fact_id for each in found) else []


def _rule(
    conn: Connection, viewer: Viewer, fact_id: str, ruling: Ruling, *, by: str, at: datetime
) -> Remembered:
    load_fact(conn, viewer, fact_id)
    household = viewer.household
    cause = Cause.WRONG if ruling is Ruling.NEVER else Cause.RETRACT
    with changing(
        conn, household, cause=cause, summary="a fact was withdrawn", by=by, at=at
    ) as change:
        words = words_of(conn, household, [fact_id])[fact_id]
        verdict = Verdict(
            household=household,
            id=verdict_id(household, words.id, ruling.value),
            older=words.id,
            ruling=ruling,
            made_by=by,
            made_at=at,
        )
        add_verdicts(conn, change, [verdict])
        facts = settle(conn, change, [words.strand], at=at)
        is_new = bool(change.images())
    return Remembered(change_set=change.made.id if is_new else None, facts=facts)


def _narrow_turns(
    conn: Connection, change: Change, ids: Iterable[str], scope: str, *, by: str
) -> None:
    """Let turns be seen by no more people than before and no others than a scope lets."""
    for each in episodes_by_id(conn, change.made.household, ids).values():
        kept = narrowest({each.scope, scope}) or person_scope(by)
        _move_turns(conn, change, {each.id}, kept)


def _move_turns(conn: Connection, change: Change, ids: Iterable[str], scope: str) -> None:
    """Move turns and what was answered to them."""
    household = change.made.household
    turns = {turn for each in ids for turn in (each, reply_id(household, each))}
    for each in episodes_by_id(conn, household, turns).values():
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
