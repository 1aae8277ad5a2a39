"""The page of tasks and notes, in a browser without scripts."""

from pathlib import Path

import httpx

from kinkeeper.web.access.model import AccessRole
from page_visits import run
from web_server import Served


def token(page: httpx.Response) -> str:
    return page.text.split('name="csrf" value="')[1].split('"')[0]


def test_a_task_is_added_seen_ticked_off_and_brought_back(tmp_path: Path) -> None:
    async def steps(_: Served, browser: httpx.AsyncClient) -> None:
        page = await browser.get("/tasks")
        assert "Nothing to do." in page.text
        form = {
            "csrf": token(page),
            "title": "Call <mom>",
            "day": "2026-03-02",
            "at": "17:00",
            "who": "sarah",
        }
        page = await browser.post("/tasks/add", data=form)
        assert page.status_code == 200
        assert "Call &lt;mom&gt;" in page.text
        assert "today 5pm" in page.text
        assert "Undo" in page.text
        assert "Call &lt;mom&gt;" in (await browser.get("/")).text
        task_id = page.text.split('action="/tasks/')[2].split("/")[0]
        page = await browser.post(f"/tasks/{task_id}/done", data={"csrf": token(page)})
        assert "Done: Call &lt;mom&gt;" in page.text
        assert "Nothing to do." in page.text
        undo = page.text.split('action="/pending/')[1].split("/")[0]
        page = await browser.post(f"/pending/{undo}/undo", data={"csrf": token(page)})
        assert str(page.url.path) == "/tasks"
        assert "Undone" in page.text
        assert "today 5pm" in page.text
        page = await browser.post(f"/tasks/{task_id}/delete", data={"csrf": token(page)})
        assert "Nothing to do." in page.text

    run(tmp_path, steps)


def test_a_list_grows_and_shrinks(tmp_path: Path) -> None:
    async def steps(_: Served, browser: httpx.AsyncClient) -> None:
        csrf = token(await browser.get("/tasks"))
        page = await browser.post(
            "/notes/add", data={"csrf": csrf, "title": "Shopping", "body": "milk\neggs"}
        )
        note_id = page.text.split('action="/notes/')[1].split("/")[0]
        page = await browser.post(f"/notes/{note_id}/add", data={"csrf": csrf, "body": "bread"})
        assert page.text.count('name="line"') == 3
        page = await browser.post(f"/notes/{note_id}/remove", data={"csrf": csrf, "line": "eggs"})
        assert 'value="eggs"' not in page.text
        assert 'value="bread"' in page.text
        page = await browser.post(f"/notes/{note_id}/delete", data={"csrf": csrf})
        assert "No notes yet." in page.text

    run(tmp_path, steps)


def test_what_cannot_be_is_told_on_a_page(tmp_path: Path) -> None:
    async def steps(_: Served, browser: httpx.AsyncClient) -> None:
        csrf = token(await browser.get("/tasks"))
        for wrong in ({"day": "2026-02-01"}, {"day": "soon"}, {"at": "17:00"}):
            page = await browser.post("/tasks/add", data={"csrf": csrf, "title": "x", **wrong})
            assert page.status_code == 422
        assert (await browser.post("/tasks/none/done", data={"csrf": csrf})).status_code == 404
        assert (await browser.post("/tasks/add", data={"title": "forged"})).status_code == 403
        assert "Nothing to do." in (await browser.get("/tasks")).text

    run(tmp_path, steps)


def test_pages_show_what_a_child_wants_changed_of_any_kind(tmp_path: Path) -> None:
    """What waits about a task or a note is no change of the calendar, and no page stumbles over it."""

    async def steps(serving: Served, browser: httpx.AsyncClient) -> None:
        csrf = token(await browser.get("/tasks"))
        add = {"csrf": csrf, "title": "Ring the dentist", "day": "2026-03-05", "at": "09:00"}
        page = await browser.post("/tasks/add", data=add)
        task_id = page.text.split('action="/tasks/')[2].split("/")[0]
        await browser.post(
            "/notes/add", data={"csrf": csrf, "title": "Shopping", "body": "milk\neggs"}
        )
        wishes = (
            "the dentist is moved to friday at 1",
            "delete the task ring the dentist",
            "delete the shopping list",
            "move soccer to 6pm on thursday",
            "cancel ballet",
        )
        async with serving.bearing(serving.token("leo", AccessRole.CHILD)) as child:
            changed = await child.patch(f"/api/tasks/{task_id}", json={"title": "Ring Dr Lee"})
            assert changed.is_success
            for text in wishes:
                assert (await child.post("/chat", json={"text": text})).is_success
        assert (await browser.get("/api/pending")).json()
        for path in ("/", "/pending", "/calendar", "/tasks", "/digest"):
            assert (await browser.get(path)).status_code == 200, path

    run(tmp_path, steps)
