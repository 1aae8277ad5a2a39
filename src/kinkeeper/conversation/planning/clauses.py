"""Cuts a message into requests, and leaves out what stands around them without changing them. Pure."""

import re
from collections.abc import Callable, Iterator
from functools import cache

from kinkeeper.conversation.planning.case import Case, Step
from kinkeeper.conversation.planning.grammar import Grammar
from kinkeeper.conversation.planning.message import TIME_MARK
from kinkeeper.conversation.planning.reasons import wanted_of
from kinkeeper.language.sentences import mask_stops

Reader = Callable[[str], "list[Step] | None"]
"""Reads one clause; None where it asks for nothing."""

_LEADING_TIME = re.compile(
    rf"^(?P<time>(?:(?:at|on|in|by|for|from|every|this|coming|around|before|after)\s+)*(?:the\s+)?{TIME_MARK}(?:\s+(?:at|on|in)?\s*{TIME_MARK})*)[\s,:]+(?P<rest>\S.*)$",
    re.IGNORECASE,
)
_EDGES = " \t\n,;:!.?-–—"
_MOST_STRIPPED = 8
_MOST_CUTS = 12
_BEGINNING = 300  # characters that tell whether a request begins
_LONGEST_CLOSING = 100


def bare(clause: str, grammar: Grammar, *names: str) -> str:
    """Return a clause without greetings, politeness and what the assistant is called.

    Args:
        clause: With marks.
        grammar: Knows what may stand around a request.
        names: What the assistant is called.
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
    """Return the requests of a message: of its parts where each of them is one, else of the whole.

    Args:
        case: The message.
        read: Reads one clause.
    """
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
