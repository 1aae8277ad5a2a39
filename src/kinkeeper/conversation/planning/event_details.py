"""What is to take place, out of the words that are left when its times are taken out: title, people, place. Pure."""

import re
from collections.abc import Iterable
from dataclasses import dataclass, replace

from kinkeeper.conversation.planning.case import Case
from kinkeeper.conversation.planning.message import LENGTH_MARK, TIME_MARK
from kinkeeper.conversation.planning.people import (
    everybody,
    is_person,
    means_everybody,
    members_in,
    who_of,
)

_PIECES = re.compile(r"\s*[,;]\s*|\s+[-–—]\s+|\s*[()]\s*")
_BOTH = re.compile(r"\s+(?:both|all)$", re.IGNORECASE)
"""Behind names it adds nobody."""

_DETERMINER = re.compile(
    r"^(?:(?:the|my|our|his|her|their|its|a|an|another|some|new|this|that|any|next)\s+)+",
    re.IGNORECASE,
)
_LEFT_OVER = re.compile(
    r"^(?:that|for|to|called|titled|named|about|and|with us|in)\s+|\s+(?:to|on|at|for|in|from|by|and|is|are|will be|with|it's|starting|until|till|til|every|each|all|whole|of|(?:until|till|til) late|onwards|sharp|or so|ish|instead|too|as well|then|about|around|roughly|approximately|staying|lasting)$",
    re.IGNORECASE,
)
_LENGTH = re.compile(
    rf"\b(?:for|lasting|takes|taking)\s+(?:about\s+)?{LENGTH_MARK}|^\s*(?:about\s+)?{LENGTH_MARK}(?:\s+long)?\s*$",
    re.IGNORECASE,
)
_COPULA = re.compile(
    rf"\s+(?:is|are|will be|starts?|begins?|comes?|takes? place)(?=\s+(?:(?:on|at|from|in|this|next)\s+)*{TIME_MARK})",
    re.IGNORECASE,
)
_UNREAD = re.compile(
    r"(?:^|[\s,])(?:(?:until|till|til|every|each|between)\b|(?:from|at|by)(?:$|\s+\d)).*|[,–-]\s*\d{1,2}(?:[:.]\d\d)?$|\b\d{1,2}[:.]\d\d\b|\b\d{1,2}\s*(?:onwards?|o'?clock)\b",
    re.IGNORECASE,
)


@dataclass(frozen=True, slots=True, kw_only=True)
class Described:
    """What takes place, as far as it was said.

    Attributes:
        title: What it is called; empty where nothing names it.
        who: Ids of members who take part.
        responsible: Ids of members who see to it.
        where: Place, as it was said.
        is_whole: Whether all that sounds like a time was read as one.
        main: The words that say when it is: all but those that tell when a part of it is ("doors at 6:30").
    """

    title: str
    who: tuple[str, ...] = ()
    responsible: tuple[str, ...] = ()
    where: str | None = None
    is_whole: bool = True
    main: str = ""


def described(what: str, case: Case, *, who: str = "") -> Described:
    """Return what takes place by the words that describe it.

    Args:
        what: A part of the message, with marks.
        case: Of the message.
        who: A part that names only people.
    """
    plain = _COPULA.sub("", case.grammar.describing["in_calendar"].sub(" ", what))
    parts = _PIECES.split(plain)
    beside = [part for part in parts[1:] if _tells_of_a_part(part, case)]
    parts = [part for part in parts if part not in beside]
    pieces = [case.message.title(_LENGTH.sub(" ", part)) for part in parts]
    pieces = [piece for piece in pieces if piece]
    found = Described(title="", who=tuple(who_of(who, case)) if who else ())
    kept: list[str] = []
    for piece in pieces:
        more = _aside(piece, case) if kept else None
        found = found if more is None else _joined(found, more)
        kept += [piece] if more is None else []
    named = _headed(kept[0], case) if kept else Described(title="")
    title = ", ".join(each for each in (named.title, *kept[1:]) if each)
    return replace(
        _joined(found, named), title=", ".join([title, *map(case.message.words, beside)]),
        is_whole=is_person(title, case) or _UNREAD.search(title) is None, main=", ".join(parts),
    )  # fmt: skip


def _tells_of_a_part(words: str, case: Case) -> bool:
    """Whether words say at which hour a part of it is; the hour of the whole is said elsewhere."""
    times = case.message.times(words)
    says_hour = bool(times) and all(each.has_time and not each.has_date for each in times)
    return says_hour and case.grammar.describing["part_of_it"].match(words) is not None


def _joined(found: Described, more: Described) -> Described:
    return Described(
        title=found.title or more.title, who=_once(found.who, more.who),
        responsible=_once(found.responsible, more.responsible), where=found.where or more.where,
    )  # fmt: skip


def _once(*ids: Iterable[str]) -> tuple[str, ...]:
    return tuple(dict.fromkeys(each for several in ids for each in several))


def _aside(piece: str, case: Case) -> Described | None:
    """Return what a piece beside the title says of people or place; None where it says something else."""
    taking = case.grammar.describing["taking"].fullmatch(piece)
    if taking is not None and (members := who_of(taking["who"], case)):
        others = [each for each in members_in(piece, case) if each not in members]
        return Described(title="", responsible=tuple(members), who=tuple(others))
    going = case.grammar.describing["going"].fullmatch(piece)
    if going is not None and (members := _those_who(going["who"], case)):
        return Described(title="", who=tuple(members))
    place = case.grammar.describing["at_place"].fullmatch(piece)
    return Described(title="", where=place["where"]) if place is not None else None


def _those_who(words: str, case: Case) -> list[str]:
    return everybody(case) if means_everybody(words, case) else who_of(_BOTH.sub("", words), case)


def _headed(head: str, case: Case) -> Described:
    """Return what the title's own piece says: who takes part, who sees to it, where it is."""
    says, head = case.grammar.describing, _trimmed(head)
    who: list[str] = []
    responsible: list[str] = []
    for name, people in (
        ("ends_taking", responsible), ("ends_going", who), ("ends_for", who), ("begins_with", who),
    ):  # fmt: skip
        match = says[name].fullmatch(head)
        members = _those_who(match["who"], case) if match is not None else []
        if match is not None and members and _is_people(match["who"], case):
            head = match["title"]
            people.extend(members)
    begun = says["begins_having"].match(head)
    head = head[begun.end() :] if begun is not None else head
    title, where = _placed(_trimmed(head), case)
    present = everybody(case) if means_everybody(title, case) else [*who, *members_in(title, case)]
    return Described(
        title=title, where=where, who=_once(present), responsible=_once(responsible)
    )  # fmt: skip


def _is_people(words: str, case: Case) -> bool:
    """Whether words name nobody but members ("me", "gran", "Leo and Mia", "all of us")."""
    each = [part for part in re.split(r"\s*(?:,|&|\band\b|\bboth\b)\s*", words.strip()) if part]
    return means_everybody(words, case) or all(
        is_person(part, case) or part.lower() in {"me", "i", "us", "we", "myself"} for part in each
    )


def _trimmed(title: str) -> str:
    """Return a title without what is left over at its ends when times are taken out."""
    before = None
    while title != before:
        before = title
        title = _LEFT_OVER.sub("", _DETERMINER.sub("", title.strip(" ,"))).strip(" ,")
    return title


def _placed(title: str, case: Case) -> tuple[str, str | None]:
    """Return a title without the place at its end, and the place."""
    found = case.grammar.describing["ends_at_place"].fullmatch(title)
    if found is None or members_in(found["where"], case):
        return title, None
    title = " ".join(each for each in (_trimmed(found["title"]), found["more"]) if each)
    return title, found["where"]
