"""What the household's chat lets drop about its people for good: proposed for memory, silently and seldom.

Nothing overheard is remembered by itself. It waits for a yes on the pages, like an arrangement, and lapses
like one; no message in any chat tells of it. Arrangements are the observer's own business and left alone.
"""

from collections.abc import Iterator, Sequence
from datetime import datetime, time, timedelta

import structlog
from sqlalchemy import Connection

from kinkeeper.actions import proposals
from kinkeeper.actions import repository as action_rows
from kinkeeper.actions.action_retention import OVERHEARD
from kinkeeper.actions.consent import Origin as Asked
from kinkeeper.actions.effects.memory import Words
from kinkeeper.actions.memory_proposals import proposal_of, sentence_of
from kinkeeper.actions.model import ActionStatus, ActionType, Proposal
from kinkeeper.actions.session_words import is_news
from kinkeeper.actions.written_audience import known_in_group
from kinkeeper.calendar.model import SourceType
from kinkeeper.core.beside import read_beside
from kinkeeper.core.errors import UnavailableError
from kinkeeper.core.ids import stable_id
from kinkeeper.core.messages import MessageKind
from kinkeeper.core.time import Clock
from kinkeeper.household.model import Household, members_by_name
from kinkeeper.household.viewers import HOUSEHOLD_SCOPE
from kinkeeper.jobs.leases import WorkState
from kinkeeper.memory.model import Observation, Origin
from kinkeeper.memory.statements.classification import is_lasting
from kinkeeper.memory.statements.extraction import observe
from kinkeeper.memory.statements.secrecy import points_back, secrecy_of, wished_scope
from kinkeeper.messaging import inbox
from kinkeeper.messaging.inbox import StoredMessage
from kinkeeper.observability.failures import count_failure, repeat
from kinkeeper.observer import repository
from kinkeeper.store.store import Store

log = structlog.get_logger()

MOST_A_DAY = 3
"""More than that would be work, not help."""

_NAME = "observer.hearing"
_SHORTLY = timedelta(minutes=15)
_MOST_SHORTLY = 10
_MOST_OF_ONE = 20
_LOOK_BACK = timedelta(days=1)
_AT_ONCE = 100
_UNFINISHED = frozenset({WorkState.QUEUED, WorkState.RUNNING})


class Hearing:
    """Listens for one household; hearing something twice proposes it once.

    Args:
        household: As its file describes it.
    """

    def __init__(self, store: Store, household: Household, *, clock: Clock) -> None:
        self._store = store
        self._household = household
        self._clock = clock
        self._names = household.words_for_people
        self._since = clock.now() - _LOOK_BACK
        self._heard_up_to = 0

    async def run(self, every: timedelta) -> None:
        """Listen until cancelled.

        Args:
            every: Wait in between, > 0.
        """
        await repeat(self.run_once, every, name=_NAME)

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
            text, is_edit = stored.message.text, stored.message.kind is MessageKind.EDIT
            wanted = await read_beside(text, lambda: self._wanted(stored))
            if not (wanted or is_edit or points_back(text, self._household.members_by_word)):
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

    def _wanted(self, stored: StoredMessage) -> list[tuple[Observation, Proposal]]:
        """Return what of a message may be proposed, read before anything is written."""
        message = stored.message
        found: dict[str, Observation] = {}
        for each in self._lasting(stored):
            found.setdefault(each.narrative.casefold(), each)
        if not found:
            return []
        scope = wished_scope(message.text, self._household, message.sender, is_group=True)
        some = list(found.values())[:_MOST_OF_ONE]
        return [(each, self._proposal(stored, each, n, scope)) for n, each in enumerate(some)]

    def _lasting(self, stored: StoredMessage) -> Iterator[Observation]:
        """Yield what a member says that lasts, as far as that is certain."""
        message = stored.message
        if not stored.is_member or message.kind is MessageKind.REACTION or not message.text:
            return
        said_at = message.sent_at.astimezone(self._household.zone)
        home = self._household
        for each in observe(
            message.text, said_at=said_at, locale=home.locale, people=members_by_name(home)
        ):
            if is_lasting(each.text, self._names):
                yield each

    def _propose(
        self,
        conn: Connection,
        stored: StoredMessage,
        wanted: Sequence[tuple[Observation, Proposal]],
    ) -> int:
        now = self._clock.now()
        self._take_back_edited(conn, stored, now)
        self._narrow_earlier(conn, stored)
        row = repository.find(conn, self._household.id, str(stored.id))
        if row is not None and row.action_id is not None:
            return 0
        proposed = 0
        known = known_in_group(conn, self._household, stored.message) if wanted else HOUSEHOLD_SCOPE
        for each, proposal in wanted:
            if self._room(conn, now) <= 0:
                break
            speaker = stored.message.sender
            if is_news(conn, self._household, proposal, each, speaker=speaker, now=now):
                made = proposals.propose(conn, proposal, household=self._household, now=now)
                proposed += made.is_new
                if known != HOUSEHOLD_SCOPE:
                    action_rows.narrow_scope(conn, self._household.id, [made.action.id], known)
        return proposed

    def _narrow_earlier(self, conn: Connection, stored: StoredMessage) -> None:
        """Keep secret what somebody's message before has proposed, where this one asks for it."""
        message, household = stored.message, self._household
        people = household.members_by_word
        if not points_back(message.text, people):
            return
        before = inbox.recent(
            conn,
            household.id,
            message.chat_id,
            since=message.sent_at - _SHORTLY,
            before=message.sent_at,
            limit=_MOST_SHORTLY,
        )
        theirs = [
            each
            for each in before
            if each.message.sender == message.sender and not points_back(each.message.text, people)
        ]
        if not theirs:
            return
        both = f"{theirs[-1].message.text}\n{message.text}"
        wish = secrecy_of(both, household, message.sender, is_group=True)
        if wish is None:
            return
        for kind in (OVERHEARD, SourceType.OBSERVER.value):
            found = action_rows.find_by_source(conn, household.id, kind, str(theirs[-1].id))
            ids = [action.id for action in found if action.status is ActionStatus.PENDING]
            action_rows.narrow_scope(conn, household.id, ids, wish.scope)

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
                        conn, action.id, household=household, now=now, by_source=message.message_id
                    )

    def _room(self, conn: Connection, now: datetime) -> int:
        zone = self._household.zone
        midnight = datetime.combine(now.astimezone(zone).date(), time(), zone)
        proposed = action_rows.count_proposed(
            conn, self._household.id, ActionType.MEMORY_FACT, Asked.OBSERVED, since=midnight
        )
        return MOST_A_DAY - proposed

    def _proposal(
        self, stored: StoredMessage, found: Observation, number: int, scope: str
    ) -> Proposal:
        message, household = stored.message, self._household
        member = household.member(message.sender)
        words = Words(
            id=stable_id(household.id, OVERHEARD, stored.id),
            text=message.text,
            speaker=member.name if member else message.sender,
            member=message.sender,
            said_at=message.sent_at,
            channel=message.channel,
            session=stored.thread_id,
            origin=Origin.OBSERVED,
        )
        # A digest: the key is kept for longer than words of the chat are.
        same = stable_id(household.id, OVERHEARD, message.sender, found.narrative.casefold())
        return proposal_of(
            words,
            [sentence_of(found, words.text)],
            household=household,
            source=(OVERHEARD, str(stored.id), str(number)),
            asked=Asked.OBSERVED,
            chat_id=message.chat_id,
            merge_key=same,
            scope=scope,
        )
