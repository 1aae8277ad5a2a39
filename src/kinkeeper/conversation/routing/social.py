"""The social filter: whether a message, as a whole, says nothing but hello, thanks, never mind. Pure."""

from collections.abc import Collection, Mapping, Sequence

from kinkeeper.conversation.model import Confirmation, Social
from kinkeeper.conversation.routing.clause_words import (
    NAMES,
    Clause,
    clauses_of,
    phrases,
    without_address,
    word_lists,
)
from kinkeeper.conversation.routing.confirmation import read_confirmation
from kinkeeper.conversation.routing.social_head import GOES_ON, NEVER_SOCIAL, social_head
from kinkeeper.language.text import Token, TokenKind, tokenise
from kinkeeper.reading.phrases import ASKED, phrase_book

_LONGEST = 60
_CHANCE = 0.35
_BY_STRENGTH = (Social.IGNORE, Social.CANCEL, Social.ACKNOWLEDGE)
_DECLINING = "decline"
_ANSWERS = frozenset({"yes", "no"})
"""After these a name is no one who is spoken to, but what is chosen."""


def read_social(
    text: str, *, is_offered: bool = False, has_referent: bool = False, names: Collection[str] = ()
) -> Social | None:
    """Return what a wholly social message comes to; None for every other message.

    Args:
        text: Any.
        is_offered: Whether the last answer offered or asked something: then a yes goes on.
        has_referent: Whether "it" may be something of the turns before: then "cancel it" goes on.
        names: What the assistant is called.
    """
    tokens = tokenise(text)
    if len(tokens) > _LONGEST:
        return None
    clauses = tuple(map(without_address, clauses_of(text, names)))
    if not clauses:
        return _without_words(tokens)
    if clauses[0][0] not in _ANSWERS:
        clauses = tuple(clause for clause in clauses if not NAMES.issuperset(clause)) or clauses
    if any(not NEVER_SOCIAL.isdisjoint(clause) or _asks_of_day(clause) for clause in clauses):
        return None
    chances = [social_head().chances(clause) for clause in clauses]
    if any(each[GOES_ON] > 1 - _CHANCE for each in chances):
        return None
    kinds = {_likeliest(each) for each in chances}
    kind = next(social for social in _BY_STRENGTH if social in kinds)
    if any(_undoes(clause, has_referent=has_referent) for clause in clauses):
        return None
    if has_referent and not phrases("referring").isdisjoint(clauses):
        return None
    if is_offered and _agrees(text, names):
        return None
    return kind


def _likeliest(chances: Mapping[str, float]) -> Social:
    label = max((each for each in chances if each != GOES_ON), key=lambda each: chances[each])
    return Social(label.upper())


def _asks_of_day(clause: Clause) -> bool:
    lists = word_lists()
    return clause[0] in lists["asking_days"] and not lists["days"].isdisjoint(clause)


def _undoes(clause: Clause, *, has_referent: bool) -> bool:
    """Whether one certain thing is to be undone: "cancel that one", and "cancel it" after something was made."""
    lists, said = word_lists(), set(clause)
    if not said & lists["undoing"] or said & lists["dismissing"]:
        return False
    if said & lists["owned"]:
        return not said & lists["matters"]
    return bool(said & lists["picking"]) or (has_referent and bool(said & lists["things"]))


def _agrees(text: str, names: Collection[str]) -> bool:
    reading = read_confirmation(text, names=names)
    return reading is not None and reading.kind is not Confirmation.NO


def _without_words(tokens: Sequence[Token]) -> Social | None:
    """Read a message of emoji and marks: a question mark alone asks, all else says little."""
    if any(token.text[0] == ASKED for token in tokens):
        return None
    emoji = phrase_book().emoji
    shown = [token.text for token in tokens if token.kind is TokenKind.EMOJI]
    if any(emoji.get(symbol) == _DECLINING for symbol in shown):
        return Social.CANCEL
    has_words = any(token.kind is TokenKind.WORD for token in tokens)
    return Social.ACKNOWLEDGE if shown or has_words else Social.IGNORE
