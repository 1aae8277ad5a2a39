"""The page of goals, in a browser without scripts."""

from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path

import httpx
import pytest

from kinkeeper.background.page_questions import PageQuestions
from kinkeeper.goals.model import Goal, GoalKind, GoalStatus, Source, StepState
from kinkeeper.goals.repository import list_goals, put_goal
from kinkeeper.household.viewers import Viewer
from kinkeeper.web.access.model import AccessRole
from page_visits import post, press, run
from remembered import fact_about, remember
from web_server import Served


def goals_of(serving: Served) -> Sequence[Goal]:
    whole = Viewer.whole(serving.system.household.id)
    return serving.context.store.read_now(lambda conn: list_goals(conn, whole))


def found(serving: Served, goal: Goal, *sources: Source, status: GoalStatus) -> None:
    """Let the work on a goal have come to something."""
    step = replace(
        goal.progress.steps[0], state=StepState.DONE, answer="told in secret words", sources=sources
    )
    after = replace(goal, status=status, progress=goal.progress.with_step(step))
    serving.context.store.write_now(lambda conn: put_goal(conn, after, at=serving.clock.now()))


def test_a_goal_is_added_paused_resumed_cancelled_and_its_pause_undone(tmp_path: Path) -> None:
    async def steps(serving: Served, browser: httpx.AsyncClient) -> None:
        page = await browser.get("/goals")
        assert "Nothing is being worked on for you." in page.text
        page = await post(browser, page.text, "/goals/add", text="a <quiet> tent", kind="find")
        assert "a &lt;quiet&gt; tent" in page.text
        assert "0 of 1 step done" in page.text
        path = f"/goals/{goals_of(serving)[0].id}"
        page = await post(browser, page.text, f"{path}/pause")
        assert "Paused" in page.text
        undo = page.text.split('action="/pending/')[1].split("/")[0]
        page = await post(browser, page.text, f"/pending/{undo}/undo")
        assert page.url.path == "/goals"
        assert "Undone" in page.text
        for change in ("pause", "resume", "cancel"):
            page = await post(browser, page.text, f"{path}/{change}")
            assert page.status_code == 200, change
        assert "Nothing is being worked on for you." in page.text
        undo = page.text.split('action="/pending/')[1].split("/")[0]
        page = await post(browser, page.text, f"/pending/{undo}/undo")
        assert "Nothing is being worked on for you." not in page.text
        page = await post(browser, page.text, f"{path}/cancel")
        assert page.text.index("Finished or cancelled") < page.text.index("quiet&gt; tent</h2>")
        assert (await post(browser, page.text, f"{path}/resume")).status_code in {404, 409}
        assert 'href="/goals"' in (await browser.get("/tasks")).text

    run(tmp_path, steps)


def test_what_is_to_be_asked_needs_its_day(tmp_path: Path) -> None:
    async def steps(_: Served, browser: httpx.AsyncClient) -> None:
        page = (await browser.get("/goals")).text
        wish = {"text": "which tent we take", "kind": "ask"}
        for wrong in ({}, {"at": "17:00"}, {"day": "soon"}, {"day": "2020-01-01"}):
            assert (await post(browser, page, "/goals/add", **wish, **wrong)).status_code == 422
        told = await post(browser, page, "/goals/add", **wish, day="2026-03-06", at="17:00")
        assert "ask you Fri Mar 6 5pm." in told.text.replace("&#39;", "'")

    run(tmp_path, steps)


def test_what_was_found_is_shown_as_far_as_it_still_holds(tmp_path: Path) -> None:
    async def steps(serving: Served, browser: httpx.AsyncClient) -> None:
        remember(serving, "sarah", "The camp shop rents tents.")
        remember(serving, "john", "The scout hall lends tents.", is_private=True)
        page = (await browser.get("/goals")).text
        await post(browser, page, "/goals/add", text="a tent", kind=GoalKind.FIND.value)
        (goal,) = goals_of(serving)
        hers = fact_about(serving, "camp shop").id
        his = fact_about(serving, "scout hall", "john").id
        days = (await browser.get("/api/events?from=2026-03-01&to=2026-03-07")).json()["events"]
        lesson = next(each["id"] for each in days if each["summary"] == "Leo soccer practice")
        sources = [
            Source(kind="fact", id=hers),
            Source(kind="fact", id=his),
            Source(kind="event", id=lesson),
            Source(kind="event", id="never-was"),
            Source(kind="mail", id="<1@x>"),
        ]
        found(serving, goal, *sources, status=GoalStatus.COMPLETED)
        text = (await browser.get("/goals")).text
        assert f'href="/memory/facts/{hers}"' in text
        assert "Leo soccer practice, in the calendar" in text
        assert "An email" in text
        assert "Some of it is no longer known." in text
        assert "1 of 1 step done" in text
        for kept in ("scout hall", his, "secret words"):
            assert kept not in text, kept

    run(tmp_path, steps)


@pytest.mark.parametrize(
    ("member", "role"),
    [("john", AccessRole.OWNER), ("leo", AccessRole.CHILD), ("john", AccessRole.GUEST)],
)
def test_nobody_sees_or_changes_anothers(tmp_path: Path, member: str, role: AccessRole) -> None:
    async def steps(serving: Served, browser: httpx.AsyncClient) -> None:
        page = (await browser.get("/goals")).text
        await post(browser, page, "/goals/add", text="a surprise kayak", kind="watch")
        (goal,) = goals_of(serving)
        async with serving.bearing(serving.token(member, role)) as other:
            assert "kayak" not in (await other.get("/goals")).text
            assert (await other.post(f"/goals/{goal.id}/pause")).status_code in {403, 404}
        assert goals_of(serving) == [goal]
        async with serving.bearing(serving.token("sarah", AccessRole.SCREEN)) as screen:
            assert (await screen.get("/goals")).status_code == 403

    run(tmp_path, steps)


def test_a_page_that_a_goal_needs_is_approved_and_that_undone_on_the_pages(tmp_path: Path) -> None:
    address = "https://xn--pol-times.example/<b>?q=1"

    async def steps(serving: Served, browser: httpx.AsyncClient) -> None:
        page = await browser.get("/goals")
        await post(browser, page.text, "/goals/add", text="lido hours", kind="watch")
        (goal,) = goals_of(serving)
        questions, now = PageQuestions(serving.system.household), serving.clock.now()
        store = serving.context.store
        asked = store.write_now(lambda conn: questions.ask(conn, goal, [address], now=now))
        assert asked == address
        page = await browser.get("/pending")
        assert "Read xn--pol-times.example to look for: lido hours" in page.text
        assert "https://xn--pol-times.example/&lt;b&gt;?q=1" in page.text
        listed = (await browser.get("/api/pending")).json()
        assert "xn--pol-times.example" in str(listed)
        card = page.text.split('action="/pending/')[1].split("/")[0]
        page = await press(browser, page.text, f"/pending/{card}/confirm")
        assert goals_of(serving)[0].progress.allowed_pages == (address,)
        page = await post(browser, page.text, f"/pending/{card}/undo")
        assert "Undone" in page.text
        assert goals_of(serving)[0].progress.allowed_pages == ()

    run(tmp_path, steps)
