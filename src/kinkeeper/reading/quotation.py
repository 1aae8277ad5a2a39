"""Words that were copied from a text, found again in it as the program folds spellings. Pure."""

import re

from kinkeeper.language.text_folding import fold

_EDGES = " \t\n.,;:!?\"'()…"
_MOST_WORDS = 24


def quoted_span(quote: str, text: str) -> tuple[int, int] | None:
    """Return where a text holds a quotation: offsets of its first character, and past its last; None where it does not.

    Case, kinds of quotes and dashes, letters drawn out, spacing and marks at its ends do not count; it begins and ends
    with whole words.

    Args:
        quote: What is said to be copied.
        text: What it is to stand in, as it was typed.
    """
    words = fold(quote).text.strip(_EDGES).split()
    if not words or len(words) > _MOST_WORDS:
        return None
    folded = fold(text)
    pattern = r"\s+".join(map(re.escape, words))
    found = re.search(rf"(?<!\w){pattern}(?!\w)", folded.text)
    return folded.span(*found.span()) if found else None
