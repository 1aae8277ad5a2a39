"""Why something is wanted or so, told beside it: no part of what is to be done, nor news by itself. Pure."""

import re
from collections.abc import Iterator

from kinkeeper.conversation.planning.grammar import Grammar
from kinkeeper.conversation.planning.message import TIME_MARK

_EDGES = " \t\n,;:!.?-–—"
_TIME = re.compile(TIME_MARK)
_LONGEST = 600  # characters of a request with its reason


def wanted_of(clause: str, grammar: Grammar) -> str:
    """Return what a request asks for without why, whether that stands before or after it; else the clause as it is.

    "Add one to the list, Leo lost his ruler" and "Leo lost his ruler, so add one to the list" both add a ruler.

    Args:
        clause: With marks, without politeness.
        grammar: Knows how reasons are given, and requests begin.
    """
    if len(clause) > _LONGEST:
        return clause
    said = grammar.said
    for name in ("reason_first", "reason_so"):
        found = said[name].fullmatch(clause)
        if found is not None and _is_request(found["rest"], grammar):
            return _named_by(found["why"], found["rest"].strip(_EDGES), grammar) or clause
    found = said["reason_told"].fullmatch(clause)
    if found is not None and not said["condition"].search(found["why"]):
        told = _told(found["why"], found["rest"].strip(_EDGES), grammar)
        if told is not None:
            return told
    found = said["reason_last"].fullmatch(clause)
    if found is None or not _is_request(found["rest"], grammar):
        return clause
    if said["keeps_reason"].search(found["rest"]):
        return clause
    return _named_by(found["why"], found["rest"].strip(_EDGES), grammar) or clause


def _told(why: str, rest: str, grammar: Grammar) -> str | None:
    """Return a request behind a statement; None where nobody can tell that it is one."""
    if grammar.said["placeholder"].match(rest):
        return _named_by(why, rest, grammar)
    is_statement = not _TIME.search(why) and grammar.said["states"].search(why) is not None
    return rest if is_statement else None


def _is_request(rest: str, grammar: Grammar) -> bool:
    opening = grammar.openings.match(rest)
    rest = rest[opening.end() :] if opening is not None and opening.end() < len(rest) else rest
    return grammar.said["request"].match(rest) is not None


def _named_by(why: str, rest: str, grammar: Grammar) -> str | None:
    """Return a request in which "one" is what the reason says is missing; None where only the reason names it otherwise."""
    if grammar.said["placeholder"].match(rest) is None:
        return rest
    thing = thing_missing(why, grammar)
    return grammar.said["placeholder"].sub(rf"\g<verb> {thing}", rest) if thing else None


def thing_missing(why: str, grammar: Grammar) -> str | None:
    """Return what a statement says is lost, broken, used up or needed; None where it says nothing of the kind.

    Args:
        why: With marks.
        grammar: Knows how such things are told.
    """
    found = grammar.said["missing"].fullmatch(why.strip(_EDGES))
    if found is None:
        return None
    return next((each for each in found.groups() if each), None)


def without_reason(clause: str, grammar: Grammar) -> str:
    """Return what is to be taken away without why ("no ballet on Friday, the teacher has flu"); else the clause as it is.

    Args:
        clause: With marks.
        grammar: Knows how reasons are given.
    """
    if grammar.said["takes_away"].match(clause) is None:
        return clause
    return grammar.said["reason"].sub("", clause, count=1)


def news_of(clause: str, grammar: Grammar, *, is_asked: bool = False) -> Iterator[str]:
    """Yield the parts of a statement that may be the news in it, without what caused it, the likeliest first.

    Args:
        clause: With marks.
        grammar: Knows how reasons are given.
        is_asked: Whether the message ends in a question, which may be about what stands before a comma.
    """
    cause = grammar.telling["cause"].fullmatch(clause)
    if cause is not None:
        yield cause["rest"]
        return
    if grammar.aside["covered"].search(clause):
        yield clause
    yield grammar.said["reason"].sub("", clause, count=1)
    yield clause
    first, *others = clause.split(",")
    if others:
        yield others[-1].strip()
    if others and not is_asked and not any(_TIME.search(each) for each in others):
        yield first.strip()
