"""Reads requests about notes and lists, and things enumerated as they are dictated, without commas. Pure."""

import re
import tomllib
from collections.abc import Sequence
from dataclasses import dataclass, replace
from functools import cache
from importlib.resources import files
from typing import Final

from kinkeeper.conversation.model import PlannedAction
from kinkeeper.conversation.planning.case import Case, Groups, Step, action
from kinkeeper.conversation.planning.grammar import word_sets
from kinkeeper.conversation.planning.people import (
    audience_of,
    is_person,
    members_in,
    without_people,
)
from kinkeeper.conversation.planning.task_rules import add as add_task
from kinkeeper.language.dictionary import first_names
from kinkeeper.language.text import shorten
from kinkeeper.reading.modality import Modality, modality_of
from kinkeeper.reading.own_lists import OWN_LIST, SHOPPING, list_title, own_list

# Things that are enumerated as they are dictated, without commas: "milk eggs olive oil and two
# onions". Pure.

_MOST_WORDS: Final = 40
_LONGEST_THING: Final = 4
_MOST_UNKNOWN: Final = 0.34
"""Share of things that may be unknown where the others show that things to buy are enumerated."""

_AMOUNT = re.compile(
    r"^(?:(?:\d+(?:[.,]\d+)?\s?(?:x|kg|g|ml|l|cl|oz|lb|lbs|litres?|liters?|pints?|packs?|tins?|cans?|bottles?)?|an?|some|more|a few|a couple(?: of)?|one|two|three|four|five|six|seven|eight|nine|ten|twelve|half a|a dozen|dozen)\s+)*"
    r"(?:(?:bags?|tins?|cans?|packs?|packets?|bottles?|boxes|box|jars?|tubs?|loaf|loaves|bunch|bunches|cartons?|pints?|litres?|liters?|kilos?|grams?|slices?|rolls?|sacks?|crates?|punnets?|heads?|blocks?|bars?|cloves?|tubes?|sticks?)\s+of\s+)?",
    re.IGNORECASE,
)


@dataclass(frozen=True, slots=True)
class _Goods:
    single: frozenset[str]
    several: frozenset[tuple[str, ...]]
    heads: frozenset[str]
    describing: frozenset[str]


@dataclass(frozen=True, slots=True)
class _Thing:
    words: str
    is_known: bool


def things_to_buy(text: str) -> list[str] | None:
    """Return the single things of words in which several to buy are run together; None where they are not such.

    Args:
        text: Words between two commas or "and"s.
    """
    things = _things(text)
    unknown = sum(not each.is_known for each in things)
    if not things or unknown > _MOST_UNKNOWN * len(things):
        return None
    return [each.words for each in things]


def are_groceries(lines: Sequence[str]) -> bool:
    """Return whether what is enumerated is, for the greater part, what families buy every week."""
    known = [things_to_buy(each) is not None for each in lines]
    return bool(known) and sum(known) * 2 > len(known)


def _things(text: str) -> list[_Thing]:
    words = text.split()
    if len(words) > _MOST_WORDS:
        return []
    things, at = [], 0
    while at < len(words):
        length, is_known = _next(words[at:])
        things.append(_Thing(" ".join(words[at : at + length]), is_known))
        at += length
    return things


def _next(words: Sequence[str]) -> tuple[int, bool]:
    """Return how many words the first thing has, and whether it is known."""
    goods, rest = _goods(), " ".join(words)
    amount = _AMOUNT.match(rest)
    lead = len(amount[0].split()) if amount is not None else 0
    plain = [each.lower().strip(".,") for each in words[lead:]]
    while (
        plain
        and plain[0] in goods.describing
        and tuple(plain[:2]) not in goods.several
        and len(plain) > 1
    ):
        lead, plain = lead + 1, plain[1:]
    if not plain:
        return len(words), False
    for length in range(min(_LONGEST_THING, len(plain)), 1, -1):
        if tuple(plain[:length]) in goods.several:
            return lead + length, True
    if plain[0] in goods.single or (lead and f"{plain[0]}s" in goods.single):
        return lead + 1, True
    if len(plain) > 1 and plain[1] in goods.heads:
        return lead + 2, True
    return lead + 1, False


@cache
def _goods() -> _Goods:
    path = files(__package__) / "data" / "groceries.toml"
    data = tomllib.loads(path.read_text(encoding="utf-8"))
    several = (" ".join(each.split()) for each in data["several"].split(";"))
    return _Goods(
        single=frozenset(data["single"].split()),
        heads=frozenset(data["heads"].split()),
        several=frozenset(tuple(each.split()) for each in several if each),
        describing=frozenset(data["describing"].split()),
    )


_BETWEEN = re.compile(r"\s*,\s*(?:and\s+)?|\s+(?:and|&|plus|as well as)\s+|\s*;\s*", re.IGNORECASE)
_LEAD = re.compile(
    r"^(?:that (?:i|we) need|(?:i|we) (?:need|want|have)|needs?|some more|some|more|to buy|buy|also)\s+",
    re.IGNORECASE,
)
_TAIL = re.compile(r"(?<=\w)(?:,?\s+(?:too|as well|also|please))+$", re.IGNORECASE)
_AGAIN = re.compile(
    r"^(?:it|that|this|them|those|these|something|an? items?|items?|things?|one|stuff|some|(?:some |one )?more|another(?: one)?|(?:some )?(?:a )?new ones?)$",
    re.IGNORECASE,
)
_OF_IT = re.compile(r"\b(?:for|of|on|about) (?:it|that|this|them|those)$", re.IGNORECASE)
"""Speaks of something that was said before, and is no note by itself."""

DETERMINER: Final = re.compile(r"^(?:the|my|our|some|any)\s+", re.IGNORECASE)
_OWN_LIST = re.compile(r"^(?:my|our)?\s*lists?$", re.IGNORECASE)
_NEEDED = re.compile(r"\b(?:need|needed|want)\b", re.IGNORECASE)
_NO_LINE = ("no_line", "states")
"""What makes words a sentence, and no line of a list."""

_FEW = 3
_LONGEST_TITLE = 48


def append(groups: Groups, case: Case) -> Sequence[Step] | None:
    """Read "add milk and eggs to the shopping list"; what is a thing to do goes to the tasks instead."""
    named, what = groups.get("named", ""), groups["what"]
    if (other := case.grammar.said["list_named"].search(what)) is not None:
        return _on_two(groups, other, case)
    own = None if named else own_list(case.message.text, groups["list"])
    title = f"{named} list" if named else own or list_title(groups["list"])
    lines = lines_of(what, case)
    if title == SHOPPING:
        lines = _told_apart(lines, what)
    if not lines or any(_AGAIN.match(line) for line in lines):
        return None
    is_told = "bare" in groups and _tells_of_somebody(what, case)
    if "bare" in groups and (
        any(case.grammar.said[each].search(what) for each in _NO_LINE)
        or (not groups["list"].lower().endswith(("list", "lists")) and (is_told or _is_told(what)))
    ):
        return None
    is_bare = own == OWN_LIST or (_OWN_LIST.match(groups["list"]) is not None and not named)
    for_whom = {} if own is None else {"private": True}
    if is_bare and case.grammar.said["errand"].match(case.message.title(what)):
        added = add_task(groups, case)
        return added and [
            replace(each, params={**each.params, **for_whom})
            if isinstance(each, PlannedAction)
            else each
            for each in added
        ]
    step = action("notes", "append", {"title": title, "body": "\n".join(lines), **for_whom})
    return [replace(step, is_offer=is_told)]


def _is_told(what: str) -> bool:
    return modality_of(what) is not Modality.NAMED and not are_groceries([what])


def _tells_of_somebody(what: str, case: Case) -> bool:
    """Whether words begin with who has, owes or does something; "Leo boots" and "gran's tablets" name things."""
    subject, _, rest = DETERMINER.sub("", what).partition(" ")
    who = subject.lower()
    known = word_sets("guard")
    is_who = is_person(who, case) or who in known["people"] | first_names()
    if not is_who or "'" in who or are_groceries([rest]):
        return False
    is_joined = rest.partition(" ")[0].lower() in known["function"]
    return not is_joined and (" " in rest or modality_of(what) is not Modality.NAMED)


def _on_two(groups: Groups, other: re.Match[str], case: Case) -> Sequence[Step] | None:
    """Read "add milk to my list and bread to the shopping list": each thing is put where it belongs."""
    before, joint = groups["what"][: other.start()], groups["what"][other.end() :]
    first = append({"what": before, "list": other["list"]}, case)
    behind = _BETWEEN.match(joint)
    second = append({**groups, "what": joint[behind.end() :]}, case) if behind else None
    return None if first is None or second is None else [*first, *second]


def wanted(groups: Groups, case: Case) -> Sequence[Step] | None:
    """Read "we need nappies and wipes": what families buy goes on the shopping list, though nobody named it."""
    what = groups["what"]
    said = case.grammar.said
    if case.message.times(what) or said["no_line"].search(what) or said["list_named"].search(what):
        return None
    lines = _told_apart(lines_of(what, case), what)
    if not are_groceries(lines):
        return None
    return [action("notes", "append", {"title": SHOPPING, "body": "\n".join(lines)})]


def enumerated(groups: Groups, case: Case) -> Sequence[Step] | None:
    """Read "snags, bread rolls and ice for the barbecue": nothing but things that families buy."""
    lines = _told_apart(lines_of(groups["what"], case), groups["what"])
    is_needed = _NEEDED.search(case.message.text) is not None
    if len(lines) < (1 if is_needed else _FEW) or not all(things_to_buy(each) for each in lines):
        return None
    return [action("notes", "append", {"title": SHOPPING, "body": "\n".join(lines)})]


def _told_apart(lines: list[str], said: str) -> list[str]:
    """Return lines in which what was dictated without commas is told apart."""
    if "," in said or ";" in said:
        return lines
    return [thing for line in lines for thing in things_to_buy(line) or [line]]


def lines_of(what: str, case: Case) -> list[str]:
    """Return the things of an enumeration, each as it was said."""
    words = case.message.words(_LEAD.sub("", what))
    parts = (_TAIL.sub("", _LEAD.sub("", part).strip(" .,")) for part in _BETWEEN.split(words))
    return [line for line in parts if line]


def show(groups: Groups, case: Case) -> Sequence[Step]:
    """Read "what's on the shopping list?"; "Ben's list" is what he has to do, and the list of that name if there is one."""
    if groups.get("all"):
        return [action("notes", "list", {})]
    owner = groups["list"].rpartition(" ")[0]
    whose = members_in(owner, case, as_owners=True)
    if whose and (" " not in owner or not without_people(owner, case)):
        title = f"{case.household.names[whose[0]]}'s list"
        return [
            PlannedAction(domain="task", action="list", params={"who": whose}),
            action("notes", "list", {"title": title, "may_lack": True}),
        ]
    return [action("notes", "list", {"title": _title(groups["list"], case)})]


def _title(called: str, case: Case) -> str:
    """Return what a list is called that there is, the household's or one of the speaker's own."""
    return own_list(case.message.text, called) or list_title(called)


def holds(groups: Groups, case: Case) -> Sequence[Step] | None:
    """Read "is milk on the list?", and "do we need rice?" of what families buy."""
    lines = lines_of(groups["what"], case)
    if not lines or any(_AGAIN.match(line) for line in lines):
        return None
    if not groups["list"] and not are_groceries(lines):
        return None
    title = _title(groups["list"], case)
    return [action("notes", "list", {"title": title, "line": line}) for line in lines]


def buying(groups: Groups, case: Case) -> Sequence[Step]:
    """Read "what's left to buy?", "what must I still get for the party?"."""
    named = case.message.words(groups.get("for", ""))
    return [action("notes", "list", {"title": list_title(named)})]


def remove(groups: Groups, case: Case) -> Sequence[Step] | None:
    """Read "take oat milk off"."""
    lines = lines_of(groups["what"], case)
    if not lines or any(_AGAIN.match(line) for line in lines):
        return None
    title = _title(groups["list"], case)
    bare = [DETERMINER.sub("", line) for line in lines]
    if _OWN_LIST.match(groups["list"]) and case.grammar.said["errand"].match(bare[0]):
        return [action("task", "complete", {"find_by": line}) for line in bare]
    return [action("notes", "remove_line", {"title": title, "line": line}) for line in bare]


def clear(groups: Groups, case: Case) -> Sequence[Step]:
    """Read "clear the shopping list"."""
    return [action("notes", "clear", {"title": _title(groups["list"], case)})]


def create(groups: Groups, case: Case) -> Sequence[Step] | None:
    """Read "start a list for camping"."""
    named = case.message.words(groups.get("named", ""))
    title = groups["title"]
    if re.fullmatch(r"(?:to[- ]?do|task) list", title, re.IGNORECASE):
        return None
    if named and (not title or _OWN_LIST.match(title)):
        title = f"{named} list" if title and not named.lower().endswith("list") else named
    lines = lines_of(groups.get("what") or "", case)
    return [action("notes", "create", {"title": list_title(title), "body": "\n".join(lines)})]


def note(groups: Groups, case: Case) -> Sequence[Step] | None:
    """Read "note down the wifi code is 1234"."""
    what, is_private = audience_of(groups["what"], case)
    body = case.message.words(what)
    if not body or _AGAIN.match(body) or _OF_IT.search(body):
        return None
    title = shorten(body, _LONGEST_TITLE)
    return [action("notes", "create", {"title": title, "body": body, "private": is_private})]


def search(groups: Groups, case: Case) -> Sequence[Step]:
    """Read "find my note about the boiler"."""
    query = DETERMINER.sub("", case.message.words(groups["what"]))
    return [action("notes", "search", {"query": query})]
