"""What belongs together, as a picture and as a list."""

from collections.abc import Mapping, Sequence
from typing import Any

from fastapi import APIRouter, Request
from fastapi.responses import HTMLResponse
from sqlalchemy import Connection

from kinkeeper.memory import concepts
from kinkeeper.memory.concepts import Concept, Relation
from kinkeeper.memory.facts import facts_seen
from kinkeeper.web.access.door import Viewer
from kinkeeper.web.pages.desk import desk_of, show
from kinkeeper.web.views.concept_map import concept_map

router = APIRouter(include_in_schema=False)


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
