"""What belongs together, drawn as threads: who on the left, what on the right. Pure.

Two columns and curves between them stay readable on a phone, where a cloud of circles does not: no name
ever lies on another.
"""

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass

from kinkeeper.memory.concepts import Concept, Relation

WIDTH = 320
ROW = 36
_TOP = 22
_LEFT, _RIGHT = 104, 198
_MOST_RIGHT = 24
_MOST_LEFT = 12
_LONGEST = 13
_THINNEST, _THICKEST = 1.5, 5.0


@dataclass(frozen=True, slots=True, kw_only=True)
class Knot:
    """One end of threads.

    Attributes:
        name: In full.
        label: As much of it as fits.
        y: Of its middle, in the picture's units.
        tint: 1 to 8, so that threads of one knot share a colour; 0 on the right.
    """

    name: str
    label: str
    y: float
    tint: int


@dataclass(frozen=True, slots=True, kw_only=True)
class Thread:
    """One relation.

    Attributes:
        path: Of the curve, for SVG.
        width: Of the line; the more often it was said, the thicker.
        tint: Of the knot it begins at.
    """

    path: str
    width: float
    tint: int


@dataclass(frozen=True, slots=True, kw_only=True)
class ConceptMap:
    """The picture, and the same in words.

    Attributes:
        height: Of the picture; its width is `WIDTH`.
        left: Who or what threads begin at.
        right: What they lead to.
        sentences: Every relation in words, by where it begins; also those the picture has no room for.
        left_out: How many relations the picture has no room for.
    """

    height: int
    left: tuple[Knot, ...]
    right: tuple[Knot, ...]
    threads: tuple[Thread, ...]
    sentences: Mapping[str, tuple[str, ...]]
    left_out: int


def concept_map(
    concepts: Iterable[Concept],
    relations: Iterable[Relation],
    *,
    named: Callable[[Concept], str],
    told: Callable[[Relation], Sequence[str]],
) -> ConceptMap:
    """Return what is to be drawn: the heaviest relations, ordered so that few threads cross.

    Args:
        concepts: That the relations join; others are left out.
        named: Says what a concept is called on the page.
        told: Says a relation in sentences.
    """
    names = {each.name: named(each) for each in concepts}
    known = [each for each in relations if each.source in names and each.target in names]
    known.sort(key=lambda each: (-each.weight, names[each.source], names[each.target], each.type))
    drawn = _heaviest(known)
    left = list(dict.fromkeys(each.source for each in drawn))
    right = _uncrossed(drawn, left)
    height = _TOP * 2 + ROW * max(len(left), len(right), 1)
    left_y, right_y = _spread(left, height), _spread(right, height)
    tints = {each: number % 8 + 1 for number, each in enumerate(left)}
    heaviest = max((each.weight for each in drawn), default=1.0)
    return ConceptMap(
        height=height,
        left=tuple(_knot(names[each], left_y[each], tints[each]) for each in left),
        right=tuple(_knot(names[each], right_y[each], 0) for each in right),
        threads=tuple(
            Thread(
                path=_curve(left_y[each.source], right_y[each.target]),
                width=round(max(_THINNEST, _THICKEST * each.weight / heaviest), 1),
                tint=tints[each.source],
            )
            for each in drawn
        ),
        sentences=_sentences(known, names, told),
        left_out=len(known) - len(drawn),
    )


def _heaviest(relations: Sequence[Relation]) -> list[Relation]:
    """Return what fits into the two columns: of each name its heaviest relation first, then its next, and so on."""
    left: dict[str, int] = {}
    ranked = []
    for each in relations:
        rank = left[each.source] = left.get(each.source, -1) + 1
        ranked.append((rank, each))
    chosen = sorted(left, key=lambda name: -left[name])[:_MOST_LEFT]
    right: set[str] = set()
    drawn = []
    for _, each in sorted(ranked, key=lambda found: found[0]):
        if each.source in chosen and (each.target in right or len(right) < _MOST_RIGHT):
            right.add(each.target)
            drawn.append(each)
    return drawn


def _uncrossed(relations: Sequence[Relation], left: Sequence[str]) -> list[str]:
    """Return the right column by where its threads begin on average, top first."""
    places = {each: number for number, each in enumerate(left)}
    begins: dict[str, list[int]] = {}
    for each in relations:
        begins.setdefault(each.target, []).append(places[each.source])
    return sorted(begins, key=lambda each: (sum(begins[each]) / len(begins[each]), each))


def _spread(ids: Sequence[str], height: int) -> dict[str, float]:
    room = (height - 2 * _TOP) / max(len(ids), 1)
    return {each: round(_TOP + room * (number + 0.5), 1) for number, each in enumerate(ids)}


def _curve(from_y: float, to_y: float) -> str:
    middle = (_LEFT + _RIGHT) / 2
    return f"M{_LEFT} {from_y}C{middle} {from_y} {middle} {to_y} {_RIGHT} {to_y}"


def _knot(name: str, y: float, tint: int) -> Knot:
    longest = _LONGEST if tint == 0 else _LONGEST - 2
    label = name if len(name) <= longest else f"{name[: longest - 1].rstrip()}…"
    return Knot(name=name, label=label, y=y, tint=tint)


def _sentences(
    relations: Iterable[Relation],
    names: Mapping[str, str],
    told: Callable[[Relation], Sequence[str]],
) -> dict[str, tuple[str, ...]]:
    found: dict[str, list[str]] = {}
    for each in relations:
        found.setdefault(names[each.source], []).extend(told(each))
    return {name: tuple(dict.fromkeys(lines)) for name, lines in sorted(found.items())}
