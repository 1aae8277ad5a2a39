"""What follows from how facts relate: which are joined, which give way, which are doubted, which are asked about. Pure."""

from collections import defaultdict
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime

from kinkeeper.memory.confidence import confidence_now
from kinkeeper.memory.model import Category, Fact, Origin, Ruling
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
            fact.is_edited, confidence_now(fact, now), fact.evidence_count, fact.said_at, fact.id,
        )  # fmt: skip

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
