"""Opens what a command works on, and tells which time and which person it acts under."""

import sys
from collections.abc import Iterator
from contextlib import contextmanager
from datetime import datetime

import structlog

from kinkeeper.bootstrap import Houses, System, open_houses, open_system
from kinkeeper.cli.located import Where
from kinkeeper.cli.terminal import notice
from kinkeeper.core.errors import DeniedError, InputError
from kinkeeper.household.model import Household, Member, resolve_sender
from kinkeeper.household.viewers import Viewer, viewer_for
from kinkeeper.observability.log import WARNING
from kinkeeper.settings.load import load_settings
from kinkeeper.settings.model import Settings


def settings_of(where: Where) -> Settings:
    """Return the settings in force.

    Raises:
        ConfigError: They are wrong; every problem is named.
    """
    settings = load_settings()
    return settings.model_copy(update={"env": where.env}) if where.env else settings


@contextmanager
def opened(where: Where, *, now: datetime | None = None) -> Iterator[System]:
    """Open the household and its database for the length of the block.

    Args:
        now: Instant the work is about; the wall clock's where None.
    """
    log_to_stderr()
    with open_system(
        settings_of(where), household_file=where.household, database=where.db, now=now
    ) as system:
        for warning in system.household.warnings:
            notice(f"warning: {warning}")
        yield system


@contextmanager
def opened_houses(where: Where) -> Iterator[Houses]:
    """Open all households and their database for the length of the block.

    Args:
        where: What the person said; the household file may be a folder.
    """
    log_to_stderr()
    with open_houses(
        settings_of(where), household_file=where.household, database=where.db
    ) as houses:
        for system in houses.systems:
            for warning in system.household.warnings:
                notice(f"warning: {warning}")
        yield houses


def log_to_stderr(*, level: int = WARNING) -> None:
    """Keep the program's log off stdout, where the answers go.

    Args:
        level: Of logging; what is below is left out.
    """
    structlog.configure(
        wrapper_class=structlog.make_filtering_bound_logger(level),
        logger_factory=structlog.PrintLoggerFactory(sys.stderr),
    )


def member_named(household: Household, named: str) -> Member:
    """Return the member whom a person named on the command line."""
    member = resolve_sender(household, named)
    if member is None:
        known = ", ".join(each.id for each in household.members)
        raise InputError(
            f"{named!r} does not match exactly one member of the household; the members are {known}"
        )
    return member


def acting(household: Household, named: str | None) -> Member:
    """Return the member on whose behalf a command acts: the one named, else the owner.

    Raises:
        DeniedError: Nobody was named, and the household has no owner.
    """
    if named is not None:
        return member_named(household, named)
    owner = household.member(household.owner) if household.owner else None
    if owner is None:
        raise DeniedError("the household has no owner; say who is acting with --as MEMBER")
    notice(f"acting as {owner.name}, the owner; use --as MEMBER to act as somebody else")
    return owner


def looking(household: Household, named: str | None, *, now: datetime) -> Viewer:
    """Return on whose behalf a command looks: of the member who is named, else of everybody."""
    if named is None:
        return Viewer.of(household.id)
    return viewer_for(household, member_named(household, named), now=now)


def instant_of(text: str, household: Household) -> datetime:
    """Return the instant a person gave; without an offset it is the household's local time."""
    try:
        instant = datetime.fromisoformat(text)
    except ValueError as error:
        raise InputError(f"{text!r} is not a time; write e.g. 2026-03-05T18:00") from error
    return instant if instant.tzinfo else instant.replace(tzinfo=household.zone)
