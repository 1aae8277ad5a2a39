"""`kinkeeper token` and `kinkeeper invite`: keys for programs that act for a member, links that log members in, and the list of all."""

from collections.abc import Sequence
from datetime import timedelta
from typing import Annotated, Any

import typer
from rich.table import Table

from kinkeeper.bootstrap import System
from kinkeeper.bootstrap.web import server_address
from kinkeeper.cli.located import JsonOption, Where, located
from kinkeeper.cli.opener import member_named, opened
from kinkeeper.cli.server_link import phone_address, served_settings, show_qr_code
from kinkeeper.cli.tables import console
from kinkeeper.cli.terminal import answer, answer_json, notice
from kinkeeper.core.errors import InputError, NotFoundError
from kinkeeper.core.time import SystemClock
from kinkeeper.household.model import Member
from kinkeeper.web.access import logins
from kinkeeper.web.access.model import AccessRole, Key, is_alive, usual_role
from kinkeeper.web.views.addresses import invite_address

# What making a key of a household takes: the role it gets, and how it is written.


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
        "id": key.id,
        "kind": key.kind.value,
        "member": key.member,
        "role": key.role.value,
        "program": key.is_program,
        "label": key.label,
        "created_at": key.created_at.isoformat(),
        "expires_at": key.expires_at.isoformat() if key.expires_at else None,
        "seen_at": key.seen_at.isoformat(),
    }


_MOST_DAYS = 3650

app = typer.Typer()
tokens = typer.Typer(
    name="token", no_args_is_help=True, help="Create, list and revoke API tokens and sign-ins."
)
app.add_typer(tokens)


@tokens.command()
@located
def create(
    where: Where,
    member: Annotated[
        str, typer.Argument(metavar="MEMBER", help="Member it acts for: id, name or alias.")
    ],
    role: Annotated[
        str | None,
        typer.Option(
            "--role",
            metavar="ROLE",
            help="owner, adult, child, guest, screen, or bridge (only delivers messages); default is the role in the household file.",
        ),
    ] = None,
    label: Annotated[
        str, typer.Option("--label", metavar="TEXT", help="Label to recognise it by.")
    ] = "",
    expires: Annotated[
        str,
        typer.Option(
            "--expires",
            metavar="DAYS",
            help="Days until it expires, or “never”.",
            show_default=True,
        ),
    ] = "365",
    is_program: Annotated[
        bool,
        typer.Option(
            "--program",
            help="For a program that acts on its own, such as one using /mcp: it can read and propose; people decide.",
        ),
    ] = False,
    json_: JsonOption = False,
) -> None:
    """Create an API token; it is shown only once."""
    lasts = _lifetime(expires)
    with opened(where) as system:
        holder = member_named(system.household, member)
        granted = granted_role(system, holder, role)
        now = SystemClock().now()
        issued = system.store.write_now(
            lambda conn: logins.create_token(
                conn,
                system.household.id,
                holder.id,
                role=granted,
                label=label,
                now=now,
                expires_at=None if lasts is None else now + lasts,
                is_program=is_program,
            )
        )
    if json_:
        answer_json({**key_record(issued.key), "token": issued.secret})
        return
    until = issued.key.expires_at
    ends = "it never expires" if until is None else f"it expires on {until:%Y-%m-%d}"
    notice(f"for {holder.name} ({granted.value}), id {issued.key.id}; {ends}; shown only once:")
    answer(issued.secret)


@tokens.command("list")
@located
def list_(where: Where, json_: JsonOption = False) -> None:
    """List tokens, sessions and open invites."""
    with opened(where) as system:
        keys = _open_keys(system)
    if json_:
        answer_json([key_record(key) for key in keys])
        return
    table = Table()
    for heading in ("id", "kind", "member", "role", "label", "last used", "until"):
        table.add_column(heading)
    for key in keys:
        until = f"{key.expires_at:%Y-%m-%d}" if key.expires_at else ""
        table.add_row(
            key.id,
            "program's token" if key.is_program else key.kind.value,
            key.member,
            key.role.value,
            key.label,
            f"{key.seen_at:%Y-%m-%d %H:%M}",
            until,
        )
    console().print(table)


@tokens.command()
@located
def revoke(
    where: Where,
    id_: Annotated[
        str, typer.Argument(metavar="ID", help="Id as listed, or its first characters.")
    ],
) -> None:
    """Revoke a token, session or invite."""
    with opened(where) as system:
        found = [key for key in _open_keys(system) if key.id.startswith(id_)]
        if not found:
            raise NotFoundError(f"no active key begins with {id_!r}")
        if len(found) > 1:
            raise InputError(f"{len(found)} keys begin with {id_!r}; give more of the id")
        now = SystemClock().now()
        system.store.write_now(
            lambda conn: logins.end_key(conn, system.household.id, found[0].id, now=now)
        )
    notice(f"ended: {found[0].kind.value} {found[0].id} of {found[0].member}")


def _open_keys(system: System) -> Sequence[Key]:
    household, now = system.household.id, SystemClock().now()
    keys = system.store.read_now(lambda conn: logins.list_keys(conn, household))
    return [key for key in keys if is_alive(key, now)]


def _lifetime(expires: str) -> timedelta | None:
    """Return how long a token lasts; None without end."""
    if expires.strip().lower() == "never":
        return None
    if not expires.isdecimal() or not 0 < int(expires) <= _MOST_DAYS:
        raise InputError(f"--expires takes 1 to {_MOST_DAYS} days, or “never”")
    return timedelta(days=int(expires))


@app.command()
@located
def invite(
    where: Where,
    member: Annotated[str, typer.Argument(metavar="MEMBER", help="Id, name or alias.")],
    role: Annotated[
        str | None,
        typer.Option(
            "--role",
            metavar="ROLE",
            help="owner, adult, child, guest or screen; default is the role in the household file.",
        ),
    ] = None,
    hours: Annotated[
        int, typer.Option("--hours", min=1, max=720, help="Hours until the link expires.")
    ] = 48,
    json_: JsonOption = False,
) -> None:
    """Create a one-time sign-in link for someone."""
    with opened(where) as system:
        invited = member_named(system.household, member)
        granted = granted_role(system, invited, role)
        if granted is AccessRole.BRIDGE:
            raise InputError(
                "a bridge is a program: create a token for it with `kinkeeper token create`"
            )
        now = SystemClock().now()
        issued = system.store.write_now(
            lambda conn: logins.invite(
                conn, system.household.id, invited.id, role=granted, now=now, hours=hours
            )
        )
        served = served_settings(system.settings, where.db)
    phone = phone_address(served)
    link = invite_address(server_address(served), issued.secret)
    from_phone = invite_address(phone, issued.secret) if phone else None
    if json_:
        answer_json({**key_record(issued.key), "link": link, "phone_link": from_phone})
        return
    notice(
        f"Sign-in link for {invited.name} ({granted.value}); it works once, within {hours} hours:"
    )
    answer(from_phone or link)
    if from_phone is None:
        notice(
            "It only opens on this machine. For a phone, run the server with --host 0.0.0.0 "
            "(or set PUBLIC_URL), then invite again."
        )
        return
    show_qr_code(from_phone)
