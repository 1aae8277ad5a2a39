"""A household's words found in a message, and whether an everyday word is meant as one of its names."""

import re
import tomllib
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, field
from functools import cache
from importlib.resources import files
from itertools import product
from typing import NamedTuple, Protocol

from kinkeeper.language.compact import Memo
from kinkeeper.language.dictionary import Misspellings, first_names, word_ranks
from kinkeeper.language.text import Token, TokenKind, tokenise, unaccented

# Whether an everyday word is meant as a household's name: "Will", "Grace", "art".

PEOPLE = frozenset({"child", "adult"})
"""Kinds of terms that are first names and what people are called."""

_PLAIN = frozenset({"children", "group"})
_NO_SUBJECT = frozenset(
    {"the", "a", "an", "in", "i", "we", "you", "they", "he", "she", "it", "that"}
)
_ANDS = frozenset({"and", "&", "+"})
_CLOCK = re.compile(r"\d{1,2}[.:][0-5]\d(?:am|pm)?")
_EVERYDAY_FOR_PEOPLE = 15_000
_EVERYDAY_FOR_THINGS = 1_000


@dataclass(frozen=True, slots=True, kw_only=True)
class _Cues:
    kin: frozenset[str]
    calendar: frozenset[str]
    calendar_before: frozenset[str]
    weekdays: frozenset[str]
    spoken_to: frozenset[str]
    asking: frozenset[str]
    errands: frozenset[str]
    opening: frozenset[str]
    person_only_before: frozenset[str]
    auxiliary: frozenset[str]
    person_strong_before: frozenset[str]
    person_before: frozenset[str]
    person_after: frozenset[str]
    thing_before: frozenset[str]
    thing_after: frozenset[str]


@cache
def _cues() -> _Cues:
    raw = tomllib.loads(
        files(__package__).joinpath("data/evidence.toml").read_text(encoding="utf-8")
    )
    return _Cues(
        kin=frozenset(raw["kin"].split()),
        calendar=frozenset(raw["calendar"].split()),
        calendar_before=frozenset(raw["calendar_before"].split()),
        weekdays=frozenset(raw["weekdays"].split()),
        spoken_to=frozenset(raw["weekday"]["spoken_to"].split()),
        asking=frozenset(raw["weekday"]["asking"].split()),
        errands=frozenset(raw["weekday"]["errands"].split()),
        opening=frozenset(raw["weekday"]["opening"].split()),
        person_only_before=frozenset(raw["weekday"]["before"].split()),
        auxiliary=frozenset(raw["auxiliary"].split()),
        person_strong_before=frozenset(raw["person"]["strong_before"].split()),
        person_before=frozenset(raw["person"]["before"].split()),
        person_after=frozenset(raw["person"]["after"].split()),
        thing_before=frozenset(raw["thing"]["before"].split()),
        thing_after=frozenset(raw["thing"]["after"].split()),
    )


def needs_evidence(kind: str, word: str) -> bool:
    """Tell whether a single-word term is an everyday word as well.

    People's names are, where they are among the 15,000 most frequent words and in no list of first
    names or kin; other terms only among the 1,000 most frequent. Groups of people and generic
    terms ("generic_…") mean themselves everywhere.

    Args:
        word: The term, folded, without diacritics.
    """
    if kind in _PLAIN or kind.startswith("generic"):
        return False
    rank = word_ranks().get(word)
    if rank is None or word in _cues().kin:
        return False
    if kind in PEOPLE:
        return rank < _EVERYDAY_FOR_PEOPLE and word not in first_names()
    return rank < _EVERYDAY_FOR_THINGS


def has_evidence(
    kind: str, tokens: Sequence[Token], place: int, *, is_beside_mention: bool
) -> bool:
    """Tell whether the token is meant as a name where it stands.

    It is when it is possessive, capitalised within a sentence of ordinary case, joined by "and" to
    another mention, or beside a cue: for people a verb of transport or a preposition before, or a
    third-person verb after; for other things what one says around lessons and appointments. Words
    of the calendar ("May") need a verb, a possessive or a place in a list of names.

    Args:
        place: Index of the token.
        is_beside_mention: Whether an unmistakable mention stands directly before, or is joined
            to it by "and".
    """
    cues, token = _cues(), tokens[place]
    before = tokens[place - 1].text if place else ""
    after = tokens[place + 1].text if place + 1 < len(tokens) else ""
    word = token.text.partition("'")[0]
    if "'s" in token.text or len(tokens) == 1:
        return True
    if kind not in PEOPLE:
        return (
            is_beside_mention
            or before in cues.thing_before
            or before.endswith("'s")
            or after in cues.thing_after
            or (place + 1 < len(tokens) and tokens[place + 1].kind is TokenKind.TIME)
            or _is_capitalised(tokens, place)
        )
    if word in cues.weekdays:
        return _is_called(tokens, place) or before in cues.person_only_before
    if _is_called(tokens, place) and word not in cues.auxiliary:
        return True
    if before in cues.person_strong_before or (
        after in cues.person_after and before not in _NO_SUBJECT
    ):
        return True
    if word in cues.calendar:
        return _is_listed_name(tokens, place) and is_beside_mention
    return (
        before in cues.person_before
        or is_beside_mention
        or _is_capitalised(tokens, place)
        or _is_listed_with_hour(tokens, place)
    )


def _is_listed_with_hour(tokens: Sequence[Token], place: int) -> bool:
    """Tell whether a clause opens with the word and goes on with a clock: "Will 4.40", "and Will at 4:40"."""
    is_first = not place or tokens[place - 1].kind is not TokenKind.WORD
    if not is_first and tokens[place - 1].text not in _ANDS:
        return False
    after = [token.text for token in tokens[place + 1 : place + 3]]
    hour = next((text for text in after if text not in {"at", ":"}), "")
    return _CLOCK.fullmatch(hour) is not None


def _is_called(tokens: Sequence[Token], place: int) -> bool:
    """Tell whether a clause opens with the word as whom it is said to, or who goes: "Sunday please …", "Sunday will take …"."""
    cues = _cues()
    if (
        place
        and tokens[place - 1].kind is TokenKind.WORD
        and tokens[place - 1].text not in cues.opening
    ):
        return False
    after, then = ([token.text for token in tokens[place + 1 : place + 3]] + ["", ""])[:2]
    return (
        after in cues.spoken_to
        or (after in cues.asking and then in {"you", "u", "ya"})
        or (after in cues.asking and then in cues.errands)
    )


def _is_listed_name(tokens: Sequence[Token], place: int) -> bool:
    """Tell whether a word of the calendar stands in a list of names: "Ben and June", not "Ben and June 5th"."""
    before, after = tokens[max(place - 1, 0) : place], tokens[place + 1 : place + 2]
    is_joined = any(token.text in _ANDS for token in (*before, *after))
    is_dated = any(token.text in _cues().calendar_before for token in before) or any(
        token.text[0].isdigit() for token in (*before, *after)
    )
    return is_joined and not is_dated


def _is_capitalised(tokens: Sequence[Token], place: int) -> bool:
    """Tell whether a capital stands out: within a sentence whose words mostly have none."""
    if not place or not tokens[place].surface[:1].isupper():
        return False
    previous = tokens[place - 1]
    if previous.text[0] in ".!?…" or "\n" in previous.source[previous.end : tokens[place].start]:
        return False
    words = [token for token in tokens if token.kind is TokenKind.WORD]
    return 2 * sum(token.surface[:1].islower() for token in words) >= len(words) - 1


_WORD, _LINK = TokenKind.WORD, TokenKind.LINK  # looking a member up for every token would show
_PARTICLES = frozenset({"up", "off", "out", "over"})
_SKIPPED_INSIDE = frozenset({".", "-", "'"})
_JOINING = frozenset({"and", "&", "or", "/", ","})
_LONGEST_JOINED = 4
_HELPING = frozenset({"will", "can", "may", "hope"})
_SHORTENED = frozenset({"ll", "ve", "re", "t", "m"})
_SHORTEST_HALF = 3
_SHORTEST_SINGULAR = 4


@dataclass(frozen=True, slots=True)
class Term:
    """One thing that a household has words for.

    Attributes:
        kind: What it is. "child" and "adult" are matched as people's names; "children", "group" and
            kinds that begin with "generic" mean themselves even where they are everyday words;
            activities ("activity", "generic_activity") match their -ing forms.
        id: Slug of the thing.
        words: Names and aliases, as written by the household.
    """

    kind: str
    id: str
    words: tuple[str, ...]


@dataclass(frozen=True, slots=True, kw_only=True)
class Mention:
    """A term found in a message.

    Attributes:
        surface: The characters as they were typed.
        start: Offset of the first character in the message.
        end: Offset past the last character in the message.
        is_misspelt: Whether a typing slip was forgiven.
    """

    kind: str
    id: str
    surface: str
    start: int
    end: int
    is_misspelt: bool


class _Span(Protocol):
    """Where something stands in the message."""

    @property
    def start(self) -> int: ...

    @property
    def end(self) -> int: ...


class _Part(NamedTuple):
    start: int
    end: int


class _Pieces(NamedTuple):
    """What a trie step compares, with where each stands and the index of its token."""

    texts: Sequence[str]
    spans: Sequence[_Span]
    places: Sequence[int]


@dataclass(slots=True)
class _Node:
    children: dict[str, "_Node"] = field(default_factory=dict)
    terms: dict[tuple[str, str], bool] = field(default_factory=dict)


@dataclass(frozen=True, slots=True)
class _Hit:
    node: _Node
    length: int
    is_misspelt: bool


class Lexicon:
    """All terms of a household, compiled for finding.

    Case, accents, hyphens, spaces within compounds, plurals and possessives make no difference; the
    longest term wins; a surface that several terms share gives a mention of each.

    Args:
        known: Words that are right as they are and never a slip of a term, though no dictionary has them.
    """

    def __init__(self, terms: Iterable[Term], known: Iterable[str] = ()) -> None:
        self._root = _Node()
        words: set[str] = set()
        names: set[str] = set()
        for term in terms:
            for surface in term.words:
                tokens = tokenise(surface)
                pieces = _pieces(tokens, _texts(tokens)).texts
                for form in _forms(term.kind, surface, pieces):
                    self._insert(term, form)
                    (names if term.kind in PEOPLE else words).update(form)
        self._misspellings = Misspellings(sorted(words - names), sorted(names), known)
        self._opening = Memo(self._can_open)

    def _insert(self, term: Term, form: tuple[str, ...]) -> None:
        node = self._root
        for piece in form:
            node = node.children.setdefault(piece, _Node())
        is_doubtful = len(form) == 1 and needs_evidence(term.kind, form[0])
        key = (term.kind, term.id)
        node.terms[key] = is_doubtful and node.terms.get(key, True)

    def find(self, tokens: Sequence[Token]) -> tuple[Mention, ...]:
        """Find the terms that a message mentions.

        Args:
            tokens: The message, from `tokenise`.

        Returns:
            Mentions in text order; several with one span where a surface denotes several terms.
        """
        texts = _texts(tokens)
        opens = [self._opening[text] for text in texts]
        if not any(opens):
            return ()
        pieces = _pieces(tokens, texts)
        if pieces.texts is not texts:
            opens = [self._opening[text] for text in pieces.texts]
        found: list[tuple[int, int, _Hit]] = []
        at = 0
        while at < len(opens):
            hit = self._longest(pieces.texts, at) if opens[at] else None
            if hit is not None:
                found.append((at, at + hit.length, hit))
            at += hit.length if hit else 1
        return tuple(self._mentions(tokens, pieces, found))

    def _can_open(self, text: str) -> bool:
        plain = "and" if text == "&" else unaccented(text)
        return any(self._step(self._root, part) for part in {plain, *plain.split("-")})

    def _longest(self, texts: Sequence[str], at: int) -> _Hit | None:
        node, best, is_misspelt = self._root, None, False
        for end in range(at, len(texts)):
            text = texts[end]
            step = self._step(node, text)
            if step is None:
                if end > at and text in _SKIPPED_INSIDE:
                    continue
                break
            node, slip = step
            is_misspelt = is_misspelt or slip
            if node.terms:
                best = _Hit(node, end - at + 1, is_misspelt)
        return best

    def _step(self, node: _Node, text: str) -> tuple[_Node, bool] | None:
        child = node.children.get(text)
        if child is not None:
            return child, False
        base, apostrophe, rest = text.partition("'")
        if apostrophe:
            # "She'll" is no Shell and "I've" no Ive; "Leo'll" is Leo.
            whole = None if rest in _SHORTENED else node.children.get(text.replace("'", ""))
            child = whole or node.children.get(base)
            if child is not None:
                return child, False
        meant = self._misspellings.nearest(base)
        child = node.children.get(meant) if meant else None
        return None if child is None else (child, True)

    def _mentions(
        self, tokens: Sequence[Token], pieces: _Pieces, found: Sequence[tuple[int, int, _Hit]]
    ) -> Iterator[Mention]:
        certain_places = {
            pieces.places[place]
            for first, end, hit in found
            if not all(hit.node.terms.values())
            for place in range(first, end)
        }
        for first, end, hit in found:
            start, stop = pieces.spans[first].start, pieces.spans[end - 1].end
            place = pieces.places[first]
            is_beside = _is_beside(tokens, place, certain_places)
            for (kind, term_id), is_doubtful in hit.node.terms.items():
                if is_doubtful and not has_evidence(
                    kind, tokens, place, is_beside_mention=is_beside
                ):
                    continue
                yield Mention(
                    kind=kind,
                    id=term_id,
                    surface=tokens[0].source[start:stop],
                    start=start,
                    end=stop,
                    is_misspelt=hit.is_misspelt,
                )


def _is_beside(tokens: Sequence[Token], place: int, certain: set[int]) -> bool:
    """Tell whether a certain mention stands directly before, or is joined to the token by "and"."""
    if place - 1 in certain or _heads_term(tokens, place, certain):
        return True
    return any(
        place + 2 * side in certain and tokens[place + side].text in _JOINING for side in (-1, 1)
    )


def _heads_term(tokens: Sequence[Token], place: int, certain: set[int]) -> bool:
    """Tell whether the token opens the message directly before a certain mention ("grace dentist")."""
    return place == 0 and place + 1 in certain and tokens[place].text not in _HELPING


def _texts(tokens: Sequence[Token]) -> list[str]:
    return ["" if token.kind is _LINK else token.text for token in tokens]


def _pieces(tokens: Sequence[Token], texts: Sequence[str]) -> _Pieces:
    """Split tokens at hyphens; offsets stay those of the message. Most messages have nothing to split."""
    together = "".join(texts)
    if together.isascii() and "-" not in together and "&" not in together:
        return _Pieces(texts, tokens, range(len(tokens)))
    plain: list[str] = []
    spans: list[_Part] = []
    places: list[int] = []
    for place, (token, text) in enumerate(zip(tokens, texts, strict=True)):
        start, end = token.start, token.end
        spoken = "and" if text == "&" else unaccented(text)
        parts = spoken.split("-") if token.kind is _WORD else [spoken]
        is_aligned = len(spoken) == end - start
        offset = start
        for part in parts:
            is_whole = len(parts) == 1 or not is_aligned
            spans.append(_Part(start, end) if is_whole else _Part(offset, offset + len(part)))
            offset += len(part) + 1
        plain += parts
        places += [place] * len(parts)
    return _Pieces(plain, spans, places)


def _forms(kind: str, surface: str, pieces: Sequence[str]) -> set[tuple[str, ...]]:
    """List the ways a term is typed: inflected at its end, with its words joined or split."""
    spoken = tuple(piece for piece in pieces if piece and piece not in _SKIPPED_INSIDE)
    if not spoken:
        return set()
    bare = tuple(piece.replace("'", "") for piece in spoken)
    is_name = kind in PEOPLE or not surface[:1].islower()
    endings = _inflections(spoken[-1], bare[-1], is_name=is_name and len(bare) == 1)
    if "activity" in kind and len(bare) == 1:
        endings |= _actions(bare[-1])
    forms = {(*bare[:-1], ending) for ending in endings}
    if kind not in PEOPLE and len(bare) == 1:
        forms |= {halves for ending in endings for halves in _halves(ending)}
    return forms | {joined for form in forms for joined in _joined(form)}


def _inflections(spoken: str, bare: str, *, is_name: bool) -> set[str]:
    endings = {bare}
    if not bare[-1].isascii() or not bare[-1].isalpha():
        return endings
    if "'" in spoken:
        endings.add(spoken.partition("'")[0])
    is_plural = bare.endswith("s") and not bare.endswith(("ss", "us")) and not is_name
    if bare.endswith(("s", "x", "z", "ch", "sh")) and not is_plural:
        endings.add(bare + "es")
    elif not is_plural:
        endings.add(bare + "s")
    if bare.endswith("y") and bare[-2:-1] not in set("aeiou"):
        endings.add(bare[:-1] + "ies")
    if (
        not is_name
        and len(bare) > _SHORTEST_SINGULAR
        and bare.endswith("s")
        and not bare.endswith("ss")
    ):
        endings.add(bare[:-1])
    return endings


def _actions(word: str) -> set[str]:
    """List the -ing form of a verb, and the verb of an -ing form, where both are English words."""
    if word.endswith("ing"):
        stem = word[:-3]
        forms = {stem, stem + "e", stem[:-1] if stem[-2:-1] == stem[-1:] else stem}
    else:
        forms = {
            word + "ing",
            word[:-1] + "ing" if word.endswith("e") else word,
            word + word[-1:] + "ing",
        }
    return {form for form in forms if len(form) >= _SHORTEST_HALF and form in word_ranks()}


def _halves(word: str) -> set[tuple[str, ...]]:
    ranks = word_ranks()
    return {
        (word[:cut], word[cut:])
        for cut in range(_SHORTEST_HALF, len(word) - 1)
        if word[:cut] in ranks
        and (
            word[cut:] in _PARTICLES or (len(word) - cut >= _SHORTEST_HALF and word[cut:] in ranks)
        )
    }


def _joined(form: tuple[str, ...]) -> set[tuple[str, ...]]:
    """List a phrase with each choice of its spaces left out."""
    if not 1 < len(form) <= _LONGEST_JOINED:
        return set()
    joined = set()
    for gaps in product(("", " "), repeat=len(form) - 1):
        text = "".join(piece + gap for piece, gap in zip(form, (*gaps, ""), strict=True))
        joined.add(tuple(text.split(" ")))
    return joined
