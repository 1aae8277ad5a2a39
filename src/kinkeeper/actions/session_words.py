"""What people say in sessions: stored under the gate, and proposed as facts where a person has to confirm them."""

from collections.abc import Iterator, Sequence
from dataclasses import replace
from datetime import datetime, timedelta

import structlog
from sqlalchemy import Connection

from kinkeeper.actions import repository
from kinkeeper.actions.consent import Audience, Author, Consent, Origin, decide
from kinkeeper.actions.effects.memory import Words
from kinkeeper.actions.memory_proposals import (
    people_named,
    proposal_of,
    remembering_line,
    sentence_of,
)
from kinkeeper.actions.model import TOLD, Proposal
from kinkeeper.actions.proposals import propose, withdraw
from kinkeeper.actions.written_audience import known_scope
from kinkeeper.core.errors import DeniedError
from kinkeeper.core.ids import stable_id
from kinkeeper.household.model import Household, Member
from kinkeeper.household.viewers import Viewer, is_project, kept_to, person_scope
from kinkeeper.memory import sessions
from kinkeeper.memory.browser import sharing_words
from kinkeeper.memory.corrections import narrow_last
from kinkeeper.memory.dated_statements import day_told
from kinkeeper.memory.erasure import take_back
from kinkeeper.memory.facts import list_facts
from kinkeeper.memory.model import Episode, Observation
from kinkeeper.memory.model import Origin as Source
from kinkeeper.memory.sessions import SessionMessage, TakenIn
from kinkeeper.memory.statement_match import subject_of
from kinkeeper.memory.statements.relation import Relation, relate
from kinkeeper.memory.statements.secrecy import is_only_wish, points_back

log = structlog.get_logger()

MOST_A_DAY = 30
"""Most proposals a day that come from one member's sessions: more would bury what matters."""

_MOST_COMPARED = 2000
_DAY = timedelta(days=1)


def keep(
    conn: Connection,
    message: SessionMessage,
    author: Author,
    *,
    household: Household,
    member: Member,
    scope: str,
    at: datetime,
    is_read: bool = False,
    narrows_last: bool = True,
) -> TakenIn:
    """Store what a member said in a session; the gate decides whether facts may follow without a confirmation.

    Where they may not, the words are the member's own until somebody confirms what is proposed from them.

    Args:
        message: What was said; its member and scope are set here.
        author: Who said it, and how that is known.
        scope: Who shall be able to recall it.
        is_read: Whether nothing is to be read out of it.
        narrows_last: Whether a wish for secrecy is about the message before it in the session.

    Raises:
        DeniedError: They may not write for that audience at all.
        InputError: The session or the message is missing.
    """
    if scope != person_scope(member.id):
        known = known_scope(conn, household, member, message.user_message, now=at)
        scope = scope if is_project(scope) else kept_to(scope, known)
    message = replace(message, member=member.id, scope=scope)
    if points_back(message.user_message, household.members_by_word):
        if narrows_last:
            _narrow_last(conn, message, household=household, at=message.timestamp or at)
        is_read = is_read or is_only_wish(message.user_message, household.members_by_word)
    consent = decide(author, audience_of(scope, member))
    if consent is Consent.REFUSE:
        raise DeniedError("only the owner and adults can write to a project")
    if consent is Consent.ASK:
        is_said = author.origin is Origin.SAID
        message = replace(
            message,
            scope=person_scope(member.id),
            asked_scope=scope,
            asked_origin=author.origin.value,
            origin=Source.SAID if is_said else Source.OBSERVED,
        )
    return sessions.take_in(conn, household.id, message, at=at, is_read=is_read)


def _narrow_last(
    conn: Connection, message: SessionMessage, *, household: Household, at: datetime
) -> None:
    """Keep secret what was said right before a message that asks for it, and what waits about that."""
    member = str(message.member)
    found = narrow_last(
        conn, household, session=message.session, member=member, wish=message.user_message, at=at
    )
    if found is None:
        return
    episode, scope = found
    waiting = repository.find_by_source(conn, household.id, TOLD, f"{member}/{episode}")
    repository.narrow_scope(conn, household.id, [each.id for each in waiting], scope)


def forget_told(
    conn: Connection,
    episode: str,
    *,
    household: Household,
    member: Member,
    at: datetime,
    by_source: str,
) -> bool:
    """Forget what a member said, because they take it back right afterwards, and what waits to be remembered of it.

    Args:
        episode: Id of what was said.
        by_source: Id of the message that takes it back.

    Returns:
        Whether anything of it was still there.
    """
    for each in repository.find_by_source(conn, household.id, TOLD, f"{member.id}/{episode}"):
        withdraw(conn, each.id, household=household.id, now=at, by_source=by_source)
    return take_back(conn, household.id, episode, by=member.id, at=at)


def is_kept_at_once(author: Author, scope: str, member: Member) -> bool:
    """Return whether the gate lets what a member tells become facts with nobody asked.

    Args:
        author: Who said it, and how that is known.
        scope: Who shall be able to recall it.
    """
    return decide(author, audience_of(scope, member)) is Consent.RUN_AT_ONCE


def audience_of(scope: str, member: Member) -> Audience:
    """Return who sees what has a scope, from the view of the member who said it."""
    if scope == person_scope(member.id):
        return Audience.OWN
    return Audience.PROJECT if is_project(scope) else Audience.HOUSEHOLD


def propose_statements(
    conn: Connection,
    household: Household,
    episode: Episode,
    found: Sequence[Observation],
    *,
    now: datetime,
) -> int:
    """Propose the statements of an episode that needs a confirmation; what is known or was proposed already is left out.

    Where it has none that last, what it tells of a day to come is proposed as it was said.

    Args:
        episode: As stored, with `asked_scope`.

    Returns:
        How many were proposed.
    """
    count = 0
    found = found or day_told(episode.text, household, said_at=episode.said_at)
    for number, each in enumerate(found):
        proposal = _proposal(household, episode, each, number=number)
        if not is_news(conn, household, proposal, each, speaker=episode.member, now=now):
            continue
        if not _has_room(conn, household, episode, now):
            log.warning("memory.proposals.too_many", episode=episode.id, left=len(found) - number)
            break
        count += propose(conn, proposal, household=household, now=now).is_new
    return count


def is_news(
    conn: Connection,
    household: Household,
    proposal: Proposal,
    found: Observation,
    *,
    speaker: str | None,
    now: datetime,
) -> bool:
    """Whether a statement was neither proposed before nor is remembered already by those who would see it.

    Args:
        proposal: To remember it, with a merge key.
        speaker: Member id of who said it.
    """
    if repository.was_proposed(conn, household.id, proposal.merge_key or ""):
        return False
    people = people_named(household, found.text)
    subject, _ = subject_of(found.text, speaker=speaker, people=people)
    scopes = frozenset(_scopes(proposal))
    known = list_facts(conn, Viewer(household.id, scopes), now=now, limit=_MOST_COMPARED)
    alike = sharing_words([fact for fact in known if fact.subject == subject], found.narrative)
    return all(
        relate(fact.narrative, found.narrative).relation is not Relation.SAME for fact in alike
    )


def _scopes(proposal: Proposal) -> Iterator[str]:
    return (str(effect["scope"]) for effect in proposal.effects)


def _has_room(conn: Connection, household: Household, episode: Episode, now: datetime) -> bool:
    """Whether this member's sessions have proposed few enough statements within a day."""
    made = repository.count_of_source(
        conn, household.id, TOLD, f"{episode.member}/", since=now - _DAY
    )
    return made < MOST_A_DAY


def _proposal(
    household: Household, episode: Episode, found: Observation, *, number: int
) -> Proposal:
    member = household.member(episode.member or "")
    text = episode.text[found.start : found.end]
    words = Words(
        id=stable_id(household.id, TOLD, episode.id, number),
        text=text,
        speaker=member.name if member else episode.speaker,
        member=episode.member,
        said_at=episode.said_at.astimezone(household.zone),
        channel=episode.channel,
        session=episode.session,
        origin=Source.SAID if episode.origin is Source.SAID else Source.OBSERVED,
    )
    alone = replace(found, start=0, end=len(text))
    scope = episode.asked_scope or episode.scope
    same = stable_id(household.id, TOLD, episode.member or "", scope, found.narrative.casefold())
    proposal = proposal_of(
        words,
        [sentence_of(alone, text)],
        household=household,
        scope=scope,
        source=(TOLD, f"{episode.member}/{episode.id}", str(number)),
        asked=Origin(episode.asked_origin or Origin.TOOL),
        merge_key=same,
    )
    # Who confirms it may not know who said it.
    return replace(proposal, summary=remembering_line(words, found.narrative, is_named=True))
