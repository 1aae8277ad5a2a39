"""Tasks, notes and goals in a real browser: by hand and by keyboard, for every width and theme."""

from collections.abc import Iterator
from pathlib import Path

import pytest
from playwright.sync_api import Browser, Page, expect

from browsing import CHROMIUM, Site, axe_source, site, small_targets, violations

pytestmark = [
    pytest.mark.slow,
    pytest.mark.skipif(not CHROMIUM.exists(), reason="needs Chromium: apt-get install chromium"),
]


@pytest.fixture
def home(tmp_path: Path, browser: Browser) -> Iterator[Site]:
    with site(tmp_path, browser) as opened:
        yield opened


def _fill(page: Page) -> None:
    page.goto("/tasks")
    page.get_by_text("Add a task").click()
    page.get_by_label("Task", exact=True).fill("Return the library books")
    page.get_by_label("Day").fill("2027-03-05")
    page.get_by_role("button", name="Add task").click()
    expect(page.locator(".notice")).to_contain_text("Return the library books")
    page.get_by_text("Write a note").click()
    page.get_by_label("Title").fill("Shopping")
    page.get_by_label("Text, or one item").fill("oat milk\neggs")
    page.get_by_role("button", name="Save note").click()
    expect(page.locator(".note-lines li")).to_have_count(2)


def _want(page: Page) -> None:
    page.goto("/goals")
    page.get_by_text("Add a goal").click()
    page.get_by_label("What do you want?").fill("a second-hand tent for four")
    page.get_by_role("button", name="Add goal").click()
    expect(page.locator(".notice")).to_contain_text("a second-hand tent for four")


def test_a_goal_goes_all_the_way_by_keyboard(home: Site):
    with home.visit() as page:
        _want(page)
        for name, stands in (("Pause", "Paused"), ("Resume", "Not started yet")):
            page.get_by_role("button", name=f"{name}: a second-hand").press("Enter")
            expect(page.locator("article .card-kind")).to_contain_text(stands)
        page.get_by_text("Cancel…").press("Enter")
        page.get_by_role("button", name="Cancel goal: a second-hand").press("Enter")
        expect(page.locator("#part-goals")).to_contain_text("Nothing is being worked on")
        page.goto("/tasks")
        page.get_by_role("link", name="Goals").press("Enter")
        expect(page.get_by_role("heading", name="Goals")).to_be_visible()
    assert home.complaints == []


def test_a_task_and_a_list_go_all_the_way(home: Site):
    with home.visit() as page:
        _fill(page)
        page.get_by_role("button", name="Take off Shopping: eggs").click()
        expect(page.locator(".note-lines li")).to_have_count(1)
        field = page.get_by_placeholder("Add a line")
        field.fill("bread")
        field.press("Enter")
        expect(page.locator(".note-lines")).to_contain_text("bread")
        page.get_by_role("button", name="Done: Return the library books").click()
        expect(page.locator("#part-todo")).to_contain_text("Nothing to do.")
        page.get_by_role("button", name="Undo").click()
        expect(page.locator("#part-todo")).to_contain_text("Return the library books")
    assert home.complaints == []
    assert home.strayed == []


@pytest.mark.parametrize("theme", ["light", "dark"])
@pytest.mark.parametrize("width", [320, 390, 1280])
def test_everybody_can_read_and_press_it(home: Site, width: int, theme: str):
    with home.visit(viewport={"width": width, "height": 800}, color_scheme=theme) as page:
        for fill in (_fill, _want):
            fill(page)
            page.evaluate(
                "document.querySelectorAll('details').forEach((each) => { each.open = true; })"
            )
            assert violations(page, axe_source()) == []
            assert small_targets(page) == []
            assert page.evaluate("document.documentElement.scrollWidth") <= width
