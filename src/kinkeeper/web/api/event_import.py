"""Imports a calendar file: read beside the event loop, written in short steps between which others write."""

import asyncio
import threading
from dataclasses import dataclass, field
from datetime import datetime
from functools import partial

from fastapi import APIRouter, Request, Response
from pydantic import BaseModel
from starlette.datastructures import UploadFile

from kinkeeper.actions.calendar_import import Import, StepResult, undo_import
from kinkeeper.actions.event_files import EventFile, read_events
from kinkeeper.calendar.event_limits import ImportLimit
from kinkeeper.core.errors import ConflictError, InputError, StoreBusyError
from kinkeeper.household.model import Household
from kinkeeper.language.text import one_line
from kinkeeper.store.store import Store
from kinkeeper.web.access.door import Decider, house_of
from kinkeeper.web.access.model import new_secret
from kinkeeper.web.context import context_of

router = APIRouter(tags=["calendar"])

_LONGEST_NAME = 60
_AGAIN = "Import the same file again to add the rest; events that are already in the calendar are left alone."
_FILE = {"type": "string", "format": "binary"}
_BODY = {
    "required": True,
    "content": {
        "text/calendar": {"schema": {"type": "string"}},
        "application/x-ndjson": {"schema": {"type": "string"}},
        "multipart/form-data": {
            "schema": {"type": "object", "required": ["file"], "properties": {"file": _FILE}}
        },
    },
}


class ImportLine(BaseModel):
    """The result for one event of a file; without a status it was not reached."""

    id: str | None = None
    summary: str | None = None
    start: datetime | None = None
    status: str | None = None
    private: bool | None = None
    note: str | None = None
    line: int | None = None
    error: str | None = None


class ImportedStep(BaseModel):
    """An action that imported some of the events; it can be undone."""

    action: str
    message: str


class ImportUndone(BaseModel):
    """The result of undoing an import: how many steps were undone, and why others were not."""

    undone: int
    left: list[str]
    message: str


class ImportReport(BaseModel):
    """The result for a file; `incomplete` says why not all of it was imported, and what to do.

    `POST /api/events/import/ID/undo` with this `import_id` undoes all of it.
    """

    import_id: str
    events: list[ImportLine]
    errors: int
    notes: list[str]
    steps: list[ImportedStep]
    incomplete: str | None


@dataclass(slots=True)
class _Writing:
    """Writes an import step by step until it is done or told to stop."""

    work: Import
    store: Store
    stopping: asyncio.Event
    steps: list[ImportedStep] = field(default_factory=list)
    incomplete: str | None = None

    async def run(self) -> None:
        """Write all steps; what stops it in between is noted, not raised.

        Raises:
            ConflictError: Nothing was imported; the message says why.
            StoreBusyError: Nothing was imported, because others write.
        """
        for step in self.work.steps():
            if self.stopping.is_set():
                self.incomplete = f"The server is stopping. {_AGAIN}"
                return
            try:
                result = await self.store.write(partial(self.work.write, step=step))
            except (ConflictError, StoreBusyError) as error:
                if step.number == 1:
                    raise
                self.incomplete = f"{error}. {_AGAIN}"
                return
            self._note(result)

    def _note(self, result: StepResult) -> None:
        self.work.found.report(result.lines)
        self.steps += [
            ImportedStep(action=each.action.id, message=each.message) for each in result.receipts
        ]


@router.post(
    "/api/events/import",
    openapi_extra={"requestBody": _BODY},
    response_model=ImportReport,
)
async def import_events(request: Request, person: Decider) -> Response:
    """Import a calendar file: iCalendar, or one JSON event per line; existing events are left alone.

    A large file is written in several steps, each an action that is visible at once and can be undone.
    Private events (CLASS) become private to the importer and surprises stay surprises; nothing becomes visible to more people
    than before.
    """
    context, house = context_of(request), house_of(request, person)
    now = context.clock.now()
    name, data = await _uploaded(request)
    found = await _read(data, house.household, now, context.stopping)
    found.leave_out_hidden(house.household, person.member)
    work = Import(
        id=new_secret(), household=house.household, member=person.member, now=now, name=name,
        found=found,
    )  # fmt: skip
    writing = _Writing(work, house.store, context.stopping)
    await writing.run()
    body = await asyncio.to_thread(_report, writing)
    return Response(body, media_type="application/json")


@router.post("/api/events/import/{import_id}/undo")
async def undo(request: Request, person: Decider, import_id: str) -> ImportUndone:
    """Take back a whole import, as far as its person may see it; what has changed since stays as it is."""
    context, house = context_of(request), house_of(request, person)
    done = await undo_import(
        house.store, house.household, import_id, by=person.member, now=context.clock.now()
    )
    return ImportUndone(undone=done.undone, left=done.left, message=done.message)


async def _read(
    data: bytes, household: Household, now: datetime, stopping: asyncio.Event
) -> EventFile:
    """Read a file on a thread, which ends soon after the request or the server does."""
    left = threading.Event()

    def read() -> EventFile:
        limit = ImportLimit(now, is_stopped=lambda: left.is_set() or stopping.is_set())
        return read_events(data.splitlines(keepends=True), household, limit)

    try:
        return await asyncio.to_thread(read)
    finally:
        left.set()


def _report(writing: _Writing) -> str:
    found = writing.work.found
    return ImportReport(
        import_id=writing.work.id, events=[ImportLine.model_validate(line) for line in found.lines], errors=found.errors,
        notes=found.notes, steps=writing.steps, incomplete=writing.incomplete,
    ).model_dump_json()  # fmt: skip


async def _uploaded(request: Request) -> tuple[str, bytes]:
    """Return the name and the content of what was sent: a form with one file, or the file itself.

    Raises:
        InputError: The form has no file.
    """
    if not request.headers.get("content-type", "").startswith("multipart/form-data"):
        return "a file", await request.body()
    async with request.form() as form:
        file = form.get("file")
        if not isinstance(file, UploadFile):
            raise InputError('the form needs a file in its field "file"')
        name = one_line(file.filename or "").strip()[:_LONGEST_NAME]
        return name or "a file", await file.read()
