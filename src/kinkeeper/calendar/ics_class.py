"""CLASS of an iCalendar component, as the audience of an event or task here and back. Pure.

Whatever CLASS is not PUBLIC counts as private, as RFC 5545 asks of programs that do not know a value. A
component that we wrote also names the member whose it is, or those from whom it is kept, so that an export of a
whole household keeps every private event with its owner and every surprise a surprise. These names count without
CLASS, too: another program may have left it out.
"""

from dataclasses import dataclass
from typing import Any, Final

from icalendar import Component
from icalendar.parser import unescape_char

from kinkeeper.household.model import Household
from kinkeeper.household.viewers import (
    HOUSEHOLD_SCOPE,
    kept_from,
    narrowest,
    person_of,
    person_scope,
    surprise_scope,
)

CLASS: Final = "CLASS"
PRIVATE_TO: Final = "X-KINKEEPER-PRIVATE-TO"
HIDDEN_FROM: Final = "X-KINKEEPER-HIDDEN-FROM"
_PRIVATE: Final = "PRIVATE"
_PUBLIC: Final = frozenset({"", "PUBLIC"})


@dataclass(frozen=True, slots=True)
class Privacy:
    """What a file says of who may see something that is not for everybody.

    Attributes:
        owners: Member ids of those whose alone it is; more than one contradict each other.
        hidden_from: Member ids of those from whom it is kept.
    """

    owners: frozenset[str] = frozenset()
    hidden_from: frozenset[str] = frozenset()

    @property
    def names_somebody(self) -> bool:
        """Whether it says for whom, or from whom; else it is only private."""
        return bool(self.owners or self.hidden_from)

    def joined(self, other: "Privacy | None") -> "Privacy":
        """Return what this and another component of the same event say together."""
        if other is None:
            return self
        return Privacy(self.owners | other.owners, self.hidden_from | other.hidden_from)

    def scope(self, household: Household, importer: str) -> str | None:
        """Return who may see it here; None where the file says that nobody may.

        Where nobody is named, or somebody who is not known here, it is the importer's own.

        Args:
            importer: Member id of who has the file.
        """
        named = self.owners | self.hidden_from
        scopes = {person_scope(each) for each in self.owners}
        if self.hidden_from:
            scopes.add(surprise_scope(self.hidden_from))
        if not named or any(household.member(each) is None for each in named):
            hidden = importer in self.hidden_from
            return None if hidden else person_scope(importer)
        return narrowest(scopes)


def privacy_of(component: Component) -> Privacy | None:
    """Return what a component says of who may see it; None where everybody may."""
    owners, hidden = _members(component, PRIVATE_TO), _members(component, HIDDEN_FROM)
    if owners or hidden or _own_word(component) is not None:
        return Privacy(owners, hidden)
    return None


def set_class(component: Component, scope: str, known: Component | None = None) -> None:
    """Write the audience of ours into a component; a public one gets no CLASS, since that is the default.

    Args:
        known: The same component as it stands on a server; its own word for private is kept.
    """
    for name in (CLASS, PRIVATE_TO, HIDDEN_FROM):
        component.pop(name, None)
    if scope == HOUSEHOLD_SCOPE:
        return
    own_word = None if known is None else _own_word(known)
    component.add(CLASS, own_word or _PRIVATE)
    if (owner := person_of(scope)) is not None:
        component.add(PRIVATE_TO, owner)
    for member in sorted(kept_from(scope)):
        component.add(HIDDEN_FROM, member)


def _own_word(component: Component) -> str | None:
    """Return the CLASS of a component where it is not public."""
    word = str(component.get(CLASS, ""))
    return None if word.strip().upper() in _PUBLIC else word


def _members(component: Component, name: str) -> frozenset[str]:
    written: Any = component.get(name, [])
    texts = written if isinstance(written, list) else [written]
    return frozenset(filter(None, (unescape_char(str(each)).strip() for each in texts)))
