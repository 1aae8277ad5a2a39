"""Labelled chat for measuring the tripwire: real messages in place, and our own family chats."""

import json
from collections import defaultdict
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from datetime import datetime, timedelta
from functools import lru_cache
from pathlib import Path
from typing import Any
from zoneinfo import ZoneInfo

from kinkeeper.core.errors import InputError
from kinkeeper.household.model import Household, Member, Named, Role
from kinkeeper.household.vocabulary import compile_vocabulary
from kinkeeper.language.lexicon import Lexicon, Term
from kinkeeper.language.text import tokenise
from kinkeeper.reading.replies import ReplyKind, asks_for_owner, read_reply

CONTEXT_WINDOW = 3
CONTEXT_LIFE = timedelta(seconds=300)

_ROLES = {"adult": Role.PARENT, "child": Role.CHILD, "other": Role.OTHER}
_SHORTEST_SPEAKER = 3
_OPEN_QUESTION_LIFE = timedelta(hours=1)
_ANSWERS = frozenset({ReplyKind.CLAIM, ReplyKind.ACCEPT, ReplyKind.DECLINE, ReplyKind.YIELD})


@dataclass(frozen=True, slots=True, kw_only=True)
class LabelledMessage:
    """One message that a person judged in its context.

    Attributes:
        source: Where it comes from.
        slice: Part of the source, chosen in one way.
        conversation: Rows of one conversation are never on both sides of a split.
        text: Verbatim.
        context: The last messages before it that are still live, oldest first.
        lexicon: Words of the household, or of the people who speak.
        is_coordination: The judgement.
        is_sure: Whether it was made without doubt.
        answers_open_question: Whether it takes, refuses or accepts something that another person
            asked for before and nobody took yet.
    """

    source: str
    slice: str
    conversation: str
    text: str
    context: tuple[str, ...]
    lexicon: Lexicon
    is_coordination: bool
    is_sure: bool = True
    answers_open_question: bool = False


def household_of(words: Mapping[str, Sequence[Mapping[str, Any]]]) -> Household:
    """Return a household known by its words alone: no events, UTC.

    Args:
        words: For each of "adult", "child", "other", "activity" and "place" its entries, each an id
            and words, the name first.
    """
    return Household(
        id="measured",
        zone=ZoneInfo("UTC"),
        locale="en-US",
        bot_name="Kinkeeper",
        owner=None,
        members=tuple(
            Member(
                id=entry["id"], name=entry["words"][0], role=role, aliases=tuple(entry["words"][1:])
            )
            for kind, role in _ROLES.items()
            for entry in words.get(kind, ())
        ),
        activities=_named(words.get("activity", ())),
        places=_named(words.get("place", ())),
    )


def household_lexicon(words: Mapping[str, Sequence[Mapping[str, Any]]]) -> Lexicon:
    """Compile the words of a household, as `household_of` takes them, with those of every family."""
    return Lexicon(
        Term(word.kind, word.id, word.words)
        for word in compile_vocabulary(household_of(words)).words
    )


def _named(entries: Iterable[Mapping[str, Any]]) -> tuple[Named, ...]:
    return tuple(
        Named(id=entry["id"], name=entry["words"][0], aliases=tuple(entry["words"][1:]))
        for entry in entries
    )


@lru_cache(maxsize=256)
def speakers_lexicon(names: frozenset[str]) -> Lexicon:
    """Compile the lexicon of a conversation of which only the speakers' names are known."""
    usable = sorted(
        name
        for name in names
        if name.isalpha() and len(name) >= _SHORTEST_SPEAKER and name != "Unknown"
    )
    return household_lexicon({"other": [{"id": name.lower(), "words": [name]} for name in usable]})


def read_lines(path: Path) -> Iterator[dict[str, Any]]:
    """Yield the rows of a JSONL file.

    Raises:
        InputError: The file is missing.
    """
    if not path.exists():
        raise InputError(f"{path} is missing; name the folder that holds the data with --data")
    with path.open(encoding="utf-8") as lines:
        for line in lines:
            yield json.loads(line)


def real_messages(path: Path) -> list[LabelledMessage]:
    """Read real labelled messages, with the names of those who speak as household words.

    Raises:
        InputError: The file is missing.
    """
    return [
        LabelledMessage(
            source=row["source"],
            slice=row["slice"],
            conversation=f"{row['source']}:{row['conversation']}",
            text=row["text"],
            context=tuple(item["text"] for item in row["context"][-CONTEXT_WINDOW:]),
            lexicon=speakers_lexicon(
                frozenset({row["sender"], *(item["sender"] for item in row["context"])})
            ),
            is_coordination=row["labels"]["is_coordination"],
            is_sure=not row["labels"]["doubt"],
        )
        for row in read_lines(path)
    ]


def family_messages(folder: Path, split: str) -> list[LabelledMessage]:
    """Read our own family chats.

    Args:
        folder: With `family_chat.jsonl` and `family_households.json`.
        split: "dev" or "heldout".

    Raises:
        InputError: A file is missing.
    """
    rows = list(read_lines(folder / "family_chat.jsonl"))
    households = json.loads((folder / "family_households.json").read_text(encoding="utf-8"))
    lexicons = {name: household_lexicon(words) for name, words in households.items()}
    threads: dict[str, _Thread] = defaultdict(_Thread)
    return [
        threads[row["thread"]].hear(row, lexicons[row["household"]])
        for row in rows
        if row["split"] == split
    ]


@dataclass(slots=True)
class _Thread:
    """What has been said so far, and whether something asked for is still open."""

    earlier: list[tuple[datetime, str]] = field(default_factory=list)
    open_until: datetime | None = None
    asked_by: str = ""

    def hear(self, row: Mapping[str, Any], lexicon: Lexicon) -> LabelledMessage:
        """Take in the next message and return it with the context it was said in."""
        text, sender = row["text"], row["sender"]
        sent_at = datetime.fromisoformat(row["sent_at"])
        tokens = tokenise(text)
        mentions = lexicon.find(tokens)
        reply = read_reply(tokens, mentions)
        is_open = self.open_until is not None and sent_at <= self.open_until
        answers = (
            is_open and sender != self.asked_by and reply is not None and reply.kind in _ANSWERS
        )
        live = [said for at, said in self.earlier[-CONTEXT_WINDOW:] if sent_at - at <= CONTEXT_LIFE]
        self.earlier.append((sent_at, text))
        if answers and reply is not None and reply.kind is not ReplyKind.DECLINE:
            self.open_until = None
        if asks_for_owner(tokens, text, mentions):
            self.open_until, self.asked_by = sent_at + _OPEN_QUESTION_LIFE, sender
        return LabelledMessage(
            source="family chat",
            slice=row["split"],
            conversation=row["thread"],
            text=text,
            context=tuple(live),
            lexicon=lexicon,
            is_coordination=row["is_coordination"],
            answers_open_question=answers,
        )
