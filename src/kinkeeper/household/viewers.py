"""Who may see what is kept: a scope on every row, and on whose behalf rows are read. Pure."""

import re
from collections.abc import Collection, Iterable
from dataclasses import dataclass, replace
from datetime import datetime, timedelta
from typing import Any, Self

from kinkeeper.core.time import Interval, local_days
from kinkeeper.household.model import Household, Member, Role

HOUSEHOLD_SCOPE = "household"
"""What everybody of the household may see."""

GUEST_DAYS = 7
"""For how many days after today a guest sees the household's calendar."""

_PERSON = "person:"
_PROJECT = "project:"
_EXCEPT = "except:"


def person_scope(member: str) -> str:
    """Return the scope of what only one member may see."""
    return f"{_PERSON}{member}"


def person_of(scope: str) -> str | None:
    """Return the member who alone may see what has a scope; None where others may, too."""
    return scope.removeprefix(_PERSON) if scope.startswith(_PERSON) else None


def surprise_scope(kept_from: Iterable[str]) -> str:
    """Return the scope of what everybody of the household may see but some members.

    Args:
        kept_from: Member ids, at least one.
    """
    return f"{_EXCEPT},{','.join(sorted({*kept_from}))},"


def kept_from(scope: str) -> frozenset[str]:
    """Return the members from whom alone a scope keeps something; empty for any other scope."""
    if not scope.startswith(_EXCEPT):
        return frozenset()
    return frozenset(filter(None, scope.removeprefix(_EXCEPT).split(",")))


def is_hidden_from(scope: str, member: str) -> bool:
    """Return whether a member of the household may not see what has a scope.

    Args:
        scope: Any but a project's.
    """
    owner = person_of(scope)
    return (owner is not None and owner != member) or member in kept_from(scope)


def audience_json(scope: str) -> dict[str, Any]:
    """Return who may see something, as requests tell it: "private", and the ids of those it is kept from."""
    hidden = sorted(kept_from(scope))
    return {"private": person_of(scope) is not None, **({"kept_from": hidden} if hidden else {})}


def narrowest(scopes: Iterable[str]) -> str | None:
    """Return the scope of those who may see all of some scopes; None where nobody may.

    Args:
        scopes: Of the household, of members, or surprises; projects count as the household's.
    """
    every = {*scopes}
    owners = {owner for each in every if (owner := person_of(each)) is not None}
    hidden = frozenset[str]().union(*map(kept_from, every))
    if len(owners) > 1 or owners & hidden:
        return None
    if owners:
        return person_scope(owners.pop())
    return surprise_scope(hidden) if hidden else HOUSEHOLD_SCOPE


def kept_to(own: str, scope: str) -> str:
    """Return a scope without those who may not see another; as it is where nobody would be left."""
    return narrowest({own, scope}) or own


def project_scope(project: str) -> str:
    """Return the scope of what belongs to a project and is only recalled where it is asked for."""
    return f"{_PROJECT}{project}"


def is_project(scope: str) -> bool:
    """Return whether a scope is that of a project."""
    return scope.startswith(_PROJECT)


@dataclass(frozen=True, slots=True)
class Viewer:
    """On whose behalf something is read: every query is limited to these scopes.

    Attributes:
        scopes: What may be seen, besides surprises for others.
        member: Member id of who looks; None where it is everybody, or nobody in particular. They see no surprise.
        days: Of a guest: when the household's calendar may be seen, although its scope may not.
        is_upkeep: Whether it is the program itself that reads, for nobody's eyes.
        sees_unconfirmed: Whether they see what others asked of the assistant, or told it, before an adult confirms it:
            children and screens on the wall do not.
        only_kept: Whether they look for nothing but what is kept from somebody: surprises for others, and their own.
    """

    household: str
    scopes: frozenset[str]
    member: str | None = None
    days: Interval | None = None
    is_upkeep: bool = False
    sees_unconfirmed: bool = True
    only_kept: bool = False

    @classmethod
    def of(cls, household: str, member: str | None = None, *, projects: Iterable[str] = ()) -> Self:
        """Return the viewer of a member: what is the household's, their own, and projects'.

        Args:
            member: Member id; None sees only what everybody sees.
            projects: Names of the projects that are asked for.
        """
        own = () if member is None else (person_scope(member),)
        scopes = frozenset({HOUSEHOLD_SCOPE, *own, *map(project_scope, projects)})
        return cls(household, scopes, member)

    @classmethod
    def guest(cls, household: Household, member: str, *, now: datetime) -> Self:
        """Return the viewer of a guest: what is theirs or given to them, and the calendar of the coming days."""
        today = now.astimezone(household.zone).date()
        days = local_days(today, today + timedelta(days=GUEST_DAYS), household.zone)
        return cls(household.id, frozenset({person_scope(member)}), member, days)

    @classmethod
    def whole(cls, household: str) -> Self:
        """Return the viewer of the program itself: it sees every row and shows none to a person.

        A structural test lists the modules that may use it.
        """
        return cls(household, frozenset(), is_upkeep=True)

    @property
    def parameters(self) -> dict[str, Any]:
        """What `store.scoping.in_scope` asks for."""
        return {
            "scopes": sorted(self._shown),
            "sees_all": self.is_upkeep,
            "kept_from": self._kept_from,
        }

    @property
    def wider_parameters(self) -> dict[str, Any]:
        """What it asks for where more than its scope decides about a row; `sees` and `sees_event` then do."""
        wider = self._shown if self.only_kept else self._shown | {HOUSEHOLD_SCOPE}
        return self.parameters | {"scopes": sorted(wider)}

    @property
    def _shown(self) -> frozenset[str]:
        return self.scopes - {HOUSEHOLD_SCOPE} if self.only_kept else self.scopes

    @property
    def _sees_surprises(self) -> bool:
        """Whether they see surprises for others: members of the household do; screens and guests do not."""
        return self.member is not None and self.days is None and HOUSEHOLD_SCOPE in self.scopes

    @property
    def _kept_from(self) -> str:
        """The pattern, escaped with a backslash, of surprise scopes that they must not see."""
        if not self._sees_surprises:
            return "%"
        member = re.sub(r"([\\%_])", r"\\\1", str(self.member))
        return f"%,{member},%"

    @property
    def sees_busy(self) -> bool:
        """Whether they are shown when others are busy with what is private: all but guests are."""
        return self.days is None and not self.is_upkeep

    def sees(self, scope: str, given_to: Collection[str] = ()) -> bool:
        """Whether they may see a row.

        Args:
            scope: The row's.
            given_to: Member ids of those whose it is to do.
        """
        is_given = scope == HOUSEHOLD_SCOPE and self.member in given_to and not self.only_kept
        if self.is_upkeep or scope in self._shown or is_given:
            return True
        hidden = kept_from(scope) if self._sees_surprises else frozenset()
        return bool(hidden) and self.member not in hidden

    def sees_event(self, scope: str) -> bool:
        """Whether they may see an event, at any time or at those that are a guest's."""
        return self.sees(scope) or (self.days is not None and scope == HOUSEHOLD_SCOPE)


def viewer_for(household: Household, member: Member, *, now: datetime) -> Viewer:
    """Return on whose behalf a member reads: those who are neither adults nor children are guests."""
    if member.role is Role.OTHER:
        return Viewer.guest(household, member.id, now=now)
    return replace(Viewer.of(household.id, member.id), sees_unconfirmed=member.is_adult)
