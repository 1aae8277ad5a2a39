"""What the tripwire is fitted on: labelled real messages, written household lines and threads."""

import re
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from evals.coordination import (
    CONTEXT_WINDOW,
    LabelledMessage,
    household_lexicon,
    read_lines,
    speakers_lexicon,
)
from kinkeeper.language.lexicon import Lexicon
from kinkeeper.language.text import TokenKind, tokenise
from kinkeeper.observer.tripwire.gate import SHORT_REPLY_WORDS
from kinkeeper.observer.tripwire.model import (
    family_pairs,
    household_words,
    load_patterns,
    shape,
    spelling_parts,
    word_sequences,
)

HERE = Path(__file__).parents[1] / "evals" / "data" / "tripwire"
SPELLING_SCALE = 0.5
USAGE_SCALE = 0.7
DOUBTFUL_WEIGHT = 0.4
FAMILY_WEIGHT = 2.0

Features = dict[tuple[str, str], float]
PATTERNS = load_patterns()


@dataclass(frozen=True)
class Example:
    """One message ready for fitting."""

    message: LabelledMessage
    weight: float
    is_reply_line: bool = False


def read_words(text: str, lexicon: Lexicon) -> tuple[list[str], bool]:
    """Return a message's words as patterns and weights know them, and whether it is short."""
    tokens = tokenise(text)
    words = household_words(PATTERNS, lexicon.find(tokens), tokens) if tokens else []
    spoken = sum(t.kind not in {TokenKind.PUNCTUATION, TokenKind.EMOJI} for t in tokens)
    return words, spoken <= SHORT_REPLY_WORDS


def read_features(words: Sequence[str], vectors: Mapping[str, NDArray[np.float64]]) -> Features:
    """Return the features of a message: what the program weighs, and how its words are used."""
    if not words:
        return {}
    families = PATTERNS.matched(" ".join(words))
    features: Features = {("words", run): 1.0 for run in word_sequences(words)}
    spelling = Counter(part for word in set(words) for part in set(spelling_parts(word)))
    features |= {("spelling", part): SPELLING_SCALE * count for part, count in spelling.items()}
    features |= {("families", family): 1.0 for family in families}
    features |= {("pairs", pair): 1.0 for pair in family_pairs(families)}
    features |= {("shape", name): 1.0 for name in shape(words)}
    known = [vectors[word] for word in sorted(set(words)) if word in vectors]
    if known:
        usage = USAGE_SCALE * np.sum(known, axis=0)
        features |= {("usage", str(at)): float(value) for at, value in enumerate(usage)}
    return features


def labelled_sms(data: Path) -> list[Example]:
    """Read our labels of real text messages; their text stays where it is."""
    texts = {row["meta"]["id"]: row for row in read_lines(data / "sms_real_dev.jsonl")}
    return [
        _labelled(
            "nus_sms",
            row,
            conversation=row["conversation"],
            text=texts[row["id"]]["text"],
            context=tuple(texts[earlier]["text"] for earlier in row["context"]),
            lexicon=speakers_lexicon(frozenset()),
        )
        for row in read_lines(HERE / "labels_sms.jsonl")
    ]


def labelled_speech(data: Path) -> list[Example]:
    """Read our labels of household talk."""
    path = data / "cabnc_home_conversations_dev.jsonl"
    turns = {row["conversation"]: row["turns"] for row in read_lines(path)}
    examples = []
    for row in read_lines(HERE / "labels_cabnc.jsonl"):
        conversation, at = turns[row["conversation"]], row["turn"]
        earlier = conversation[max(0, at - CONTEXT_WINDOW) : at]
        examples.append(
            _labelled(
                "cabnc",
                row,
                conversation=row["conversation"],
                text=conversation[at]["text"],
                context=tuple(turn["text"] for turn in earlier),
                lexicon=speakers_lexicon(
                    frozenset(turn["sender"] for turn in conversation[max(0, at - 6) : at + 1])
                ),
            )
        )
    return examples


def _labelled(
    source: str,
    row: dict[str, bool],
    *,
    conversation: str,
    text: str,
    context: tuple[str, ...],
    lexicon: Lexicon,
) -> Example:
    message = LabelledMessage(
        source=f"{source} (fitting)",
        slice="fitting",
        conversation=f"{source}:{conversation}",
        text=text,
        context=context,
        lexicon=lexicon,
        is_coordination=row["is_coordination"],
        is_sure=row["is_sure"],
    )
    return Example(message, 1.0 if row["is_sure"] else DOUBTFUL_WEIGHT)


STAND_INS = (
    {
        "child": "Nora",
        "child2": "Theo",
        "adult": "Sam",
        "activity": "chess",
        "activity2": "swimming",
        "place": "Oak Hall",
    },
    {
        "child": "ivo",
        "child2": "lena",
        "adult": "petra",
        "activity": "cricket",
        "activity2": "cello",
        "place": "the dojo",
    },
)
FIGURES = {
    "day": ("tuesday", "Thursday", "fri", "monday", "wed", "Saturday", "thurs"),
    "time": ("4:30", "3pm", "16:00", "5:15", "8.30", "7am"),
    "num": ("5", "3", "6", "4", "7", "8"),
    "month": ("March", "june", "october"),
}


def written_lines() -> list[Example]:
    """Fill in the household lines, once for each stand-in household."""
    examples = []
    lexicons = [_stand_in_lexicon(names) for names in STAND_INS]
    lines = (HERE / "household_lines.txt").read_text(encoding="utf-8").splitlines()
    for number, line in enumerate(line for line in lines if line and not line.startswith("#")):
        label, template = line[0], line[2:]
        for household, names in enumerate(STAND_INS):
            if household and "{" not in template:
                continue
            text = _fill(template, names, 2 * number + household)
            message = LabelledMessage(
                source="written lines",
                slice="fitting",
                conversation="written lines",
                text=text,
                context=(),
                lexicon=lexicons[household],
                is_coordination=label in "+~",
            )
            examples.append(Example(message, 1.0, is_reply_line=label in "~="))
    return examples


def _stand_in_lexicon(names: Mapping[str, str]) -> Lexicon:
    kinds: dict[str, list[str]] = {}
    for key, name in names.items():
        kinds.setdefault(key.rstrip("2"), []).append(name)
    return household_lexicon({kind: _entries(kind_names) for kind, kind_names in kinds.items()})


def labelled_help(data: Path) -> list[Example]:
    """Read our labels of public chat channels."""
    rows = {
        (row["meta"]["file"], row["meta"]["line"]): row
        for row in read_lines(data / "irc_reply_attribution_dev.jsonl")
    }
    examples = []
    for label in read_lines(HERE / "labels_irc.jsonl"):
        row = rows[label["file"], label["line"]]
        earlier = row["context"][-CONTEXT_WINDOW:]
        examples.append(
            _labelled(
                "irc",
                label,
                conversation=label["file"],
                text=row["text"],
                context=tuple(item["text"] for item in earlier),
                lexicon=speakers_lexicon(
                    frozenset({row["sender"], *(item["sender"] for item in row["context"][-6:])})
                ),
            )
        )
    return examples


def written_threads() -> list[Example]:
    """Read the household threads and chats, each message with those before it as context."""
    return [
        example
        for name in ("household_threads.txt", "household_chats.txt")
        for example in _threads(HERE / name)
    ]


def _threads(path: Path) -> Iterator[Example]:
    lexicon, earlier, household = household_lexicon({}), [], ""
    for line in path.read_text(encoding="utf-8").splitlines():
        if line.startswith("##"):
            continue
        if line.startswith("#"):
            earlier = []
            if line != "#":
                household = line[1:].strip()
                groups = zip(("child", "adult", "activity"), household.split("|"), strict=True)
                lexicon = household_lexicon(
                    {kind: _entries(words.split(",")) for kind, words in groups}
                )
            continue
        message = LabelledMessage(
            source=path.stem.replace("household", "written").replace("_", " "),
            slice="fitting",
            conversation=household,
            text=line[2:],
            context=tuple(earlier[-CONTEXT_WINDOW:]),
            lexicon=lexicon,
            is_coordination=line[0] == "+",
        )
        earlier.append(line[2:])
        yield Example(message, FAMILY_WEIGHT)


def _entries(words: Iterable[str]) -> list[dict[str, str | list[str]]]:
    names = [word.strip() for word in words if word.strip()]
    return [{"id": name.lower(), "words": [name]} for name in names]


def _fill(template: str, names: dict[str, str], turn: int) -> str:
    def value(match: re.Match[str]) -> str:
        key = match[1]
        choices = FIGURES.get(key)
        return choices[(turn + match.start()) % len(choices)] if choices else names[key]

    return re.sub(r"\{(\w+)\}", value, template)
