"""Remembering: what was said becomes episodes and statements, taken in beside those they may bear on."""

from collections import defaultdict
from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass, replace
from datetime import datetime

from sqlalchemy import Connection

from kinkeeper.core.errors import DeniedError
from kinkeeper.core.ids import stable_id
from kinkeeper.household.viewers import HOUSEHOLD_SCOPE, narrowest
from kinkeeper.memory.confidence import IMPORT_SESSION
from kinkeeper.memory.episodes import claim_reading, episodes_by_id, insert_episodes
from kinkeeper.memory.evidence import (
    STATEMENTS,
    add_verdicts,
    in_strands,
    insert_statements,
    mutable_image,
    set_statement,
    sharing_keys,
    statements_by_id,
    verdict_id,
    words_of,
)
from kinkeeper.memory.fact_sync import settle
from kinkeeper.memory.facts import FACTS, facts_by_id, merged_into, replace_facts
from kinkeeper.memory.journal import Cause, Change, changing
from kinkeeper.memory.memory_rows import fact_row
from kinkeeper.memory.model import (
    Category,
    Episode,
    Fact,
    Observation,
    Origin,
    Ruling,
    Statement,
    StatementType,
    Verdict,
    standing_of,
)
from kinkeeper.memory.redaction import blocked, cut_words, lift, without_forgotten
from kinkeeper.memory.statement_match import Keys, bears_on, is_shared, keys_of, subject_of
from kinkeeper.memory.tables import episodes
from kinkeeper.memory.timeline import canonical

# Takes statements in: beside those they may bear on, in one strand with them, whatever came first.


def absorb(
    conn: Connection, change: Change, statements: Sequence[Statement], *, at: datetime
) -> list[Fact]:
    """Store statements that are not known, and bring the facts they bear on in step.

    Args:
        statements: Of one household, each a strand of its own.

    Returns:
        The facts that are new or different.
    """
    household = change.made.household
    known = statements_by_id(conn, household, (each.id for each in statements))
    new = list({each.id: each for each in statements if each.id not in known}.values())
    if not new:
        return []
    keys = {each.id: keys_of(each) for each in new}
    strands = _joined(conn, household, new, keys)
    join_strands(conn, change, strands)
    placed = [replace(each, strand=strands[each.strand]) for each in new]
    insert_statements(conn, placed, {each: found.stored for each, found in keys.items()})
    for each in placed:
        change.note(STATEMENTS, each.id, None, {})
    ids = {each.id for each in placed}
    return settle(conn, change, {each.strand for each in placed}, at=at, new=ids)


def move_to_scope(
    conn: Connection, change: Change, statements: Sequence[Statement], scope: str, *, at: datetime
) -> list[Fact]:
    """Let statements be seen by others than before, beside what these remember of the same.

    What else their strands hold stays where it is. Where a fact rests on both, it goes with those whom fewer see,
    because its history holds the words of both; the others make a fact of their own.

    Args:
        scope: Who may recall them from now on.

    Returns:
        The facts that are different.
    """
    household, going = change.made.household, {each.id for each in statements}
    strands = {each.strand for each in statements}
    left = [each for each in in_strands(conn, household, strands) if each.id not in going]
    shared = {each.fact_id for each in left} & {each.fact_id for each in statements}
    parted = {each.strand for each in left}
    _keep_outdated(
        conn, change, statements, [each for each in left if _is_narrower(each.scope, scope)]
    )
    moved, stayed = [], []
    for each in statements:
        strand = stable_id(household, each.strand, scope) if each.strand in parted else each.strand
        is_without = each.fact_id in shared and not _is_narrower(scope, each.scope)
        fact_id = None if is_without else each.fact_id
        moved.append(_set(conn, change, each, scope=scope, strand=strand, fact_id=fact_id))
    for each in left:
        is_without = each.fact_id in shared and _is_narrower(scope, each.scope)
        stayed.append(_set(conn, change, each, fact_id=None if is_without else each.fact_id))
    joined = _joined(conn, household, moved, {each.id: keys_of(each) for each in moved})
    join_strands(conn, change, joined)
    facts = settle(conn, change, {*joined.values(), *(each.strand for each in stayed)}, at=at)
    return [*facts, *_hide_merged(conn, change, facts, scope)]


def join_strands(conn: Connection, change: Change, strands: Mapping[str, str]) -> None:
    """Move the statements of strands into others.

    Args:
        strands: By strand, which one it becomes part of.
    """
    gone = sorted(old for old, new in strands.items() if old != new)
    for each in in_strands(conn, change.made.household, gone):
        moved = replace(each, strand=strands[each.strand])
        change.note(STATEMENTS, each.id, mutable_image(each), mutable_image(moved))
        set_statement(conn, moved)


def _joined(
    conn: Connection, household: str, new: Sequence[Statement], keys: Mapping[str, Keys]
) -> dict[str, str]:
    by_key: defaultdict[str, list[Statement]] = defaultdict(list)
    wanted = {key for found in keys.values() for key in found.asked}
    for key, stored in sharing_keys(conn, household, wanted):
        by_key[key].append(stored)
    parents = {each.strand: each.strand for each in new}
    for statement in new:
        near = {other.id: other for key in keys[statement.id].asked for other in by_key[key]}
        for other in near.values():
            _join(parents, statement, other)
        for key in keys[statement.id].stored:
            by_key[key].append(statement)
    return {each: strand_root(parents, each) for each in parents}


def _join(parents: dict[str, str], one: Statement, other: Statement) -> None:
    if one.scope != other.scope:
        return
    low, high = sorted((strand_root(parents, one.strand), strand_root(parents, other.strand)))
    if low == high:
        return
    older, newer = sorted((one, other), key=canonical)
    if bears_on(older, newer):
        parents[low] = low
        parents[high] = low


def strand_root(parents: Mapping[str, str], strand: str) -> str:
    """Return the strand that a strand has become part of, itself where of none.

    Args:
        parents: A further strand that each is part of; one that is its own stands alone.
        strand: Its id.
    """
    while parents.get(strand, strand) != strand:
        strand = parents[strand]
    return strand


def _set(conn: Connection, change: Change, statement: Statement, **fields: str | None) -> Statement:
    """Write what is different about a statement, if anything is: its scope, strand or fact."""
    there: Statement = replace(statement, **fields)  # type: ignore[arg-type]  # by name
    if there != statement:
        change.note(STATEMENTS, statement.id, mutable_image(statement), mutable_image(there))
        set_statement(conn, there)
    return there


def _keep_outdated(
    conn: Connection, change: Change, going: Sequence[Statement], left: Sequence[Statement]
) -> None:
    """Let what outdated each other stay so once more people see a part of it than the rest."""
    household = change.made.household
    here, there = ({each.fact_id for each in some if each.fact_id} for some in (going, left))
    ended = {
        fact.id: fact
        for fact in facts_by_id(conn, household, here ^ there).values()
        if fact.superseded_by in (there if fact.id in here else here)
    }
    add_verdicts(
        conn,
        change,
        (
            Verdict(
                household=household,
                id=verdict_id(household, words.id, Ruling.ENDED.value),
                older=words.id,
                ruling=Ruling.ENDED,
                made_by=change.made.made_by or "upkeep",
                made_at=ended[fact].valid_to or change.made.made_at,
            )
            for fact, words in words_of(conn, household, ended).items()
        ),
    )


def _is_narrower(scope: str, than: str) -> bool:
    return scope != than and narrowest({scope, than}) == scope


def _hide_merged(conn: Connection, change: Change, moved: Sequence[Fact], scope: str) -> list[Fact]:
    """Let what was merged into facts be seen by no more people than these."""
    hidden: list[Fact] = []
    into = [fact.id for fact in moved if fact.scope == scope]
    while into:
        merged = merged_into(conn, change.made.household, into)
        wide = [fact for fact in merged if _is_narrower(scope, fact.scope)]
        hidden += [replace(fact, scope=scope) for fact in wide]
        into = [fact.id for fact in wide]
        for fact in wide:
            change.note(FACTS, fact.id, fact_row(fact), fact_row(replace(fact, scope=scope)))
    return replace_facts(conn, hidden)


STARTS: Mapping[Origin, float] = {Origin.SAID: 0.8, Origin.IMPORTED: 0.7, Origin.OBSERVED: 0.6}
"""How far a statement is believed by itself, by where it comes from."""

CORRECTED = 0.9
"""How far one is believed that sets something right explicitly."""

_EPISODES = episodes.name


@dataclass(frozen=True, slots=True, kw_only=True)
class Remembered:
    """What came of remembering.

    Attributes:
        change_set: Its id, to take it back; None where nothing was new.
        facts: Those that are new or different, as they are now.
        blocked: How many sentences somebody had wanted forgotten.
    """

    change_set: str | None
    facts: Sequence[Fact]
    blocked: int = 0


@dataclass(frozen=True, slots=True, kw_only=True)
class ImportedFact:
    """One fact of an import.

    Attributes:
        title: One line.
        confidence: In [0, 1]; None for that of imports.
        at: When it was said, aware.
        scope: Who may recall it.
        evidence: Ids of episodes it rests on; where none of them is stored, its own text becomes one.
    """

    id: str
    text: str
    category: Category
    type: StatementType = StatementType.STATEMENT
    title: str
    confidence: float | None = None
    at: datetime
    scope: str = HOUSEHOLD_SCOPE
    evidence: Sequence[str] = ()


def remember(
    conn: Connection,
    episode: Episode,
    observations: Sequence[Observation],
    *,
    at: datetime,
    by: str | None = None,
    people: Mapping[str, str] | None = None,
    guardians: Mapping[str, Collection[str]] | None = None,
    is_wanted: bool = False,
) -> Remembered:
    """Store an episode with what was found in it, and bring the facts in step.

    Doing it again for the same episode changes nothing.

    Args:
        episode: What was said; stored unless it is known.
        observations: What was found in its text.
        by: Member id of the person whose yes it rests on; needed for what was only overheard.
        people: Member ids by folded name or alias.
        guardians: By member id of a child, whose word about it counts.
        is_wanted: Whether somebody asks by name that it be remembered, also if it was forgotten.

    Raises:
        DeniedError: Nothing of this origin may become a fact, or nobody has said yes to it.
    """
    _check_origin(episode, by)
    household = episode.household
    with changing(
        conn,
        household,
        cause=_cause(episode, observations),
        summary=_summary(observations),
        by=by,
        at=at,
    ) as change:
        said = [
            _standing(
                _statement(episode, each, people or {}, guardians or {}),
                by,
                people or {},
                guardians or {},
            )
            for each in observations
        ]
        if is_wanted:
            lift(conn, said)
        gone = blocked(conn, said)
        _store(conn, change, episode, at=at)
        facts = absorb(conn, change, [each for each in said if each.id not in gone], at=at)
        is_new = bool(change.images())
        if gone:
            cut_words(conn, household, [each for each in said if each.id in gone])
    return Remembered(change_set=change.made.id if is_new else None, facts=facts, blocked=len(gone))


def import_facts(
    conn: Connection, household: str, imported: Sequence[ImportedFact], *, at: datetime
) -> list[Fact]:
    """Store facts that are handed over, many at a time; those that are known change nothing.

    Returns:
        The facts that are new or different.
    """
    stored = episodes_by_id(conn, household, {each for one in imported for each in one.evidence})
    said = [_imported(household, each, stored) for each in imported]
    with changing(
        conn, household, cause=Cause.IMPORT, summary=f"{len(imported)} imported", by=None, at=at
    ) as change:
        gone = blocked(conn, said)
        kept = [each for each in zip(imported, said, strict=True) if each[1].id not in gone]
        own = [_own_episode(each, given) for given, each in kept if each.episode_id not in stored]
        for episode_id in insert_episodes(conn, own, at=at, is_read=True):
            change.note(_EPISODES, episode_id, None, {})
        add_verdicts(
            conn,
            change,
            (
                _support(each, episode_id, at)
                for given, each in kept
                for episode_id in dict.fromkeys(given.evidence)
                if episode_id in stored and episode_id != each.episode_id
            ),
        )
        return absorb(conn, change, [each for _, each in kept], at=at)


def speaker_of(episode: Episode) -> str | None:
    """Return who said an episode: member id, else the name at the source; None where unknown."""
    return episode.member or (episode.speaker or "").strip() or None


def _check_origin(episode: Episode, by: str | None) -> None:
    if episode.is_assistant or not episode.origin.may_become_fact:
        who = "the assistant" if episode.is_assistant else f"{episode.origin}"
        raise DeniedError(f"nothing from {who} can become a fact", origin=episode.origin)
    if episode.origin is Origin.OBSERVED and by is None:
        raise DeniedError(
            "something that was only overheard becomes a fact once a person approves it"
        )
    if episode.asked_scope is not None and by is None:
        raise DeniedError("this becomes a fact once a person approves it")


def _store(conn: Connection, change: Change, episode: Episode, *, at: datetime) -> None:
    text = without_forgotten(
        conn, episode.household, episode.text, scope=episode.scope, speaker=speaker_of(episode)
    )
    stored = insert_episodes(conn, [replace(episode, text=text)], at=at, is_read=True)
    for each in stored:
        change.note(_EPISODES, each, None, {})
    if not stored:
        claim_reading(conn, episode.household, episode.id)


def _cause(episode: Episode, observations: Sequence[Observation]) -> Cause:
    if episode.origin is Origin.IMPORTED:
        return Cause.IMPORT
    is_correction = any(each.correction is not None for each in observations)
    return Cause.CORRECT if is_correction else Cause.WRITE


def _summary(observations: Collection[Observation]) -> str:
    return f"{len(observations)} sentence{'' if len(observations) == 1 else 's'} remembered"


def _statement(
    episode: Episode,
    observation: Observation,
    people: Mapping[str, str],
    guardians: Mapping[str, Collection[str]],
) -> Statement:
    speaker = speaker_of(episode)
    subject, slot = subject_of(
        observation.text, speaker=speaker, people=people, guardians=guardians
    )
    correction = observation.correction
    start = STARTS[episode.origin] if correction is None else CORRECTED
    identity = stable_id(episode.household, episode.id, observation.start, observation.end)
    return Statement(
        household=episode.household,
        id=identity,
        episode_id=episode.id,
        scope=episode.scope,
        start=observation.start,
        end=observation.end,
        text=observation.text,
        speaker=speaker,
        subject=subject,
        slot=slot,
        title=observation.title,
        narrative=observation.narrative,
        category=observation.category,
        type=observation.type,
        confidence=min(start, observation.confidence),
        is_correction=correction is not None,
        is_retraction=correction is not None and correction.is_retraction,
        corrects=None if correction is None else correction.corrects,
        said_at=episode.said_at,
        valid_from=observation.valid_from,
        valid_to=observation.valid_to,
        origin=episode.origin,
        strand=identity,
    )


def _standing(
    statement: Statement,
    by: str | None,
    people: Mapping[str, str],
    guardians: Mapping[str, Collection[str]],
) -> Statement:
    """Return a statement with how far it counts: by who says it, or by whose yes it rests on."""
    voice = (statement.speaker or "").casefold()
    if statement.subject == voice and is_shared(statement.text):
        return statement
    found = (
        standing_of(
            voice, statement.subject, members={*people.values(), *guardians}, guardians=guardians
        )
        for voice in {statement.speaker, by or statement.speaker}
    )
    return replace(statement, standing=max(found))


def _imported(household: str, given: ImportedFact, stored: Mapping[str, Episode]) -> Statement:
    subject, slot = subject_of(given.text, speaker=None, people={})
    confidence = STARTS[Origin.IMPORTED] if given.confidence is None else given.confidence
    identity = stable_id(household, "imported", given.id)
    episode_id = next(
        (each for each in given.evidence if each in stored), f"{IMPORT_SESSION}:{given.id}"
    )
    # Its words may be somebody's own, or only tell what was said there.
    start = stored[episode_id].text.find(given.text) if episode_id in stored else 0
    return Statement(
        household=household,
        id=identity,
        episode_id=episode_id,
        scope=given.scope,
        start=max(start, 0),
        end=start + len(given.text) if start >= 0 else 0,
        text=given.text,
        speaker=None,
        subject=subject,
        slot=slot,
        title=given.title,
        narrative=given.text,
        category=given.category,
        type=given.type,
        confidence=confidence,
        said_at=given.at,
        origin=Origin.IMPORTED,
        strand=identity,
        fact_id=given.id,
    )


def _support(statement: Statement, episode_id: str, at: datetime) -> Verdict:
    return Verdict(
        household=statement.household,
        id=verdict_id(statement.household, statement.id, episode_id),
        older=statement.id,
        newer=episode_id,
        ruling=Ruling.SUPPORT,
        made_by=IMPORT_SESSION,
        made_at=at,
    )


def _own_episode(statement: Statement, given: ImportedFact) -> Episode:
    return Episode(
        household=statement.household,
        id=statement.episode_id,
        scope=given.scope,
        text=given.text,
        said_at=given.at,
        origin=Origin.IMPORTED,
        source=IMPORT_SESSION,
        channel=IMPORT_SESSION,
    )
