"""Events in a real browser: added, moved and deleted by hand and by keyboard, for every width and theme."""

from collections.abc import Iterator
from pathlib import Path

import pytest
from playwright.sync_api import Browser, Page, expect

from browsing import CHROMIUM, Site, axe_source, site, small_targets, violations

pytestmark = [
    pytest.mark.slow,
    pytest.mark.skipif(not CHROMIUM.exists(), reason="needs Chromium: apt-get install chromium"),
]
WEEK = "/calendar?span=week&on=2026-03-10"
SOCCER = "Leo soccer practice"


@pytest.fixture
def home(tmp_path: Path, browser: Browser) -> Iterator[Site]:
    with site(tmp_path, browser) as opened:
        yield opened


def _add(page: Page, title: str) -> None:
    page.goto(WEEK)
    page.get_by_label("Add an event on Tuesday, March 10").press("Enter")
    page.get_by_label("Title").fill(title)
    page.get_by_label("Starts").fill("14:00")
    page.get_by_label("Ends", exact=True).fill("15:15")
    page.get_by_role("button", name="Save").press("Enter")
    expect(page.locator(".notice")).to_contain_text("Saved.")


def _open(page: Page, title: str, what: str) -> None:
    page.goto(WEEK)
    page.locator("a.piece", has_text=title).first.click()
    page.get_by_role("link", name=what).click()


def test_an_event_is_added_moved_and_undone_by_keyboard(home: Site):
    with home.visit() as page:
        _add(page, "Dentist")
        expect(page.locator("a.piece", has_text="Dentist")).to_be_visible()
        _open(page, "Dentist", "Edit")
        page.get_by_label("Day", exact=True).fill("2026-03-12")
        page.get_by_label("Starts").fill("08:00")
        page.get_by_label("Ends", exact=True).fill("09:00")
        page.get_by_role("button", name="Save").press("Enter")
        expect(page.locator("a.piece", has_text="Dentist").locator("time")).to_contain_text("8am")
        page.get_by_role("button", name="Undo").press("Enter")
        expect(page.locator("a.piece", has_text="Dentist").locator("time")).to_contain_text("2pm")
    assert home.complaints == []
    assert home.strayed == []


def test_one_of_a_series_changes_and_all_later_ones_go(home: Site):
    with home.visit(has_touch=True, viewport={"width": 390, "height": 800}) as page:
        _open(page, SOCCER, "Edit")
        page.get_by_label("Title").fill("Football cup")
        page.get_by_label("Only this one").check()
        page.get_by_role("button", name="Save").tap()
        expect(page.locator("a.piece", has_text="Football cup")).to_have_count(1)
        expect(page.locator("a.piece", has_text=SOCCER)).to_have_count(1)
        _open(page, SOCCER, "Delete")
        page.get_by_role("button", name="This and later ones").tap()
        expect(page.locator("a.piece", has_text=SOCCER)).to_have_count(0)
        page.get_by_role("button", name="Undo").tap()
        expect(page.locator("a.piece", has_text=SOCCER)).to_have_count(1)


def test_the_cursor_goes_to_the_first_field_that_is_wrong(home: Site):
    with home.visit() as page:
        page.goto("/calendar/new?on=2026-03-10")
        page.get_by_label("Title").fill("Dentist")
        page.get_by_label("Starts").fill("")
        page.get_by_role("button", name="Save").press("Enter")
        expect(page.get_by_label("Starts")).to_be_focused()
        expect(page.get_by_label("Starts")).to_have_attribute("aria-describedby", "wrong-start")
        page.get_by_label("All day", exact=True).check()
        expect(page.get_by_label("Starts")).to_be_hidden()


@pytest.mark.parametrize("theme", ["light", "dark"])
@pytest.mark.parametrize("width", [320, 390, 1280])
def test_everybody_can_read_and_press_it(home: Site, width: int, theme: str):
    with home.visit(viewport={"width": width, "height": 800}, color_scheme=theme) as page:
        for address in (WEEK, "/calendar?span=month&on=2026-03-10", "/calendar/new?on=2026-03-10"):
            page.goto(address)
            _check(page, width)
        page.get_by_label("Starts").fill("")
        page.get_by_role("button", name="Save").click()
        _check(page, width)
        for what in ("Edit", "Delete"):
            _open(page, SOCCER, what)
            _check(page, width)


def _check(page: Page, width: int) -> None:
    assert violations(page, axe_source()) == []
    assert small_targets(page) == []
    assert page.evaluate("document.documentElement.scrollWidth") <= width
