"""Whether a message goes on with what was said before it. Pure."""

from collections.abc import Sequence

from kinkeeper.conversation.model import Exchange, Mode
from kinkeeper.conversation.routing.clause_words import Clause, clauses_of, phrases, word_lists
from kinkeeper.conversation.routing.intent import commands_in
from kinkeeper.reading.phrases import ASKED

_SHORT = 4
_BRIEF = 8
_ABOUT = "about"


def goes_on(clauses: Sequence[Clause], history: Sequence[Exchange]) -> bool:
    """Tell whether a message continues the last exchange.

    An answer to a question does, and so does what refers to something named before, what is too
    short to stand alone, and what begins with "and" or "what about". A new wish does not, though
    it may be said in the same breath as thanks.

    Args:
        clauses: Of the message.
        history: Earlier turns, oldest first.
    """
    if not history or not clauses:
        return False
    lists = word_lists()
    words = [word for clause in clauses for word in clause if word != ASKED]
    if clauses[0][0] in lists["opening"] or any(map(_asks_about, clauses)):
        return True
    is_command = any(map(commands_in, clauses))
    if len(words) <= _SHORT and not is_command:
        return True
    said = set(words)
    refers, continues = bool(said & lists["references"]), bool(said & lists["continuing"])
    is_new = bool(said & lists["beginnings"])
    asked = _question(history[-1].answer)
    if asked and not lists["interrogatives"].isdisjoint(asked):
        return True
    if asked:
        return refers or continues or not (is_new or is_command)
    if is_command:
        return continues or (refers and len(words) <= _BRIEF)
    return continues or (refers and not is_new)


def offers_something(history: Sequence[Exchange]) -> bool:
    """Tell whether the last answer offered to do something, or asked back, so that a yes is a wish.

    Args:
        history: Earlier turns, oldest first.
    """
    if not history:
        return False
    last = history[-1]
    if last.clarification or last.mode is Mode.CLARIFY:
        return True
    clauses = clauses_of(last.answer)
    return any(
        clause[-1] == ASKED and not _wraps_up(clause) and _has_offer(clause) for clause in clauses
    )


def _asks_about(clause: Clause) -> bool:
    """Whether a clause is "what about ..."."""
    return clause[0] in word_lists()["asking_on"] and clause[1:2] == (_ABOUT,)


def _question(answer: str) -> Clause:
    """Return the question that an answer ends with; nothing where it only asks whether there is more."""
    clauses = clauses_of(answer)
    if not clauses or clauses[-1][-1] != ASKED or _wraps_up(clauses[-1]):
        return ()
    return clauses[-1]


def _wraps_up(clause: Clause) -> bool:
    """Whether a question only asks whether there is anything else."""
    return not word_lists()["wrapping_up"].isdisjoint(clause)


def _has_offer(clause: Clause) -> bool:
    return any(
        clause[at : at + len(offer)] == offer
        for offer in phrases("offers")
        for at in range(len(clause))
    )
