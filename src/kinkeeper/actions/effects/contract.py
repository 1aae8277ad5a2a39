"""What every effect is: typed parameters that can check themselves and write themselves."""

from abc import ABC, abstractmethod
from collections.abc import Collection, Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import Any, Self

from pydantic import BaseModel, ConfigDict
from sqlalchemy import Connection

from kinkeeper.core.errors import InvariantError
from kinkeeper.household.model import Household
from kinkeeper.household.viewers import HOUSEHOLD_SCOPE, narrowest


@dataclass(frozen=True, slots=True, kw_only=True)
class Execution:
    """On whose behalf an effect is written.

    Attributes:
        change_id: Identifies this one effect, so that writing it again does nothing.
        decided_by: Member id of the person whose yes it rests on.
        scope: Of the action: what it adds is seen by nobody else.
    """

    household: str
    action_id: str
    change_id: str
    decided_by: str
    at: datetime
    scope: str = HOUSEHOLD_SCOPE


@dataclass(frozen=True, slots=True, kw_only=True)
class Touched:
    """A row that an effect changes, and who sees it.

    Attributes:
        id: Of the row; None of what is remembered, which moves with what was told, not with actions.
        before: Scope that it has by now; None where it is new.
        after: Scope that it gets.
        whose: Member id of the one whose own affair the change is, by who made the row and whom it concerns; None where
            it is nobody's alone.
    """

    id: str | None
    before: str | None
    after: str
    whose: str | None = None

    @property
    def scopes(self) -> Collection[str]:
        """The scopes that it has before and after."""
        return {self.after} if self.before is None else {self.before, self.after}

    @property
    def hides(self) -> bool:
        """Whether some see it by now who no longer would."""
        return self.before is not None and narrowest(self.scopes) != narrowest({self.before})

    def is_own(self, member_id: str) -> bool:
        """Whether the change is nobody's affair but that member's, and takes it out of nobody else's sight."""
        return self.whose == member_id and not self.hides


@dataclass(frozen=True, slots=True)
class Told:
    """What an effect lets others read in a person's words.

    Attributes:
        text: The words; empty where there are none, or no others than before.
        before: What they take the place of.
        whose: Member ids of all for whom it is that they name; none where they name nothing of anybody's.
    """

    text: str = ""
    before: str = ""
    whose: tuple[str, ...] = ()


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

    @property
    def words_hidden(self) -> Collection[str]:
        """Ids of memories whose words others no longer see, in earlier actions either."""
        return ()

    @property
    def told(self) -> Told:
        """Words of a person that it lets others read."""
        return Told()

    def narrowed(self, conn: Connection, household: str, scope: str) -> Self:
        """Return it so that of those who read its words nobody is left whom a scope keeps them from.

        Raises:
            InputError: Its words would stand among others' that more people read.
        """
        raise InvariantError(f"effect {self.effect!r} tells nothing")

    def touches(self, conn: Connection, household: str) -> Sequence[Touched]:
        """Return the rows with a scope that it changes, as they stand by now."""
        return ()

    def over_at(
        self, conn: Connection, household: Household, *, after: datetime
    ) -> datetime | None:
        """Return when what it is about is over: the end of its last day; None where it has no day.

        Args:
            household: Whose days count.
            after: Aware; of what goes on without an end, the first time that is not over by then counts.
        """
        return None

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
