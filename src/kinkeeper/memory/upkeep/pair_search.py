"""What may have to do with each other, brought together through indexes: episodes and facts, facts and facts."""

from collections import defaultdict
from collections.abc import Iterable, Mapping, Sequence

from sqlalchemy import Connection

from kinkeeper.memory.evidence import for_facts, in_strands, sharing_keys
from kinkeeper.memory.ingest import speaker_of
from kinkeeper.memory.meeting_keys import keys_of
from kinkeeper.memory.model import Category, Episode, Fact, Statement
from kinkeeper.memory.rulings import Ruling
from kinkeeper.memory.statement_match import relate_statements, subject_of
from kinkeeper.memory.timeline import canonical
from kinkeeper.memory.upkeep.pairs import Judged

MOST_MET = 40
"""Facts that are looked at for what was said; what shares so much with so many is of none of them in particular."""


def words_of_facts(
    conn: Connection, household: str, fact_ids: Iterable[str]
) -> dict[str, Statement]:
    """Return for each fact the statement that tells it best; none for one that has no statement.

    Args:
        conn: In a transaction.
        household: Tenant key.
        fact_ids: Any number.
    """
    found: defaultdict[str, list[Statement]] = defaultdict(list)
    for said in for_facts(conn, household, fact_ids):
        found[str(said.fact_id)].append(said)
    return {
        fact_id: max(each, key=lambda said: (said.is_correction, canonical(said)))
        for fact_id, each in found.items()
    }


def facts_sharing_keys(
    conn: Connection, household: str, episodes: Sequence[Episode], *, people: Mapping[str, str]
) -> dict[str, set[str]]:
    """Return for each episode the facts of its scope whose statements share a key with its words.

    Args:
        conn: In a transaction.
        household: Tenant key.
        episodes: Any number.
        people: Member ids by folded name or alias.
    """
    return facts_met_by(
        conn, household, {each.id: _as_statement(each, people) for each in episodes}
    )


def facts_met_by(
    conn: Connection, household: str, words: Mapping[str, Statement]
) -> dict[str, set[str]]:
    """Return the facts of its scope that share a key with each of some statements.

    Args:
        conn: In a transaction.
        household: Tenant key.
        words: Statements, by whatever the result is to be told by; what meets too many is left out.
    """
    by_key: defaultdict[str, list[str]] = defaultdict(list)
    for name, each in words.items():
        for key in keys_of(each).every:
            by_key[key].append(name)
    found: defaultdict[str, set[str]] = defaultdict(set)
    for key, said in sharing_keys(conn, household, by_key):
        for name in by_key[key]:
            if said.fact_id and words[name].scope == said.scope:
                found[name].add(said.fact_id)
    return {name: facts for name, facts in found.items() if len(facts) <= MOST_MET}


def rivals_of(
    conn: Connection, household: str, contradicted: Sequence[Fact], words: Mapping[str, Statement]
) -> set[tuple[str, str]]:
    """Return the pairs of facts that were found to contradict each other when they were written.

    Args:
        conn: In a transaction.
        household: Tenant key.
        contradicted: Facts marked so.
        words: What tells them best.
    """
    strands = {words[each.id].strand: each.id for each in contradicted if each.id in words}
    mates: defaultdict[str, set[str]] = defaultdict(set)
    for said in in_strands(conn, household, strands):
        if said.fact_id:
            mates[said.strand].add(said.fact_id)
    return {
        pair_of(fact.id, mate)
        for fact in contradicted
        if fact.id in words
        for mate in mates[words[fact.id].strand]
        if mate != fact.id
    }


def pair_of(one: str, other: str) -> tuple[str, str]:
    """Return two ids in alphabetical order."""
    return (one, other) if one < other else (other, one)


def judged(
    pairs: Iterable[tuple[str, str]], facts: Mapping[str, Fact], words: Mapping[str, Statement]
) -> list[Judged]:
    """Return how facts relate, as far as they have to do with each other.

    Args:
        pairs: Ids, each pair once.
        facts: By id; pairs of others are left out.
        words: What tells each fact best; facts without are left out.
    """
    found = []
    for pair in sorted(pairs):
        if any(each not in facts or each not in words for each in pair):
            continue
        older, newer = sorted(pair, key=lambda each: canonical(words[each]))
        ruling = relate_statements(words[older], words[newer])
        is_barred = words[newer].standing < words[older].standing
        if ruling is not Ruling.OTHER and (ruling is Ruling.SAME or not is_barred):
            found.append(Judged(older=facts[older], newer=facts[newer], ruling=ruling))
    return found


def _as_statement(episode: Episode, people: Mapping[str, str]) -> Statement:
    """Return an episode's whole text as if it were one statement."""
    speaker = speaker_of(episode)
    subject, slot = subject_of(episode.text, speaker=speaker, people=people)
    return Statement(
        household=episode.household, id=episode.id, episode_id=episode.id, scope=episode.scope,
        start=0, end=len(episode.text), text=episode.text, speaker=speaker, subject=subject,
        slot=slot, title="", narrative=episode.text, category=Category.IDENTITY, confidence=0.0,
        said_at=episode.said_at, origin=episode.origin, strand="",
    )  # fmt: skip
