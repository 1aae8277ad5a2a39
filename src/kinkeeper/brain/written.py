"""What notes say about a question: the lines that have its words. Pure."""

from collections.abc import Sequence

from kinkeeper.brain.model import Source, SourceKind
from kinkeeper.language.text import shorten
from kinkeeper.memory.finding.terms import stems
from kinkeeper.notes.model import Note
from kinkeeper.notes.text import entries

_SURE = 0.9
"""A line that has every word that is asked about; what was found in calendar and memory goes before it."""

_ASKS_NOTHING = frozenset(
    stems(
        "what which who whose where when how much many long old code we have got put keep know find need does did colour color number"
    )
)
_LEAST = 0.6
_MOST = 2
_LONGEST = 240


def written(question: str, notes: Sequence[Note]) -> list[Source]:
    """Return the lines of notes that bear on a question, best first.

    Args:
        question: In any words.
        notes: Those that whoever asks may read.
    """
    wanted = frozenset(stems(question))
    named = wanted - _ASKS_NOTHING
    found = [
        _source(note, line, round(_SURE * share, 3))
        for note in notes
        for line in entries(note.body)
        if (share := _share(wanted, named, note, line)) >= _LEAST
    ]
    return sorted(found, key=_by_relevance)[:_MOST]


def _share(wanted: frozenset[str], named: frozenset[str], note: Note, line: str) -> float:
    """Return how much of what is asked about a line speaks of, its note's title counted with it, in [0, 1]."""
    said = frozenset(stems(line))
    beside = said | frozenset(stems(note.title))
    if not named & said or len(beside - wanted) == 0:
        return 0.0
    return max(len(named & beside) / len(named), len(wanted & beside) / len(wanted))


def _source(note: Note, line: str, relevance: float) -> Source:
    words = shorten(" ".join(line.split()), _LONGEST)
    return Source(
        id=note.id, kind=SourceKind.NOTE, text=line, sentence=f"On “{note.title}”: {words}.".replace("..", "."),
        relevance=relevance, at=note.created_at,
    )  # fmt: skip


def _by_relevance(source: Source) -> float:
    return -source.relevance
