"""`kinkeeper digest` and `kinkeeper quiet`: what is said unasked, and when."""

from datetime import datetime
from typing import Annotated

import typer
from sqlalchemy import Connection

from kinkeeper.cli.located import AsOption, Where, located
from kinkeeper.cli.opener import acting, opened
from kinkeeper.cli.terminal import answer, notice
from kinkeeper.core.errors import DeniedError
from kinkeeper.core.time import SystemClock
from kinkeeper.digest.content import DigestWords, gather
from kinkeeper.digest.repository import (
    Digest,
    digest_time,
    last_digest,
    next_release,
    parse_time,
    set_digest_time,
)
from kinkeeper.household.model import Household, Member
from kinkeeper.messaging.outbound import QuietHours
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
        answer(f"Quiet until {_local_time(until, household)}.")


def _tell_quiet(where: Where) -> None:
    """Say until when it is quiet."""
    with opened(where) as system:
        household, now = system.household, SystemClock().now()
        until = system.store.read_now(lambda conn: quiet_until(conn, household.id, now=now))
    answer("Quiet is off." if until is None else f"Quiet until {_local_time(until, household)}.")


def _local_time(until: datetime, household: Household) -> str:
    return until.astimezone(household.zone).strftime("%a %Y-%m-%d %H:%M")


@app.command()
@located
def digest(
    where: Where,
    as_: AsOption = None,
    now: Annotated[
        bool,
        typer.Option("--now", help="Show what it would say now, not at the next sending time."),
    ] = False,
    at: Annotated[
        str | None, typer.Option("--at", metavar="TIME", help="Get it at 18:00, 7pm, …; or off.")
    ] = None,
) -> None:
    """Show your next daily digest, or choose when it comes."""
    if at is not None:
        _choose_time(where, at, named=as_)
    else:
        _show_digest(where, named=as_, is_now=now)


def _show_digest(where: Where, *, named: str | None, is_now: bool) -> None:
    """Print an adult's digest.

    Args:
        named: Whose; the owner's where None.
        is_now: As of now; else as it will be at its next time, unless something changes.
    """
    with opened(where) as system:
        household, now = system.household, SystemClock().now()
        member = _adult(household, named)
        quiet = QuietHours.parse(system.settings.quiet_hours, household.zone)
        at = system.store.read_now(lambda conn: digest_time(conn, household, member.id))
        sent_at = None if at is None else next_release(now, at, quiet)
        moment = sent_at if sent_at is not None and not is_now else now

        def load(conn: Connection) -> Digest:
            return gather(
                conn,
                household,
                member,
                day=moment.astimezone(household.zone).date(),
                now=moment,
                since=last_digest(conn, household.id, member.id),
            )

        digest = system.store.read_now(load)
    off = f"{member.name} gets no digest; `kinkeeper digest --at 18:00` turns it on."
    notice(off if sent_at is None else f"Next digest: {_local(sent_at, household)}.")
    answer("Nothing to report." if digest.is_empty else DigestWords(household).text(digest))


def _choose_time(where: Where, text: str, *, named: str | None) -> None:
    """Let an adult get their digest at another time.

    Args:
        text: "18:00", "7pm", "off".
        named: Whose; the owner's where None.
    """
    at = parse_time(text)
    with opened(where) as system:
        household, now = system.household, SystemClock().now()
        member = _adult(household, named)
        system.store.write_now(
            lambda conn: set_digest_time(conn, household.id, member.id, at, now=now)
        )
    when = "no digest from now on" if at is None else f"a digest every day at {at:%H:%M}"
    answer(f"{member.name} gets {when}.")


def _adult(household: Household, named: str | None) -> Member:
    member = acting(household, named)
    if not member.is_adult:
        raise DeniedError("only adults in the household get a digest")
    return member


def _local(instant: datetime, household: Household) -> str:
    return instant.astimezone(household.zone).strftime("%a %Y-%m-%d %H:%M")
