"""The forms of events on the pages, as a browser without scripts sends them."""

import re
from html import unescape
from pathlib import Path
from typing import Any

import httpx
import pytest

from kinkeeper.web.access.model import AccessRole
from page_visits import run
from web_server import Served

WEEK = "/calendar?span=week&on=2026-03-10"
HOSTILE = ("<script>alert(1)</script>", "{{ 7 * 7 }}", '"><img src=x onerror=alert(1)>', "x" * 500)


def filled(page: str) -> dict[str, Any]:
    """Return the fields of the form of an event as the page fills them."""
    form = page[page.index('class="form card solid"') :]
    fields: dict[str, Any] = {"who": [], "responsible": []}
    for tag in re.findall(r"<input[^>]*>", form):
        found = dict(re.findall(r'(\w+)="([^"]*)"', tag))
        name, value = found.get("name"), unescape(found.get("value", ""))
        if name is None or (found.get("type") in {"checkbox", "radio"} and " checked" not in tag):
            continue
        if name in {"who", "responsible"}:
            fields[name].append(value)
        else:
            fields[name] = value
    for name, options in re.findall(r'<select name="(\w+)"[^>]*>(.*?)</select>', form):
        chosen = re.search(r'value="([^"]*)" selected', options)
        fields[name] = chosen[1] if chosen else ""
    return fields


async def opened(client: httpx.AsyncClient, title: str, what: str = "edit") -> tuple[str, str]:
    """Open the form of the first event of the week with a title; return its address and the page."""
    week = (await client.get(WEEK)).text
    link = next(
        unescape(href)
        for href, body in re.findall(r'href="(/calendar/event/[^"]*)">(.*?)</li>', week, re.DOTALL)
        if title in unescape(body)
    )
    entry = (await client.get(link)).text
    found = re.search(rf'href="(/calendar/event/[^"]*/{what}[^"]*)"', entry)
    assert found is not None
    address = unescape(found[1])
    return address.split("?")[0], (await client.get(address)).text


async def saved(client: httpx.AsyncClient, address: str, fields: dict[str, Any]) -> str:
    answer = await client.post(address, data=fields)
    assert answer.status_code == 200, answer.text
    assert answer.url.path == "/calendar"
    return answer.text


async def titles(client: httpx.AsyncClient, on: str = "2026-03-10") -> list[str]:
    week = (await client.get(f"/calendar?span=week&on={on}")).text
    return [unescape(each) for each in re.findall(r'class="piece-title"[^>]*>([^<]*)<', week)]


async def undone(client: httpx.AsyncClient, page: str) -> str:
    found = re.search(r'action="(/pending/[^"]*/undo)"', page)
    assert found is not None
    fields = dict(re.findall(r'name="(csrf|back)" value="([^"]*)"', page[found.start() :]))
    answer = await client.post(found[1], data={key: unescape(v) for key, v in fields.items()})
    assert answer.url.path == "/calendar", answer.url
    assert "Undone" in answer.text
    return answer.text


def test_every_day_ahead_has_a_way_to_add_an_event(tmp_path: Path):
    async def steps(_: Served, client: httpx.AsyncClient) -> None:
        for span, days in (("week", 7), ("month", 41)):
            page = (await client.get(f"/calendar?span={span}&on=2026-03-10")).text
            adds = re.findall(r'day-add" href="([^"]*)"', page)
            assert len({*adds}) >= min(days, 7)
            form = (await client.get(unescape(adds[0]))).text
            assert filled(form)["day"] in unescape(adds[0])
            assert f"span={span}" in filled(form)["back"]

    run(tmp_path, steps)


@pytest.mark.parametrize("title", ["Dentist", *HOSTILE], ids=lambda each: each[:8])
def test_an_event_is_added_where_one_was_and_can_be_undone(tmp_path: Path, title: str):
    async def steps(_: Served, client: httpx.AsyncClient) -> None:
        page = (await client.get("/calendar/new?on=2026-03-10&span=week")).text
        fields = filled(page) | {"title": title, "start": "14:00", "end": "15:15"}
        after = await saved(client, "/calendar/new", fields)
        assert "Saved." in after
        assert "<script>alert" not in after
        assert "<img src=x" not in after
        assert title in await titles(client)
        await undone(client, after)
        assert title not in await titles(client)

    run(tmp_path, steps)


@pytest.mark.parametrize(
    ("scope", "this_week", "next_week"),
    [("occurrence", 1, 2), ("following", 0, 0), ("series", 0, 0)],
)
@pytest.mark.parametrize("what", ["edit", "delete"])
def test_of_a_series_one_the_later_ones_or_all_change(
    tmp_path: Path, scope: str, this_week: int, next_week: int, what: str
):
    async def steps(_: Served, client: httpx.AsyncClient) -> None:
        soccer = "Leo soccer practice"
        before = [await titles(client, on) for on in ("2026-03-03", "2026-03-10", "2026-03-17")]
        address, page = await opened(client, soccer, what)
        fields = filled(page) | {"scope": scope}
        if what == "edit":
            fields["title"] = "Football"
        after = await saved(client, address, fields)
        week_before = 0 if scope == "series" else 2
        for on, count in (
            ("2026-03-03", week_before),
            ("2026-03-10", this_week),
            ("2026-03-17", next_week),
        ):
            assert (await titles(client, on)).count(soccer) == count
        await undone(client, after)
        now = [await titles(client, on) for on in ("2026-03-03", "2026-03-10", "2026-03-17")]
        assert now == before

    run(tmp_path, steps)


@pytest.mark.parametrize(
    ("wrong", "field"),
    [
        ({"title": " "}, "title"),
        ({"day": ""}, "day"),
        ({"day": "2026-02-30"}, "day"),
        ({"start": ""}, "start"),
        ({"start": "late"}, "start"),
        ({"end": "09:00"}, "end"),
        ({"last_day": "2026-03-01"}, "last_day"),
        ({"repeat": "sometimes"}, "repeat"),
        ({"repeat": "weekly", "until": "2026-03-01"}, "until"),
        ({"audience": "everyone"}, "audience"),
    ],
    ids=str,
)
def test_what_is_wrong_stands_at_its_field_and_nothing_typed_is_lost(
    tmp_path: Path, wrong: dict[str, str], field: str
):
    async def steps(_: Served, client: httpx.AsyncClient) -> None:
        page = (await client.get("/calendar/new?on=2026-03-10")).text
        good = {"title": "Dentist", "start": "14:00", "end": "15:00", "place": "Main Street 4"}
        answer = await client.post("/calendar/new", data=filled(page) | good | wrong)
        assert answer.status_code == 422
        marked = re.findall(r'aria-invalid="true" aria-describedby="wrong-(\w+)', answer.text)
        assert marked == [field]
        assert f'id="wrong-{field}"' in answer.text
        assert filled(answer.text)["place"] == "Main Street 4"
        assert "Dentist" not in await titles(client)

    run(tmp_path, steps)


def test_two_people_who_edit_one_event_both_keep_their_change(tmp_path: Path):
    async def steps(serving: Served, sarah: httpx.AsyncClient) -> None:
        async with serving.client(headers={"Accept": "text/html"}) as john:
            await serving.log_in(john, "john")
            john.follow_redirects = True
            address, mine = await opened(sarah, "Leo soccer practice")
            _, theirs = await opened(john, "Leo soccer practice")
            await saved(john, address, filled(theirs) | {"responsible": ["john"]})
            late = await sarah.post(address, data=filled(mine) | {"end": "18:00"})
            assert late.status_code == 422
            assert "Somebody changed" in late.text
            assert filled(late.text)["responsible"] == ["john"]
            assert filled(late.text)["end"] == "18:00"
            await saved(sarah, address, filled(late.text))
            _, now = await opened(sarah, "Leo soccer practice")
            assert (filled(now)["responsible"], filled(now)["end"]) == (["john"], "18:00")

    run(tmp_path, steps)


def test_saving_without_a_change_writes_nothing(tmp_path: Path):
    async def steps(_: Served, client: httpx.AsyncClient) -> None:
        address, page = await opened(client, "Leo soccer practice")
        after = await saved(client, address, filled(page))
        assert "Saved" not in after

    run(tmp_path, steps)


def test_what_a_child_adds_waits_for_an_adult(tmp_path: Path):
    async def steps(serving: Served, sarah: httpx.AsyncClient) -> None:
        async with serving.client(headers={"Accept": "text/html"}) as leo:
            await serving.log_in(leo, "leo", AccessRole.CHILD)
            leo.follow_redirects = True
            page = (await leo.get("/calendar/new?on=2026-03-10")).text
            fields = filled(page) | {
                "title": "Sleepover",
                "who": ["leo", "mia"],
                "start": "18:00",
                "end": "20:00",
            }
            after = await saved(leo, "/calendar/new", fields)
            assert "Needs an adult" in after
        assert "Sleepover" in (await sarah.get("/pending")).text

    run(tmp_path, steps)
