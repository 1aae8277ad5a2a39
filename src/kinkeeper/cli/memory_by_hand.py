"""`kinkeeper remember` and `kinkeeper forget`: memory by hand."""

import asyncio
import sys
from datetime import datetime
from typing import Annotated

import typer

from kinkeeper.actions import approvals
from kinkeeper.actions.button_removal import can_be_undone
from kinkeeper.actions.memory_proposals import asked_to_remember
from kinkeeper.actions.payload import action_record
from kinkeeper.actions.receipts import Outcome, Receipt
from kinkeeper.actions.setting_right import SettingRight
from kinkeeper.bootstrap import System
from kinkeeper.cli.located import AsOption, JsonOption, Where, located
from kinkeeper.cli.opener import acting, opened
from kinkeeper.cli.terminal import answer, answer_json, notice
from kinkeeper.core.errors import InputError
from kinkeeper.core.time import SystemClock
from kinkeeper.household.model import Member
from kinkeeper.household.viewers import HOUSEHOLD_SCOPE, Viewer, person_scope
from kinkeeper.memory.browser import load_by_beginning
from kinkeeper.memory.erasure import Erasure, preview_forget
from kinkeeper.memory.model import Fact

# Tells what came of remembering or erasing something by hand.


def tell_receipt(receipt: Receipt, done: str, *, as_json: bool) -> None:
    """Tell what came of it, and how to undo it.

    Args:
        done: What to say where it is done.
    """
    if as_json:
        answer_json(
            {
                "outcome": receipt.outcome.value,
                "message": receipt.message,
                "changed": receipt.is_change,
                "action": action_record(receipt.action),
            }
        )
    elif receipt.outcome is Outcome.DONE:
        way_back = f" Undo it with: kinkeeper undo {receipt.action.id}"
        answer(f"{done}{way_back}" if can_be_undone(receipt.action) else done)
    else:
        answer(receipt.message)


_CHANNEL = "terminal"

app = typer.Typer()


@app.command()
@located
def remember(
    where: Where,
    text: Annotated[list[str], typer.Argument(metavar="TEXT", help="What to remember.")],
    as_: AsOption = None,
    private: Annotated[
        bool, typer.Option("--private", help="Keep it private to the speaker.")
    ] = False,
    json_: JsonOption = False,
) -> None:
    """Save something to memory."""
    if not _remember_text(where, " ".join(text), named=as_, is_private=private, as_json=json_):
        raise typer.Exit(1)


def _remember_text(
    where: Where, text: str, *, named: str | None, is_private: bool, as_json: bool
) -> bool:
    """Remember what somebody says; returns whether it is remembered now.

    Args:
        named: Who says it; the owner where None.
        is_private: Whether only they may recall it.
    """
    if not text.strip():
        raise InputError("say what to remember: kinkeeper remember TEXT")
    with opened(where) as system:
        household, now = system.household, SystemClock().now()
        member = acting(household, named)
        proposal = asked_to_remember(
            household, member, text.strip(), channel=_CHANNEL, now=now,
            scope=person_scope(member.id) if is_private else HOUSEHOLD_SCOPE,
        )  # fmt: skip
        receipt = system.store.write_now(
            lambda conn: approvals.request(
                conn, proposal, member=member, household=household, now=now
            )
        )
        if receipt.outcome is Outcome.DONE:
            asyncio.run(system.recall.embed_newest())
    tell_receipt(receipt, "Remembered.", as_json=as_json)
    return receipt.outcome is Outcome.DONE


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
        named: Who wants it; the owner where None.
        is_sure: Whether they need not be asked.
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
