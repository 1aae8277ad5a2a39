"""Memory at a glance: what was said, what belongs together, and all of it as a file to take along."""

from collections.abc import Mapping, Sequence
from typing import Annotated, Any
from urllib.parse import urlencode

from fastapi import APIRouter, Query, Request
from fastapi.responses import HTMLResponse, Response
from sqlalchemy import Connection

from kinkeeper.memory import concepts
from kinkeeper.memory.concepts import Concept, Relation
from kinkeeper.memory.episodes import list_episodes, outdated_spans
from kinkeeper.memory.facts import facts_seen
from kinkeeper.memory.memory_export import Exported, exported_lines
from kinkeeper.web.access.door import Reader, Viewer
from kinkeeper.web.pages.desk import desk_of, show
from kinkeeper.web.route_parts import ToldTime
from kinkeeper.web.views.concept_map import concept_map
from kinkeeper.web.views.happened import days_of

# What was said to the assistant, newest first.

router = APIRouter(include_in_schema=False)

_A_PAGE = 40


@router.get("/memory/heard")
async def heard_page(
    request: Request, person: Viewer, *, before: Annotated[ToldTime | None, Query()] = None
) -> HTMLResponse:
    """Show what was said, by day."""
    desk = desk_of(request, person)
    since = before if before is None or before.tzinfo else before.replace(tzinfo=desk.wording.zone)

    def read(conn: Connection) -> Mapping[str, Any]:
        found = list_episodes(conn, desk.viewer, before=since, limit=_A_PAGE)
        outdated = outdated_spans(conn, desk.household, [each.id for each in found], at=desk.now)
        is_full = len(found) == _A_PAGE
        earlier = urlencode({"before": found[-1].said_at.isoformat()}) if is_full else ""
        return {
            "days": days_of(found, outdated, desk.recollection),
            "earlier": f"/memory/heard?{earlier}" if earlier else "",
        }

    return await show("memory_heard.html", desk, "memory", read)


# What belongs together, as a picture and as a list.


@router.get("/memory/map")
async def map_page(request: Request, person: Viewer) -> HTMLResponse:
    """Show the concepts and what joins them."""
    desk = desk_of(request, person)
    viewer = desk.viewer
    store, household = desk.house.store, desk.household
    if await store.read(lambda conn: concepts.is_behind(conn, household)):
        await concepts.follow_all_facts(store, household)

    def read(conn: Connection) -> Mapping[str, Any]:
        found = concepts.concept_map(conn, viewer, now=desk.now)
        facts = facts_seen(
            conn, viewer, {each for relation in found.relations for each in relation.facts}
        )

        def named(concept: Concept) -> str:
            name = desk.recollection.speaker(concept.name).name
            said = (line for each in found.relations if each.source == name for line in told(each))
            return next(
                filter(None, (concepts.told_as(name.split(), line) for line in said)),
                name,
            )

        def told(relation: Relation) -> Sequence[str]:
            return [facts[each].narrative for each in relation.facts if each in facts]

        drawn = concept_map(found.concepts, found.relations, named=named, told=told)
        return {"map": drawn}

    return await show("memory_map.html", desk, "memory", read)


# All that the viewer may see of memory, to take along: one JSON object a line.


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
