"""Idle thought in a household's own world: whether there is other work, how its people are there, where they are told."""

from datetime import datetime, timedelta

from sqlalchemy import Connection, or_, select

from kinkeeper.actions.consent import Origin
from kinkeeper.actions.requests.goals import CreateGoal, goal_requests, prepare_goal
from kinkeeper.actions.requests.model import Asked, Catalogue, ResultStatus
from kinkeeper.actions.requests.request_runner import propose_prepared
from kinkeeper.background.drift import repository
from kinkeeper.background.drift.cycle import (
    FRESH,
    RELATED_FROM,
    RELATED_TO_LAST,
    Presence,
    Remark,
    Said,
    cosine,
)
from kinkeeper.background.drift.model import Observation
from kinkeeper.background.drift.observations import observed
from kinkeeper.background.drift.rounds import DriftRounds, snapshot_of
from kinkeeper.bootstrap.reminders import own_thread
from kinkeeper.channels.telegram.families import CHANNEL as TELEGRAM
from kinkeeper.conversation.answering.answerer import THOUGHT, Thought
from kinkeeper.conversation.answering.names_and_times import plain
from kinkeeper.conversation.context.repository import conversation_topics
from kinkeeper.conversation.tables import threads, turns
from kinkeeper.conversation.turns import post_to_thread
from kinkeeper.core.errors import ConflictError, InputError, UnavailableError
from kinkeeper.core.messages import MessageKind
from kinkeeper.core.time import Clock
from kinkeeper.goals.repository import list_goals
from kinkeeper.household.model import Household, Member
from kinkeeper.jobs.leases import is_any_due
from kinkeeper.language.name_match import telling_stems
from kinkeeper.memory.episodes import was_anything_heard
from kinkeeper.messaging import outbox
from kinkeeper.messaging.outbound import Outbound, QuietHours
from kinkeeper.messaging.tables import messages
from kinkeeper.observer.quiet_requests import quiet_until
from kinkeeper.settings.model import Settings
from kinkeeper.store.store import Store

_OF_USE = timedelta(hours=12)
"""How long a remark that could not be delivered is still worth delivering."""
_FOCUS_LASTS = timedelta(hours=2)

_turns, _messages = turns.c, messages.c


def drift_rounds(
    settings: Settings, household: Household, store: Store, clock: Clock
) -> DriftRounds:
    """Return what thinks for one household while it has nothing else to do."""
    quiet_hours = QuietHours.parse(settings.quiet_hours, household.zone)
    return DriftRounds(
        store,
        household,
        world=HouseholdWorld(household, store),
        quiet_hours=quiet_hours,
        clock=clock,
    )


class IdleThoughts:
    """What came to mind of somebody's view lately, for answers on which it bears."""

    def __init__(self, store: Store) -> None:
        self._store = store

    async def __call__(self, asked: Asked, text: str) -> Thought | None:
        """Return the thought that bears most on a message, if one does and still holds; None where others read along."""
        if asked.is_shared:
            return None
        try:
            return await self._store.read(lambda conn: _bearing_on(conn, asked, text))
        except UnavailableError:
            return None


def _bearing_on(conn: Connection, asked: Asked, text: str) -> Thought | None:
    household, member = asked.household, asked.member
    since = asked.now - FRESH
    news = repository.fresh_news(conn, household.id, member.id, since=since)
    if news:
        news -= _mentioned(conn, household.id, member.id, since=since)
    if not news or member.id in repository.wants_none(conn, household.id):
        return None
    stems = telling_stems(text)
    # Only its id is kept, so what it rests on must still be so, and be seen by them.
    found = observed(snapshot_of(conn, household, member, now=asked.now))
    near = [
        (cosine(each.about, stems), each)
        for each in found
        # One word in common is too little, unless the message has no other.
        if each.news in news and 2 * len(each.about & stems) > len(stems)
    ]
    best = max(near, key=lambda each: each[0], default=None)
    if best is None or best[0] < RELATED_FROM:
        return None
    thought = best[1]
    rests_on = (
        {"kind": each.kind, "id": each.id, "text": plain(each.words)} for each in thought.evidence
    )
    said = {"kind": THOUGHT, "id": thought.news, "text": thought.text}
    return Thought(text=thought.text, used=(said, *rests_on))


def _mentioned(conn: Connection, household: str, member: str, *, since: datetime) -> frozenset[str]:
    """Return the ids of the news that answers to a member have mentioned since then."""
    query = select(_turns.used).where(
        _turns.household == household, _turns.member == member, _turns.received_at >= since
    )
    used = (each for row in conn.execute(query).scalars() for each in row or ())
    return frozenset(each["id"] for each in used if each["kind"] == THOUGHT)


class HouseholdWorld:
    """What idle thought knows of a household beyond its own rows, and where it tells people something."""

    def __init__(self, household: Household, store: Store) -> None:
        self._household = household
        self._create = Catalogue(goal_requests(store)).get("goal", "create")

    def is_idle(self, conn: Connection, *, now: datetime) -> bool:
        """Whether no work waits or runs."""
        return not is_any_due(conn, self._household.id, now=now)

    def was_anything_said(self, conn: Connection, *, since: datetime, until: datetime) -> bool:
        """Whether anybody wrote in the group, to the assistant, or to a program whose talks are remembered."""
        household = self._household.id
        wrote = select(_messages.id).where(
            _messages.household == household, _messages.sent_at >= since, _messages.sent_at <= until
        )
        asked = select(_turns.id).where(
            _turns.household == household,
            _turns.received_at >= since,
            _turns.received_at <= until,
            _turns.text != "",
        )
        return (
            conn.execute(wrote.limit(1)).first() is not None
            or conn.execute(asked.limit(1)).first() is not None
            or was_anything_heard(conn, household, since=since, until=until)
        )

    def presence(self, conn: Connection, member: Member, *, now: datetime) -> Presence:
        """Return what a member last wrote or read, and whether they, or the household, want quiet."""
        household = self._household.id
        own = conn.execute(
            select(_turns.received_at, _turns.text, _turns.thread, _turns.used)
            .where(
                _turns.household == household,
                _turns.member == member.id,
                _turns.received_at <= now,
                _turns.text != "",
            )
            .order_by(_turns.received_at.desc())
            .limit(RELATED_TO_LAST)
        ).all()
        group = conn.execute(
            select(_messages.sent_at, _messages.text)
            .where(
                _messages.household == household,
                _messages.sent_at <= now,
                _messages.kind == MessageKind.TEXT.value,
                or_(_messages.text.is_(None), _messages.text != ""),
            )
            .order_by(_messages.id.desc())
            .limit(RELATED_TO_LAST)
        )
        said = [Said(at=row.received_at, text=row.text, thread_id=row.thread) for row in own]
        said += [Said(at=row.sent_at, text=row.text or "") for row in group]
        latest = sorted(said, key=lambda each: each.at, reverse=True)[:RELATED_TO_LAST]
        is_quiet = quiet_until(conn, household, now=now) is not None
        return Presence(
            said=latest,
            heard=frozenset(
                each["id"] for row in own for each in row.used or () if each["kind"] == THOUGHT
            ),
            wants_quiet=is_quiet or self._is_focused(conn, member, now),
        )

    def _is_focused(self, conn: Connection, member: Member, now: datetime) -> bool:
        """Whether a member asked, not long ago, to stay with one thing."""
        topics, household = conversation_topics.c, self._household.id
        is_in = (threads.c.household == topics.household) & (threads.c.id == topics.thread)
        query = (
            select(topics.id)
            .join(threads, is_in)
            .where(
                topics.household == household,
                threads.c.member == member.id,
                topics.is_focus == 1,
                topics.last_at > now - _FOCUS_LASTS,
                topics.last_at <= now,
            )
        )
        return conn.execute(query.limit(1)).first() is not None

    def propose_goal(
        self, conn: Connection, member: Member, thought: Observation, *, now: datetime
    ) -> bool:
        """Let a goal wait in the inbox of its person, who alone sees it; nobody is told."""
        asked = Asked(
            household=self._household,
            member=member,
            now=now.astimezone(self._household.zone),
            channel="drift",
            thread_id="",
            turn_id=f"drift:{thought.news}",
            origin=Origin.DRIFT,
        )
        wanted = CreateGoal(text=thought.goal)
        try:
            prepared = prepare_goal(wanted, asked, list_goals(conn, asked.viewer), why=thought.text)
        except (ConflictError, InputError):
            return False
        params = wanted.model_dump(mode="json")
        result = propose_prepared(conn, self._create, asked, params=params, prepared=prepared)
        return result.status is ResultStatus.AWAITING

    def tell(self, conn: Connection, member: Member, remark: Remark, *, now: datetime) -> str:
        """Put a remark into the member's private chat, else into their own conversation on the pages."""
        household, key = self._household.id, f"drift:{remark.id}"
        thread = own_thread(conn, household, member.id, now=now)
        post_to_thread(conn, household, thread.id, remark.text, key=key, now=now)
        if thread.channel == TELEGRAM and thread.chat_id is not None:
            message = Outbound(
                channel=TELEGRAM,
                chat_id=thread.chat_id,
                audience=member.id,
                body=remark.text,
                dedupe_key=key,
                deliver_by=min(remark.until, now + _OF_USE),
                is_soundless=True,
            )
            outbox.put(conn, household, message, now=now)
        return thread.id
