"""Who may see what a person writes: whichever way it comes, its words are asked here, before anything is stored.

Words only ever keep something from more people; they show it to nobody.
"""

from collections.abc import Mapping
from dataclasses import replace
from typing import Any

from sqlalchemy import Connection

from kinkeeper.actions.effects.contract import Effect
from kinkeeper.actions.model import Proposal
from kinkeeper.actions.registry import read_effects
from kinkeeper.household.model import Household, Member
from kinkeeper.household.viewers import HOUSEHOLD_SCOPE, audience_json, narrowest, person_scope
from kinkeeper.memory.statements.secrecy import audience_of, wished_scope


def kept_as_written(
    conn: Connection,
    proposal: Proposal,
    household: Household,
    teller: Member | None,
    *,
    is_group: bool = False,
) -> Proposal:
    """Return a proposal that lets nobody read what its words ask to keep from them.

    Args:
        teller: Whose words they are; None where they are no member's.
        is_group: Whether they were said in a chat of several people.

    Raises:
        InputError: An effect cannot be read, or its words would stand among others' that more people read.
    """
    scopes, request = {proposal.scope}, proposal.request

    def kept(frozen: Mapping[str, Any]) -> Mapping[str, Any]:
        nonlocal request
        (effect,) = read_effects(household.id, [frozen])
        scope = _asked_for(effect, household, teller, is_group=is_group)
        narrowed = effect if scope is None else effect.narrowed(conn, household.id, scope)
        if scope is None or narrowed == effect:
            return frozen
        request = _told_in(request, narrowed.touches(conn, household.id)[0].after)
        if teller is None or teller.is_adult:  # what others hide from an adult, adults have to read
            scopes.add(scope)
        return narrowed.frozen()

    effects = tuple(map(kept, proposal.effects))
    choices = tuple(
        replace(each, effects=tuple(map(kept, each.effects))) for each in proposal.choices
    )
    shown = narrowest(scopes) or (proposal.scope if teller is None else person_scope(teller.id))
    return replace(proposal, effects=effects, choices=choices, scope=shown, request=request)


def _asked_for(
    effect: Effect, household: Household, teller: Member | None, *, is_group: bool
) -> str | None:
    """Return who may read what an effect tells; None where its words do not ask for it, or asked for the same before."""
    told, who = effect.told, None if teller is None else teller.id
    if not told.text or told.text == told.before:
        return None
    if told.before and who is not None and {*told.whose} == {who}:
        # Whoever makes something says with it who may see it; a new name is all that is said of a change.
        wished, before = (
            audience_of(text, household, who, is_group=is_group, is_title=True, is_theirs=True)
            for text in (told.text, told.before)
        )
    else:
        wished, before = (
            wished_scope(text, household, who, is_group=is_group)
            for text in (told.text, told.before)
        )
    return None if wished in {HOUSEHOLD_SCOPE, before} else wished


def _told_in(request: Mapping[str, Any], scope: str) -> Mapping[str, Any]:
    """Return a request whose result says who may see what it wrote."""
    result = request.get("result", {})
    if "private" not in result:
        return request
    return {**request, "result": {**result, **audience_json(scope)}}
