"""`kinkeeper invite`: a link that logs a member in, once."""

from typing import Annotated

import typer

from kinkeeper.bootstrap.web import server_address
from kinkeeper.cli.located import JsonOption, Where, located
from kinkeeper.cli.opener import member_named, opened
from kinkeeper.cli.server_link import phone_address, served_settings, show_qr_code
from kinkeeper.cli.terminal import answer, answer_json, notice
from kinkeeper.cli.token import granted_role, key_record
from kinkeeper.core.errors import InputError
from kinkeeper.core.time import SystemClock
from kinkeeper.web.access import logins
from kinkeeper.web.access.model import AccessRole
from kinkeeper.web.views.addresses import invite_address

app = typer.Typer()


@app.command()
@located
def invite(
    where: Where,
    member: Annotated[str, typer.Argument(metavar="MEMBER", help="Id, name or alias.")],
    role: Annotated[
        str | None,
        typer.Option(
            "--role", metavar="ROLE",
            help="owner, adult, child, guest or screen; default is the role in the household file.",
        ),
    ] = None,
    hours: Annotated[
        int, typer.Option("--hours", min=1, max=720, help="Hours until the link expires.")
    ] = 48,
    json_: JsonOption = False,
) -> None:  # fmt: skip
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
