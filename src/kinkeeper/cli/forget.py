"""`kinkeeper forget`: erases what is remembered, for good."""

import sys
from datetime import datetime
from typing import Annotated

import typer

from kinkeeper.actions.receipts import Outcome, Receipt
from kinkeeper.actions.setting_right import SettingRight
from kinkeeper.bootstrap import System
from kinkeeper.cli.located import AsOption, JsonOption, Where, located
from kinkeeper.cli.opener import acting, opened
from kinkeeper.cli.remember import tell_receipt
from kinkeeper.cli.terminal import notice
from kinkeeper.core.errors import InputError
from kinkeeper.core.time import SystemClock
from kinkeeper.household.model import Member
from kinkeeper.household.viewers import Viewer
from kinkeeper.memory.browser import load_by_beginning
from kinkeeper.memory.erasure import Erasure, preview_forget
from kinkeeper.memory.model import Fact

app = typer.Typer()


@app.command()
@located
def forget(
    where: Where,
    id_: Annotated[str, typer.Argument(metavar="ID", help="Fact id, or its first characters.")],
    as_: AsOption = None,
    yes: Annotated[bool, typer.Option("--yes", help="Skip the confirmation prompt.")] = False,
    json_: JsonOption = False,
) -> None:
    """Permanently erase a memory."""
    if not _forget_fact(where, id_, named=as_, is_sure=yes, as_json=json_):
        raise typer.Exit(1)


def _forget_fact(
    where: Where, wanted: str, *, named: str | None, is_sure: bool, as_json: bool
) -> bool:
    """Erase a fact for good, after asking; returns whether it is erased now.

    Args:
        wanted: Id, or its beginning.
        named: Who wants it; the owner where None.
        is_sure: Whether they need not be asked.

    Raises:
        NotFoundError: This person may see no such fact.
        InputError: The beginning fits several, or nobody can be asked.
    """
    with opened(where) as system:
        household, now = system.household, SystemClock().now()
        member = acting(household, named)
        viewer = Viewer.of(household.id, member.id)
        fact = system.store.read_now(lambda conn: load_by_beginning(conn, viewer, wanted))
        erasure = system.store.read_now(lambda conn: preview_forget(conn, viewer, fact.id))
        if not is_sure and not _is_wanted(fact, erasure):
            notice("Nothing was erased.")
            return False
        receipt = _forget(system, member, fact, now)
    tell_receipt(receipt, "Erased.", as_json=as_json)
    return receipt.outcome is Outcome.DONE


def _forget(system: System, member: Member, fact: Fact, now: datetime) -> Receipt:
    hand = SettingRight(household=system.household, member=member, now=now)
    receipt = system.store.write_now(lambda conn: hand.forget(conn, fact.id))
    system.store.fold_log()
    return receipt


def _is_wanted(fact: Fact, erasure: Erasure) -> bool:
    if not sys.stdin.isatty():
        raise InputError("this needs confirmation: add --yes to erase it for good")
    notice(f"{fact.narrative}")
    notice(
        f"This erases {len(erasure.statements)} sentences in {len(erasure.episodes)} places, "
        "for good. Earlier backups still contain them."
    )
    return typer.confirm("Erase it?", err=True)
