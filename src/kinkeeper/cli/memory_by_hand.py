"""`kinkeeper remember` and `kinkeeper forget`: memory by hand."""

import asyncio
import sys
from typing import Annotated

import typer

from kinkeeper.actions import approvals
from kinkeeper.actions.button_removal import can_be_undone
from kinkeeper.actions.memory_proposals import asked_to_remember
from kinkeeper.actions.payload import action_record
from kinkeeper.actions.receipts import Outcome, Receipt
from kinkeeper.actions.setting_right import SettingRight
from kinkeeper.cli.located import AsOption, JsonOption, Where, located
from kinkeeper.cli.opener import acting, opened
from kinkeeper.cli.terminal import answer, answer_json, notice
from kinkeeper.core.errors import InputError
from kinkeeper.core.time import SystemClock
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
    words = " ".join(text).strip()
    if not words:
        raise InputError("say what to remember: kinkeeper remember TEXT")
    with opened(where) as system:
        household, now = system.household, SystemClock().now()
        member = acting(household, as_)
        proposal = asked_to_remember(
            household,
            member,
            words,
            channel=_CHANNEL,
            now=now,
            scope=person_scope(member.id) if private else HOUSEHOLD_SCOPE,
        )
        receipt = system.store.write_now(
            lambda conn: approvals.request(
                conn, proposal, member=member, household=household, now=now
            )
        )
        if receipt.outcome is Outcome.DONE:
            asyncio.run(system.recall.embed_newest())
    tell_receipt(receipt, "Remembered.", as_json=json_)
    if receipt.outcome is not Outcome.DONE:
        raise typer.Exit(1)


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
    with opened(where) as system:
        household, now = system.household, SystemClock().now()
        member = acting(household, as_)
        viewer = Viewer.of(household.id, member.id)
        fact = system.store.read_now(lambda conn: load_by_beginning(conn, viewer, id_))
        erasure = system.store.read_now(lambda conn: preview_forget(conn, viewer, fact.id))
        if not yes and not _is_wanted(fact, erasure):
            notice("Nothing was erased.")
            raise typer.Exit(1)
        hand = SettingRight(household=household, member=member, now=now)
        receipt = system.store.write_now(lambda conn: hand.forget(conn, fact.id))
        system.store.fold_log()
    tell_receipt(receipt, "Erased.", as_json=json_)
    if receipt.outcome is not Outcome.DONE:
        raise typer.Exit(1)


def _is_wanted(fact: Fact, erasure: Erasure) -> bool:
    if not sys.stdin.isatty():
        raise InputError("this needs confirmation: add --yes to erase it for good")
    notice(f"{fact.narrative}")
    notice(
        f"This erases {len(erasure.statements)} sentences in {len(erasure.episodes)} places, "
        "for good. Earlier backups still contain them."
    )
    return typer.confirm("Erase it?", err=True)
