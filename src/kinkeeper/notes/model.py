"""Notes: frozen values, no I/O."""

from dataclasses import dataclass
from datetime import datetime

from kinkeeper.household.viewers import HOUSEHOLD_SCOPE


@dataclass(frozen=True, slots=True, kw_only=True)
class Note:
    """A text in Markdown, such as a shopping list or the code of the wifi.

    Attributes:
        id: Stable.
        household: Tenant key.
        scope: Who may see it: HOUSEHOLD_SCOPE or "person:<member id>".
        title: What it is called.
        body: Its text; entries of a list are lines beginning with "- ".
        made_by: Member id of who made it; None where it came from elsewhere.
        created_at: Aware.
    """

    id: str
    household: str
    title: str
    body: str
    created_at: datetime
    scope: str = HOUSEHOLD_SCOPE
    made_by: str | None = None
