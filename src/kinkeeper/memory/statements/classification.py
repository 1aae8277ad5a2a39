"""Which category of memory a statement belongs to, and what kind of sentence it is."""

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace

from kinkeeper.language.sorting.cues import load_cues
from kinkeeper.language.sorting.sorter import Kind, Sorted, Sorter, sorted_by_cues
from kinkeeper.language.text import shorten, strip_controls
from kinkeeper.memory.model import Category, StatementType
from kinkeeper.memory.statements.canonical_words import opened
from kinkeeper.memory.statements.statement_frames import Framing, unframed
from kinkeeper.memory.statements.statement_reader import read_statement
from kinkeeper.models.embedding.embedder import Embedder

_PACKAGE = "kinkeeper.memory.statements"
_LONGEST_TITLE = 80
_CUES = load_cues("category_cues", _PACKAGE)
_OF_READING = (
    *(f"slot_{category}" for category in Category),
    "of_another", "of_another_in_slot", "is_denied", "is_over", "no_slot",
)  # fmt: skip
_SHOWN_BY = {
    Category.TECHNICAL: "technical", Category.EMOTIONAL: "feels", Category.PREFERENCE: "likes",
}  # fmt: skip
# Anything may be somewhere, or at some time.
_TELL_NO_CATEGORY = frozenset(("place", "when"))
_EVENT = re.compile(
    r"\b(?:yesterday|last night|this morning|today|tonight|just|on (?:mon|tues|wednes|thurs|fri|satur|sun)day|last (?:week|month|weekend|\w+day)|"
    r"got (?:married|engaged|divorced)|was born|had a baby|died|passed away|celebrated|turned \w+|graduated|\w+ days? ago|won|broke (?:his|her|my|a)|"
    r"had (?:twins|a (?:boy|girl|baby)))\b"
)
_RULE = re.compile(
    r"^(?:no|never|always|nobody|only|at most)\b|\b(?:must(?:n't)?|has to|have to|are to|is to|needs? to|not allowed|allowed to|may (?:not|only)|"
    r"comes? (?:before|first)|off in the|stays? (?:in|out|off)|bedtime|curfew|rules?|forbid\w*|banned|gets? \w+ (?:until|without|unless)|before (?:breakfast|dinner|bed|stories)|pocket money)\b"
)
_PLAN = re.compile(
    r"\b(?:plan\w*|organi[sz]\w+|going to|preparing|putting together|getting ready|drafting|arranging|about to|booked|next (?:week|month|year)|this week)\b"
)
_NOTE = re.compile(
    r"\b(?:password|pin|passcode|code|number|key|keys|fuse box|spare|hangs|lies|is kept|are kept|address|combination|account|reference)\b.*\b(?:is|are|hangs|lies|kept)\b"
)


@dataclass(frozen=True, slots=True, kw_only=True)
class Classified:
    """What a statement is.

    Attributes:
        category: What it is about.
        type: What kind of sentence it is.
        title: One line.
        confidence: The chance that the category is right, in [0, 1].
        chances: Of each category; they add up to 1.
        stage: What gave them: "cues" alone, or the model whose vector was read beside the cues.
    """

    category: Category
    type: StatementType
    title: str
    confidence: float
    chances: Mapping[Category, float]
    stage: str


def classify(text: str) -> Classified:
    """Return what a statement is, by rules alone.

    Args:
        text: One statement.
    """
    return _classified(text, sorted_by_cues(KIND, text))


def classify_personal(text: str) -> Classified:
    """Return what a statement is to those who keep it: technical, a feeling or a taste only where its words show it.

    In doubt it tells of people as they are, since what is technical never gives way to news, and a feeling is
    forgotten after a while.

    Args:
        text: One statement.
    """
    found = classify(text)
    unshown = _unshown(text)
    if found.category not in unshown:
        return found
    category = max(set(Category) - unshown, key=lambda each: (found.chances[each], each))
    return replace(
        found, category=category, type=_type_of(text, category), confidence=found.chances[category]
    )


def _unshown(text: str) -> frozenset[Category]:
    """Return the categories that need words of their own, of which a statement has none.

    What fills a slot of people is not technical, whatever its words ("our wifi password").
    """
    seen = _CUES.seen_in(text)
    slots = {reading.category for reading in read_statement(text)[:1]} - {""}
    unshown = {each for each, cue in _SHOWN_BY.items() if cue not in seen and each not in slots}
    return frozenset(unshown | ({Category.TECHNICAL} if slots - {Category.TECHNICAL} else set()))


class StatementClassifier:
    """Tells what statements are.

    Args:
        embedder: None judges by rules alone.
    """

    def __init__(self, embedder: Embedder | None) -> None:
        self._sorter = Sorter(KIND, embedder)

    async def classify(self, texts: Sequence[str]) -> list[Classified]:
        """Return what each statement is.

        Args:
            texts: One statement each.
        """
        found = await self._sorter.sort(texts)
        return [_classified(text, each) for text, each in zip(texts, found, strict=True)]


def _cues_of(text: str) -> dict[str, float]:
    """Return the cues of a statement: patterns in it, and what was read in it."""
    cues = _CUES.seen_in(text)
    for reading in read_statement(text)[:1]:
        is_of_another = reading.subject != "me"
        if reading.category and reading.slot not in _TELL_NO_CATEGORY:
            cues[f"slot_{reading.category}"] = 1.0
            cues["of_another_in_slot"] = float(is_of_another)
        else:
            cues["no_slot"] = 1.0
        cues["of_another"] = float(is_of_another)
        cues["is_denied"] = float(reading.is_negative)
        cues["is_over"] = float(reading.is_retraction)
    return cues


KIND = Kind(
    name="category", package=_PACKAGE, cue_names=(*_CUES.names, *_OF_READING), cues_of=_cues_of
)


def _classified(text: str, found: Sorted) -> Classified:
    category = Category(found.best)
    return Classified(
        category=category, type=_type_of(text, category), title=title_of(text),
        confidence=found.chances[category], stage=found.stage,
        chances={each: found.chances[each] for each in Category},
    )  # fmt: skip


def _type_of(text: str, category: Category) -> StatementType:
    plain = opened(text)
    if category is Category.EMOTIONAL:
        return StatementType.FEELING
    if category is Category.GOAL:
        return StatementType.PLAN
    if category is Category.PREFERENCE:
        return StatementType.PREFERENCE
    if category is Category.CONSTRAINT:
        return StatementType.RULE if _RULE.search(plain) else StatementType.STATEMENT
    if category is Category.PROJECT_ACTIVE:
        return StatementType.PLAN if _PLAN.search(plain) else StatementType.STATEMENT
    if category in {Category.IDENTITY, Category.RELATIONSHIP} and _EVENT.search(plain):
        return StatementType.EVENT
    if category is Category.IDENTITY and _NOTE.search(plain):
        return StatementType.NOTE
    return StatementType.STATEMENT


def title_of(text: str) -> str:
    """Return a statement as one short line.

    Args:
        text: One statement.
    """
    return shorten(told_plainly(text), _LONGEST_TITLE)


_TURNS = frozenset((Framing.HYPOTHETICAL, Framing.PAST, Framing.RETRACTION))
"""Without such a frame a statement says the opposite."""


def told_plainly(text: str) -> str:
    """Return a statement without what frames it and changes nothing of its sense, its first letter large.

    Args:
        text: One statement.
    """
    plain = " ".join(strip_controls(text).split()).rstrip(" .!,;:")
    core, framings = unframed(plain.lower())
    is_turned = not _TURNS.isdisjoint(framings)
    if framings and not is_turned and len(core) < len(plain) and plain.lower().endswith(core):
        plain = plain[len(plain) - len(core) :]
    return plain[:1].upper() + plain[1:]
