"""What a check of the installation found, and how to mend it. Values."""

from dataclasses import dataclass
from enum import StrEnum


class Health(StrEnum):
    """How a check came out."""

    OK = "ok"
    WARNING = "warning"
    BROKEN = "broken"


@dataclass(frozen=True, slots=True, kw_only=True)
class Finding:
    """The outcome of one check.

    Attributes:
        health: How it came out.
        remedy: How to mend it; empty where nothing is wrong.
        household: Whose it concerns, no other household's business; "" nobody's here, None all.
    """

    check: str
    health: Health
    found: str
    remedy: str = ""
    household: str | None = None


def ok(check: str, found: str) -> Finding:
    """Return that a check found everything in order."""
    return Finding(check=check, health=Health.OK, found=found)


def warning(check: str, found: str, remedy: str) -> Finding:
    """Return that a check found something that may not be meant so, and how to mend it."""
    return Finding(check=check, health=Health.WARNING, found=found, remedy=remedy)


def broken(check: str, found: str, remedy: str) -> Finding:
    """Return that a check found something broken, and how to mend it."""
    return Finding(check=check, health=Health.BROKEN, found=found, remedy=remedy)
