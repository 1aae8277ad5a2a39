"""What changed in memory, and taking it back."""

from collections.abc import Mapping, Sequence
from typing import Annotated, Any

from fastapi import APIRouter, Form, Path, Query, Request
from fastapi.responses import HTMLResponse, RedirectResponse
from sqlalchemy import Connection

from kinkeeper.actions.receipts import Receipt
from kinkeeper.core.errors import NotFoundError
from kinkeeper.household.viewers import Viewer
from kinkeeper.memory import journal
from kinkeeper.memory.browser import history
from kinkeeper.memory.facts import facts_by_id
from kinkeeper.memory.journal import ChangeSet
from kinkeeper.memory.model import Fact
from kinkeeper.memory.tables import facts as fact_rows
from kinkeeper.memory.undo import is_anothers, may_take_back
from kinkeeper.memory.upkeep import runs
from kinkeeper.memory.upkeep.rollback import keep_all
from kinkeeper.memory.upkeep.runs import ChangeKind, RunState, tell
from kinkeeper.web.access import door
from kinkeeper.web.pages.desk import Desk, desk_of, show
from kinkeeper.web.pages.memory.fact import Told, back_to, notice_of, setting_right, told
from kinkeeper.web.route_parts import LARGEST_NUMBER
from kinkeeper.web.views.memory_changes import (
    CAUSES,
    Change,
    FactChange,
    NightQuestion,
    Pair,
    fact_changes,
    is_long,
    unlisted,
    wishes,
)

router = APIRouter(include_in_schema=False)

_A_PAGE = 20
_MOST_LINES = 25

ChangeId = Annotated[str, Path(max_length=64)]


@router.get("/memory/changes")
async def changes_page(
    request: Request,
    person: door.Viewer,
    *,
    before: Annotated[int | None, Query(ge=1, le=LARGEST_NUMBER)] = None,
    outcome: Annotated[Told | None, Query(alias="told")] = None,
) -> HTMLResponse:
    """Show what changed, newest first."""
    desk = desk_of(request, person)
    viewer = desk.viewer

    def read(conn: Connection) -> Mapping[str, Any]:
        found = journal.list_changes(conn, desk.household, before=before, limit=_A_PAGE)
        shown = [_shown(conn, desk, viewer, each) for each in found]
        is_full = len(found) == _A_PAGE
        return {
            "notice": notice_of(outcome, ""),
            "changes": [each for each in shown if each is not None],
            "question": None if before else _question(conn, desk, viewer),
            "earlier": f"/memory/changes?before={found[-1].number}" if is_full else "",
        }

    return await show("memory_changes.html", desk, "memory", read)


@router.post("/memory/changes/{change_id}/undo")
async def undo(request: Request, person: door.Decider, change_id: ChangeId) -> RedirectResponse:
    """Take a change back as a whole."""
    desk = desk_of(request, person)

    def work(conn: Connection) -> Receipt:
        return setting_right(desk).take_back(conn, change_id)

    return told("/memory/changes", Told.UNDONE, await desk.house.store.write(work))


@router.post("/memory/nights/{run_id}/answer")
async def answer(
    request: Request,
    person: door.Decider,
    run_id: Annotated[str, Path(max_length=64)],
    answer: Annotated[str, Form(pattern="^(yes|no)$")],
) -> RedirectResponse:
    """Let the next night do what this one asks for, or leave everything as it is."""
    desk = desk_of(request, person)

    def settle(conn: Connection) -> None:
        if answer == "yes":
            runs.approve(conn, desk.household, run_id)
        else:
            keep_all(conn, desk.household, run_id, by=person.member.id, at=desk.now)

    await desk.house.store.write(settle)
    return back_to("/memory/changes", Told.APPROVED if answer == "yes" else Told.LEFT)


def _touched(conn: Connection, desk: Desk, change_id: str) -> Sequence[str]:
    """Return the ids of the facts that a change touched."""
    images = journal.images_of(conn, desk.household, change_id)
    return [each.row_id for each in images if each.table == fact_rows.name]


def _hidden(conn: Connection, viewer: Viewer, ids: Sequence[str]) -> set[str]:
    """Return those of the facts that the viewer may not see."""
    found = facts_by_id(conn, viewer.household, ids)
    return {each.id for each in found.values() if not viewer.sees(each.scope)}


def _shown(conn: Connection, desk: Desk, viewer: Viewer, change: ChangeSet) -> Change | None:
    """Return a change as far as the viewer may see it; None where they may see nothing of it."""
    ids = _touched(conn, desk, change.id)
    hidden = _hidden(conn, viewer, ids)
    seen = [each for each in ids if each not in hidden]
    if (ids and not seen) or is_anothers(conn, viewer, change.id):
        return None
    pairs = [_pair(conn, viewer, each, change) for each in seen[:_MOST_LINES]]
    is_before_sharing = change.undone_at is None and not any(map(any, pairs))
    if is_before_sharing and facts_by_id(conn, viewer.household, seen):
        return None
    lines = fact_changes(pairs)
    may_undo = (
        may_take_back(conn, viewer, change) and journal.why_not_undoable(conn, change) is None
    )
    wording = desk.wording
    return Change(
        kind=CAUSES[change.cause], line=_line(desk, change, lines),
        at=wording.moment(change.made_at), spoken=wording.long_moment(change.made_at),
        lines=lines, is_long=is_long(lines),
        more=unlisted(pairs, beyond=len(seen) - len(pairs)),
        undo_id=change.id if may_undo else "", undone=_undone(desk, change),
    )  # fmt: skip


def _pair(conn: Connection, viewer: Viewer, fact_id: str, change: ChangeSet) -> Pair:
    """Return a fact right before and right after a change; nothing of one that is gone."""
    try:
        versions = history(conn, viewer, fact_id)
    except NotFoundError:
        return None, None
    before: Fact | None = None
    for version in reversed(versions):
        if version.change is not None and version.change.id == change.id:
            return before, version.fact
        before = version.fact
    return None, None


def _line(desk: Desk, change: ChangeSet, lines: Sequence[FactChange]) -> str:
    by = change.made_by if change.made_by in desk.people.members else None
    name = desk.people.of(by).name if by else ""
    if len(lines) == 1:
        return f"By {name}" if name else ""
    count = f"{len(lines)} things changed" if lines else "Nothing changed"
    return f"{count} by {name}" if name else count


def _undone(desk: Desk, change: ChangeSet) -> str:
    if change.undone_at is None:
        return ""
    by = f" by {desk.recollection.speaker(change.undone_by).name}" if change.undone_by else ""
    return f"Undone{by} {desk.wording.moment(change.undone_at)}."


def _question(conn: Connection, desk: Desk, viewer: Viewer) -> NightQuestion | None:
    """Return what a night waits for, if it does."""
    run = runs.open_question(conn, desk.household)
    if run is None:
        return None
    report = run.report
    losses = [each for each in ChangeKind if each.is_loss]
    told_of = tell(conn, run, viewer=viewer, kinds=losses, limit=_MOST_LINES)
    lines = wishes(told_of)
    return NightQuestion(
        id=run.id, line=f"Archive {report.leaving} of {report.active} memories?",
        text="Nightly upkeep asks before archiving more than 5% of all memories. "
        "You can restore them for 90 days.",
        lines=lines, more=_and_more(report.leaving - len(lines)),
        is_answered=run.state is RunState.APPROVED,
    )  # fmt: skip


def _and_more(count: int) -> str:
    return f"and {count} more" if count > 0 else ""
