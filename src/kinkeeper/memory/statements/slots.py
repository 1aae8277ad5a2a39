"""Slots of what people tell, and the sentences that fill them, from the data file."""

import re
import tomllib
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cache
from importlib.resources import files
from typing import Any

from kinkeeper.memory.statements.canonical_words import canon_of, lexicon

SUBJECT = "S"
"""Stands for whom a sentence is about."""

NOUN = "N"
"""Stands for the noun of a slot."""

ACT = "A"
"""Stands for what somebody does with what fills a slot."""

_NEGATED = "!"
_PART = re.compile(
    r"\((?P<options>[^)]*)\)(?P<maybe>\?)?|<(?P<hole>\w+)(?::(?P<among>[^>]*))?>(?P<empty>\?)?|(?P<any>\*)|(?P<word>[^\s()<>*]+)"
)
# Too frequent to look a frame up by.
_COMMON = frozenset(
    canon_of(word)
    for word in [
        "have",
        "take",
        "use",
        "go",
        "get",
        "make",
        "keep",
        "come",
        "be",
        "do",
        "like",
        "want",
        "need",
    ]
)


@dataclass(frozen=True, slots=True, kw_only=True)
class Slot:
    """Something that people tell about somebody or something.

    Attributes:
        is_single: Whether a new value takes the old one's place.
        category: Of a statement that fills it.
        is_person: Whether its value is a person or pet by name.
        is_thing: Whether its nouns are things of their own, of which only a name is a value.
        is_apart: Whether its nouns are different things.
        is_number: Whether its value is a number.
        has_digits: Whether its value must hold digits (True), or must not (False).
        is_fixed: Whether it never changes: another value contradicts.
        family: Key of a more general slot that the same may be told of.
        is_when: Whether its value must be a time (True), or must not (False), of a topic that is told.
        is_exact: Whether different topics fill it side by side, also where one names none.
        side: "like" or "dislike", whose same values exclude each other; else empty.
    """

    name: str
    is_single: bool
    category: str
    is_person: bool = False
    is_thing: bool = False
    is_apart: bool = False
    is_number: bool = False
    has_digits: bool | None = None
    is_fixed: bool = False
    family: str = ""
    is_exact: bool = False
    is_when: bool | None = None
    side: str = ""


@dataclass(frozen=True, slots=True, kw_only=True)
class SlotFrame:
    """One kind of sentence.

    Attributes:
        pattern: Over canonical words, each followed by a space; groups `v` (the value) and `t` (the topic).
        weight: How many words it fixes: of several that fit, the one that fixes most is right.
        slot: What it fills; None where a noun, `NOUN` in the sentence, tells.
        is_for_people: Whether the noun may stand for a person.
        needs_negation: Whether it means so only where it is negated ("I can't stand it").
    """

    pattern: re.Pattern[str]
    weight: int
    slot: Slot | None
    is_for_people: bool = True
    needs_negation: bool = False


@dataclass(frozen=True, slots=True, kw_only=True)
class Slots:
    """All slots.

    Attributes:
        by_anchor: Frames of slots by a word that they need.
        nouns: Slots by their canonical nouns.
        act_frames: Frames of anything that one does.
        kinds: Slots by canonical values that tell them.
    """

    by_name: Mapping[str, Slot]
    by_anchor: Mapping[str, Sequence[SlotFrame]]
    noun_frames: Sequence[SlotFrame]
    nouns: Mapping[str, Slot]
    act_frames: Sequence[SlotFrame]
    acts: Mapping[str, Slot]
    kind_frames: Sequence[SlotFrame]
    kinds: Mapping[str, Slot]


@cache
def slots() -> Slots:
    """Return the slots of the data file, read once."""
    raw = tomllib.loads(files(__package__).joinpath("data/slots.toml").read_text(encoding="utf-8"))
    by_name = {name: _slot(name, content) for name, content in raw["slots"].items()}
    by_anchor: dict[str, list[SlotFrame]] = {}
    for name, content in raw["slots"].items():
        for written in content["frames"]:
            pattern, weight, anchors = _compiled(written.removeprefix(_NEGATED))
            frame = SlotFrame(
                pattern=pattern,
                weight=weight,
                slot=by_name[name],
                needs_negation=written.startswith(_NEGATED),
            )
            for anchor in anchors:
                by_anchor.setdefault(anchor, []).append(frame)
    return Slots(
        by_name=by_name,
        by_anchor=by_anchor,
        noun_frames=[
            *_general(raw["noun_frames"]["people"]),
            *_general(raw["noun_frames"]["things"], is_for_people=False),
        ],
        nouns=_named(by_name, raw["slots"], "nouns"),
        act_frames=_general(raw["act_frames"]["act"]),
        acts=_named(by_name, raw["slots"], "acts"),
        kind_frames=_general(raw["act_frames"]["kind"]),
        kinds=_named(by_name, raw["slots"], "kinds"),
    )


def _general(frames: Sequence[str], *, is_for_people: bool = True) -> list[SlotFrame]:
    found = []
    for written in frames:
        pattern, weight, _ = _compiled(written)
        found.append(
            SlotFrame(pattern=pattern, weight=weight, slot=None, is_for_people=is_for_people)
        )
    return found


def _named(
    by_name: Mapping[str, Slot], content: Mapping[str, Mapping[str, Any]], key: str
) -> dict[str, Slot]:
    """Return slots by their canonical nouns, acts or kinds; the first slot that has one keeps it."""
    found: dict[str, Slot] = {}
    for name, slot in by_name.items():
        words = content[name].get(key, ())
        for word in words.split() if isinstance(words, str) else words:
            found.setdefault(canonical(word), slot)
    return found


def _slot(name: str, content: Mapping[str, Any]) -> Slot:
    return Slot(
        name=name,
        is_single=not content.get("many", False),
        category=content["category"],
        is_person=content.get("about") == "person",
        is_thing=content.get("thing", False),
        is_apart=content.get("apart", False),
        is_number=content.get("number", False),
        has_digits=content.get("amount"),
        is_fixed=content.get("fixed", False),
        family=content.get("family", name),
        is_exact=content.get("exact", False),
        is_when=content.get("when"),
        side=content.get("side", ""),
    )


def canonical(words: str) -> str:
    """Return words as they are compared, one space between them.

    Args:
        words: In lower case, without marks.
    """
    return " ".join(canon_of(word) for word in words.split())


def _compiled(frame: str) -> tuple[re.Pattern[str], int, frozenset[str]]:
    """Return a frame's pattern, how many words it fixes, and the words to look it up by."""
    pieces: list[str] = []
    weight = 0
    anchors: frozenset[str] = frozenset()
    for part in _PART.finditer(frame):
        if hole := part["hole"]:
            among = _options(part["among"]) if part["among"] else []
            inner = _either(among) if among else rf"(?:\S+ ){'*?' if part['empty'] else '+?'}"
            pieces.append(f"(?P<{hole}>{inner})")
            if among:
                weight += 1
                anchors = _better(anchors, _last_words(among))
            continue
        if part["any"]:
            pieces.append(r"(?:\S+ ){0,3}?")
            continue
        written = part["word"] or part["options"]
        is_optional = bool(part["maybe"]) or written.endswith("?")
        options = _options(written.removesuffix("?"))
        pieces.append(_either(options) + ("?" if is_optional else ""))
        if not is_optional:
            weight += 1
            anchors = _better(anchors, _last_words(options))
    return re.compile("".join(pieces)), weight, anchors


def _either(options: Sequence[str]) -> str:
    return "(?:" + "|".join(re.escape(option).replace(r"\ ", " ") + " " for option in options) + ")"


def _options(written: str) -> list[str]:
    return [" ".join(_literal(word) for word in option.split()) for option in written.split("|")]


def _last_words(options: Sequence[str]) -> frozenset[str]:
    return frozenset(option.split()[-1] for option in options)


def _literal(word: str) -> str:
    return word if word in {SUBJECT, NOUN, ACT} else canon_of(word)


def _better(one: frozenset[str], other: frozenset[str]) -> frozenset[str]:
    """Return the words by which a frame is looked up less often."""
    return min((one, other), key=_frequency) if one else other


def _frequency(words: frozenset[str]) -> float:
    light = lexicon().light
    return sum(
        10.0 if word in light or word == SUBJECT else 3.0 if word in _COMMON else 1.0
        for word in words
    ) / len(words)
