"""Hints at the kind of a text, as patterns in a data file: which of them a text shows. Pure."""

import re
import tomllib
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cache
from importlib.resources import files

_WORD_LIST = re.compile(r"@(\w+)")
_LONGEST = 2_000
_CURLY = str.maketrans("’‘", "''")


@dataclass(frozen=True, slots=True)
class Cues:
    """Named patterns.

    Attributes:
        patterns: By name, compiled.
    """

    patterns: Mapping[str, re.Pattern[str]]

    @property
    def names(self) -> tuple[str, ...]:
        """Names of all of them, in the order of the file."""
        return (*self.patterns,)

    def seen_in(self, text: str) -> dict[str, float]:
        """Return 1 for each cue that a text shows; the others are left out.

        Args:
            text: Any; of a very long one the first 2,000 characters are read.
        """
        plain = text[:_LONGEST].translate(_CURLY).lower().strip()
        return {name: 1.0 for name, pattern in self.patterns.items() if pattern.search(plain)}


@cache
def load_cues(name: str, package: str = "kinkeeper.language.sorting") -> Cues:
    """Return the cues of a data file, read once.

    Args:
        name: Of the file, without its ending.
        package: Whose folder `data` it lies in.
    """
    path = files(package) / "data" / f"{name}.toml"
    content = tomllib.loads(path.read_text(encoding="utf-8"))
    words: Mapping[str, str] = content["words"]
    return Cues(
        {cue: _compiled(alternatives, words) for cue, alternatives in content["cues"].items()}
    )


def _compiled(alternatives: Sequence[str], words: Mapping[str, str]) -> re.Pattern[str]:
    joined = "|".join(alternatives)
    expanded = _WORD_LIST.sub(lambda found: words[found[1]], joined)
    return re.compile(rf"(?<!\w)(?:{expanded})(?!\w)")
