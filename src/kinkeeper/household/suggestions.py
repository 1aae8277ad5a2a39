"""The nearest known word to one that is not known."""

from collections.abc import Iterable

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
