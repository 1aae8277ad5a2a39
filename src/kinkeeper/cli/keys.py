"""Makes, lists and ends the keys that open a household."""

from collections.abc import Sequence
from datetime import timedelta
from typing import Any

from rich.table import Table

from kinkeeper.bootstrap import System
from kinkeeper.bootstrap.web import server_address
from kinkeeper.cli.located import Where
from kinkeeper.cli.opening import member_named, opened
from kinkeeper.cli.tables import console
from kinkeeper.cli.terminal import answer, answer_json, notice
from kinkeeper.core.errors import InputError, NotFoundError
from kinkeeper.core.time import SystemClock
from kinkeeper.household.model import Member
from kinkeeper.web.access import logins, repository
from kinkeeper.web.access.model import AccessRole, Key, is_alive, usual_role


def invite_member(where: Where, named: str, *, role: str | None, hours: int, as_json: bool) -> None:
    """Print a link that logs a member in, once.

    Raises:
        InputError: Nobody, or more than one, is called so; the role is unknown or not for them.
        KinkeeperError: The household or its database cannot be used.
    """
    with opened(where) as system:
        member = member_named(system.household, named)
        granted = _role(system, member, role)
        if granted is AccessRole.BRIDGE:
            raise InputError("a bridge is a program: make it a token with `kinkeeper token create`")
        now = SystemClock().now()
        issued = system.store.write_now(
            lambda conn: logins.invite(
                conn, system.household.id, member.id, role=granted, now=now, hours=hours
            )
        )
        link = f"{server_address(system.settings)}/invite/{issued.secret}"
    if as_json:
        answer_json({**_record(issued.key), "link": link})
        return
    notice(f"{member.name} ({granted.value}) opens this within {hours} hours; it works once:")
    answer(link)


def create_token(
    where: Where, named: str, *, role: str | None, label: str, days: int | None, as_json: bool
) -> None:
    """Print a new API token.

    Raises:
        InputError: Nobody, or more than one, is called so; the role is unknown or not for them.
        KinkeeperError: The household or its database cannot be used.
    """
    with opened(where) as system:
        member = member_named(system.household, named)
        granted = _role(system, member, role)
        now = SystemClock().now()
        issued = system.store.write_now(
            lambda conn: logins.create_token(
                conn, system.household.id, member.id, role=granted, label=label, now=now,
                expires_at=None if days is None else now + timedelta(days=days),
            )
        )  # fmt: skip
    if as_json:
        answer_json({**_record(issued.key), "token": issued.secret})
        return
    notice(f"for {member.name} ({granted.value}), id {issued.key.id}; it is shown this once:")
    answer(issued.secret)


def show_keys(where: Where, *, as_json: bool) -> None:
    """List what opens the household: tokens, sessions, open invites."""
    with opened(where) as system:
        keys = _open_keys(system)
    if as_json:
        answer_json([_record(key) for key in keys])
        return
    table = Table()
    for heading in ("id", "kind", "member", "role", "label", "last used", "until"):
        table.add_column(heading)
    for key in keys:
        until = f"{key.expires_at:%Y-%m-%d}" if key.expires_at else ""
        table.add_row(
            key.id, key.kind.value, key.member, key.role.value, key.label,
            f"{key.seen_at:%Y-%m-%d %H:%M}", until,
        )  # fmt: skip
    console().print(table)


def revoke_key(where: Where, beginning: str) -> None:
    """End a key; a running server notices within seconds.

    Raises:
        NotFoundError: No open key begins so.
        InputError: Several do.
    """
    with opened(where) as system:
        found = [key for key in _open_keys(system) if key.id.startswith(beginning)]
        if not found:
            raise NotFoundError(f"no open key begins with {beginning!r}")
        if len(found) > 1:
            raise InputError(f"{len(found)} keys begin with {beginning!r}; give more of the id")
        now = SystemClock().now()
        system.store.write_now(
            lambda conn: repository.end_key(conn, system.household.id, found[0].id, now=now)
        )
    notice(f"ended: {found[0].kind.value} {found[0].id} of {found[0].member}")


def _open_keys(system: System) -> Sequence[Key]:
    household, now = system.household.id, SystemClock().now()
    keys = system.store.read_now(lambda conn: repository.list_keys(conn, household))
    return [key for key in keys if is_alive(key, now)]


def _role(system: System, member: Member, named: str | None) -> AccessRole:
    if named is None:
        return usual_role(system.household, member)
    try:
        role = AccessRole(named)
    except ValueError as error:
        known = ", ".join(each.value for each in AccessRole)
        raise InputError(f"role {named!r} is unknown; known are {known}") from error
    logins.require_fitting(member, role)
    return role


def _record(key: Key) -> dict[str, Any]:
    return {
        "id": key.id, "kind": key.kind.value, "member": key.member, "role": key.role.value,
        "label": key.label, "created_at": key.created_at.isoformat(),
        "expires_at": key.expires_at.isoformat() if key.expires_at else None,
        "seen_at": key.seen_at.isoformat(),
    }  # fmt: skip
