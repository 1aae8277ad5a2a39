"""How well new statements are told apart into repetitions, updates and others: public pairs, and our own."""

import csv
from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from pathlib import Path

from evals.coordination import read_lines
from evals.memory_asked import Told, asked_table
from evals.report import Floor, Report, Table
from kinkeeper.memory.model import Category, Origin, Statement
from kinkeeper.memory.statement_match import keys_of, subject_of
from kinkeeper.memory.statements.relation import Effect, Relation, relate

OWN = "memory/relations_heldout.jsonl"
OWN_LATER = "memory/relations_heldout2.jsonl"
FREE = tuple(f"memory/relations_free{number}.jsonl" for number in ("", 2, 3, 4, 5, 6, 7, 8, 9, 10))
UNSEEN = "memory/relations_unseen.jsonl"
NEVER_READ = frozenset((FREE[8], UNSEEN))
"""Of these only figures are looked at: their texts are in no report."""

PUBLIC = "memupdate_dev.jsonl"
INFERENCES = "sick_train.txt"

_SPEAKER = "sam"
_BEGIN = datetime(2026, 1, 1, tzinfo=UTC)
_EFFECTS = {"same": Effect.MERGE, "update": Effect.SUPERSEDE}
_COLUMNS = (
    "pairs",
    "number",
    "supersede precision",
    "recall",
    "merge precision",
    "recall",
    "true ones lost",
    "outdated ones kept",
    "of those found, brought together",
)


@dataclass(frozen=True, slots=True, kw_only=True)
class Pair:
    """Two statements and what is to become of them.

    Attributes:
        old: What was said.
        new: What is said now.
        old_at: When the old one was said.
        new_at: When the new one was.
        effect: The right one.
        of: What the pair is about, to look at attributes apart.
    """

    old: str
    new: str
    old_at: datetime
    new_at: datetime
    effect: str
    of: str


def measure(data: Path | None, *, root: Path) -> Report:
    """Measure what becomes of pairs of statements.

    Args:
        data: Folder with the public sets; without it our own pairs alone are measured.
        root: The repository.
    """
    sets = {
        name: [*_own(root / "evals" / "data" / name)] for name in (OWN, OWN_LATER, *FREE, UNSEEN)
    }
    if data is not None:
        sets[PUBLIC] = [*_public(data / PUBLIC)]
    scores = {name: _score(pairs) for name, pairs in sets.items()}
    tables = [
        Table(
            title="What becomes of pairs of statements",
            columns=_COLUMNS,
            rows=tuple((name, len(sets[name]), *score.cells()) for name, score in scores.items()),
        ),
        asked_table({name: _in_order(pairs) for name, pairs in sets.items() if name != PUBLIC}),
    ]
    floors = [floor for name, score in scores.items() for floor in score.floors(name)]
    if data is not None:
        merged, table = _contradictions_merged(data / INFERENCES)
        tables.append(table)
        # A floor is a least value, so the safe share is what is held.
        floors.append(Floor(name="contradictions kept apart", value=1 - merged, minimum=0.995))
    worst = tuple(
        mistake for name in sets if name not in NEVER_READ for mistake in scores[name].wrong
    )
    return Report(suite="memory relations", tables=tuple(tables), floors=tuple(floors), worst=worst)


@dataclass(frozen=True, slots=True)
class Score:
    """How often each effect was given for each right one.

    Attributes:
        counts: By right effect and given one.
        met: Share of what was rightly found that a household's memory would compare at all.
        wrong: The mistakes, a line each.
    """

    counts: Counter[tuple[str, str]]
    met: float
    wrong: tuple[str, ...]

    def precision(self, effect: str) -> float:
        """Share of those given an effect that are right."""
        given = sum(number for (_, got), number in self.counts.items() if got == effect)
        return self.counts[effect, effect] / given if given else 1.0

    def recall(self, effect: str) -> float:
        """Share of those of an effect that are found."""
        right = sum(number for (own, _), number in self.counts.items() if own == effect)
        return self.counts[effect, effect] / right if right else 1.0

    def cells(self) -> tuple[float, ...]:
        """The figures of a row."""
        supersedes = sum(n for (own, _), n in self.counts.items() if own == Effect.SUPERSEDE)
        stale = supersedes - self.counts[Effect.SUPERSEDE, Effect.SUPERSEDE]
        return (
            self.precision(Effect.SUPERSEDE),
            self.recall(Effect.SUPERSEDE),
            self.precision(Effect.MERGE),
            self.recall(Effect.MERGE),
            1 - self.recall(Effect.KEEP_BOTH),
            stale / supersedes if supersedes else 0.0,
            self.met,
        )

    def floors(self, name: str) -> Iterator[Floor]:
        """What must not drop."""
        yield Floor(
            name=f"{name}: brought together",
            value=self.met,
            minimum=_LEAST_MET_OF.get(name, _LEAST_MET),
        )
        for effect, (precision, recall) in _FLOORS[name].items():
            label = f"{name}: {effect.lower()}"
            yield Floor(name=f"{label} precision", value=self.precision(effect), minimum=precision)
            yield Floor(name=f"{label} recall", value=self.recall(effect), minimum=recall)


_LEAST_MET = 0.84
_LEAST_MET_OF = {UNSEEN: 0.75}

_FLOORS: dict[str, dict[str, tuple[float, float]]] = {
    OWN: {Effect.SUPERSEDE: (0.97, 0.88), Effect.MERGE: (0.97, 0.8)},
    OWN_LATER: {Effect.SUPERSEDE: (0.94, 0.75), Effect.MERGE: (0.97, 0.64)},
    FREE[0]: {Effect.SUPERSEDE: (0.96, 0.67), Effect.MERGE: (0.95, 0.6)},
    FREE[1]: {Effect.SUPERSEDE: (0.95, 0.66), Effect.MERGE: (0.93, 0.7)},
    FREE[2]: {Effect.SUPERSEDE: (0.94, 0.72), Effect.MERGE: (0.91, 0.72)},
    FREE[3]: {Effect.SUPERSEDE: (0.95, 0.55), Effect.MERGE: (0.95, 0.55)},
    FREE[4]: {Effect.SUPERSEDE: (0.9, 0.58), Effect.MERGE: (0.95, 0.7)},
    FREE[5]: {Effect.SUPERSEDE: (0.95, 0.87), Effect.MERGE: (0.95, 0.6)},
    FREE[6]: {Effect.SUPERSEDE: (0.95, 0.75), Effect.MERGE: (0.95, 0.65)},
    FREE[7]: {Effect.SUPERSEDE: (0.9, 0.35), Effect.MERGE: (0.7, 0.2)},
    FREE[8]: {Effect.SUPERSEDE: (0.93, 0.6), Effect.MERGE: (0.95, 0.45)},
    FREE[9]: {Effect.SUPERSEDE: (0.93, 0.5), Effect.MERGE: (0.95, 0.3)},
    UNSEEN: {Effect.SUPERSEDE: (0.85, 0.55), Effect.MERGE: (0.95, 0.6)},
    PUBLIC: {Effect.SUPERSEDE: (0.96, 0.93), Effect.MERGE: (0.99, 0.93)},
}


def _in_order(pairs: Sequence[Pair]) -> list[Told]:
    return [Told(each.old, each.new, each.effect) for each in pairs if each.old_at <= each.new_at]


def _score(pairs: Sequence[Pair]) -> Score:
    counts: Counter[tuple[str, str]] = Counter()
    wrong: list[str] = []
    met: list[bool] = []
    for pair in pairs:
        found = relate(pair.old, pair.new, old_at=pair.old_at, new_at=pair.new_at)
        counts[pair.effect, found.effect] += 1
        if found.effect == pair.effect != Effect.KEEP_BOTH:
            met.append(
                not keys_of(_said(pair.old)).stored.isdisjoint(keys_of(_said(pair.new)).asked)
            )
        if found.effect != pair.effect:
            wrong.append(f"{pair.effect} taken for {found.effect}: {pair.old!r} | {pair.new!r}")
    return Score(counts, sum(met) / max(1, len(met)), tuple(wrong))


def _said(text: str) -> Statement:
    """Return a text as the same person's statement."""
    subject, slot = subject_of(text, speaker=_SPEAKER, people={})
    return Statement(
        household="",
        id=text,
        episode_id=text,
        scope="",
        start=0,
        end=len(text),
        text=text,
        speaker=_SPEAKER,
        subject=subject,
        slot=slot,
        title="",
        narrative=text,
        category=Category.IDENTITY,
        confidence=0.0,
        said_at=_BEGIN,
        origin=Origin.SAID,
        strand="",
    )


def _own(path: Path) -> Iterator[Pair]:
    for row in read_lines(path):
        yield Pair(
            old=row["old"],
            new=row["new"],
            old_at=_day(row["old_at"]),
            new_at=_day(row["new_at"]),
            effect=_EFFECTS.get(row["relation"], Effect.KEEP_BOTH),
            of="own",
        )


def _day(text: str) -> datetime:
    return datetime.fromisoformat(text).replace(tzinfo=UTC)


def _public(path: Path) -> Iterator[Pair]:
    for row in read_lines(path):
        yield Pair(
            old=row["old"],
            new=row["new"],
            effect=row["label"],
            of=row["attr"],
            old_at=_BEGIN + timedelta(days=row["old_ts"]),
            new_at=_BEGIN + timedelta(days=row["new_ts"]),
        )


def _contradictions_merged(path: Path) -> tuple[float, Table]:
    """Return the share of contradicting pairs that were taken for the same, and a table by class."""
    seen: Counter[str] = Counter()
    merged: Counter[str] = Counter()
    with path.open(encoding="utf-8", newline="") as stream:
        for row in csv.DictReader(stream, delimiter="\t"):
            judged = row["entailment_judgment"]
            seen[judged] += 1
            found = relate(row["sentence_A"], row["sentence_B"])
            merged[judged] += found.relation is Relation.SAME
    table = Table(
        title="Pairs of a set of inferences taken for the same",
        columns=("class", "number", "merged"),
        rows=tuple((name, seen[name], merged[name] / seen[name]) for name in sorted(seen)),
    )
    return merged["CONTRADICTION"] / max(1, seen["CONTRADICTION"]), table
