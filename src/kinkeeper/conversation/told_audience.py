"""Who may recall what a message tells, and how the answer says so. Pure."""

from datetime import datetime

from kinkeeper.conversation.routing.intent import IntentType
from kinkeeper.conversation.routing.router import Routed
from kinkeeper.conversation.told_secrets import secret_of
from kinkeeper.household.model import Household, Member
from kinkeeper.household.viewers import HOUSEHOLD_SCOPE, kept_from, person_scope
from kinkeeper.language.text import enumerated
from kinkeeper.memory.statements.extraction import observe
from kinkeeper.memory.statements.secrecy import audience_of

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


def scope_of_told(
    text: str, household: Household, member: Member, *, now: datetime, is_shared: bool = False
) -> str:
    """Return who may recall what a member tells the assistant.

    What is told of the home is the household's, of a child or a guest once an adult approves it; a secret belongs to all
    but those it is kept from; small talk, and what is told where others read along, stay with who says it, until somebody
    shares it.

    Args:
        text: The whole message, verbatim.
        household: Theirs.
        member: Who tells it.
        now: Aware.
        is_shared: Whether others read along.
    """
    own = person_scope(member.id)
    if is_shared:
        return own
    is_secret = secret_of(text, household, member.id) is not None
    return (
        audience_of(text, household, member.id)
        if is_secret or holds_fact(text, household, now=now)
        else own
    )


def replies_to(answer: str) -> list[str]:
    """Return what a person can say with one tap after an answer: to change who may see what was saved.

    Args:
        answer: Whole.
    """
    return [reply for said, reply in ((FOR_ALL, KEEP), (FOR_YOU, SHARE)) if said in answer]


def holds_fact(text: str, household: Household, *, now: datetime) -> bool:
    """Return whether memory finds something worth keeping in a message.

    Args:
        text: The whole message, verbatim.
        household: Whose.
        now: Aware.
    """
    said_at = now.astimezone(household.zone)
    return any(
        not each.correction for each in observe(text, said_at=said_at, locale=household.locale)
    )


def saved_for(scope: str, household: Household) -> str:
    """Return the sentence that says who may see what was saved.

    Args:
        scope: Of what was saved.
        household: Whose members it may name.
    """
    if scope == HOUSEHOLD_SCOPE:
        return FOR_ALL
    hidden = [household.names.get(each, each) for each in sorted(kept_from(scope))]
    return f"Saved for everyone at home except {enumerated(hidden)}." if hidden else FOR_YOU


def how_to_change(scope: str) -> str:
    """Return how a person changes who may see what they told last, as a sentence with a space before it.

    Args:
        scope: Of what was saved.
    """
    if scope == HOUSEHOLD_SCOPE:
        return f" Say “{KEEP}” to keep it to yourself."
    return "" if kept_from(scope) else f" Say “{SHARE}” to let the others see it."
