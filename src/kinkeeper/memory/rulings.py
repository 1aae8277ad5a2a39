"""What can be found about statements: by their words, or by somebody who judges them. Frozen, no I/O."""

from dataclasses import dataclass
from datetime import datetime
from enum import StrEnum


class Ruling(StrEnum):
    """What was found about two statements, or about one."""

    SAME = "same"
    UPDATE = "update"
    CONTRADICTION = "contradiction"
    OTHER = "other"
    ENDED = "ended"
    NEVER = "never"
    SUPPORT = "support"

    @property
    def is_of_two(self) -> bool:
        """Whether it is about two statements."""
        return self not in {Ruling.ENDED, Ruling.NEVER, Ruling.SUPPORT}


@dataclass(frozen=True, slots=True, kw_only=True)
class Verdict:
    """What a person, a model or the nightly pass found; it outranks what is read from words.

    Attributes:
        household: Tenant key.
        id: Identifies it.
        older: Statement it is about; of an update, the one that holds no more.
        newer: The other statement; of SUPPORT the episode that supports; None where it is about one.
        ruling: What was found. ENDED: holds no more since `made_at`; NEVER: never held.
        made_by: Member id, "model" or "upkeep".
        made_at: Aware.
    """

    household: str
    id: str
    older: str
    newer: str | None = None
    ruling: Ruling
    made_by: str
    made_at: datetime
