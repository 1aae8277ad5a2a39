"""Makes, lists and ends the keys that open a household."""

from collections.abc import Sequence
from datetime import timedelta
from typing import Any

from rich.table import Table

from kinkeeper.bootstrap import System
from kinkeeper.bootstrap.web import server_address
from kinkeeper.cli.located import Where
from kinkeeper.cli.opener import member_named, opened
from kinkeeper.cli.server_link import phone_address, served_settings, show_qr_code
from kinkeeper.cli.tables import console
from kinkeeper.cli.terminal import answer, answer_json, notice
from kinkeeper.core.errors import InputError, NotFoundError
from kinkeeper.core.time import SystemClock
from kinkeeper.household.model import Member
from kinkeeper.web.access import logins, repository
from kinkeeper.web.access.model import AccessRole, Key, is_alive, usual_role
from kinkeeper.web.views.addresses import invite_address

_MOST_DAYS = 3650


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
            raise InputError(
                "a bridge is a program: create a token for it with `kinkeeper token create`"
            )
        now = SystemClock().now()
        issued = system.store.write_now(
            lambda conn: logins.invite(
                conn, system.household.id, member.id, role=granted, now=now, hours=hours
            )
        )
        served = served_settings(system.settings, where.db)
    phone = phone_address(served)
    link = invite_address(server_address(served), issued.secret)
    from_phone = invite_address(phone, issued.secret) if phone else None
    if as_json:
        answer_json({**_record(issued.key), "link": link, "phone_link": from_phone})
        return
    notice(
        f"Sign-in link for {member.name} ({granted.value}); it works once, within {hours} hours:"
    )
    answer(from_phone or link)
    if from_phone is None:
        notice(
            "It only opens on this machine. For a phone, run the server with --host 0.0.0.0 "
            "(or set PUBLIC_URL), then invite again."
        )
        return
    show_qr_code(from_phone)


def create_token(
    where: Where,
    named: str,
    *,
    role: str | None,
    label: str,
    expires: str,
    is_program: bool,
    as_json: bool,
) -> None:
    """Print a new API token.

    Args:
        where: Household and database.
        named: Id, name or alias of the member it acts for.
        role: What it may do; the member's usual role where None.
        label: What it is for.
        expires: Days until it expires, or "never".
        is_program: Whether people decide on what it proposes.
        as_json: Whether to print JSON.

    Raises:
        InputError: `expires` is neither days nor "never". Nobody, or more than one, is called so; the role is unknown or not for them.
        KinkeeperError: The household or its database cannot be used.
    """
    lasts = _lifetime(expires)
    with opened(where) as system:
        member = member_named(system.household, named)
        granted = _role(system, member, role)
        now = SystemClock().now()
        issued = system.store.write_now(
            lambda conn: logins.create_token(
                conn, system.household.id, member.id, role=granted, label=label, now=now,
                expires_at=None if lasts is None else now + lasts, is_program=is_program,
            )
        )  # fmt: skip
    if as_json:
        answer_json({**_record(issued.key), "token": issued.secret})
        return
    until = issued.key.expires_at
    ends = "it never expires" if until is None else f"it expires on {until:%Y-%m-%d}"
    notice(f"for {member.name} ({granted.value}), id {issued.key.id}; {ends}; shown only once:")
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
            key.id, "program's token" if key.is_program else key.kind.value, key.member, key.role.value, key.label,
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
            raise NotFoundError(f"no active key begins with {beginning!r}")
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


def _lifetime(expires: str) -> timedelta | None:
    """Return how long a token lasts; None without end."""
    if expires.strip().lower() == "never":
        return None
    if not expires.isdecimal() or not 0 < int(expires) <= _MOST_DAYS:
        raise InputError(f"--expires takes 1 to {_MOST_DAYS} days, or “never”")
    return timedelta(days=int(expires))


def _role(system: System, member: Member, named: str | None) -> AccessRole:
    if named is None:
        return usual_role(system.household, member)
    try:
        role = AccessRole(named)
    except ValueError as error:
        known = ", ".join(each.value for each in AccessRole)
        raise InputError(f"unknown role {named!r}; use one of {known}") from error
    logins.require_fitting(system.household, member, role)
    return role


def _record(key: Key) -> dict[str, Any]:
    return {
        "id": key.id, "kind": key.kind.value, "member": key.member, "role": key.role.value,
        "program": key.is_program, "label": key.label, "created_at": key.created_at.isoformat(),
        "expires_at": key.expires_at.isoformat() if key.expires_at else None,
        "seen_at": key.seen_at.isoformat(),
    }  # fmt: skip
