"""Sets and tells until when a household wants quiet."""

from datetime import datetime

from kinkeeper.cli.located import Where
from kinkeeper.cli.opener import acting, opened
from kinkeeper.cli.terminal import answer
from kinkeeper.core.errors import DeniedError
from kinkeeper.core.time import SystemClock
from kinkeeper.household.model import Household
from kinkeeper.observer.quiet_requests import be_quiet, end_quiet, parse_duration, quiet_until


def be_silent(where: Where, length: str, *, named: str | None) -> None:
    """Say nothing unprompted for that long, or speak again.

    Args:
        where: Household and database.
        length: "2h", "30m", ..., or "off".
        named: Who wants it; the owner where None.

    Raises:
        InputError: It is no length of time, or nobody is called so.
        DeniedError: It is no adult who wants it.
    """
    duration = parse_duration(length)
    with opened(where) as system:
        household, now = system.household, SystemClock().now()
        member = acting(household, named)
        if not member.is_adult:
            raise DeniedError("only an adult in the household can ask for quiet")
        if duration is None:
            system.store.write_now(lambda conn: end_quiet(conn, household.id))
            answer("Quiet is off.")
            return
        until = now + duration
        system.store.write_now(
            lambda conn: be_quiet(conn, household.id, until=until, by=member.id, now=now)
        )
        answer(f"Quiet until {_local(until, household)}.")


def tell_quiet(where: Where) -> None:
    """Say until when it is quiet.

    Raises:
        KinkeeperError: The household or its database cannot be used.
    """
    with opened(where) as system:
        household, now = system.household, SystemClock().now()
        until = system.store.read_now(lambda conn: quiet_until(conn, household.id, now=now))
    answer("Not quiet." if until is None else f"Quiet until {_local(until, household)}.")


def _local(until: datetime, household: Household) -> str:
    return until.astimezone(household.zone).strftime("%a %Y-%m-%d %H:%M")
