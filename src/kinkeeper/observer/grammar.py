"""The grammar of arrangements, loaded from `grammar.toml` and compiled once."""

import re
import tomllib
from collections.abc import Mapping
from dataclasses import dataclass
from functools import cache
from importlib.resources import files

from kinkeeper.observer.model import Task

_WHO = r"(?:(?:my |our |the )?(?:<child>|<kids>)(?: and (?:<child>|<kids>))*|him|her|them|everyone|everybody|both(?: of them)?|the (?:little )?ones?|the baby)"
_WHEN = r"(?:<date>|<time>|<datetime>|<range>|<recurring>)"


@dataclass(frozen=True, slots=True, kw_only=True)
class Grammar:
    """Compiled patterns over skeletons.

    Attributes:
        words: Contractions and chat spellings written out.
        doubtful_nouns: Words that are things only after one of `before_nouns`, or after a mention.
        before_nouns: Determiners and prepositions.
        after_both: Words after which "both" still means people.
        idioms: Pairs of words that mean something else altogether.
        tasks: One pattern per task, in order of precedence.
        stances: One pattern per stance cue ("ask", "claim", ...).
    """

    words: Mapping[str, str]
    doubtful_nouns: frozenset[str]
    before_nouns: frozenset[str]
    after_both: frozenset[str]
    idioms: frozenset[str]
    tasks: Mapping[Task, re.Pattern[str]]
    stances: Mapping[str, re.Pattern[str]]


@cache
def grammar() -> Grammar:
    """Return the shipped grammar."""
    data = tomllib.loads(files(__package__).joinpath("grammar.toml").read_text(encoding="utf-8"))
    return Grammar(
        words=data["words"],
        doubtful_nouns=frozenset(data["nouns"]["doubtful"]),
        before_nouns=frozenset(data["nouns"]["before"]),
        after_both=frozenset(data["nouns"]["after_both"]),
        idioms=frozenset(data["nouns"]["idioms"]),
        tasks={Task(name): _compile(patterns) for name, patterns in data["tasks"].items()},
        stances={name: _compile(patterns) for name, patterns in data["stances"].items()},
    )


def _compile(patterns: list[str]) -> re.Pattern[str]:
    whole = "|".join(f"(?:{pattern})" for pattern in patterns)
    whole = whole.replace("{who}", _WHO).replace("{when}", _WHEN)
    return re.compile(rf"(?<![\w<'-])(?:{whole})(?![\w'-])")
