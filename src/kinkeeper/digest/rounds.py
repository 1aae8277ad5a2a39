"""Sends digests when they are due: one for each person and day, in the transaction that notes it."""

from collections.abc import Callable
from datetime import datetime, timedelta
from functools import partial

from sqlalchemy import Connection

from kinkeeper.core.errors import UnavailableError
from kinkeeper.core.time import A_DAY, Clock
from kinkeeper.digest.content import gather
from kinkeeper.digest.model import Digest, due_day, release
from kinkeeper.digest.repository import (
    digest_time,
    forget_digests_after,
    has_digest_after,
    last_digest,
    note_digest,
    time_set_at,
    was_due,
)
from kinkeeper.household.model import Household, Member
from kinkeeper.messaging.outbound import QuietHours
from kinkeeper.observability.failures import count_failure, repeat
from kinkeeper.store.store import Store

Deliver = Callable[[Connection, Member, Digest], None]
"""Puts a digest where its person sees it, in the transaction it is given."""

IsQuiet = Callable[[Connection, datetime], bool]
"""Whether the household asked for quiet at that moment."""

_NAME = "digest"


class DigestRounds:
    """Sends the digests of one household, on the wall clock.

    Args:
        household: As its file has it.
        quiet_hours: When nothing is sent; what falls into them goes out at their end.
        deliver: Puts digests where people see them.
        is_quiet: Tells whether quiet was asked for.
    """

    def __init__(
        self,
        store: Store,
        household: Household,
        *,
        quiet_hours: QuietHours,
        deliver: Deliver,
        is_quiet: IsQuiet,
        clock: Clock,
    ) -> None:
        self._store = store
        self._household = household
        self._quiet_hours = quiet_hours
        self._deliver = deliver
        self._is_quiet = is_quiet
        self._clock = clock

    async def run(self, every: timedelta) -> None:
        """Send what is due, again and again, until cancelled.

        Args:
            every: Wait in between, > 0.
        """
        await repeat(self.run_once, every, name=_NAME)

    async def run_once(self) -> int:
        """Send what is due by now; returns how many digests were sent."""
        now = self._clock.now()
        # What a clock that was wrong has sent ahead of its day does not count.
        future, household = now + A_DAY, self._household.id
        if await self._store.read(lambda conn: has_digest_after(conn, household, future)):
            await self._store.write(lambda conn: forget_digests_after(conn, household, future))
        due = await self._store.read(
            lambda conn: [each for each in self._household.adults if self._due(conn, each, now)]
        )
        return sum([await self._sent(member) for member in due])

    async def _sent(self, member: Member) -> bool:
        try:
            return await self._store.write(partial(self._send, member))
        except UnavailableError:
            raise
        except Exception as error:  # noqa: BLE001 - one person's trouble must not keep the others' digests
            count_failure(_NAME, error, member=member.id)
            return False

    def _due(self, conn: Connection, member: Member, now: datetime) -> bool:
        """Whether a digest of this member is due that was not dealt with yet."""
        household, at = self._household, digest_time(conn, self._household, member.id)
        if at is None or (day := due_day(now, at, self._quiet_hours)) is None:
            return False
        chosen = time_set_at(conn, household.id, member.id)
        is_later_choice = chosen is not None and release(day, at, self._quiet_hours) < chosen
        if is_later_choice or was_due(conn, household.id, member.id, day):
            return False
        return not self._is_quiet(conn, now)

    def _send(self, member: Member, conn: Connection) -> bool:
        now, household = self._clock.now(), self._household
        at = digest_time(conn, household, member.id)
        # Looked at again: another process, or a change of the time, may have come first.
        if at is None or not self._due(conn, member, now):
            return False
        day = due_day(now, at, self._quiet_hours)
        if day is None:
            return False
        digest = gather(
            conn, household, member, day=day, now=now,
            since=last_digest(conn, household.id, member.id),
        )  # fmt: skip
        note_digest(conn, household.id, digest)
        if digest.is_empty:
            return False
        self._deliver(conn, member, digest)
        return True
