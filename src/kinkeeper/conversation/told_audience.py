"""Who may recall what a message tells or asks to keep secret, and how the answer says so. Pure."""

from collections.abc import Sequence
from datetime import datetime
from functools import lru_cache

from kinkeeper.actions.requests.model import ActionResult, ResultStatus
from kinkeeper.conversation.model import LONGEST_READ, Exchange
from kinkeeper.conversation.routing.intent import IntentType
from kinkeeper.conversation.routing.router import Routed
from kinkeeper.household.model import Household, Member
from kinkeeper.household.viewers import HOUSEHOLD_SCOPE, kept_from, narrowest, person_scope
from kinkeeper.language.text import enumerated, texts_within
from kinkeeper.memory.finding.terms import stems
from kinkeeper.memory.statements.extraction import observe
from kinkeeper.memory.statements.secrecy import (
    CARRIED_ON,
    MOST_CARRIED_ON,
    audience_of,
    is_only_wish,
    points_back,
    secrecy_of,
)

# What a message tells and asks to keep secret, and how much of it the requests of its turn carry.
# Pure.
#
# Nothing that somebody asks to keep secret is lost: what no event, task, note or card holds is kept
# in memory, for those alone who may see it.

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
        household: Theirs; the names of its members do not count.
    """
    held = {
        stem
        for each in results
        if each.action_id is not None and each.status in _HOLDS
        for text in texts_within([each.params, each.result, each.summary])
        for stem in stems(text)
    }
    wanted = _words_of(secret, household)
    return len(wanted & held) / len(wanted) if wanted else 1.0


def is_left_over(secret: str, results: Sequence[ActionResult], household: Household) -> bool:
    """Return whether requests carry so little of a secret that memory has to tell it.

    Args:
        secret: From `secret_of`.
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


FOR_ALL = "Saved for everyone at home."
FOR_YOU = "Saved just for you."
SHARE, KEEP = "share it", "just for me"
"""What a person says to change who may see what they told last."""


# "I moved to Leeds" is short enough to go on with what was said, and tells as much as a long sentence.
_TELLING = frozenset({IntentType.STATEMENT, IntentType.CONTINUATION})


def is_telling(routed: Routed | None) -> bool:
    """Return whether a message says how things are, and not what the assistant is to do or to say.

    Args:
        routed: Where it goes; None where that is not known.
    """
    if routed is None or routed.triage.confirmation is not None:
        return False
    return routed.intent.type in _TELLING


def carried_scope(
    history: Sequence[Exchange],
    household: Household,
    teller: str,
    *,
    now: datetime,
    is_announced: bool = False,
) -> str | None:
    """Return who may see what is said right after a wish for secrecy in the same thread; None where there was none.

    Args:
        history: Earlier turns of the thread, oldest first.
        household: Whose members the wish may name.
        teller: Member id of who speaks.
        is_announced: Whether only a message that asks for nothing but secrecy counts ("don't tell Ben any of this").
    """
    lately = [each.text for each in history[-MOST_CARRIED_ON:] if now - each.at <= CARRIED_ON]
    if is_announced:
        lately = [text for text in lately if is_only_wish(text)]
    wishes = [secrecy_of(text, household, teller) for text in lately]
    scopes = {each.scope for each in wishes if each is not None}
    return (narrowest(scopes) or person_scope(teller)) if scopes else None


def scope_of_told(
    text: str,
    household: Household,
    member: Member,
    *,
    now: datetime,
    history: Sequence[Exchange] = (),
    is_shared: bool = False,
) -> str:
    """Return who may recall what a member tells the assistant.

    What is told of the home is the household's, of a child or a guest once an adult approves it; a secret belongs to all
    but those it is kept from; small talk, and what is told where others read along, stay with who says it, until somebody
    shares it.

    Args:
        text: The whole message, verbatim.
        history: Earlier turns of the thread, oldest first: a wish for secrecy in them still holds.
        is_shared: Whether others read along.
    """
    own = person_scope(member.id)
    if is_shared:
        return own
    is_secret = secret_of(text, household, member.id) is not None
    if not (is_secret or holds_fact(text, household, now=now)):
        return own
    carried = carried_scope(history, household, member.id, now=now)
    return narrowest({audience_of(text, household, member.id), carried or HOUSEHOLD_SCOPE}) or own


def replies_to(answer: str) -> list[str]:
    """Return what a person can say with one tap after an answer: to change who may see what was saved."""
    return [reply for said, reply in ((FOR_ALL, KEEP), (FOR_YOU, SHARE)) if said in answer]


def holds_fact(text: str, household: Household, *, now: datetime) -> bool:
    """Return whether memory finds something worth keeping in a message.

    Args:
        text: The whole message, verbatim.
    """
    said_at = now.astimezone(household.zone)
    return any(
        not each.correction for each in observe(text, said_at=said_at, locale=household.locale)
    )


def saved_for(scope: str, household: Household) -> str:
    """Return the sentence that says who may see what was saved.

    Args:
        household: Whose members it may name.
    """
    if scope == HOUSEHOLD_SCOPE:
        return FOR_ALL
    hidden = [household.names.get(each, each) for each in sorted(kept_from(scope))]
    return f"Saved for everyone at home except {enumerated(hidden)}." if hidden else FOR_YOU


def how_to_change(scope: str) -> str:
    """Return how a person changes who may see what they told last, as a sentence with a space before it."""
    if scope == HOUSEHOLD_SCOPE:
        return f" Say “{KEEP}” to keep it to yourself."
    return "" if kept_from(scope) else f" Say “{SHARE}” to let the others see it."
