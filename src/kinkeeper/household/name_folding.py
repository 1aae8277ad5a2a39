"""Names and words in one comparable form: case, Latin accents and spacing do not count."""

import re
import unicodedata

# Latin letters that Unicode does not split into a base letter and a mark.
_UNDECOMPOSED = str.maketrans({
    "ø": "o", "ł": "l", "đ": "d", "ħ": "h", "ı": "i", "ŧ": "t",
    "æ": "ae", "œ": "oe", "þ": "th", "ð": "d",
})  # fmt: skip
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
