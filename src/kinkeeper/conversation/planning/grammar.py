"""The grammar of requests: patterns as data, compiled once."""

import re
import tomllib
from collections.abc import Collection, Iterator, Mapping
from dataclasses import dataclass
from functools import cache
from importlib.resources import files
from typing import Any

from kinkeeper.core.errors import InvariantError
from kinkeeper.language.dictionary import Misspellings, is_known
from kinkeeper.language.text import unaccented
from kinkeeper.reading.corrections import correction_words
from kinkeeper.reading.phrases import everyday_spellings
from kinkeeper.reading.times.model import TimeSpan
from kinkeeper.reading.times.tokens import is_counted

_NAME = re.compile(r"@(\w+)")
_WORD = re.compile(r"[^\W\d_]+(?:'[^\W\d_]+)?")
_FILES = (
    "openings",
    "tasks",
    "lists",
    "mail",
    "memory",
    "reading",
    "questions",
    "events",
    "changes",
    "amending",
    "records",
    "pointing",
)
LONGEST_CLAUSE = 300
"""Characters of a clause that patterns with several open ends are tried on."""

_NEARBY = 100  # characters on each side of a time that tell whether it is one
_NO_PART = ("part_of_name", "meal_named", "length_way")
"""How words that times begin with belong to what stands before: "parents evening", "add lunch", "an hour early"."""


@dataclass(frozen=True, slots=True)
class Rule:
    """One way to ask for something.

    Attributes:
        name: What reads it: "tasks.remind".
        patterns: Each for a whole clause.
    """

    name: str
    patterns: tuple[re.Pattern[str], ...]


@dataclass(frozen=True, slots=True)
class Grammar:
    """All that is known of how requests are put.

    Attributes:
        rules: In the order they are tried.
        spellings: Plain words for chat spellings.
        misspellings: Finds the grammar's own words in misspelt ones.
        openings: What may stand before a request without changing it.
        closings: What may stand after it.
        starts: How a request begins, so that a joint before it is one.
        bare_hour: A number that is an hour because of the word before it.
        no_time: What looks like a time and is none, by what stands around.
        reported: Words after which somebody else is quoted.
        said: Single patterns by name.
        pointing: What points at things that were spoken of before.
        answering: What answers to questions begin with.
        editing: How something that awaits a yes is wanted different.
        describing: What words around a title say of people and places.
        telling: How changes of events are told.
        aside: What stands around what is told.
        amending: How what was just done is wanted a little different.
        asking: How questions about days are put.
        wanted: What they want to know, in the order in which it is looked for.
        empty: Words of them that do not say what they are about.
    """

    rules: tuple[Rule, ...]
    spellings: Mapping[str, str]
    misspellings: Misspellings
    openings: re.Pattern[str]
    closings: re.Pattern[str]
    joints: re.Pattern[str]
    starts: re.Pattern[str]
    bare_hour: re.Pattern[str]
    no_time: re.Pattern[str]
    reported: re.Pattern[str]
    said: Mapping[str, re.Pattern[str]]
    pointing: Mapping[str, re.Pattern[str]]
    answering: Mapping[str, re.Pattern[str]]
    editing: Mapping[str, re.Pattern[str]]
    describing: Mapping[str, re.Pattern[str]]
    telling: Mapping[str, re.Pattern[str]]
    aside: Mapping[str, re.Pattern[str]]
    amending: Mapping[str, re.Pattern[str]]
    asking: Mapping[str, re.Pattern[str]]
    wanted: Mapping[str, re.Pattern[str]]
    empty: frozenset[str]

    def spelled_out(self, text: str, names: Collection[str] = ()) -> str:
        """Return a text with chat spellings and misspelt words of the grammar made plain.

        Args:
            names: Words for people, in lower case, which are no spelling of anything else ("Wen").
        """
        plain = _WORD.sub(
            lambda found: found[0] if found[0].lower() in names else self._plain(found[0]), text
        )
        return self.said["digit_for_to"].sub(
            lambda found: found[0] if is_counted(found["next"]) else " to ", plain
        )

    def _plain(self, word: str) -> str:
        folded = word.lower()
        if folded in self.spellings:
            return self.spellings[folded]
        if word[0].isupper() or is_known(unaccented(folded)):
            return word
        return self.misspellings.nearest(folded) or word

    def is_no_time(self, text: str, span: TimeSpan) -> bool:
        """Whether what was read as a time is something else here ("may" in "you may", "a second")."""
        return self.no_time.search(_around(text, span)) is not None

    def start_of(self, text: str, span: TimeSpan) -> int:
        """Return where a time begins, without a part of the day that ends a name ("parents evening 12 May")."""
        around = _around(text, span)
        named = next(filter(None, (self.said[each].search(around) for each in _NO_PART)), None)
        if named is None:
            return span.start_char
        rest = text[span.start_char + len(named["part"]) : span.end_char]
        return span.end_char - len(rest.lstrip(" ,"))

    def found(self, clause: str) -> Iterator[tuple[str, Mapping[str, str]]]:
        """Yield the rules that a whole clause fits, with what they found, in order."""
        if len(clause) > LONGEST_CLAUSE:
            return
        for rule in self.rules:
            for pattern in rule.patterns:
                match = pattern.fullmatch(clause)
                if match is not None:
                    yield rule.name, {k: v.strip() for k, v in match.groupdict("").items()}
                    break


@cache
def load_grammar() -> Grammar:
    """Return the grammar of the data files."""
    contents = {name: _content(name) for name in _FILES}
    words: dict[str, str] = {}
    for content in contents.values():
        for name, pattern in content.get("words", {}).items():
            words[name] = _expanded(
                " ".join(pattern.split()) if "\n" in pattern else pattern, words
            )
    opening = contents["openings"]
    single = {name: _compiled(pattern, words) for name, pattern in opening["said"].items()}
    order: list[str] = opening["order"]
    pointing, answering, editing, describing, telling, aside, amending, asking, wanted = (
        {name: _compiled(pattern, words) for name, pattern in contents[file][table].items()}
        for file, table in (
            ("pointing", "pointing"),
            ("pointing", "answering"),
            ("pointing", "editing"),
            ("events", "describing"),
            ("changes", "told"),
            ("changes", "set_aside"),
            ("amending", "amending"),
            ("questions", "question"),
            ("questions", "wanted"),
        )
    )
    rules = {
        name: Rule(name, tuple(_compiled(each, words) for each in patterns))
        for content in contents.values()
        for name, patterns in content.get("rules", {}).items()
    }
    return Grammar(
        rules=tuple(rules[name] for name in order),
        spellings={**everyday_spellings(), **opening["spellings"]},
        misspellings=Misspellings(opening["own_words"].split(), correction_words().signs),
        openings=_compiled("|".join(opening["openings"]), words),
        closings=_compiled("(?:" + "|".join(opening["closings"]) + r")[\s,.!?]*$", words),
        joints=single["joint"],
        starts=single["start"],
        bare_hour=single["bare_hour"],
        no_time=single["no_time"],
        reported=single["reported"],
        said=single,
        pointing=pointing,
        answering=answering,
        editing=editing,
        describing=describing,
        telling=telling,
        aside=aside,
        amending=amending,
        asking=asking,
        wanted=wanted,
        empty=frozenset(contents["questions"]["subject"]["empty"].split()),
    )


def _around(text: str, span: TimeSpan) -> str:
    """Return a time in brackets between the words beside it; "…" where the text goes on."""
    start, end = span.start_char - _NEARBY, span.end_char + _NEARBY
    before = f"…{text[start : span.start_char]}" if start > 0 else text[: span.start_char]
    after = f"{text[span.end_char : end]}…" if end < len(text) else text[span.end_char :]
    return f"{before}<{span.surface}>{after}"


@cache
def word_sets(name: str, table: str = "words") -> Mapping[str, frozenset[str]]:
    """Return the lists of words in a table of a data file; read once."""
    return {key: frozenset(words.split()) for key, words in _content(name)[table].items()}


def _content(name: str) -> Mapping[str, Any]:
    path = files(__package__) / "data" / f"{name}.toml"
    return tomllib.loads(path.read_text(encoding="utf-8"))


def _expanded(pattern: str, words: Mapping[str, str]) -> str:
    return _NAME.sub(lambda found: _word(found[1], words), pattern)


def _word(run: str, words: Mapping[str, str]) -> str:
    """Return what a name stands for; letters right behind it ("@kinds?") stay as they are."""
    name = next((run[:end] for end in range(len(run), 0, -1) if run[:end] in words), None)
    if name is None:
        raise InvariantError(f"the grammar of requests has no word @{run}")
    return f"(?:{words[name]}){run[len(name) :]}"


def _compiled(pattern: str, words: Mapping[str, str]) -> re.Pattern[str]:
    return re.compile(_expanded(pattern, words), re.IGNORECASE)
