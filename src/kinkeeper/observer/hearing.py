"""What the household's chat lets drop about its people for good: proposed for memory, silently and seldom.

Nothing overheard is remembered by itself. It waits for a yes on the pages, like an arrangement, and lapses
like one; no message in any chat tells of it. Arrangements are the observer's own business and left alone.
"""

import asyncio
from collections.abc import Iterator
from datetime import datetime, time, timedelta
from functools import partial

import structlog
from sqlalchemy import Connection

from kinkeeper.actions import proposals
from kinkeeper.actions import repository as action_rows
from kinkeeper.actions.consent import Origin as Asked
from kinkeeper.actions.effects.memory import Words
from kinkeeper.actions.model import ActionStatus, ActionType, Proposal
from kinkeeper.actions.remembering import people_named, proposal_of, sentence_of
from kinkeeper.actions.words import OVERHEARD
from kinkeeper.core.errors import UnavailableError
from kinkeeper.core.ids import stable_id
from kinkeeper.core.messages import MessageKind
from kinkeeper.core.time import Clock
from kinkeeper.household.model import Household
from kinkeeper.household.viewing import Viewer
from kinkeeper.jobs.leases import WorkState
from kinkeeper.memory.bearing import subject_of
from kinkeeper.memory.browsing import sharing_words
from kinkeeper.memory.facts import list_facts
from kinkeeper.memory.model import Observation, Origin
from kinkeeper.memory.statements.extraction import observe
from kinkeeper.memory.statements.lasting import is_lasting
from kinkeeper.memory.statements.relation import Relation, relate
from kinkeeper.messaging import inbox
from kinkeeper.messaging.inbox import StoredMessage
from kinkeeper.observability.failures import count_failure
from kinkeeper.observability.repeating import repeat
from kinkeeper.observer import repository
from kinkeeper.store.store import Store

log = structlog.get_logger()

MOST_A_DAY = 3
"""More than that would be work, not help."""

_NAME = "observer.hearing"
_LOOK_BACK = timedelta(days=1)
_AT_ONCE = 100
_MOST_COMPARED = 2000
_UNFINISHED = frozenset({WorkState.QUEUED, WorkState.RUNNING})


class Hearing:
    """Listens for one household; hearing something twice proposes it once.

    Args:
        store: Its database.
        household: As its file describes it.
        clock: Tells the time.
        lasts: How long a proposal waits.
    """

    def __init__(
        self, store: Store, household: Household, *, clock: Clock, lasts: timedelta
    ) -> None:
        self._store = store
        self._household = household
        self._clock = clock
        self._lasts = lasts
        self._names = household.words_for_people
        self._since = clock.now() - _LOOK_BACK
        self._heard_up_to = 0

    async def run(self, every: timedelta) -> None:
        """Listen until cancelled.

        Args:
            every: Wait in between, > 0.
        """
        rest = partial(asyncio.sleep, every.total_seconds())
        await repeat(self.run_once, rest, name=_NAME)

    async def run_once(self) -> int:
        """Go through what arrived since the last time; returns how much was proposed."""
        proposed = 0
        while found := await self._store.read(self._arrived):
            for stored in found:
                proposed += await self._hear(stored)
                self._heard_up_to = stored.id
        return proposed

    async def _hear(self, stored: StoredMessage) -> int:
        """Propose what one message lets drop; a message that we fail on must not block the others."""
        try:
            wanted = list(self._lasting(stored))
            if not wanted and stored.message.kind is not MessageKind.EDIT:
                return 0
            return await self._store.write(lambda conn: self._propose(conn, stored, wanted))
        except UnavailableError:
            raise
        except Exception as error:  # noqa: BLE001 - as above
            count_failure(_NAME, error, row=stored.id)
            return 0

    def _arrived(self, conn: Connection) -> list[StoredMessage]:
        """Return messages up to the first that the observer is not done with."""
        arrived = []
        found = inbox.arrived_after(
            conn, self._household.id, self._heard_up_to, since=self._since, limit=_AT_ONCE
        )
        for stored in found:
            row = repository.find(conn, self._household.id, str(stored.id))
            if row is not None and row.state in _UNFINISHED:
                break
            arrived.append(stored)
        return arrived

    def _lasting(self, stored: StoredMessage) -> Iterator[Observation]:
        """Yield what a member says that lasts, as far as that is certain."""
        message = stored.message
        if not stored.is_member or message.kind is MessageKind.REACTION or not message.text:
            return
        said_at = message.sent_at.astimezone(self._household.zone)
        for each in observe(message.text, said_at=said_at, locale=self._household.locale):
            if is_lasting(each.text, self._names):
                yield each

    def _propose(self, conn: Connection, stored: StoredMessage, wanted: list[Observation]) -> int:
        now = self._clock.now()
        self._take_back_edited(conn, stored, now)
        row = repository.find(conn, self._household.id, str(stored.id))
        if row is not None and row.action_id is not None:
            return 0
        proposed = 0
        for number, each in enumerate(wanted):
            if self._room(conn, now) <= 0:
                break
            proposal = self._proposal(stored, each, number, now)
            if self._is_news(conn, proposal, stored, each):
                proposed += proposals.propose(conn, proposal, now=now).is_new
        return proposed

    def _take_back_edited(self, conn: Connection, stored: StoredMessage, now: datetime) -> None:
        """Withdraw what a message had proposed whose words were changed."""
        message, household = stored.message, self._household.id
        if message.kind is not MessageKind.EDIT or message.target is None:
            return
        for earlier in inbox.find_by_message_id(
            conn, household, message.target, chat_id=message.chat_id
        ):
            if earlier.id == stored.id:
                continue
            for action in action_rows.find_by_source(conn, household, OVERHEARD, str(earlier.id)):
                if action.status is ActionStatus.PENDING:
                    proposals.withdraw(
                        conn, action.id, household=household, now=now,
                        by_source=message.message_id,
                    )  # fmt: skip

    def _room(self, conn: Connection, now: datetime) -> int:
        zone = self._household.zone
        midnight = datetime.combine(now.astimezone(zone).date(), time(), zone)
        proposed = action_rows.count_proposed(
            conn, self._household.id, ActionType.MEMORY_FACT, Asked.OBSERVED, since=midnight
        )
        return MOST_A_DAY - proposed

    def _is_news(
        self, conn: Connection, proposal: Proposal, stored: StoredMessage, found: Observation
    ) -> bool:
        """Whether it was neither proposed before nor is remembered already."""
        household = self._household.id
        if action_rows.was_proposed(conn, household, proposal.merge_key or ""):
            return False
        speaker, people = stored.message.sender, people_named(self._household, found.text)
        subject, _ = subject_of(found.text, speaker=speaker, people=people)
        known = list_facts(conn, Viewer.of(household), now=self._clock.now(), limit=_MOST_COMPARED)
        alike = sharing_words([fact for fact in known if fact.subject == subject], found.narrative)
        return all(
            relate(fact.narrative, found.narrative).relation is not Relation.SAME for fact in alike
        )

    def _proposal(
        self, stored: StoredMessage, found: Observation, number: int, now: datetime
    ) -> Proposal:
        message, household = stored.message, self._household
        member = household.member(message.sender)
        words = Words(
            id=stable_id(household.id, OVERHEARD, stored.id), text=message.text,
            speaker=member.name if member else message.sender, member=message.sender,
            said_at=message.sent_at, channel=message.channel, session=stored.thread_id,
            origin=Origin.OBSERVED,
        )  # fmt: skip
        # A digest: the key is kept for longer than words of the chat are.
        same = stable_id(household.id, OVERHEARD, message.sender, found.narrative.casefold())
        return proposal_of(
            words, [sentence_of(found, words.text)], household=household,
            source=(OVERHEARD, str(stored.id), str(number)), asked=Asked.OBSERVED,
            expires_at=now + self._lasts, chat_id=message.chat_id, merge_key=same,
        )  # fmt: skip
