"""What every effect is: typed parameters that can check themselves and write themselves."""

from abc import ABC, abstractmethod
from collections.abc import Collection
from dataclasses import dataclass
from datetime import datetime
from typing import Any

from pydantic import BaseModel, ConfigDict
from sqlalchemy import Connection


@dataclass(frozen=True, slots=True, kw_only=True)
class Execution:
    """On whose behalf an effect is written.

    Attributes:
        household: Tenant key.
        action_id: The confirmed action.
        change_id: Identifies this one effect, so that writing it again does nothing.
        decided_by: Member id of the person whose yes it rests on.
        at: When, aware.
    """

    household: str
    action_id: str
    change_id: str
    decided_by: str
    at: datetime


class Effect(BaseModel, ABC):
    """Parameters of one effect, as frozen in a proposal.

    Attributes:
        effect: Name in the registry.
    """

    model_config = ConfigDict(frozen=True, extra="forbid")

    effect: str

    def frozen(self) -> dict[str, Any]:
        """Return the JSON form that a proposal carries."""
        return self.model_dump(mode="json")

    def concerns_only(self, member_id: str) -> bool:
        """Whether it touches nobody's affairs but that member's own; they may then do it without an adult."""
        return False

    def scopes(self, conn: Connection, household: str) -> Collection[str]:
        """Return the scopes that what it touches has before and after; empty where it touches no row with one.

        Args:
            conn: Open connection.
            household: Tenant key.
        """
        return ()

    @property
    def touched(self) -> Collection[str]:
        """Ids of the rows with a scope that it touches."""
        return ()

    @abstractmethod
    def check(self, household: str) -> None:
        """Make sure that it could be written for this household.

        Raises:
            InputError: It could never be; the message says why.
        """

    @abstractmethod
    def apply(self, conn: Connection, execution: Execution) -> str | None:
        """Write it.

        Returns:
            Id under which it can be taken back, where that is not the execution's own.

        Raises:
            NotFoundError: What it concerns is gone.
            ConflictError: What it concerns has changed.
            InputError: It cannot be stored.
        """
