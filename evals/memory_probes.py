"""Puts questions to a finder: its own conversation's, another one's, and none at all but the talk so far."""

import re
from collections import defaultdict
from collections.abc import Callable, Iterator, Mapping, Sequence
from itertools import groupby

from evals.memory_finders import Hit, TurnFinder
from evals.memory_gold import ADVERSARIAL, Conversation, Question
from evals.memory_scores import Answered

Making = Callable[[], TurnFinder]
"""Returns a finder that holds nothing yet."""

_LIMIT = 100
_FORESEEN = 10
_SEEN = 5
"""How many hits a question seems to be answered by; the same for own and foreign ones."""
_HEARD = 2


def answer_all(make: Making, conversations: Sequence[Conversation]) -> list[Answered]:
    """Return what is found for each question in its own conversation.

    Args:
        make: Makes the finder.
        conversations: With questions.
    """
    found = []
    for conversation in conversations:
        finder = _filled(make, conversation)
        found += [_answered(finder, question) for question in conversation.questions]
    return found


def answer_by_session(make: Making, conversations: Sequence[Conversation]) -> list[Answered]:
    """Return which sessions are found for each question: each ranks as its best turn.

    Args:
        make: Makes the finder.
        conversations: With questions whose evidence are sessions.
    """
    found = []
    for conversation in conversations:
        finder = _filled(make, conversation)
        session_of = {turn.key: turn.session for turn in conversation.turns}
        for question in conversation.questions:
            hits = finder.find(question.text, _LIMIT)
            sessions = dict.fromkeys(session_of[hit.key] for hit in hits)
            found.append(Answered(question=question, ranked=tuple(sessions), relevance=_best(hits)))
    return found


def foreign_relevance(make: Making, conversations: Sequence[Conversation]) -> list[float]:
    """Return how relevant what is found seems to be, for each question of each other conversation.

    The names of those who speak there are replaced by those of the conversation that is asked.

    Args:
        make: Makes the finder.
        conversations: Two or more.
    """
    found = []
    for conversation in conversations:
        finder = _filled(make, conversation)
        for other in conversations:
            if other is conversation:
                continue
            names = dict(zip(other.speakers, _cycled(conversation.speakers), strict=False))
            found += [
                _best(finder.find(renamed(question.text, names), _SEEN))
                for question in other.questions
                if question.category != ADVERSARIAL
            ]
    return found


def renamed(text: str, names: Mapping[str, str]) -> str:
    """Return a text with names replaced, all at once.

    Args:
        text: Any.
        names: New name by old one.
    """
    if not names:
        return text
    pattern = re.compile(rf"\b({'|'.join(map(re.escape, names))})\b")
    return pattern.sub(lambda match: names[match[1]], text)


def foreseen(make: Making, conversations: Sequence[Conversation]) -> list[int | None]:
    """Return the rank, or None, of the first turn that was rightly foreseen, for each case.

    A case is a turn that, together with turns of earlier sessions, answers some question, and before
    which two turns of its own session were said: from these two, one of those earlier turns has to be
    foreseen. The finder holds the earlier sessions and nothing else.

    Args:
        make: Makes the finder.
        conversations: With questions whose evidence are turns.
    """
    ranks = []
    for conversation in conversations:
        finder = make()
        cases = _cases(conversation)
        for _, turns in groupby(conversation.turns, key=lambda turn: turn.session):
            said = [*turns]
            for number in range(_HEARD, len(said)):
                if wanted := cases.get(said[number].key):
                    hits = finder.foresee(said[number - _HEARD : number], _FORESEEN)
                    ranks.append(_first(hits, wanted))
            finder.add(said)
    return ranks


def _filled(make: Making, conversation: Conversation) -> TurnFinder:
    finder = make()
    finder.add(conversation.turns)
    return finder


def _answered(finder: TurnFinder, question: Question) -> Answered:
    hits = finder.find(question.text, _LIMIT)
    return Answered(question=question, ranked=tuple(hit.key for hit in hits), relevance=_best(hits))


def _best(hits: Sequence[Hit]) -> float:
    return max((hit.relevance for hit in hits[:_SEEN]), default=0.0)


def _cycled(names: Sequence[str]) -> Iterator[str]:
    while True:
        yield from names


def _cases(conversation: Conversation) -> Mapping[str, set[str]]:
    """Return what may be foreseen, by the turn before which it should be."""
    place = {turn.key: number for number, turn in enumerate(conversation.turns)}
    session = {turn.key: turn.session for turn in conversation.turns}
    cases: dict[str, set[str]] = defaultdict(set)
    for question in conversation.questions:
        if question.category == ADVERSARIAL:
            continue
        for key in question.evidence:
            earlier = {
                other
                for other in question.evidence
                if place[other] < place[key] and session[other] != session[key]
            }
            if earlier:
                cases[key] |= earlier
    return cases


def _first(hits: Sequence[Hit], wanted: set[str]) -> int | None:
    return next((rank for rank, hit in enumerate(hits, start=1) if hit.key in wanted), None)
