"""`kinkeeper undo`: takes back what was confirmed, or a whole import."""

from functools import partial

import typer

from kinkeeper.actions.calendar_import import UndoneImport, find_import, steps_to_undo, undo_step
from kinkeeper.cli.card_decision import Undo, decide
from kinkeeper.cli.located import AsOption, IdArgument, JsonOption, Where, located
from kinkeeper.cli.opener import acting, opened
from kinkeeper.cli.terminal import Progress, answer, answer_json
from kinkeeper.core.time import SystemClock

app = typer.Typer()


@app.command()
@located
def undo(where: Where, id_: IdArgument, as_: AsOption = None, json_: JsonOption = False) -> None:
    """Undo a confirmed action, or a whole import."""
    is_undone = _undo_import(where, id_, by=as_, json_=json_)
    if is_undone is None:
        is_undone = decide(where, id_, Undo(), named=as_, json_=json_)
    if not is_undone:
        raise typer.Exit(1)


def _undo_import(where: Where, id_: str, *, by: str | None, json_: bool) -> bool | None:
    """Take back a whole import, if an id is one's, and tell what became of it.

    Args:
        id_: Of an import, or its first characters.
        by: Who takes it back: what they may read of it; everybody's where None.
        json_: Answer in JSON.

    Returns:
        Whether all of it is taken back; None where there is no such import.

    Raises:
        InputError: The beginning fits several, or there is no such member.
    """
    with opened(where) as system:
        household, now = system.household, SystemClock().now()
        import_id = system.store.read_now(lambda conn: find_import(conn, household, id_))
        if import_id is None:
            return None
        adults_first = sorted(household.members, key=lambda each: not each.is_adult)
        members = adults_first if by is None else [acting(household, by)]
        steps = system.store.read_now(
            lambda conn: steps_to_undo(conn, household, import_id, members)
        )
        done, progress = UndoneImport(), Progress("steps undone", total=len(steps))
        for step in steps:
            done.note(
                system.store.write_now(partial(undo_step, step=step, household=household, now=now))
            )
            progress.add(1)
    if json_:
        answer_json({"undone": done.undone, "left": done.left, "message": done.message})
    else:
        answer(done.message)
    return not done.left
