"""Labelled rows for the encoder: the writers' text as word pieces, with what each word and clause is labelled.

Names are drawn anew for each copy of a talk, so that no name is a shortcut.
"""

import random
import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from pathlib import Path
from typing import Final
from zoneinfo import ZoneInfo

from kinkeeper.models.embedding.minilm import shipped_vocabulary
from kinkeeper.reading.encoder import EncoderInput, encoder_input
from kinkeeper.reading.model import Context, Said, SlotName, Surface, Utterance
from training.corpus import ACTS, PREDICATES, Clause, Message, Talk, read_corpus
from training.fit_reader import ASSISTANT, MODALITIES, NO_PREDICATE, is_plan

ACT_LABELS: Final = tuple(sorted(ACTS))
PREDICATE_LABELS: Final = (NO_PREDICATE, *sorted(PREDICATES))
MODALITY_LABELS: Final = tuple(sorted({each.value for each in MODALITIES.values()} | {"plain"}))
SLOT_LABELS: Final = ("-", *sorted(each.value for each in SlotName))
"""Tag of a word; the first stands for none."""

NOTHING: Final = -1
"""Link of a clause that answers nothing."""

UNREACHED: Final = -100
"""Link of a clause whose message or item is too far away to be read."""

_ROLES: Final = frozenset(
    [
        "Mother",
        "Father",
        "Mum",
        "Mom",
        "Mam",
        "Dad",
        "Daddy",
        "Mama",
        "Papa",
        "Gran",
        "Granny",
        "Grandma",
        "Grandpa",
        "Nan",
        "Nana",
        "Uncle",
        "Aunt",
        "Auntie",
        "Aunty",
        "Dr",
        "Mr",
        "Mrs",
        "Ms",
        "The",
        "Kin",
    ]
)
_SHORTEST_NAME: Final = 3


@dataclass(frozen=True, slots=True, kw_only=True)
class ClauseLabels:
    """What is labelled of one clause: its words (first, end), indexes into the label tables, and its link.

    Attributes:
        link: Index among open items and then earlier messages of the row, `NOTHING`, or `UNREACHED`.
    """

    first: int
    end: int
    act: int
    predicate: int
    modality: int
    is_negated: bool
    is_secret: bool
    is_plan: bool
    link: int


@dataclass(frozen=True, slots=True, kw_only=True)
class Row:
    """One message with its labels; `tags`, `begins` and `cuts` have an entry for each word of the row.

    Attributes:
        tags: Index of the slot that a word belongs to.
        begins: Whether a slot begins at it.
        cuts: Whether a clause begins at it; the first word of a message never counts.
    """

    writer: str
    surface: Surface
    row: EncoderInput
    tags: tuple[int, ...]
    begins: tuple[bool, ...]
    cuts: tuple[bool, ...]
    clauses: tuple[ClauseLabels, ...]


def labelled_rows(folder: Path, copies: int) -> list[list[Row]]:
    """Return the rows of every message that a person wrote, once as written and then with other names.

    Args:
        folder: Has a folder for each writer.
        copies: How often, >= 1. Each copy has the same messages in the same order.
    """
    talks = [*read_corpus(folder)]
    pool = sorted({name for _, talk in talks for name in _first_names(talk)})
    return [
        [
            row
            for index, (writer, talk) in enumerate(talks)
            for row in _rows(writer, talk, _swapped(talk, pool, copy, index))
        ]
        for copy in range(copies)
    ]


def _first_names(talk: Talk) -> set[str]:
    speakers = {each.speaker.split()[0] for each in talk.messages}
    return {each for each in speakers if each[0].isupper() and each not in _ROLES}


def _swapped(talk: Talk, pool: Sequence[str], copy: int, index: int) -> Mapping[str, str]:
    """Return another name for each name of a talk, both in lower case on the left; none in the first copy."""
    if not copy:
        return {}
    drawn = random.Random(f"{copy} {index}")  # noqa: S311 - names, no secret
    names = {*re.findall(r"\b[A-Z][\w'’-]+", talk.people)}
    names |= {part for each in talk.messages for part in each.speaker.split()}
    kept = sorted(each for each in names - _ROLES if len(each) >= _SHORTEST_NAME)
    return {each.lower(): drawn.choice(pool) for each in kept}


@dataclass(frozen=True, slots=True)
class _Renamed:
    """A text with names swapped, and where offsets of the old text lie in it."""

    text: str
    shifts: tuple[tuple[int, int, int], ...]  # old start, old end, new end

    def place(self, old: int) -> int:
        moved = 0
        for start, end, new_end in self.shifts:
            if old >= end:
                moved = new_end - end
            elif old > start:
                return start + moved
        return old + moved


def _renamed(text: str, names: Mapping[str, str]) -> _Renamed:
    new, shifts, place = "", [], 0
    for found in re.finditer(r"[^\W\d_]+", text) if names else ():
        name = names.get(found[0].lower())
        if name is None:
            continue
        typed = found[0]
        cased = name.upper() if typed.isupper() and len(typed) > 1 else name
        new += text[place : found.start()] + (cased.lower() if typed[0].islower() else cased)
        place = found.end()
        shifts.append((found.start(), found.end(), len(new)))
    return _Renamed(new + text[place:], tuple(shifts))


def _rows(writer: str, talk: Talk, names: Mapping[str, str]) -> Iterator[Row]:
    at = datetime.fromisoformat(talk.at).replace(tzinfo=ZoneInfo("UTC"))
    items = [f"{kind}: {_renamed(text, names).text}" for kind, text in talk.items.values()]
    before: list[Said] = []
    for message in talk.messages:
        renamed, speaker = _renamed(message.text, names), _renamed(message.speaker, names).text
        if message.speaker != ASSISTANT:
            utterance = Utterance(
                text=renamed.text, speaker=speaker, sent_at=at, surface=Surface(talk.surface)
            )
            context = Context(before=tuple(before), items=tuple(items))
            row = encoder_input(utterance, context, shipped_vocabulary())
            if row.words:
                yield _labelled(writer, talk, message=message, renamed=renamed, row=row)
        before.append(Said(speaker, renamed.text))


def _labelled(
    writer: str, talk: Talk, *, message: Message, renamed: _Renamed, row: EncoderInput
) -> Row:
    tags, begins = [0] * len(row.words), [False] * len(row.words)
    clauses = []
    for clause in message.clauses:
        start, end = renamed.place(clause.start), renamed.place(clause.end)
        own = [index for index, (place, _) in enumerate(row.words) if start <= place < end]
        for slot in clause.slots:
            first, last = renamed.place(slot.start), renamed.place(slot.end)
            marked = [
                index for index in own if row.words[index][0] < last and row.words[index][1] > first
            ]
            for index in marked:
                tags[index] = SLOT_LABELS.index(slot.name)
                begins[index] = index == marked[0]
        if own:
            clauses.append(_clause(clause, talk, row, first=own[0], end=own[-1] + 1))
    return Row(
        writer=writer,
        surface=Surface(talk.surface),
        row=row,
        tags=tuple(tags),
        begins=tuple(begins),
        cuts=_cuts(len(row.words), clauses),
        clauses=tuple(clauses),
    )


def _cuts(words: int, clauses: Sequence[ClauseLabels]) -> tuple[bool, ...]:
    starts = {each.first for each in clauses} - {0}
    return tuple(word in starts for word in range(words))


def _clause(clause: Clause, talk: Talk, row: EncoderInput, *, first: int, end: int) -> ClauseLabels:
    modality = MODALITIES[clause.modality].value if clause.modality else "plain"
    return ClauseLabels(
        first=first,
        end=end,
        act=ACT_LABELS.index(clause.act),
        predicate=PREDICATE_LABELS.index(clause.predicate or NO_PREDICATE),
        modality=MODALITY_LABELS.index(modality),
        is_negated=clause.is_negated,
        is_secret=clause.is_secret,
        is_plan=is_plan(clause),
        link=_link(clause, talk, row),
    )


def _link(clause: Clause, talk: Talk, row: EncoderInput) -> int:
    if clause.link is not None:
        place = clause.link - 1 - row.first_earlier
        return len(row.items) + place if 0 <= place < len(row.earlier) else UNREACHED
    if clause.item is not None:
        place = [*talk.items].index(clause.item)
        return place if place < len(row.items) else UNREACHED
    return NOTHING
