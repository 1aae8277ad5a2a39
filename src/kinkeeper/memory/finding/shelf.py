"""Texts of one kind of one household, as a search goes over them: words, meaning, and what they are like."""

import re
from collections import defaultdict
from collections.abc import Callable, Collection, Hashable, Mapping, Sequence
from dataclasses import dataclass
from enum import IntEnum
from math import inf

import numpy as np
from numpy.typing import NDArray

from kinkeeper.household.viewers import Viewer
from kinkeeper.memory.confidence import FADES_A_DAY
from kinkeeper.memory.finding.arrays import Slots, grown
from kinkeeper.memory.finding.lexical_index import IndexedText, LexicalIndex
from kinkeeper.memory.finding.terms import words
from kinkeeper.memory.finding.vector_index import VectorIndex
from kinkeeper.memory.finding.vectors import VectorKind
from kinkeeper.models.embedding.embedder import Vectors

# What kind of text it is: whether it asks or tells, and whether it names numbers, times, people,
# places. Pure.

_MOST = 3


class Trait(IntEnum):
    """One thing a text may have; the value is its column."""

    ENDS_ASKING = 0
    ASKS = 1
    EXCLAIMS = 2
    IS_REPLY = 3
    SPEAKS_OF_SELF = 4
    TIMES = 5
    NUMBERS = 6
    NAMES = 7
    PLACES = 8
    REASONS = 9


_WORDS = {
    Trait.TIMES: (
        "yesterday today tonight tomorrow last next ago since until soon recently morning day days week weeks weekend"
        " month months year years monday tuesday wednesday thursday friday saturday sunday january february march"
        " april june july august september october november december summer winter spring autumn fall christmas"
        " easter birthday"
    ),
    Trait.NUMBERS: (
        "one two three four five six seven eight nine ten eleven twelve twenty thirty forty fifty hundred thousand"
        " once twice first second third few several half"
    ),
    Trait.REASONS: "because since so due reason help helps to",
}
_SELF = frozenset({"I", "my", "me", "we", "our", "us"})
_PLACED = frozenset({"in", "at", "to", "from", "near", "on"})
_REPLY = re.compile(
    r"(?:wow|oh|that's|thanks|thank|awesome|great|cool|congrat|nice|haha|yeah|yes|yay|sounds|really|aw|amazing|glad"
    r"|no way|hey|hi|hello)\b",
    re.IGNORECASE,
)
_SIGNS = ".,;:!?…\"'()[]*-–—"
_GOES_ON = ",;"
_YEAR_DIGITS = 4
_ORDINALS = ("st", "nd", "rd", "th")


def traits_of(text: str) -> tuple[int, ...]:
    """Return how much of each trait a text has, in the order of `Trait`: 0, 1, and up to 3 of what is counted."""
    plain = text.replace("’", "'")
    found = [0] * len(Trait)
    found[Trait.ENDS_ASKING] = int(plain.rstrip().endswith("?"))
    found[Trait.ASKS] = int("?" in plain)
    found[Trait.EXCLAIMS] = int("!" in plain)
    found[Trait.IS_REPLY] = int(_REPLY.match(plain) is not None)
    found[Trait.NAMES] = plain.count('"') // 2
    last, last_word, placed = "", "", False
    for token in plain.split():
        # Letters before an apostrophe tell: "I'm" speaks of oneself, "week's" of a time.
        word = token.strip(_SIGNS).partition("'")[0]
        for trait in _TRAITS_OF.get(word.lower(), ()):
            found[trait] += 1
        if word in _SELF:
            found[Trait.SPEAKS_OF_SELF] += 1
        elif word[:1].isdigit():
            found[Trait.NUMBERS] += 1
            found[Trait.TIMES] += word.endswith(_ORDINALS) or (
                len(word) == _YEAR_DIGITS and word.isdigit()
            )
        elif word[:1].isupper():
            found[Trait.PLACES] += placed
            is_within = last.islower() or last in _GOES_ON
            found[Trait.NAMES] += bool(last) and is_within and word[1:2].islower()
        placed = word in _PLACED or (word == "the" and last_word in _PLACED)
        last, last_word = token[-1], word
    return tuple(min(_MOST, count) for count in found)


def _by_word() -> dict[str, list[Trait]]:
    traits: dict[str, list[Trait]] = defaultdict(list)
    for trait, known in _WORDS.items():
        for word in known.split():
            traits[word].append(trait)
    return dict(traits)


_TRAITS_OF = _by_word()


_SECONDS_A_DAY = 86_400
_NOBODY = 0
_ROW = np.dtype(
    [
        ("scope", "i4"),
        ("speaker", "i4"),
        ("is_assistant", "?"),
        ("said_at", "f8"),
        ("shown_from", "f8"),
        ("shown_until", "f8"),
        ("confidence", "f8"),
        ("faded_since", "f8"),
        ("traits", "u1", (len(Trait),)),
    ],
    align=True,
)

Mask = NDArray[np.bool_]


@dataclass(frozen=True, slots=True, kw_only=True)
class Entry:
    """A text to be found, and what decides who may find it when.

    Attributes:
        scope: Who may recall it.
        said_at: In seconds, like all times here.
        arrival: Orders what was said at the same time.
        session: Whose texts are each other's neighbours; None where it stands alone.
        speaker: Who said it, if known.
        is_assistant: Whether the assistant said it.
        confidence: In [0, 1], as of `faded_since`.
        faded_since: Up to when its silence was charged.
    """

    id: str
    text: str
    scope: str
    said_at: float
    arrival: int
    session: Hashable = None
    speaker: str | None = None
    is_assistant: bool = False
    shown_from: float = -inf
    shown_until: float = inf
    confidence: float = 1.0
    faded_since: float = inf


@dataclass(frozen=True, slots=True, kw_only=True)
class Admission:
    """What may be found by somebody now.

    Attributes:
        now: In seconds.
        above: Confidences at or below it are left out.
        without: Ids that are left out.
        with_assistant: Whether what the assistant said may be found.
        said_by: What was said later is left out, in seconds.
    """

    viewer: Viewer
    now: float
    above: float = 0.0
    without: frozenset[str] = frozenset()
    with_assistant: bool = False
    said_by: float = inf


class Shelf:
    """Texts of one kind."""

    def __init__(self, *kinds: VectorKind) -> None:
        self.words = LexicalIndex()
        self.vectors: Mapping[VectorKind, VectorIndex] = {kind: VectorIndex() for kind in kinds}
        self._slots: dict[str, int] = {}
        self._ids: list[str] = [""]
        self._scopes: dict[str, int] = {}
        self._speakers: dict[str, int] = {}
        self._rows = np.zeros(1, _ROW)

    def __len__(self) -> int:
        """Return how many texts there are."""
        return len(self._slots)

    def put(self, entries: Sequence[Entry]) -> None:
        """Add texts, in place of earlier ones of the same ids; their vectors are to be put again.

        Args:
            entries: Each id once.
        """
        self.drop([entry.id for entry in entries])
        slots = self.words.add(
            [
                IndexedText(
                    text=_told(entry),
                    said_at=entry.said_at,
                    arrival=entry.arrival,
                    session=None if entry.session is None else (entry.session, entry.scope),
                )
                for entry in entries
            ]
        )
        if self.words.room > len(self._rows):
            self._rows = grown(self._rows, max(self.words.room, 2 * len(self._rows)))
        self._ids += [entry.id for entry in entries]
        self._slots |= {entry.id: slot for entry, slot in zip(entries, slots.tolist(), strict=True)}
        self._rows[slots] = [self._row(entry) for entry in entries]

    def drop(self, ids: Collection[str]) -> None:
        """Remove texts, where they are here."""
        for each in ids:
            slot = self._slots.pop(each, None)
            if slot is not None:
                self.words.remove(slot)
                self._ids[slot] = ""
                for index in self.vectors.values():
                    index.remove(np.array([slot]))

    def put_vectors(self, kind: VectorKind, ids: Sequence[str], vectors: Vectors) -> None:
        """Add vectors of texts that are here.

        Args:
            kind: One of the shelf's.
        """
        slots = np.array([self._slots.get(each, 0) for each in ids], np.int64)
        here = slots > 0
        self.vectors[kind].put(slots[here], vectors[here])

    def admitted(self, asked: Admission) -> Callable[[Slots], Mask]:
        """Return what tells which places may be found."""
        scopes = np.array([asked.viewer.sees(scope) for scope in self._scopes] or [False])
        without = np.array([self._slots.get(each, 0) for each in asked.without], np.int64)

        def is_admitted(slots: Slots) -> Mask:
            rows = self._rows
            keep: Mask = scopes[rows["scope"][slots]]
            keep &= rows["shown_from"][slots] <= asked.now
            keep &= rows["shown_until"][slots] > asked.now
            keep &= rows["said_at"][slots] <= asked.said_by
            keep &= self.confidences(slots, asked.now) > asked.above
            if not asked.with_assistant:
                keep &= ~rows["is_assistant"][slots]
            return keep & ~np.isin(slots, without) if len(without) else keep

        return is_admitted

    def ids(self, slots: Slots) -> list[str]:
        """Return the ids of texts."""
        return [self._ids[slot] for slot in slots.tolist()]

    def slots(self, ids: Sequence[str]) -> Slots:
        """Return the places of texts, 0 of those that are not here."""
        return np.array([self._slots.get(each, 0) for each in ids], np.int64)

    def said_at(self, slots: Slots) -> NDArray[np.float64]:
        """Return when texts were said."""
        said_at: NDArray[np.float64] = self._rows["said_at"][slots]
        return said_at

    def traits(self, slots: Slots) -> NDArray[np.uint8]:
        """Return what kind of texts they are: shape (texts, traits); 0 of no text."""
        traits: NDArray[np.uint8] = self._rows["traits"][slots]
        return traits

    def confidences(self, slots: Slots, now: float) -> NDArray[np.float64]:
        """Return how sure one may be of texts.

        Args:
            now: In seconds.
        """
        days = np.maximum(0.0, now - self._rows["faded_since"][slots]) / _SECONDS_A_DAY
        faded: NDArray[np.float64] = self._rows["confidence"][slots] * np.exp(-FADES_A_DAY * days)
        return faded

    def speakers_named(self, text: str) -> frozenset[str]:
        """Return the words of a text that name somebody who speaks here."""
        return frozenset(words(text)) & {word for name in self._speakers for word in words(name)}

    def is_said_by(self, slots: Slots, names: Collection[str]) -> Mask:
        """Return whether texts were said by somebody whose name holds one of these words."""
        wanted = [
            number
            for name, number in self._speakers.items()
            if not {*words(name)}.isdisjoint(names)
        ]
        return np.isin(self._rows["speaker"][slots], wanted)

    def _row(self, entry: Entry) -> tuple[object, ...]:
        scope = self._scopes.setdefault(entry.scope, len(self._scopes))
        speaker = _NOBODY
        if entry.speaker is not None:
            speaker = self._speakers.setdefault(entry.speaker, len(self._speakers) + 1)
        return (
            scope,
            speaker,
            entry.is_assistant,
            entry.said_at,
            entry.shown_from,
            entry.shown_until,
            entry.confidence,
            entry.faded_since,
            traits_of(entry.text),
        )


def _told(entry: Entry) -> str:
    """Return a text with who said it: a query that names somebody asks for their words, too."""
    return f"{entry.speaker} {entry.text}" if entry.speaker else entry.text
