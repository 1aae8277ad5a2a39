"""A turn with every word of others left out: what a plan made of it wants, the person wants. Pure.

A model that has read words of others may want what those words want. One that was shown nothing but what the person
said themself, the household's own file and our own requests cannot.
"""

import re
from dataclasses import replace

from kinkeeper.conversation.model import Exchange, PlanningContext
from kinkeeper.conversation.planning.grammar import Grammar
from kinkeeper.language.text import strip_controls

_LONGEST_NAME = 8
"""Words of a quotation that still is a name or a title; a longer one is somebody's text."""

_QUOTED = re.compile(r'["“”„«]([^"“”„«»]+)')
_COPIED = re.compile(
    r"^\s*>|^\s*(?:fwd?|re|from|to|cc|bcc|sent|date|subject|body)\s*:|```|^\s*[-_=*]{4,}|\n\s*\n|<[/!|]?[a-z]",
    re.IGNORECASE | re.MULTILINE,
)
"""Marks of what was copied from elsewhere: quoted lines, heads of mails, fences, rules, paragraphs, markup."""


def own_words(context: PlanningContext, grammar: Grammar) -> PlanningContext | None:
    """Return what a planner may look at without a word of others; None where the message itself hands some on.

    What was found, what was answered and what awaits a yes is left out, for titles and texts of others stand in all
    of these.

    Args:
        context: The message and what is known around it.
        grammar: Knows how others are quoted.
    """
    if hands_on(context.text, grammar):
        return None
    own = [
        Exchange(text=each.text, answer="", at=each.at, mode=each.mode)
        for each in context.history
        if each.text and not hands_on(each.text, grammar)
    ]
    return replace(context, history=own, open_edit=(), results=(), fetched={})


def hands_on(text: str, grammar: Grammar) -> bool:
    """Whether some of a message may be others' words: quoted, copied or told.

    Args:
        text: As it was typed.
        grammar: Knows how others are quoted.
    """
    plain = strip_controls(text)
    return (
        is_copied(text)
        or grammar.reported.search(plain) is not None
        or any(len(quoted.split()) > _LONGEST_NAME for quoted in _QUOTED.findall(plain))
    )


def is_copied(text: str) -> bool:
    """Whether a message has marks of what was copied from elsewhere, such as the head of a mail or paragraphs.

    Args:
        text: As it was typed.
    """
    return _COPIED.search(text) is not None
