"""The words of memories that actions carry: kept no longer, and shown to no others, than the memories are."""

from collections.abc import Collection
from collections.abc import Set as AbstractSet
from typing import Any

from sqlalchemy import Connection

from kinkeeper.actions.action_retention import drop_payload
from kinkeeper.actions.effects.memory import ForgetFact, RememberFact
from kinkeeper.actions.model import ActionStatus, ActionType, PendingAction
from kinkeeper.actions.proposals import withdraw
from kinkeeper.actions.repository import actions_of_type
from kinkeeper.household.viewers import HOUSEHOLD_SCOPE
from kinkeeper.messaging import inbox, outbox

OVERHEARD = "HEARD"
"""Type of the source of what was overheard; its id is the row of the message."""

_FORGET = ForgetFact.model_fields["effect"].default
_REMEMBER = RememberFact.model_fields["effect"].default


def let_go(conn: Connection, action: PendingAction) -> None:
    """Drop the words that an action that was just done must not keep.

    Of somebody's own memories nothing is kept where others may look; of what is forgotten, nothing anywhere.

    Args:
        conn: In the transaction that did it.
        action: Done.
    """
    if action.proposal.type is not ActionType.MEMORY_FACT or action.status is not ActionStatus.DONE:
        return
    household, written = action.proposal.household, _written(action)
    if any(effect.get("scope", HOUSEHOLD_SCOPE) != HOUSEHOLD_SCOPE for effect in written):
        drop_payload(conn, household, [action.id], summary="Something private")
    forgotten = [effect for effect in written if effect["effect"] == _FORGET]
    if forgotten:
        facts = {effect["fact_id"] for effect in forgotten}
        episodes = {episode for effect in forgotten for episode in effect["episodes"]}
        _drop_all(conn, action, facts, episodes)


def _drop_all(
    conn: Connection, done: PendingAction, facts: AbstractSet[str], episodes: Collection[str]
) -> None:
    household = done.proposal.household
    found = [
        action
        for action in actions_of_type(conn, household, ActionType.MEMORY_FACT)
        if action.id == done.id or _is_about(action, facts, episodes)
    ]
    for action in found:
        if action.status is ActionStatus.PENDING:
            withdraw(
                conn, action.id, household=household, now=done.decided_at or done.created_at,
                by_source=done.id,
            )  # fmt: skip
    ids = [action.id for action in found]
    drop_payload(conn, household, ids, summary="Something that was forgotten")
    outbox.drop_bodies(conn, household, ids)
    heard = [each.proposal for each in found if each.proposal.source_type == OVERHEARD]
    inbox.drop_texts(conn, household, [int(each.source_id) for each in heard])


def _is_about(action: PendingAction, facts: AbstractSet[str], episodes: Collection[str]) -> bool:
    return any(
        not facts.isdisjoint({effect.get("fact_id"), effect.get("other_id")} - {None})
        or (effect["effect"] == _REMEMBER and effect["words"]["id"] in episodes)
        for effect in _all(action)
    )


def _written(action: PendingAction) -> list[dict[str, Any]]:
    chosen = [each.effects for each in action.proposal.choices if each.label == action.choice]
    return [dict(effect) for effect in (chosen[0] if chosen else action.proposal.effects)]


def _all(action: PendingAction) -> list[dict[str, Any]]:
    proposal = action.proposal
    ways = [proposal.effects, *(choice.effects for choice in proposal.choices)]
    return [dict(effect) for way in ways for effect in way]
