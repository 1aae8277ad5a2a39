"""What is proposed about the open thing that a message names, where it tells that the thing is over. Pure."""

from typing import Final

from kinkeeper.actions.consent import Origin
from kinkeeper.actions.requests.model import Asked
from kinkeeper.conversation.model import Nearest, Plan, PlannedAction
from kinkeeper.language.text import tokenise
from kinkeeper.reading.modality import Modality, is_over, modality_of
from kinkeeper.reading.replies import is_question

_TOLD: Final = frozenset({Modality.NAMED, Modality.TOLD})
_TOLD_OR_DONE: Final = _TOLD | {Modality.PAST}


def offer_about(near: Nearest, text: str, asked: Asked) -> Plan | None:
    """Return the plan to ask whether an open thing is to be ended; None where the message gives no reason to.

    A task may be done and a line may be bought by anybody, whatever else is told of it in the past. What the past
    tells of an event ("gran paid for it") does not call it off.

    Args:
        near: The open thing that the message names.
        text: The whole message.
        asked: By whom.
    """
    is_own_word = asked.member.is_adult and asked.origin is Origin.SAID and not asked.is_shared
    is_asked = is_question(tokenise(text), text, asked.household.members_by_word)
    if not is_own_word or is_asked or near.kind == "card":
        return None
    modality = modality_of(text)
    if near.kind == "event":
        # "It isn't at 5" and "it might be off" do not call it off.
        is_ended = is_over(text) and modality in _TOLD
    else:
        is_ended = modality is Modality.NEGATED or (is_over(text) and modality in _TOLD_OR_DONE)
    return Plan(actions=(_ending(near),), is_whole=True) if is_ended else None


def _ending(near: Nearest) -> PlannedAction:
    """Return the request that ends a thing; of several that are named alike, the one that the person will choose."""
    if near.kind == "event":
        named = {"find_by": near.words} if near.words else {"event_id": near.id}
        return _offered("calendar", "delete_event", {**named, "on": near.original_start})
    if near.kind == "task":
        return _offered("task", "complete", {"find_by": near.words or near.id})
    return _offered("notes", "remove_line", {"title": near.where, "line": near.words or near.title})


def _offered(domain: str, action: str, params: dict[str, str]) -> PlannedAction:
    return PlannedAction(
        domain=domain,
        action=action,
        params=params,
        reasoning="the open thing that the message names",
        is_offer=True,
    )
