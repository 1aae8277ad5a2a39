"""Words that actions carry no longer: of settled or old actions, and of memories that are gone."""

from collections.abc import Collection, Mapping
from collections.abc import Set as AbstractSet
from datetime import datetime, timedelta
from typing import Any

from sqlalchemy import Connection, bindparam, or_, select, update

from kinkeeper.actions.consent import Origin
from kinkeeper.actions.effects.memory import ForgetFact, RememberFact
from kinkeeper.actions.model import ActionStatus, ActionType, PendingAction
from kinkeeper.actions.payload import shown_fields
from kinkeeper.actions.proposals import withdraw
from kinkeeper.actions.repository import actions_before, actions_of_type
from kinkeeper.actions.tables import pending_actions
from kinkeeper.household.viewers import HOUSEHOLD_SCOPE
from kinkeeper.messaging import inbox, outbox
from kinkeeper.store.prepared import Prepared, is_one_of

_actions = pending_actions.c

# What people dictated or wanted remembered is nobody's business for ever; of plans, the plan is kept.
_FORGOTTEN: Mapping[ActionType, str] = {
    ActionType.MEMORY_FACT: "Something about memory",
    ActionType.EMAIL: "A mail",
    ActionType.NOTE: "Something about a note",
    ActionType.GOAL: "Something to look for",
    ActionType.FOREIGN_TOOL: "A call to another program",
}
RESTORABLE = timedelta(days=7)
"""For how long what expired keeps its words at least, however old it is."""

_NEVER_CONFIRMED = "A plan that nobody confirmed"
_UNDER_WAY = frozenset({ActionStatus.CONFIRMED, ActionStatus.EXECUTING})


def drop_payload(
    conn: Connection, household: str, action_ids: Collection[str], *, summary: str
) -> None:
    """Drop what settled actions would have written, with all its words.

    Args:
        summary: What stands in the place of their one line.
    """
    settled = (
        _actions.household == household,
        _actions.id.in_(action_ids),
        _actions.status != ActionStatus.PENDING.value,
    )
    asked = conn.execute(select(_actions.id, _actions.request).where(*settled)).all()
    for row in asked:
        conn.execute(
            update(pending_actions)
            .where(_actions.household == household, _actions.id == row.id)
            .values(
                summary=summary,
                subject=None,
                suggested_event=None,
                effects=[],
                choices=[],
                extraction={},
                request=_without_words(row.request),
            )
        )


def purge_extractions(
    conn: Connection, household: str, *, created_before: datetime, now: datetime
) -> int:
    """Drop the words of the chat from old actions; what was decided stays, and of a confirmed one what is shown.

    A plan that was overheard and never confirmed keeps who, when, and what became of it: its title may be a
    message's own words, which nobody made the household's. What still waits keeps all that it shows and would
    write; what expired keeps that for some days, so that it can be restored.

    Args:
        created_before: Aware; younger actions are left alone.

    Returns:
        How many actions lost words now.
    """
    purged = 0
    for action in actions_before(conn, household, created_before):
        if action.status in _UNDER_WAY or _may_come_back(action, now):
            continue
        if action.status is ActionStatus.PENDING:
            purged += _drop_evidence(conn, action)
            continue
        gone = _FORGOTTEN.get(action.proposal.type)
        if gone and action.proposal.effects:
            drop_payload(conn, household, [action.id], summary=gone)
            purged += 1
            continue
        values = _plan_without_title(action) if _was_only_heard(action) else _plan(action)
        if all(getattr(action.proposal, name, value) == value for name, value in values.items()):
            continue
        mine = (_actions.household == household, _actions.id == action.id)
        conn.execute(update(pending_actions).where(*mine).values(values))
        purged += 1
    return purged


def _may_come_back(action: PendingAction, now: datetime) -> bool:
    ended = action.decided_at
    is_expired = action.status is ActionStatus.EXPIRED
    return is_expired and ended is not None and now < ended + RESTORABLE


def _drop_evidence(conn: Connection, action: PendingAction) -> bool:
    """Drop the words that an open action was read from; what is shown and hashed stays."""
    proposal = action.proposal
    shown = shown_fields(proposal.extraction)
    if proposal.extraction == shown:
        return False
    mine = (_actions.household == proposal.household, _actions.id == action.id)
    conn.execute(update(pending_actions).where(*mine).values(extraction=shown))
    return True


def _was_only_heard(action: PendingAction) -> bool:
    proposal, is_settled = action.proposal, action.status is not ActionStatus.PENDING
    is_heard = proposal.origin is Origin.OBSERVED and proposal.type.is_about_calendar
    return is_heard and is_settled and not action.is_confirmed


def _plan(action: PendingAction) -> dict[str, Any]:
    return {
        "extraction": shown_fields(action.proposal.extraction),
        "request": _without_words(action.proposal.request),
    }


def _plan_without_title(action: PendingAction) -> dict[str, Any]:
    plan = _plan(action)
    return plan | {
        "summary": _NEVER_CONFIRMED,
        "extraction": plan["extraction"] | {"activity": None},
        "suggested_event": None,
        "effects": (),
        "choices": (),
        "merge_key": None,
        "conflict_key": None,
        "subject": None,
    }


def _without_words(request: Mapping[str, Any]) -> dict[str, Any]:
    """Return what was asked for in conversation as no more than which request it was."""
    return {name: value if name in {"domain", "action"} else {} for name, value in request.items()}


# The words of memories that actions carry: kept no longer, and shown to no others, than the
# memories are.

OVERHEARD = "HEARD"
"""Type of the source of what was overheard; its id is the row of the message."""

_GONE = "Something that was forgotten"
_GONE_SOURCES = Prepared(
    select(_actions.source_id, _actions.type).where(
        _actions.household == bindparam("of_household"),
        _actions.source_type == bindparam("of_type"),
        is_one_of(_actions.source_id, "of_sources"),
        or_(_actions.undone_at.is_not(None), _actions.summary == bindparam("gone")),
    )
)
_FORGET = ForgetFact.model_fields["effect"].default
_REMEMBER = RememberFact.model_fields["effect"].default


def let_go(conn: Connection, action: PendingAction) -> None:
    """Drop the words that an action that was just done must not keep.

    Of somebody's own memories nothing is kept where others may look; of what is forgotten, nothing anywhere.

    Args:
        conn: In the transaction that did it.
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


def gone_sources(
    conn: Connection,
    household: str,
    source_type: str,
    source_ids: Collection[str],
    *,
    types: Collection[ActionType] = tuple(ActionType),
) -> frozenset[str]:
    """Return which sources asked for something that was undone, or that memory has forgotten since.

    Args:
        source_ids: Ids within that type.
        types: Of the actions that count.
    """
    if not source_ids:
        return frozenset()
    values = {
        "of_household": household,
        "of_type": source_type,
        "of_sources": [*source_ids],
        "gone": _GONE,
    }
    return frozenset(
        source
        for source, type_ in _GONE_SOURCES.execute(conn, values)
        if ActionType(type_) in types
    )


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
                conn,
                action.id,
                household=household,
                now=done.decided_at or done.created_at,
                by_source=done.id,
            )
    ids = [action.id for action in found]
    drop_payload(conn, household, ids, summary=_GONE)
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
