"""Who may see what a person writes: whichever way it comes, its words are asked here, before anything is stored.

Words only ever keep something from more people; they show it to nobody.
"""

from collections.abc import Mapping, Sequence
from dataclasses import replace
from datetime import datetime, timedelta
from typing import Any

from sqlalchemy import Connection

from kinkeeper.actions.effects.contract import Effect
from kinkeeper.actions.model import ActionStatus, Proposal
from kinkeeper.actions.registry import read_effects
from kinkeeper.actions.repository import list_actions
from kinkeeper.household.model import Household, Member
from kinkeeper.household.viewers import (
    HOUSEHOLD_SCOPE,
    audience_json,
    kept_from,
    kept_to,
    narrowest,
    person_scope,
    surprise_scope,
    viewer_for,
)
from kinkeeper.language.text import tokenise
from kinkeeper.memory.episodes import list_episodes
from kinkeeper.memory.finding.terms import stems
from kinkeeper.memory.statements.canonical_words import canon_of, lexicon
from kinkeeper.memory.statements.secrecy import audience_of, topics_of, wished_scope
from kinkeeper.memory.statements.sentences import LONGEST_MESSAGE


def kept_as_written(
    conn: Connection,
    proposal: Proposal,
    household: Household,
    teller: Member | None,
    *,
    now: datetime,
    is_group: bool = False,
) -> Proposal:
    """Return a proposal that lets nobody read what its words ask to keep from them, nor of what is kept from them already.

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
        asked = _asked_for(effect, household, teller, is_group=is_group)
        known = HOUSEHOLD_SCOPE
        if effect.told.text != effect.told.before and not is_group:
            known = known_scope(conn, household, teller, effect.told.text, now=now)
        scope = asked if known == HOUSEHOLD_SCOPE else kept_to(asked or known, known)
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


# What is kept from somebody already, and named again as theirs: a present of which another message told.

_LATELY = timedelta(days=30)
"""For how long before what tells of a thing another message may have called it a present."""
_MOST = 300
_OWNED = 3
"""Words behind somebody's name in the possessive, and before "for" and their name, that may be the thing."""


def known_scope(
    conn: Connection, household: Household, teller: Member | None, text: str, *, now: datetime
) -> str:
    """Return who may see what a text tells of somebody's thing that is kept from them already; the household where it tells none.

    Args:
        teller: Whose words they are: only what they may know counts; None where they are no member's.
        text: The whole message, or what is written.
    """
    things = {} if teller is None else _things_of(text, household)
    named = {who for who, found in things.items() if found and teller and who != teller.id}
    if teller is None or not named:
        return HOUSEHOLD_SCOPE
    viewer = viewer_for(household, teller, now=now)
    told = [
        (each.scope, each.text)
        for each in list_episodes(conn, viewer, limit=_MOST)
        if now - each.said_at <= _LATELY
    ]
    statuses = {ActionStatus.PENDING, ActionStatus.DONE}
    told += [
        (each.proposal.scope, each.proposal.summary)
        for each in list_actions(conn, viewer, statuses=statuses, now=now, since=now - _LATELY)
    ]
    found = {
        who
        for scope, secret in told
        for who in named & kept_from(scope)
        if not things[who].isdisjoint(
            _things_of(secret, household).get(who) or _nouns(topics_of(secret)[0].split())
        )
    }
    return surprise_scope(found) if found else HOUSEHOLD_SCOPE


def _things_of(text: str, household: Household) -> Mapping[str, frozenset[str]]:
    """Return the stems of what may be somebody's thing, by the id of whom a text names as having or getting it."""
    names: dict[str, set[str]] = {}
    for member in household.members:
        for name in (member.name, *member.aliases):
            names.setdefault(name.casefold(), set()).add(member.id)
    said = [each.text.casefold() for each in tokenise(text[:LONGEST_MESSAGE].replace("’", "'"))]
    found: dict[str, frozenset[str]] = {}
    for place, word in enumerate(said):
        bare = word.partition("'")[0]
        people = names.get(word) or names.get(bare) or names.get(bare.removesuffix("s"), set())
        if not people:
            continue
        behind = [] if word in names else said[place + 1 : place + 1 + _OWNED]
        is_given = said[place - 1 : place] == ["for"]
        before = said[max(0, place - 1 - _OWNED) : place - 1] if is_given else []
        for who in people:
            found[who] = found.get(who, frozenset()) | _nouns([*before, *behind])
    return found


def _nouns(said: Sequence[str]) -> frozenset[str]:
    """Return the stems of words, without feasts and presents, that may be a thing: the first of them, and what is no verb."""
    words, verbs = topics_of(" ".join(said))[1].split(), lexicon().verbs
    return frozenset(
        stem
        for place, word in enumerate(words)
        if not place or canon_of(word) not in verbs
        for stem in stems(word)
    )


def _told_in(request: Mapping[str, Any], scope: str) -> Mapping[str, Any]:
    """Return a request whose result says who may see what it wrote."""
    result = request.get("result", {})
    if "private" not in result:
        return request
    return {**request, "result": {**result, **audience_json(scope)}}
