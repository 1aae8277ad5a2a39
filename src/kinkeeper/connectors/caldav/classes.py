"""Who may see an object of a calendar server: its CLASS, as ours and as theirs. Pure."""

from typing import Final

from icalendar import Component

from kinkeeper.core.errors import InputError
from kinkeeper.household.model import Household
from kinkeeper.household.viewing import HOUSEHOLD_SCOPE, person_of, person_scope

NAME: Final = "CLASS"
_PRIVATE: Final = "PRIVATE"
_KEPT_CLOSE: Final = frozenset({_PRIVATE, "CONFIDENTIAL"})


def scope_of(component: Component, household: Household) -> str:
    """Return who may see what the server has: what it keeps close is for whoever owns the household, and so its account.

    Args:
        component: As it stands there.
        household: Whose calendar it is.

    Raises:
        InputError: It is kept close there, and the household has no owner.
    """
    if not _is_kept_close(component):
        return HOUSEHOLD_SCOPE
    if household.owner is None:
        raise InputError("it is private there, and the household has no owner whose it could be")
    return person_scope(household.owner)


def classify(component: Component, scope: str, known: Component | None = None) -> None:
    """Put into a component of ours who may see it; what is kept close there already stays as it is named there.

    Args:
        component: To be written.
        scope: Of ours.
        known: The same thing as it stands on the server.
    """
    component.pop(NAME, None)
    if person_of(scope) is not None:
        is_known = known is not None and _is_kept_close(known)
        component.add(NAME, str(known[NAME]) if known is not None and is_known else _PRIVATE)


def _is_kept_close(component: Component) -> bool:
    return str(component.get(NAME, "")).strip().upper() in _KEPT_CLOSE
