"""What a message tells and asks to keep secret, and how much of it the requests of its turn carry. Pure.

Nothing that somebody asks to keep secret is lost: what no event, task, note or card holds is kept in memory, for those
alone who may see it.
"""

from collections.abc import Iterator, Sequence
from functools import lru_cache
from typing import Any

from kinkeeper.actions.requests.model import ActionResult, ResultStatus
from kinkeeper.conversation.model import LONGEST_READ
from kinkeeper.household.model import Household
from kinkeeper.memory.finding.terms import stems
from kinkeeper.memory.statements.secrecy import points_back, secrecy_of

_HOLDS = frozenset({ResultStatus.DONE, ResultStatus.AWAITING, ResultStatus.UNDER_WAY})
_MOST_CARRIED = 0.5


def secret_of(
    text: str, household: Household, teller: str, *, is_group: bool = False
) -> str | None:
    """Return what a message tells beside its wish for secrecy; None where it tells nothing of its own.

    Args:
        text: The whole message, verbatim.
        household: Whose members it may name.
        teller: Member id of who says it.
        is_group: Whether others read along.
    """
    return _secret_of(text[:LONGEST_READ], household, teller, is_group)


@lru_cache(maxsize=64)
def _secret_of(text: str, household: Household, teller: str, is_group: bool) -> str | None:  # noqa: FBT001 - a cache's key
    """Read a message once, although its turn asks several times."""
    wish = secrecy_of(text, household, teller, is_group=is_group)
    if wish is None or not _words_of(wish.rest, household) or points_back(text):
        return None
    return wish.rest


def share_carried(secret: str, results: Sequence[ActionResult], household: Household) -> float:
    """Return how much of what is to be kept secret stands in what was written or offered for it, from 0 to 1.

    Args:
        secret: From `secret_of`.
        results: Of the turn.
        household: Theirs; the names of its members do not count.
    """
    held = {
        stem
        for each in results
        if each.action_id is not None and each.status in _HOLDS
        for text in _texts([each.params, each.result, each.summary])
        for stem in stems(text)
    }
    wanted = _words_of(secret, household)
    return len(wanted & held) / len(wanted) if wanted else 1.0


def is_left_over(secret: str, results: Sequence[ActionResult], household: Household) -> bool:
    """Return whether requests carry so little of a secret that memory has to tell it.

    Args:
        secret: From `secret_of`.
        results: Of the turn.
        household: Theirs.
    """
    return share_carried(secret, results, household) < _MOST_CARRIED


def _words_of(text: str, household: Household) -> frozenset[str]:
    named = {
        stem
        for each in household.members
        for name in (each.name, *each.aliases)
        for stem in stems(name)
    }
    return frozenset(each for each in stems(text) if each.isalpha()) - named


def _texts(value: Any) -> Iterator[str]:
    if isinstance(value, str):
        yield value
    elif isinstance(value, dict):
        yield from _texts([*value.values()])
    elif isinstance(value, list | tuple):
        for each in value:
            yield from _texts(each)
