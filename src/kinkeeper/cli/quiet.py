"""`kinkeeper quiet`: no unprompted message for a while."""

from datetime import datetime
from typing import Annotated

import typer

from kinkeeper.cli.located import AsOption, Where, located
from kinkeeper.cli.opener import acting, opened
from kinkeeper.cli.terminal import answer
from kinkeeper.core.errors import DeniedError
from kinkeeper.core.time import SystemClock
from kinkeeper.household.model import Household
from kinkeeper.observer.quiet_requests import be_quiet, end_quiet, parse_duration, quiet_until

app = typer.Typer()


@app.command()
@located
def quiet(
    where: Where,
    length: Annotated[
        str | None,
        typer.Argument(
            metavar="LENGTH", help="2h, 30m, 1d or off; shows the current state if omitted."
        ),
    ] = None,
    as_: AsOption = None,
) -> None:
    """Pause unprompted messages for a while."""
    if length is None:
        _tell_quiet(where)
    else:
        _be_silent(where, length, named=as_)


def _be_silent(where: Where, length: str, *, named: str | None) -> None:
    """Say nothing unprompted for that long, or speak again.

    Args:
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


def _tell_quiet(where: Where) -> None:
    """Say until when it is quiet.

    Raises:
        KinkeeperError: The household or its database cannot be used.
    """
    with opened(where) as system:
        household, now = system.household, SystemClock().now()
        until = system.store.read_now(lambda conn: quiet_until(conn, household.id, now=now))
    answer("Quiet is off." if until is None else f"Quiet until {_local(until, household)}.")


def _local(until: datetime, household: Household) -> str:
    return until.astimezone(household.zone).strftime("%a %Y-%m-%d %H:%M")
