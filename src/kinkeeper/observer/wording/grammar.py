"""The grammar of arrangements, loaded from `grammar.toml` and compiled once."""

import re
import tomllib
from collections.abc import Mapping
from dataclasses import dataclass
from functools import cache
from importlib.resources import files

from kinkeeper.observer.model import Task
from kinkeeper.reading.spellings import words_written_out

_WHO = r"(?:(?:my |our |the )?(?:<child>|<kids>)(?: and (?:<child>|<kids>))*|him|her|them|everyone|everybody|both(?: of them)?|the (?:(?:little|wee|small) )?ones?|the (?:wee|little|small) (?:man|fella|fellow|lad|lass|guy|boy|girl)|the baby)"
_NAMED = r"(?:(?:my |our |the )?(?:<child>|<kids>)(?: and (?:<child>|<kids>))*|both(?: of them)?|the (?:little )?ones?|the baby)"
_WHEN = r"(?:<date>|<time>|<datetime>|<range>|<recurring>)"
_NEXT = r"(?= (?:<(?!thing)|[.!?;,\n]|from|at|after|before|to|home|back|off|over|and|then|than|for|by|on|in|around|about|when|while|until|once|now|later|early|earlier|please|instead|this|that time|today|though|too|or|if|so|because|but|as|again|there|here|tho|yourself|myself|i|you|we|can|could|will|lah|leh|lor|la|okay|ok)(?= |$|\w*>)| ?$)"
_FETCH = r"{who}|<adult>|me|us|{when}|<act>|<generic>|<place>|<duration>|[.!?;,\n]|from|at|after|before|by|on|in|is|are|and|or|for|around|about|today|duty|this|please|instead|then|when|now|later|so|if|little|boys|girls|baby|twins|kids|lot|time|times|too|as|but|because|early|late|myself|yourself"
_BOUNDS = {")*": "){0,12}", ")+": "){1,12}", ".*": ".{0,200}"}
# In this order: what stands for one may name another.
_PARTS = {"fetch": _FETCH, "next": _NEXT, "named": _NAMED, "who": _WHO, "when": _WHEN}


@dataclass(frozen=True, slots=True, kw_only=True)
class Grammar:
    """Compiled patterns over skeletons.

    Attributes:
        words: Contractions and chat spellings written out.
        doubtful_nouns: Words that are things only after one of `before_nouns`, or after a mention.
        before_nouns: Determiners and prepositions.
        before_both_jobs: Words after which "both" means two jobs.
        after_both: Words after which "both" still means people.
        idioms: Pairs of words that mean something else altogether.
        no_deeds: Verbs of talk and thought, with which nobody takes a job on.
        tasks: One pattern per task, in order of precedence.
        stances: One pattern per stance cue ("ask", "claim", ...).
    """

    words: Mapping[str, str]
    doubtful_nouns: frozenset[str]
    before_nouns: frozenset[str]
    before_both_jobs: frozenset[str]
    after_both: frozenset[str]
    idioms: frozenset[str]
    no_deeds: frozenset[str]
    tasks: Mapping[Task, re.Pattern[str]]
    stances: Mapping[str, re.Pattern[str]]


@cache
def grammar() -> Grammar:
    """Return the shipped grammar."""
    data = tomllib.loads(files(__package__).joinpath("grammar.toml").read_text(encoding="utf-8"))
    return Grammar(
        words=_words(data["words"]),
        doubtful_nouns=frozenset(data["nouns"]["doubtful"]),
        before_nouns=frozenset(data["nouns"]["before"]),
        before_both_jobs=frozenset(data["nouns"]["before_both_jobs"]),
        after_both=frozenset(data["nouns"]["after_both"]),
        idioms=frozenset(data["nouns"]["idioms"]),
        no_deeds=frozenset(data["verbs"]["no_deeds"].split()),
        tasks={Task(name): _compile(patterns) for name, patterns in data["tasks"].items()},
        stances={name: _compile(patterns) for name, patterns in data["stances"].items()},
    )


def _words(own: Mapping[str, str]) -> Mapping[str, str]:
    """Return words written out; several that mean one to this grammar are one ("anyone", "anybody")."""
    common = {
        spelling: " ".join(own.get(word, word) for word in plain.split())
        for spelling, plain in words_written_out().items()
    }
    return {**common, **own}


def _compile(patterns: list[str]) -> re.Pattern[str]:
    """Return one pattern; its groups and gaps repeat a bounded number of times, so its cost grows with the text."""
    whole = "|".join(f"(?:{pattern})" for pattern in patterns)
    for name, words in _PARTS.items():
        whole = whole.replace(f"{{{name}}}", words)
    for endless, bounded in _BOUNDS.items():
        whole = whole.replace(endless, bounded)
    return re.compile(rf"(?<![\w<'-])(?:{whole})(?![\w'-])")
