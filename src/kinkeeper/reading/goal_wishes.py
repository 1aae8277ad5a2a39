"""Whether a clause asks for something that takes more than one answer: "find …", "keep an eye on …", "ask me again …". Pure."""

import re
import tomllib
from collections.abc import Mapping
from dataclasses import dataclass
from enum import StrEnum
from functools import cache
from importlib.resources import files


class GoalWish(StrEnum):
    """What is wanted."""

    FIND = "find"
    WATCH = "watch"
    ASK = "ask"  # to be asked something again later
    WHICH = "which"  # to be told of all that is worked on
    HOW = "how"  # to be told how far one thing has come
    STOP = "stop"
    PAUSE = "pause"
    RESUME = "resume"


OF_WHAT_IS_KNOWN = frozenset({GoalWish.HOW, GoalWish.STOP, GoalWish.PAUSE, GoalWish.RESUME})
"""Wishes about something that is worked on already, which the words after them name."""


@dataclass(frozen=True, slots=True)
class Wished:
    """A wish.

    Attributes:
        about: What it is about; empty where the clause does not say, or only points at it.
        is_plain: Whether its words cannot mean anything else.
    """

    wish: GoalWish
    about: str = ""
    is_plain: bool = True


def goal_wishes(clause: str) -> list[Wished]:
    """Return what a clause can ask for, the likelier first.

    Args:
        clause: Without politeness; with marks in the place of its times.
    """
    said, found = _form("sentence").sub("", clause.strip(" ,")), list[Wished]()
    for wish in GoalWish:
        if (form := _form(wish).fullmatch(said)) is not None:
            groups = form.groupdict()
            about = (groups["about"] or "").strip(" ,:;–-") if "about" in groups else ""
            is_plain = "again" not in groups or bool(groups["again"])
            if wish in OF_WHAT_IS_KNOWN and _form("pronoun").fullmatch(about):
                about = ""
            if _is_meant(wish, about):
                found.append(Wished(wish, about, is_plain))
    return found + _told_when(said)


def _told_when(said: str) -> list[Wished]:
    """Return what somebody wants to be told once it changes: that is to be watched."""
    found = _form("tell").fullmatch(said)
    is_change = found is not None and _form("changes").fullmatch(found["about"]) is not None
    return [Wished(GoalWish.WATCH, found["about"])] if found is not None and is_change else []


def _is_meant(wish: GoalWish, about: str) -> bool:
    match wish:
        case GoalWish.FIND:
            return bool(about) and _form("known").fullmatch(about) is None
        case GoalWish.WATCH:
            return _form("news").fullmatch(about) is not None
        case _:
            return True


def question_of(words: str) -> str:
    """Return what somebody wants to be asked again about, without "about" before it."""
    return _form("about").sub("", words, count=1)


def _form(name: str) -> re.Pattern[str]:
    return _forms()[name]


@cache
def _forms() -> Mapping[str, re.Pattern[str]]:
    path = files("kinkeeper.reading.data") / "goal_wishes.toml"
    forms: Mapping[str, str] = tomllib.loads(path.read_text(encoding="utf-8"))["forms"]
    return {
        # Names of people tell themselves by their capitals.
        name: re.compile(
            "".join(form.strip("\n").split("\n")), re.NOFLAG if name == "known" else re.IGNORECASE
        )
        for name, form in forms.items()
    }
