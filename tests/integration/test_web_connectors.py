"""Cards about what stands elsewhere: both sides of a clash, and the arguments of a foreign tool, as they are frozen."""

from dataclasses import replace
from datetime import timedelta
from html import unescape
from pathlib import Path

import httpx
from sqlalchemy import Connection

from kinkeeper.actions.requests.model import Asked, Catalogue
from kinkeeper.actions.requests.request_runner import perform
from kinkeeper.actions.requests.tools import ForeignTool, ToolAnswer, tool_requests
from kinkeeper.calendar.model import SourceType
from kinkeeper.calendar.repository import list_events, list_overrides
from kinkeeper.connectors.caldav.incoming_changes import KEEP_OURS, Asking, Difference
from kinkeeper.connectors.caldav.kinds import Events, Verdict
from kinkeeper.connectors.caldav.objects import Entry
from kinkeeper.connectors.caldav.sync_records import ObjectRow, put_object
from kinkeeper.household.viewers import Viewer
from page_visits import actions_of, press, run
from web_server import Served


def clash(serving: Served) -> Entry:
    """Let the first series be an hour later on the server than it became here."""
    household = serving.system.household
    asking = Asking(household=household, calendar="Family")
    now = serving.clock.now()

    def write(conn: Connection) -> Entry:
        events = list_events(conn, Viewer.whole(household.id))
        event = next(each for each in events if each.rrule and not each.all_day)
        assert event.provenance.source_type is SourceType.SEED
        ours = Entry(event=event, overrides=tuple(list_overrides(conn, household.id, event.id)))
        theirs = replace(ours, event=replace(event, start=event.start + timedelta(hours=1)))
        row = ObjectRow(path="/c/x.ics", local_id=event.id, etag='"1"')
        put_object(conn, household.id, row)
        difference = Difference(
            row=row, verdict=Verdict.CLASH, things=Events(household), theirs=theirs, ours=ours
        )
        assert asking.ask(conn, [difference], now) == 1
        return ours

    return serving.system.store.write_now(write)


def test_both_sides_of_a_clash_are_one_press(tmp_path: Path):
    async def steps(serving: Served, client: httpx.AsyncClient) -> None:
        ours = clash(serving)
        [action] = actions_of(serving)
        page = unescape((await client.get("/pending")).text)
        assert "changed in Family, but also changed here" in page
        for label in ("Use the calendar's version", KEEP_OURS):
            assert f'value="{label}"' in page
        told = await press(client, page, f"/pending/{action.id}/confirm", choice=KEEP_OURS)
        assert told.status_code == 200
        [action] = actions_of(serving)
        assert action.choice == KEEP_OURS
        events = serving.system.store.read_now(
            lambda conn: list_events(conn, Viewer.whole(serving.system.household.id))
        )
        assert ours.event in events

    run(tmp_path, steps)


def test_a_foreign_tools_arguments_are_shown_as_they_will_be_sent(tmp_path: Path):
    tool = ForeignTool(
        server="table",
        name="book",
        description="Books <b>tables</b>",
        definition="d",
        schema={"type": "object"},
        is_safe=False,
    )

    async def never(tool: ForeignTool, arguments: object) -> ToolAnswer:
        raise AssertionError("it was called unasked")

    async def steps(serving: Served, client: httpx.AsyncClient) -> None:
        household = serving.system.household
        asked = Asked(
            household=household,
            member=household.adults[0],
            now=serving.clock.now(),
            channel="web",
            thread_id="t",
            turn_id="turn",
        )
        await perform(
            Catalogue(tool_requests((tool,), never, limits={"table": timedelta(minutes=1)})),
            serving.system.store,
            asked,
            domain="table",
            action="book",
            params={"note": "<script>x</script>", "people": 4},
        )
        page = (await client.get("/pending")).text
        assert "<script>x" not in page
        assert "Books <b>" not in page
        shown = unescape(page)
        for words in ("Other program", "<script>x</script>", "Books <b>tables</b>", "“people”"):
            assert words in shown

    run(tmp_path, steps)
