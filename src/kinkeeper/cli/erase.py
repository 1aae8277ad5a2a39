"""`kinkeeper erase`: everything of a person, for good."""

import sys
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Annotated

import typer

from kinkeeper.bootstrap import System, table_erasure
from kinkeeper.bootstrap.table_erasure import Erased, found_of
from kinkeeper.cli.export import export_all
from kinkeeper.cli.located import JsonOption, Where, located
from kinkeeper.cli.opener import opened
from kinkeeper.cli.terminal import answer, answer_json, notice
from kinkeeper.core.errors import InputError, NotFoundError
from kinkeeper.core.time import SystemClock
from kinkeeper.household.model import members_by_name
from kinkeeper.household.name_folding import fold

app = typer.Typer()


@app.command()
@located
def erase(
    where: Where,
    member: Annotated[
        str,
        typer.Argument(
            metavar="MEMBER",
            help="Name or id; also the id of someone no longer in the household file.",
        ),
    ],
    export: Annotated[
        Path | None,
        typer.Option(metavar="FOLDER", help="Export all household data to this folder first."),
    ] = None,
    dry_run: Annotated[
        bool, typer.Option("--dry-run", help="Only show what would be erased.")
    ] = False,
    yes: Annotated[bool, typer.Option("--yes", help="Skip the confirmation prompt.")] = False,
    json_: JsonOption = False,
) -> None:
    """Permanently erase everything about a person."""
    wish = Wish(member=member, export=export, is_rehearsal=dry_run, is_sure=yes, as_json=json_)
    if not _erase_member(where, wish):
        raise typer.Exit(1)


@dataclass(frozen=True, slots=True, kw_only=True)
class Wish:
    """What is wanted.

    Attributes:
        member: Name or id.
        export: Folder that everything is written to first; None for none.
        is_rehearsal: Whether only to tell.
        is_sure: Whether nobody need be asked.
    """

    member: str
    export: Path | None
    is_rehearsal: bool
    is_sure: bool
    as_json: bool


def _erase_member(where: Where, wish: Wish) -> bool:
    """Erase a person; returns whether it was done, or only had to be told."""
    with opened(where) as system:
        household = system.household
        member = members_by_name(household).get(fold(wish.member), wish.member)
        found = system.store.read_now(lambda conn: found_of(conn, household.id, member))
        if not (found.episodes or found.facts or found.rows):
            raise NotFoundError(f"there is nothing from {member!r} in household {household.id!r}")
        if wish.is_rehearsal or not _agreed(found, member, wish):
            _tell(found, member, wish, is_done=False)
            return wish.is_rehearsal
        if wish.export is not None:
            export_all(where, wish.export)
            notice(f"all household data has been exported to {wish.export}")
        now = SystemClock().now()
        system.store.write_now(lambda conn: table_erasure.erase(conn, household.id, member, at=now))
        system.store.fold_log()
        _tell(found, member, wish, is_done=True)
        _warn(system, member)
    return True


def _agreed(found: Erased, member: str, wish: Wish) -> bool:
    if wish.is_sure:
        return True
    if not sys.stdin.isatty():
        raise InputError(
            "this needs confirmation: add --yes, or --dry-run to see what would be erased"
        )
    notice(f"This erases {_counts(found)}. It cannot be undone.")
    if wish.export is None:
        notice("kinkeeper erase MEMBER --export FOLDER first exports everything to a folder.")
    return bool(
        typer.prompt(f"Type {member} to continue", default="", show_default=False) == member
    )


def _tell(found: Erased, member: str, wish: Wish, *, is_done: bool) -> None:
    if wish.as_json:
        answer_json({"member": member, "erased": is_done, **asdict(found)})
        return
    answer(
        f"{'erased' if is_done else 'nothing was erased; there is'} {_counts(found)} of {member}"
    )


def _counts(found: Erased) -> str:
    others = sum(found.rows.values())
    return f"{found.episodes} messages, {found.facts} facts and {others} other rows"


def _warn(system: System, member: str) -> None:
    notice("Earlier backups still contain it, and what other people said is kept.")
    if system.household.member(member) is not None:
        notice(
            f"{member} is still in the household file; if they have left, remove them there, too."
        )
