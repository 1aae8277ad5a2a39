"""Small talk by a table of patterns and replies: what is answered without a model, and without pretending. Pure."""

import hashlib
import re
import tomllib
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cache
from importlib.resources import files

from kinkeeper.memory.finding.terms import words

_LEAD = re.compile(
    r"(?:hi|hiya|hey|hello|heya|hallo|yo|oh|so|well|um|uh|please|ok|okay|good (?:morning|afternoon|evening))"
    r"(?: there)? (?=.)"
)
_APOSTROPHES = str.maketrans({"’": " ", "'": " ", "‘": " "})


@dataclass(frozen=True, slots=True)
class _Kind:
    patterns: tuple["re.Pattern[str]", ...]
    replies: tuple[str, ...]


def reply(text: str, *, turn: str, names: Mapping[str, str]) -> str | None:
    """Return what to say to small talk; None where a message is something else.

    Args:
        text: The whole message.
        turn: Id of the turn: chooses between replies, the same one each time.
        names: "me": what the assistant is called; "name": what the person is called, where known.
    """
    plain = _plain(text, names.get("me", ""))
    if not plain:
        return None
    without_lead = _LEAD.sub("", plain, count=1)
    for said in dict.fromkeys((without_lead, plain)):
        kind = next(
            (each for each in _kinds() if any(p.fullmatch(said) for p in each.patterns)), None
        )
        if kind is not None:
            return _chosen(kind.replies, turn=turn, names=names)
    return None


def chosen(among: Sequence[str], turn: str) -> str:
    """Return one of several ways to say the same, by the turn: varied, and the same each time it is asked.

    Args:
        among: At least one.
        turn: Id of the turn.
    """
    return among[int(hashlib.sha256(turn.encode()).hexdigest(), 16) % len(among)]


def _chosen(replies: Sequence[str], *, turn: str, names: Mapping[str, str]) -> str | None:
    known = {name for name, value in names.items() if value}
    fitting = [each for each in replies if {*re.findall(r"\{(\w+)\}", each)} <= known]
    return chosen(fitting, turn).format(**names) if fitting else None


def _plain(text: str, me: str) -> str:
    said = " ".join(words(text.translate(_APOSTROPHES)))
    name = re.escape(" ".join(words(me)))
    return re.sub(rf"^{name} |[ ]{name}$", "", said) if name else said


@cache
def _kinds() -> tuple[_Kind, ...]:
    data = tomllib.loads((files(__package__) / "data" / "talk.toml").read_text(encoding="utf-8"))
    return tuple(
        _Kind(tuple(map(re.compile, kind["patterns"])), tuple(kind["replies"]))
        for kind in data["kind"]
    )
