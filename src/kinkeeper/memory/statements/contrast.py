"""A correction in one go: what is not so beside what is so ("not Monday, Tuesday"; "not allergic to nuts but to milk"). Pure."""

import re
from collections.abc import Callable, Iterable, Iterator, Sequence
from typing import NamedTuple

from kinkeeper.memory.statements.canonical_words import canon_of, lexicon, opened
from kinkeeper.memory.statements.sentences import Part

_LONGEST_SIDE = 5
_IT = (
    r"(?:(?:it|that|this|he|she|they)(?:'s|'re| is| are| was| were| should be| was meant to be) )?"
)
_BREAK = r"(?:, ?but|,| but|;| [-–—])(?: rather)? "
_SIDES = tuple(
    re.compile(pattern, re.IGNORECASE)
    for pattern in (
        rf"{_IT}not (?P<old>[^,;]+?){_BREAK}(?:i mean(?:t)? )?{_IT}(?P<new>[^,;]+)",
        rf"(?:i mean(?:t)? |make (?:it|that) )?{_IT}(?P<new>[^,;]+?),? (?:and )?not (?P<old>[^,;]+)",
        rf"(?:i mean(?:t)? |make (?:it|that) )?{_IT}(?P<new>[^,;]+?) (?:instead of|rather than) (?P<old>[^,;]+)",
        r"i said (?P<old>[^,;]+?)(?:,| but|, but) (?:but )?(?:i )?mean(?:t)?(?: to say)? (?P<new>[^,;]+)",
    )
)
# "I'm not allergic to nuts but to milk": a sentence of its own, denied, and what is so in its place.
_DENIED = re.compile(
    r"(?P<head>.+?)(?:(?<=is|re|as)n['’]t| not|(?<=do|es)n['’]t) (?P<old>[^,;]+?)(?P<break>, but|,| but|;) (?:but )?(?P<new>[^,;]+)",
    re.IGNORECASE,
)
_BE = re.compile(r"(?:\b(?:am|is|are|was|were)|['’](?:m|s|re))$", re.IGNORECASE)
_TELLS = re.compile(
    r"\b(?:i|we|he|she|they|you|is|are|was|were|am|has|have|does|do|did|will|would|can|if|because|when|which|who|"
    r"just|only|so|too|though|sorry|or|and|please|thanks|yet|really|sure|always|very)\b"
)
_PREPOSITIONS = frozenset("to in on at for with from of by about near under as".split())  # noqa: SIM905
_LEADS = _PREPOSITIONS | {"the", "a", "an", "my", "our"}
_DENIES = re.compile(rf"(?:{_IT}not|i said) \w[^,;]*$", re.IGNORECASE)
_RESUMES = re.compile(
    r"(?:(?:it|that|this|he|she|they)(?:'s|'re| is| are| was| were)|i mean(?:t)?) ", re.IGNORECASE
)
_DO = re.compile(r" do$", re.IGNORECASE)
_WORD = re.compile(r"[\w'@.+-]*[\w@]")


class Contrast(NamedTuple):
    """What is not so beside what is so.

    Attributes:
        wrong: The sentence that does not hold.
        right: The one that does.
    """

    wrong: str
    right: str


def joined(parts: Sequence[Part], text: str) -> list[Part]:
    """Return parts, a denial and what it goes on with as one ("it's not Tim, it's Tom").

    Args:
        parts: Of the text, in order.
        text: The message.
    """
    found: list[Part] = []
    for part in parts:
        last = found[-1] if found else None
        if (
            last is not None
            and last.mark in {",", "."}
            and _DENIES.fullmatch(last.text)
            and _RESUMES.match(part.text)
            and len(part.text.split()) <= _LONGEST_SIDE + 2
        ):
            between = text[last.start : part.end]
            found[-1] = Part(between, last.start, part.end, part.mark)
        else:
            found.append(part)
    return found


def denied_at_once(text: str, *, is_led: bool) -> Contrast | None:
    """Return what a sentence denies and what it says in its place, told whole.

    Args:
        text: A sentence, without what leads it in.
        is_led: Whether it is said to set something right; a mere comma is a contrast only then.
    """
    found = _DENIED.fullmatch(text)
    if found is None or _TELLS.search(opened(found["new"])) or not _is_short(found["new"]):
        return None
    head, old, new = _DO.sub("", found["head"].strip()), found["old"].strip(), found["new"].strip()
    lead = new.split()[0].lower()
    place = _last_of(lead, old) if lead in _LEADS else None
    is_sure = "but" in found["break"].lower() or (
        is_led and (place is not None or _BE.search(head))
    )
    if not is_sure:
        return None
    if place is not None:
        return Contrast(f"{head} {old}", f"{head} {old[:place]}{new}")
    return Contrast(f"{head} {old}", f"{head} {new}") if _BE.search(head) else None


def swapped(text: str, told: Callable[[], Iterable[str]]) -> Contrast | None:
    """Return an earlier sentence and how it reads right, where one word of it is put in the place of another.

    Args:
        text: What only names the two ("Tuesday, not Monday"), without what leads it in.
        told: Returns earlier sentences, the last first; called only for a text that names two.
    """
    for old, new in _sides(text):
        for sentence in told():
            if (place := _place_of(old, sentence)) is not None:
                start, end = place
                return Contrast(sentence, f"{sentence[:start]}{new}{sentence[end:]}")
    return None


def sentence_with(words: str, told: Sequence[str]) -> str | None:
    """Return the last sentence that holds words, in whatever form.

    Args:
        words: A few.
        told: Sentences, the last first.
    """
    return next((sentence for sentence in told if _place_of(words, sentence)), None)


def is_swap(text: str) -> bool:
    """Whether a text only names what is not so and what is, and says of nothing that it is."""
    return next(_sides(text), None) is not None


def _sides(text: str) -> Iterator[tuple[str, str]]:
    for pattern in _SIDES:
        if found := pattern.fullmatch(text):
            old, new = (_bare(found[side]) for side in ("old", "new"))
            if all(_is_short(each) and not _TELLS.search(opened(each)) for each in (old, new)):
                yield old, new


def _bare(side: str) -> str:
    """Return a side without the preposition that both share with what they stand for."""
    words = side.strip().split()
    while len(words) > 1 and words[0].lower() in _PREPOSITIONS:
        words = words[1:]
    return " ".join(words)


def _place_of(words: str, sentence: str) -> tuple[int, int] | None:
    """Return where words stand in a sentence, in whatever form, light ones aside."""
    light = lexicon().light
    wanted = [canon_of(each.lower()) for each in _WORD.findall(words) if each.lower() not in light]
    found = list(_WORD.finditer(sentence))
    canons = [canon_of(each[0].lower()) for each in found]
    for start in range(len(canons) - len(wanted), -1, -1):
        if wanted and canons[start : start + len(wanted)] == wanted:
            return found[start].start(), found[start + len(wanted) - 1].end()
    return None


def _last_of(word: str, text: str) -> int | None:
    found = [each.start() for each in re.finditer(rf"\b{re.escape(word)}\b", text.lower())]
    return found[-1] if found else None


def _is_short(side: str) -> bool:
    return 0 < len(side.split()) <= _LONGEST_SIDE
