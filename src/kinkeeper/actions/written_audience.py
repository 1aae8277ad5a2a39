"""Who may see what a person writes: whichever way it comes, its words are asked here, before anything is stored.

Words only ever keep something from more people; they show it to nobody.
"""

from collections import Counter
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import replace
from datetime import datetime, timedelta
from itertools import chain
from typing import Any

from sqlalchemy import Connection

from kinkeeper.actions.childhood_beliefs import believers_scope
from kinkeeper.actions.effects.contract import Effect
from kinkeeper.actions.model import ActionStatus, Proposal
from kinkeeper.actions.registry import read_effects
from kinkeeper.actions.repository import list_actions
from kinkeeper.calendar.repository import list_events
from kinkeeper.core.messages import InboundMessage
from kinkeeper.household.model import Household, Member
from kinkeeper.household.viewers import (
    HOUSEHOLD_SCOPE,
    Viewer,
    audience_json,
    kept_from,
    kept_to,
    narrowest,
    person_of,
    person_scope,
    surprise_scope,
    viewer_for,
)
from kinkeeper.memory.episodes import latest_episodes
from kinkeeper.memory.finding.terms import stems
from kinkeeper.memory.secret_things import about, same_things
from kinkeeper.memory.statements.secrecy import audience_of, secrecy_of, wished_scope
from kinkeeper.messaging import inbox
from kinkeeper.notes.repository import list_notes
from kinkeeper.tasks.repository import tasks_lately


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
        if effect.told.text != effect.told.before:
            scope_in = believers_scope if is_group else known_scope
            known = scope_in(conn, household, teller, effect.told.text, now=now)
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


# What is kept from somebody already, and is spoken of again: by whomever, in whichever chat, and whatever it becomes.

_LATELY = timedelta(days=90)
"""For how long what is said of a thing is kept as what was said of it before."""
_MOST = 5000
"""Of the last things told that are looked through; what stands on lists and in the calendar is all looked through."""
_IN_GROUP = timedelta(days=30)
_MOST_IN_GROUP = 200
"""Of the last messages of a group that are looked through: what it says becomes nothing by itself."""
_ORDINARY = 3
"""From how many rows that all may see a word is one that the household often uses, and tells nothing of a secret."""


def known_scope(
    conn: Connection,
    household: Household,
    teller: Member | None,
    text: str,
    *,
    now: datetime,
    heard: Iterable[tuple[str, str]] = (),
) -> str:
    """Return who may see what a text tells of something that is kept from somebody already; the household where it tells none.

    So is what gives away a figure whom children believe in.

    Args:
        teller: Whose words they are: only what they may see counts, so that nobody learns that there is a secret; None
            where they are no member's.
        text: The whole message, or what is written.
        heard: What else they have heard, each with who may see it.
    """
    believers = believers_scope(conn, household, teller, text, now=now)
    if teller is None or not text.strip():
        return believers
    viewer = viewer_for(household, teller, now=now)
    said, found = about(text, household), dict[str, frozenset[str]]()
    kept_rows = replace(viewer, only_kept=True)
    told = chain(_told(conn, kept_rows, now=now), heard)
    offered = _offered(conn, kept_rows, now=now)
    sources = chain(((*each, False) for each in told), ((*each, True) for each in offered))
    for scope, secret, is_offer in sources:
        if said.said.isdisjoint(stems(secret)):
            continue
        # Only what its own words keep secret, or did before it was offered: what is kept because of it names no secret.
        wish = secrecy_of(secret, household, teller.id)
        if wish is None and not is_offer:
            continue
        is_own = wish is not None and person_of(scope) is not None
        hidden = (wish.whom if wish and is_own else kept_from(scope)) - {teller.id}
        kept = about(secret, household)
        words = same_things(said, kept, hidden=hidden)
        # Whoever is asked to see to something of that kind has to know.
        whom = hidden if words & kept.telling else hidden - said.asked
        found |= {who: found.get(who, words) | words for who in whom if words}
    if not found:
        return believers
    used = Counter(
        stem
        for scope, row in _rows(conn, viewer, now=now)
        if scope == HOUSEHOLD_SCOPE
        for stem in {*stems(row)}
    )
    meant = [who for who, words in found.items() if min(used[each] for each in words) < _ORDINARY]
    return surprise_scope({*meant} | kept_from(believers)) if meant else believers


def known_in_group(conn: Connection, household: Household, message: InboundMessage) -> str:
    """Return who may see what a message of a group tells of something that is kept from somebody already, there or elsewhere."""
    said = {*stems(message.text)}
    earlier = inbox.recent(
        conn,
        household.id,
        message.chat_id,
        since=message.sent_at - _IN_GROUP,
        before=message.sent_at,
        limit=_MOST_IN_GROUP,
    )
    heard = [
        (wished_scope(each.text, household, each.sender, is_group=True), each.text)
        for each in (stored.message for stored in earlier)
        if each.message_id != message.message_id and not said.isdisjoint(stems(each.text))
    ]
    teller = household.member(message.sender)
    return known_scope(conn, household, teller, message.text, now=message.sent_at, heard=heard)


def _rows(conn: Connection, viewer: Viewer, *, now: datetime) -> Iterator[tuple[str, str]]:
    """Yield the scope and the words of what somebody sees: lately told, in the calendar, on lists, and offered."""
    yield from _told(conn, viewer, now=now)
    for event in list_events(conn, viewer):
        yield event.scope, " ".join(filter(None, (event.summary, event.place)))
    for task in tasks_lately(conn, viewer, since=now - _LATELY):
        yield task.scope, task.title
    for note in list_notes(conn, viewer):
        yield from ((note.scope, line) for line in (note.title, *note.body.splitlines()))
    yield from _offered(conn, viewer, now=now)


def _told(conn: Connection, viewer: Viewer, *, now: datetime) -> Iterator[tuple[str, str]]:
    """Yield the scope and the words of what was lately told."""
    for told in latest_episodes(conn, viewer, since=now - _LATELY, within=_MOST):
        if not told.is_assistant:
            yield told.scope, told.text


def _offered(conn: Connection, viewer: Viewer, *, now: datetime) -> Iterator[tuple[str, str]]:
    """Yield the scope and the words of what waits for somebody's yes, or got a no: the message itself is then not kept."""
    statuses = {ActionStatus.PENDING, ActionStatus.REJECTED}
    for each in list_actions(conn, viewer, statuses=statuses, now=now, since=now - _LATELY):
        yield each.proposal.scope, each.proposal.summary


def _told_in(request: Mapping[str, Any], scope: str) -> Mapping[str, Any]:
    """Return a request whose result says who may see what it wrote."""
    result = request.get("result", {})
    if "private" not in result:
        return request
    return {**request, "result": {**result, **audience_json(scope)}}
