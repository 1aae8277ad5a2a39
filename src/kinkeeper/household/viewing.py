"""Who may see what is kept: a scope on every row, and on whose behalf rows are read. Pure."""

from collections.abc import Iterable
from dataclasses import dataclass
from typing import Self

HOUSEHOLD_SCOPE = "household"
"""What everybody of the household may see."""


def person_scope(member: str) -> str:
    """Return the scope of what only one member may see."""
    return f"person:{member}"


def project_scope(project: str) -> str:
    """Return the scope of what belongs to a project and is only recalled where it is asked for."""
    return f"project:{project}"


@dataclass(frozen=True, slots=True)
class Viewer:
    """On whose behalf something is read: every query is limited to these scopes.

    Attributes:
        household: Tenant key.
        scopes: What may be seen.
    """

    household: str
    scopes: frozenset[str]

    @classmethod
    def of(cls, household: str, member: str | None = None, *, projects: Iterable[str] = ()) -> Self:
        """Return the viewer of a member: what is the household's, their own, and projects'.

        Args:
            household: Tenant key.
            member: Member id; None sees only what everybody sees.
            projects: Names of the projects that are asked for.
        """
        own = () if member is None else (person_scope(member),)
        return cls(household, frozenset({HOUSEHOLD_SCOPE, *own, *map(project_scope, projects)}))
