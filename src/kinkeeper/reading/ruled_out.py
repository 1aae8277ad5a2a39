"""What somebody is not to do for a while, or may do once more, and how it is asked whether they may. Pure.

A small reader over the phrases and activities of `data/ruled_out.toml`. What is ruled out has to be something that people
do: "Mia can't find her shoes" rules out nothing.
"""

import tomllib
from collections.abc import Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cache, lru_cache
from importlib.resources import files
from itertools import product

from kinkeeper.language.text import TokenKind, tokenise
from kinkeeper.reading.coreference import roots_of
from kinkeeper.reading.phrases import denials, everyday_spellings

_END = ""
"""Stands for a mark between words."""
_MOST_BETWEEN = 6
_FOR = "for"


@dataclass(frozen=True, slots=True, kw_only=True)
class Ban:
    """That somebody is not to do something, or may once more.

    Attributes:
        activities: What they are not to do, or may do: words in small letters.
        is_over: Whether they may.
        is_open: Whether words say that it holds until something is told.
        is_light: Whether it may as well tell that something does not take place, unless it names somebody: "no judo this week".
    """

    activities: frozenset[str]
    is_over: bool
    is_open: bool = False
    is_light: bool = False


def rules_out(text: str) -> bool:
    """Whether a text says that something is not to be done, without saying for how long."""
    tables = _tables()
    return any(True for _ in _found(_words(text), (*tables.out, *tables.lightly)))


def allows_again(text: str) -> bool:
    """Whether a text says that something may be done once more: before that it may not."""
    words, tables = _words(text), _tables()
    return tables.more in words or any(True for _ in _found(words, tables.again))


@lru_cache(maxsize=256)
def ban_told(text: str, known: Collection[str] = frozenset()) -> Ban | None:
    """Return what a text tells that somebody is not to do for a while, or may do once more; None where it tells of neither.

    "No piano on Friday" tells of an event that is off, and of nobody: what does not say for how long, who ruled it out, or
    why, is no ban.

    Args:
        text: What was said, verbatim.
        known: Words for what the household does, in small letters.
    """
    words, tables = _words(text), _tables()
    if not words or words[0] in tables.requests or text.rstrip().endswith("?"):
        return None
    if over := _after(words, _allowing(words), known):
        return Ban(activities=over, is_over=True)
    is_open = any(True for _ in _found(words, tables.open_ended))
    has_reason = not tables.reasons.isdisjoint(words)
    if not (is_open or has_reason or not tables.lengths.isdisjoint(words)):
        return None
    firm = _after(words, _found(words, tables.out), known)
    out = firm or _after(words, _found(words, tables.lightly), known)
    if not out:
        return None
    is_light = not (firm or is_open or has_reason or _is_for_long(words))
    return Ban(activities=out, is_over=False, is_open=is_open, is_light=is_light)


def _is_for_long(words: Sequence[str]) -> bool:
    """Whether it is said for how many days or weeks: "for two weeks", and not "for Ada this week"."""
    lengths = _tables().lengths
    return any(
        word == _FOR and not lengths.isdisjoint(words[start + 1 : start + 4])
        for start, word in enumerate(words)
        if "this" not in words[start + 1 : start + 4]
    )


def asks_whether_may(text: str, known: Collection[str] = frozenset()) -> tuple[str, ...]:
    """Return the activities of which a text asks whether, or when, somebody may do them, in order; none where it asks for something else.

    Args:
        text: The whole message, verbatim.
        known: Words for what the household does, in small letters.
    """
    words, tables = _words(text), _tables()
    if not any(start == 0 for start, _ in _found(words, tables.asks)):
        return ()
    if tables.allowing.isdisjoint(words):
        return ()
    return tuple(dict.fromkeys(each for each in words if _is_activity(each, known)))


def covers(ruled_out: Collection[str], meant: Collection[str]) -> bool:
    """Whether ruling some activities out rules out one that is meant: "sport" does so with "judo", and "swimming" with "swim"."""
    if not roots_of(ruled_out).isdisjoint(roots_of(meant)):
        return True
    return any(
        not general.isdisjoint(ruled_out) and not special.isdisjoint(meant)
        for general, special in _tables().activities
    )


def activities_in(text: str, known: Collection[str] = frozenset()) -> frozenset[str]:
    """Return the words of a text for what people do that somebody may rule out.

    Args:
        known: Words for what the household does, in small letters.
    """
    return frozenset(each for each in _words(text) if _is_activity(each, known))


def _allowing(words: Sequence[str]) -> Iterator[tuple[int, int]]:
    """Yield the places of what says that something may be done once more, but for what is denied."""
    tables = _tables()
    denied = [*_found(words, tables.out)]
    plain = [
        (start, start + 1)
        for start, word in enumerate(words)
        if word in tables.may and tables.more in words[start:]
    ]
    for start, end in (*_found(words, tables.again), *plain):
        if not any(first < end and start - 1 < last for first, last in denied):
            yield start, end


def _after(
    words: Sequence[str], found: Iterator[tuple[int, int]], known: Collection[str]
) -> frozenset[str]:
    """Return the activities that follow phrases at once, but for light words."""
    named = set[str]()
    for start, end in found:
        verbal = words[end - 1] if _is_activity(words[end - 1], known) else None
        if verbal is not None:
            named.add(verbal)
        for word in words[max(end, start + 1) : end + _MOST_BETWEEN]:
            if _is_activity(word, known):
                named.add(word)
            elif word == _END or word not in _tables().light:
                break
    return frozenset(named)


def _is_activity(word: str, known: Collection[str]) -> bool:
    return word in known or word in _tables().doings


def _words(text: str) -> list[str]:
    """Return the words of a text in small letters as they are meant, and what stands for its marks."""
    spellings = _spellings()
    found = list[str]()
    for token in tokenise(text.replace("’", "'")):
        if token.kind is not TokenKind.WORD:
            found.append(_END if token.text in {".", ",", ";", "!", "?", ":"} else token.text)
            continue
        word = token.text.casefold()
        found += spellings.get(word, word).split()
    return found


@cache
def _spellings() -> Mapping[str, str]:
    return {**everyday_spellings(), **denials()}


def _found(words: Sequence[str], phrases: Collection[tuple[str, ...]]) -> Iterator[tuple[int, int]]:
    """Yield where phrases begin and end."""
    lengths = sorted({len(each) for each in phrases}, reverse=True)
    for start in range(len(words)):
        for length in lengths:
            end = start + length
            if end <= len(words) and tuple(words[start:end]) in phrases:
                yield start, end


@dataclass(frozen=True, slots=True, kw_only=True)
class _Tables:
    out: frozenset[tuple[str, ...]]
    lightly: frozenset[tuple[str, ...]]
    again: frozenset[tuple[str, ...]]
    open_ended: frozenset[tuple[str, ...]]
    asks: frozenset[tuple[str, ...]]
    may: frozenset[str]
    more: str
    reasons: frozenset[str]
    lengths: frozenset[str]
    light: frozenset[str]
    requests: frozenset[str]
    allowing: frozenset[str]
    activities: Sequence[tuple[frozenset[str], frozenset[str]]]
    doings: frozenset[str]


@cache
def _tables() -> _Tables:
    path = files("kinkeeper.reading") / "data" / "ruled_out.toml"
    data = tomllib.loads(path.read_text(encoding="utf-8"))
    groups: Mapping[str, str] = data["activities"]
    activities = [
        (frozenset(key.split()), frozenset(value.split())) for key, value in groups.items()
    ]
    return _Tables(
        out=_phrases(data["out"]),
        lightly=_phrases(data["lightly"]),
        again=_phrases(data["again"]),
        open_ended=_phrases(data["open_ended"]),
        asks=_phrases(data["asks"]),
        may=frozenset(data["may"].split()),
        more=data["more"],
        reasons=frozenset(data["reasons"].split()),
        lengths=frozenset(data["lengths"].split()),
        light=frozenset(data["light"].split()),
        requests=frozenset(data["requests"].split()),
        allowing=frozenset(data["allowing"].split()),
        activities=activities,
        doings=frozenset[str]().union(*(one | other for one, other in activities)),
    )


def _phrases(lines: str) -> frozenset[tuple[str, ...]]:
    return frozenset(
        words
        for line in lines.strip().splitlines()
        for words in product(*(each.split("|") for each in line.split()))
    )
