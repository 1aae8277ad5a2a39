"""All that the viewer may see of memory, to take along: one JSON object a line."""

from typing import Annotated

from fastapi import APIRouter, Query, Request
from fastapi.responses import Response

from kinkeeper.memory.memory_export import Exported, exported_lines
from kinkeeper.web.access.door import Reader
from kinkeeper.web.pages.desk import desk_of

router = APIRouter(include_in_schema=False)


@router.get("/memory/export")
async def export(
    request: Request, person: Reader, *, what: Annotated[Exported, Query()] = Exported.FACTS
) -> Response:
    """Answer facts or episodes as JSONL, for `kinkeeper import` and other programs."""
    desk = desk_of(request, person)
    viewer, names = desk.viewer, desk.house.household.names
    text = await desk.house.store.read(
        lambda conn: "".join(exported_lines(conn, desk.household, what, names=names, viewer=viewer))
    )
    name = f"{desk.household}-{what.value}-{desk.wording.today.isoformat()}.jsonl"
    headers = {
        "Content-Disposition": f'attachment; filename="{name}"', "Cache-Control": "no-store",
    }  # fmt: skip
    return Response(text, media_type="application/x-ndjson", headers=headers)
