"""A request in doubt ("maybe …", "should I …?", "…, actually don't"), and what it would be without the doubt. Pure."""

import re
import tomllib
from collections.abc import Mapping
from functools import cache
from importlib.resources import files
from typing import Any


def without_doubt(text: str) -> str | None:
    """Return what a message would ask for without the words that put it in doubt; None where nothing does.

    "Might be worth adding oats" wonders whether to "add oats". Where no deed is named that the assistant can do, and where
    a request is taken back in the same breath, the message comes as it is.

    Args:
        text: Plain.
    """
    plain = " ".join(text.replace("’", "'").split())
    before, behind, inside = _doubts()
    lead, tail = before.match(plain), behind.search(plain)
    if lead is None and tail is None:
        return text if inside.search(plain) else None
    rest = plain[lead.end() if lead else 0 : tail.start() if tail else len(plain)].strip(" ,?")
    verb, _, about = rest.partition(" ")
    deeds = _data()["deeds"]
    deed = deeds.get(verb.lower(), verb.lower())
    return f"{deed} {about}" if deed in deeds.values() else text


def told_not_asked(clause: str) -> frozenset[str]:
    """Return why a clause asks for nothing, whatever verb of a request it holds; empty where it may ask.

    "unwanted": something is not to be done, or not any more; "of_others": somebody else wants it; "nouns": what seems a
    verb is a noun of which something is said ("Book club is …").

    Args:
        clause: Plain, or with marks for its times.
    """
    return frozenset(name for name, form in _forms().items() if form.search(clause))


@cache
def _forms() -> Mapping[str, re.Pattern[str]]:
    return {
        name: re.compile("".join(form.strip("\n").split("\n")), re.IGNORECASE)
        for name, form in _data()["forms"].items()
    }


@cache
def _doubts() -> tuple[re.Pattern[str], re.Pattern[str], re.Pattern[str]]:
    before, behind, inside = (
        "".join(_data()["doubt"][name].strip("\n").split("\n"))
        for name in ("before", "behind", "inside")
    )
    opening = _data()["doubt"]["openings"]
    return (
        re.compile(rf"\W*(?:(?:{opening})\W+){{0,4}}(?:(?:{before})\W+){{1,2}}", re.IGNORECASE),
        re.compile(rf"(?:{behind})\W*$", re.IGNORECASE),
        re.compile(rf"(?<=\w)\W+(?:{inside})", re.IGNORECASE),
    )


@cache
def _data() -> Mapping[str, Any]:
    path = files("kinkeeper.reading.data") / "doubt.toml"
    return tomllib.loads(path.read_text(encoding="utf-8"))
