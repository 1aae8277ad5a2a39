"""Cuts a message into requests, with the reasons told beside them and how each clause is meant. Pure."""

import re
from collections.abc import Callable, Iterator, Sequence
from enum import StrEnum
from functools import cache
from itertools import pairwise

from kinkeeper.conversation.planning.case import Case, Step
from kinkeeper.conversation.planning.grammar import Grammar, word_sets
from kinkeeper.conversation.planning.message import TIME_MARK
from kinkeeper.language.dictionary import first_names
from kinkeeper.language.text import mask_stops

# Why something is wanted or so, told beside it: no part of what is to be done, nor news by itself.
# Pure.

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


Reader = Callable[[str], "list[Step] | None"]
"""Reads one clause; None where it asks for nothing."""

_LEADING_TIME = re.compile(
    rf"^(?P<time>(?:(?:at|on|in|by|for|from|every|this|coming|around|before|after)\s+)*(?:the\s+)?{TIME_MARK}(?:\s+(?:at|on|in)?\s*{TIME_MARK})*)[\s,:]+(?P<rest>\S.*)$",
    re.IGNORECASE,
)
_MOST_STRIPPED = 8
_MOST_CUTS = 12
_BEGINNING = 300  # characters that tell whether a request begins
_LONGEST_CLOSING = 100


def bare(clause: str, grammar: Grammar, *names: str) -> str:
    """Return a clause without greetings, politeness and what the assistant is called.

    Args:
        clause: With marks.
        grammar: Knows what may stand around a request.
    """
    clause = clause.strip(_EDGES)
    for _ in range(_MOST_STRIPPED):
        before = clause
        for name in names:
            clause = re.sub(
                rf"^{re.escape(name)}\b[\s,:!.-]*|[\s,]+{re.escape(name)}$",
                "",
                clause,
                flags=re.IGNORECASE,
            )
        opening = grammar.openings.match(clause)
        if opening is not None and opening.end() < len(clause):
            clause = clause[opening.end() :]
        closing = grammar.closings.search(clause, max(0, len(clause) - _LONGEST_CLOSING))
        clause = (clause if closing is None else clause[: closing.start()]).strip(_EDGES)
        if clause == before:
            break
    return clause


def in_order(clause: str) -> str:
    """Return a clause with the time that it begins with at its end ("at five remind me to …")."""
    found = _LEADING_TIME.match(clause)
    return f"{found['rest']} {found['time']}" if found is not None else clause


def steps_of(case: Case, read: Reader) -> list[Step] | None:
    """Return the requests of a message: of its parts where each of them is one, else of the whole."""
    return _Cutting(case, read).steps(case.message.text)


class _Cutting:
    """Cuts one message; no part of it is read twice."""

    def __init__(self, case: Case, read: Reader) -> None:
        self._case = case
        self._read = cache(read)
        self._left = _MOST_CUTS

    def steps(self, text: str) -> list[Step] | None:
        """Return the requests of a text, or None where it asks for nothing."""
        grammar, name = self._case.grammar, self._case.household.bot_name
        text = gone_on_with(bare(text, grammar, name), grammar)
        text = bare(wanted_of(text, grammar), grammar, name)
        for left, right, is_stop in _cuts(text, grammar):
            if self._left <= 0:
                break
            self._left -= 1
            found = self._of_both(left, right, is_stop=is_stop)
            if found:
                return found
        return self._read(text)

    def _of_both(self, left: str, right: str, *, is_stop: bool) -> list[Step] | None:
        grammar = self._case.grammar
        if _belongs(left, right, grammar) or _refers(left, right, grammar):
            return None
        first = self._read(bare(left, grammar, self._case.household.bot_name))
        if not first and not is_stop:
            return None
        rest = self.steps(_with_list(left, right, grammar))
        if first and rest:
            return [*first, *rest]
        return first or rest if is_stop else None


def gone_on_with(text: str, grammar: Grammar) -> str:
    """Return a text in which a sentence that only says more of what the one before makes is a part of it.

    "Start a list for the party. We need cups"; "put the fair on the calendar; it is on Friday at 3".

    Args:
        text: With marks.
        grammar: Knows how such sentences begin.
    """
    text = grammar.said["list_goes_on"].sub(r"\g<first> with \g<rest>", text, count=1)
    return grammar.said["event_goes_on"].sub(r"\g<first>, \g<rest>", text, count=1)


def _with_list(left: str, right: str, grammar: Grammar) -> str:
    """Return a second request with the list that the first one names ("... from my list, and add soda")."""
    named = grammar.said["list_named"].search(left)
    if named is None:
        return right
    right = bare(right, grammar)
    if grammar.said["to_it"].search(right):
        return grammar.said["to_it"].sub(rf"\g<joint> the {named['list']}", right)
    return (
        f"{right} to the {named['list']}" if grammar.said["adds_only"].fullmatch(right) else right
    )


def _cuts(text: str, grammar: Grammar) -> Iterator[tuple[str, str, bool]]:
    """Yield where a second request may begin: what is before, what is after, and whether a sentence ends there."""
    for joint in grammar.joints.finditer(mask_stops(text)):
        right = bare(text[joint.end() : joint.end() + _BEGINNING], grammar)
        is_stop = joint[0].strip()[:1] in {".", "!", "?", ";"}
        if is_stop or grammar.starts.match(in_order(right)):
            yield text[: joint.start()], text[joint.end() :], is_stop


def _belongs(left: str, right: str, grammar: Grammar) -> bool:
    """Whether what follows "and" still belongs to what one is to be reminded of ("to buy milk and cancel the gym")."""
    if grammar.said["absence"].fullmatch(bare(left, grammar)):
        return True  # what keeps somebody away is said behind it
    opened = grammar.said["open_ended"].match(bare(left, grammar))
    return opened is not None and grammar.said["clearly_new"].match(bare(right, grammar)) is None


def _refers(left: str, right: str, grammar: Grammar) -> bool:
    """Whether the second sentence only makes sense with the first ("We need soap. Add it to the list")."""
    whole = f"{left}. {right}"
    return any(grammar.said[name].fullmatch(whole) for name in ("trailing", "trailing_reminder"))


# How a clause is meant: asked for, named, told, denied, supposed, past or somebody else's words.
# Pure.
#
# A small reader over closed-class words, all of them in `data/modality.toml`. It knows no phrases
# of particular requests. Where it cannot tell, a clause counts as told, which is never enough to
# write anything unasked.

_WORD = re.compile(r"[^\W_]+(?:['-][^\W_]+)*")
_QUOTE_MARK = re.compile('[\ue300-\ue3ff]|["“”„«»]')
_LONGEST_PHRASE = 3
_SHORTEST_PAST = 5  # letters of a regular past form: "ended"


class Modality(StrEnum):
    """How a clause is meant."""

    NAMED = "named"
    TOLD = "told"
    NEGATED = "negated"
    PAST = "past"
    REPORTED = "reported"
    QUOTED = "quoted"
    CONDITIONAL = "conditional"
    HYPOTHETICAL = "hypothetical"


UNREAL = frozenset({Modality.CONDITIONAL, Modality.HYPOTHETICAL})
OTHERS_WORDS = frozenset({Modality.REPORTED, Modality.QUOTED})


def modality_of(clause: str) -> Modality:
    """Return how a clause is meant.

    Args:
        clause: Plain text, or with marks for its times and quotations.
    """
    words = [each.lower() for each in _WORD.findall(clause.replace("’", "'"))]
    said = _phrases(words)
    tables = word_sets("modality")
    for kind in ("conditional", "hypothetical"):
        if not said.isdisjoint(tables[kind]):
            return Modality(kind)
    if not said.isdisjoint(tables["reported"]):
        return Modality.QUOTED if _QUOTE_MARK.search(clause) else Modality.REPORTED
    if not said.isdisjoint(tables["negated"]) or any(each.endswith("n't") for each in words):
        return Modality.NEGATED
    if _is_past(words, clause):
        return Modality.PAST
    if not said.isdisjoint(tables["telling"] | tables["arranging"] | tables["subjects"]):
        return Modality.TOLD
    return Modality.NAMED


def tells_of_deed_or_wish(text: str) -> bool:
    """Return whether a message tells of something done, arranged or wanted.

    Args:
        text: Plain.
    """
    words = [each.lower() for each in _WORD.findall(text.replace("’", "'"))]
    tables = word_sets("modality")
    return _is_past(words, text) or not _phrases(words).isdisjoint(
        tables["wishing"] | tables["arranging"] | tables["hypothetical"] | tables["over"]
    )


def _is_past(words: Sequence[str], clause: str) -> bool:
    tables = word_sets("modality")
    before = ["", *words]
    named = {each.lower() for each in re.findall(r"(?<=[a-z,] )[A-Z]\w+", clause)}
    for first, word in pairwise(before):
        is_past = word in tables["past"] or (_ends_in_past(word) and word not in named)
        if not is_past:
            continue
        if word in tables["arranging"] or (word == "been" and first in tables["having"]):
            continue
        return True
    return False


def _ends_in_past(word: str) -> bool:
    if len(word) < _SHORTEST_PAST or not word.endswith("ed"):
        return False
    return word not in word_sets("modality")["no_past"] and word not in first_names()


def _phrases(words: Sequence[str]) -> frozenset[str]:
    """Return the words of a clause, and those that follow each other joined by "_"."""
    spans = range(1, _LONGEST_PHRASE + 1)
    return frozenset(
        "_".join(words[at : at + length]) for length in spans for at in range(len(words))
    )
