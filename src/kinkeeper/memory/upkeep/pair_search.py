"""What may have to do with each other: facts that share keys, and episodes that bear out a fact."""

from collections import defaultdict
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime

from sqlalchemy import Connection

from kinkeeper.memory.confidence import confidence_now
from kinkeeper.memory.evidence import for_facts, in_strands, sharing_keys
from kinkeeper.memory.ingest import speaker_of
from kinkeeper.memory.model import Category, Episode, EpisodeKind, Fact, Origin, Ruling, Statement
from kinkeeper.memory.statement_match import ME, keys_of, relate_statements, subject_of
from kinkeeper.memory.statements.relation import Relation, relate
from kinkeeper.memory.statements.statement_reader import Reading, read_statement
from kinkeeper.memory.timeline import canonical
from kinkeeper.memory.upkeep.questions import Question, QuestionKind

SURE_ENOUGH = 0.6
"""One of those that are joined without asking is believed more than this."""

MOST_JOINED = 50
"""A larger heap of sameness is more likely a mistake than a family that repeats itself."""

_STRENGTH = {Origin.OBSERVED: 1, Origin.IMPORTED: 2, Origin.SAID: 3}
_EDITED = 4

CONTRADICTED = (
    "they cannot both be true, and neither their dates nor their sources show which one is"
)
UNSURE = "they seem to say the same thing, but neither is well supported"
MIXED = "they seem to say the same thing, but some details differ"


@dataclass(frozen=True, slots=True, kw_only=True)
class Judged:
    """How two facts of one scope relate.

    Attributes:
        older: The one that held first.
        ruling: Of the newer one to the older one.
    """

    older: Fact
    newer: Fact
    ruling: Ruling

    @property
    def ids(self) -> tuple[str, str]:
        """Both ids in alphabetical order."""
        first, second = sorted((self.older.id, self.newer.id))
        return first, second


@dataclass(frozen=True, slots=True, kw_only=True)
class Decided:
    """What is to be done.

    Attributes:
        findings: Pairs that are joined (same) or of which the newer takes the older one's place (update).
        doubted: Pairs that cannot both be true, undecided.
        questions: What a model or a person is to say; those of doubted pairs among them.
    """

    findings: Sequence[Judged]
    doubted: Sequence[Judged]
    questions: Sequence[Question]


def decide_pairs(pairs: Iterable[Judged], *, now: datetime) -> Decided:
    """Return what follows from pairs of facts that met.

    Args:
        pairs: Each pair once.
        now: Aware; confidences are faded to it.
    """
    findings, doubted, same = [], [], []
    for pair in pairs:
        if pair.ruling is Ruling.SAME and pair.older.category is pair.newer.category:
            same.append(pair)
        elif pair.ruling is Ruling.UPDATE and _gives_way(pair.older, pair.newer):
            findings.append(pair)
        elif pair.ruling is Ruling.CONTRADICTION:
            decided = by_source(pair)
            if decided is None:
                doubted.append(pair)
            elif _gives_way(decided.older, decided.newer):
                findings.append(decided)
    unfit = {each for pair in (*findings, *doubted) for each in pair.ids}
    joined, asked = _joined(same, unfit, now)
    contradictions = [
        Question(kind=QuestionKind.CONTRADICTION, facts=pair.ids, why=CONTRADICTED)
        for pair in doubted
    ]
    return Decided(
        findings=(*findings, *joined), doubted=doubted, questions=(*contradictions, *asked)
    )


def in_time(fact: Fact) -> tuple[datetime, datetime, str]:
    """Return what orders facts by since when they hold."""
    return fact.held_from, fact.said_at, fact.id


def by_source(pair: Judged) -> Judged | None:
    """Return a contradiction as the update that its sources make of it; None where they weigh the same.

    What a person wrote outweighs what was said to the assistant, that outweighs what was imported, and
    that what was only overheard.
    """
    older, newer = _strength(pair.older), _strength(pair.newer)
    if older == newer:
        return None
    weak, strong = (pair.older, pair.newer) if older < newer else (pair.newer, pair.older)
    return Judged(older=weak, newer=strong, ruling=Ruling.UPDATE)


def winner(facts: Iterable[Fact], *, now: datetime) -> Fact:
    """Return the one that the others are joined into: what a person wrote, else the most believed."""

    def rank(fact: Fact) -> tuple[bool, float, int, datetime, str]:
        return (
            fact.is_edited,
            confidence_now(fact, now),
            fact.evidence_count,
            fact.said_at,
            fact.id,
        )

    return max(facts, key=rank)


def _joined(
    same: Sequence[Judged], unfit: set[str], now: datetime
) -> tuple[list[Judged], list[Question]]:
    joined, asked = [], []
    for facts in _components(same):
        ids = tuple(sorted(facts))
        why = None
        if unfit & facts.keys() or any(each.is_contradicted for each in facts.values()):
            why = MIXED
        elif max(confidence_now(each, now) for each in facts.values()) <= SURE_ENOUGH:
            why = UNSURE
        elif sum(each.is_edited for each in facts.values()) > 1 or len(facts) > MOST_JOINED:
            why = MIXED
        if why is None:
            joined += into_one(facts.values(), now=now)
        else:
            asked.append(Question(kind=QuestionKind.MERGE, facts=ids, why=why))
    return joined, asked


def into_one(facts: Iterable[Fact], *, now: datetime) -> list[Judged]:
    """Return the findings that join facts: each of the others is the same as the winner."""
    found = list(facts)
    best = winner(found, now=now)
    others = sorted((each for each in found if each.id != best.id), key=lambda fact: fact.id)
    return [Judged(older=each, newer=best, ruling=Ruling.SAME) for each in others]


def _components(same: Iterable[Judged]) -> Iterable[Mapping[str, Fact]]:
    parents: dict[str, str] = {}
    facts: dict[str, Fact] = {}

    def root(fact_id: str) -> str:
        while (above := parents.setdefault(fact_id, fact_id)) != fact_id:
            parents[fact_id] = fact_id = parents.setdefault(above, above)
        return fact_id

    for pair in same:
        facts |= {pair.older.id: pair.older, pair.newer.id: pair.newer}
        parents[root(pair.older.id)] = root(pair.newer.id)
    found: defaultdict[str, dict[str, Fact]] = defaultdict(dict)
    for fact_id in sorted(facts):
        found[root(fact_id)][fact_id] = facts[fact_id]
    return found.values()


def _gives_way(older: Fact, newer: Fact) -> bool:
    """Whether the newer takes the older one's place: knowledge of how things work adds up instead."""
    is_technical = {older.category, newer.category} == {Category.TECHNICAL}
    return not is_technical and (newer.is_edited or not older.is_edited)


def _strength(fact: Fact) -> int:
    return _EDITED if fact.is_edited else _STRENGTH.get(fact.origin, 0)


# Whether an episode that states nothing anew still bears out a fact: resemblance alone is not
# enough. Pure.
#
# What takes something back resembles it more than most of what supports it, and so does the same
# said of somebody else, or as a question, or as a wish. So words are read, too.

ALIKE = 0.75
"""Likeness from which an episode may support a fact."""

_COVERED = 0.8
"""Share of a fact's words that an episode holds where nobody can tell how alike they are."""


def may_support(episode: Episode) -> bool:
    """Whether an episode may be evidence at all: somebody's own words, from a source that may be believed."""
    is_turn = episode.kind is EpisodeKind.TURN and not episode.is_assistant
    return is_turn and episode.origin.may_become_fact


def supports(
    words: Statement, episode: Episode, *, speaker: str | None, likeness: float | None
) -> bool:
    """Whether an episode supports a fact of the same scope.

    Args:
        episode: Said after the fact was supported last.
        speaker: Who speaks in the episode, as statements name speakers.
        likeness: Calibrated, in [0, 1], of the episode and the fact; None where they have no vectors.
    """
    if not may_support(episode) or "?" in episode.text:
        return False
    told = read_statement(words.text)
    heard = read_statement(episode.text)
    if not told or not heard:
        return False
    about = [each for each in heard if _is_of_the_same(words, told[0], each, speaker)]
    if not about or any(_speaks_against(told[0], each) for each in about):
        return False
    relation = relate(words.text, episode.text).relation
    if relation in {Relation.UPDATE, Relation.CONTRADICTION}:
        return False
    if not _names_it(told[0], about):
        return False
    if relation is Relation.SAME or _covered(told[0], about) >= _COVERED:
        return True
    return likeness is not None and likeness >= ALIKE


def _is_of_the_same(words: Statement, told: Reading, heard: Reading, speaker: str | None) -> bool:
    if told.subject != heard.subject:
        return False
    # "I" and "my sister" are somebody else when another person says them.
    is_relative = told.subject == ME or "/" in words.subject
    return words.speaker == speaker or not is_relative


def _speaks_against(told: Reading, heard: Reading) -> bool:
    if heard.is_retraction or heard.is_hypothetical:
        return True
    # The very same told as past is over; something else about it that happened is not.
    if heard.is_past and heard.slot == told.slot:
        return True
    differs_in_taste = bool(told.side and heard.side and told.side != heard.side)
    return heard.is_negative != told.is_negative or differs_in_taste


def _names_it(told: Reading, heard: Sequence[Reading]) -> bool:
    """Whether the very value of the fact is spoken of: of two alike sentences that is the difference."""
    value = set(told.value or told.words)
    return bool(value) and any(value <= {*each.words, *each.value} for each in heard)


def _covered(told: Reading, heard: Sequence[Reading]) -> float:
    wanted = set(told.words)
    if not wanted:
        return 0.0
    return max(len(wanted & {*each.words, *each.value}) / len(wanted) for each in heard)


MOST_MET = 40
"""Facts that are looked at for what was said; what shares so much with so many is of none of them in particular."""


def words_of_facts(
    conn: Connection, household: str, fact_ids: Iterable[str]
) -> dict[str, Statement]:
    """Return for each fact the statement that tells it best; none for one that has no statement."""
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
    """Return the pairs of facts that were found to contradict each other when they were written."""
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
        household=episode.household,
        id=episode.id,
        episode_id=episode.id,
        scope=episode.scope,
        start=0,
        end=len(episode.text),
        text=episode.text,
        speaker=speaker,
        subject=subject,
        slot=slot,
        title="",
        narrative=episode.text,
        category=Category.IDENTITY,
        confidence=0.0,
        said_at=episode.said_at,
        origin=episode.origin,
        strand="",
    )
