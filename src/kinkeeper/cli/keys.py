"""What making a key of a household takes: the role it gets, and how it is written."""

from typing import Any

from kinkeeper.bootstrap import System
from kinkeeper.core.errors import InputError
from kinkeeper.household.model import Member
from kinkeeper.web.access import logins
from kinkeeper.web.access.model import AccessRole, Key, usual_role


def granted_role(system: System, member: Member, named: str | None) -> AccessRole:
    """Return the role that a key of a member gets: the one named, else the member's usual one.

    Raises:
        InputError: There is no such role, or it is not for them.
    """
    if named is None:
        return usual_role(system.household, member)
    try:
        role = AccessRole(named)
    except ValueError as error:
        known = ", ".join(each.value for each in AccessRole)
        raise InputError(f"unknown role {named!r}; use one of {known}") from error
    logins.require_fitting(system.household, member, role)
    return role


def key_record(key: Key) -> dict[str, Any]:
    """Return the JSON form of a key, without its secret."""
    return {
        "id": key.id, "kind": key.kind.value, "member": key.member, "role": key.role.value,
        "program": key.is_program, "label": key.label, "created_at": key.created_at.isoformat(),
        "expires_at": key.expires_at.isoformat() if key.expires_at else None,
        "seen_at": key.seen_at.isoformat(),
    }  # fmt: skip
