"""Reads what is to be remembered, forgotten or recalled. Pure."""

import re
from collections.abc import Sequence

from kinkeeper.conversation.planning.audience import audience_of
from kinkeeper.conversation.planning.case import Case, Groups, Step, action
from kinkeeper.conversation.planning.people import members_in
from kinkeeper.memory.statements.classification import classify

_OURS = re.compile(r"\b(?:my|our)\b", re.IGNORECASE)
_FUNCTION = re.compile(
    r"^(?:does|do|did|is|are|was|were|has|have|had|any|the|a|an|of|to|'s|can|will|again|it|that|got)$",
    re.IGNORECASE,
)
_MOST_NAMES = 3
_BARE = re.compile(r"^(?:it|that|this|them|about it|about that|anything|something)$", re.IGNORECASE)
_NO_NAME = re.compile(
    r"^(?:what|who|which|where|how|that|this|it|he|she|a|an|the|when|if|back|later|tomorrow|at|on|in|by|crazy|again|now|cab|taxi|maybe|anytime|up|out|not)\b",
    re.IGNORECASE,
)


def called(groups: Groups, case: Case) -> Sequence[Step] | None:
    """Read "call me Sam"."""
    name = case.message.words(groups["name"])
    if (
        not name
        or _NO_NAME.match(name)
        or len(name.split()) > _MOST_NAMES
        or case.message.times(groups["name"])
    ):
        return None
    value = f"My name is {name[0].upper()}{name[1:]}"
    return [action("memory", "store", {"category": "identity", "key": "name", "value": value})]


def store(groups: Groups, case: Case) -> Sequence[Step] | None:
    """Read "remember that Emma is allergic to nuts"."""
    what, is_private = audience_of(groups["what"], case)
    _, before = audience_of(groups.get("whose", ""), case)
    value = case.message.words(what)
    if not value or _BARE.match(value):
        return None
    params = {
        "category": classify(value).category.value, "value": value,
        "private": before if is_private is None else is_private,
    }  # fmt: skip
    return [action("memory", "store", params)]


def search(groups: Groups, case: Case) -> Sequence[Step] | None:
    """Read "what do you know about Emma?"."""
    what = case.message.words(groups["what"]) or "name"
    return None if _BARE.match(what) else [action("memory", "search", {"query": what})]


def ask(groups: Groups, case: Case) -> Sequence[Step] | None:
    """Read a question about the household's own people and things ("what's Leo's shoe size?")."""
    words = case.message.words(groups["what"])
    if case.grammar.said["no_question"].search(case.message.text):
        return None
    if not members_in(words, case) and ("yes" in groups or not _OURS.search(words)):
        return None
    return [action("memory", "search", {"query": " ".join(_asked_about(words))})]


def _asked_about(words: str) -> list[str]:
    """Return the words of a question that say what it is about."""
    return [word for word in words.split() if not _FUNCTION.match(word)] or words.split()


def forget(groups: Groups, case: Case) -> Sequence[Step] | None:
    """Read "forget that …"."""
    what = case.message.words(groups["what"])
    return (
        None if not what or _BARE.match(what) else [action("memory", "forget", {"find_by": what})]
    )
