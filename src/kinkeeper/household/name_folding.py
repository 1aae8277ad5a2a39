"""Names and words compared: in one comparable form, and the nearest known one to one that is not known."""

import re
import unicodedata
from collections.abc import Iterable

# Latin letters that Unicode does not split into a base letter and a mark.
_UNDECOMPOSED = str.maketrans(
    {
        "ø": "o",
        "ł": "l",
        "đ": "d",
        "ħ": "h",
        "ı": "i",
        "ŧ": "t",
        "æ": "ae",
        "œ": "oe",
        "þ": "th",
        "ð": "d",
    }
)
_APOSTROPHES = str.maketrans({"’": "'", "‘": "'", "ʼ": "'", "‐": "-", "‑": "-"})
_NOT_SLUG = re.compile(r"[^a-z0-9]+")


def normalize(text: str) -> str:
    """Return `text` case-folded, with plain apostrophes and single spaces; accents stay."""
    composed = unicodedata.normalize("NFC", text).casefold().translate(_APOSTROPHES)
    return " ".join(composed.split())


def fold(text: str) -> str:
    """Return `normalize(text)` with the accents of Latin letters taken off.

    Marks on other scripts stay, because there they change the letter.
    """
    if text.isascii():
        return normalize(text)
    kept: list[str] = []
    base_is_latin = False
    for char in unicodedata.normalize("NFD", normalize(text)):
        if unicodedata.combining(char):
            if not base_is_latin:
                kept.append(char)
            continue
        base_is_latin = unicodedata.name(char, "").startswith("LATIN ")
        kept.append(char)
    return unicodedata.normalize("NFC", "".join(kept)).translate(_UNDECOMPOSED)


def slugify(text: str) -> str:
    """Return `text` as an id (small Latin letters, digits, hyphens); empty where nothing is left."""
    return _NOT_SLUG.sub("-", fold(text).replace("'", "")).strip("-")


def in_words(slug: str) -> str:
    """Return an id as words: "after-school" is "after school"."""
    return " ".join(re.split(r"[-_]+", slug)).strip()


# The nearest known word to one that is not known.

_CLOSE_ENOUGH = 65.0


def nearest(word: str, known: Iterable[str]) -> str | None:
    """Return the known word that `word` was most likely meant to be, if one is close."""
    choices = sorted(set(known))
    from rapidfuzz import fuzz, process  # noqa: PLC0415 - two megabytes that are needed after a mistake only

    found = process.extractOne(
        word, choices, scorer=fuzz.ratio, processor=str.lower, score_cutoff=_CLOSE_ENOUGH
    )
    return found[0] if found else None


def did_you_mean(word: str, known: Iterable[str]) -> str:
    """Return ` (did you mean "x"?)`, or nothing where no known word is close."""
    suggestion = nearest(word, known)
    return f' (did you mean "{suggestion}"?)' if suggestion else ""
