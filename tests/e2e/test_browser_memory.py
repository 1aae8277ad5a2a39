"""The pages of memory in a real browser: searched while one types, for every eye and hand, with and without scripts."""

import asyncio
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from datetime import timedelta

import pytest
from playwright.sync_api import Browser, Page, expect

from browsing import CHROMIUM, Site, axe_source, site, small_targets, violations
from kinkeeper.web.access.model import AccessRole
from remembered import fact_about, remember

pytestmark = [
    pytest.mark.slow,
    pytest.mark.skipif(not CHROMIUM.exists(), reason="needs Chromium: apt-get install chromium"),
]

SAID = (
    ("sarah", "Leo is allergic to peanuts"),
    ("john", "Leo is allergic to peanuts"),
    ("sarah", "I work at the city library on Elm Street"),
    ("john", "My sister Anna lives in Leeds"),
    ("sarah", "Mia's favourite colour is green"),
    ("sarah", "I work at the school library on Oak Avenue now"),
)
VIEWS = ((320, "dark"), (390, "light"), (1280, "dark"))


@pytest.fixture(scope="module")
def home(tmp_path_factory: pytest.TempPathFactory, browser: Browser) -> Iterator[Site]:
    with site(tmp_path_factory.mktemp("home"), browser) as opened:
        for who, text in SAID:
            remember(opened.serving, who, text)
        opened.serving.clock.advance_to(opened.serving.clock.now() + timedelta(days=2))
        remember(opened.serving, "sarah", "Mia plays the cello")
        opened.hear("sarah", "btw Mia is allergic to cats")
        listen(opened)
        yield opened


@pytest.fixture(autouse=True)
def nothing_strays(home: Site) -> Iterator[None]:
    """No page may ask another host for anything, nor make the browser complain."""
    yield
    assert home.strayed == []
    assert home.complaints == []


def listen(home: Site) -> None:
    """Let the household's worker go through what was said."""
    hearing = home.serving.system.hearing(home.serving.clock)
    # Playwright keeps an event loop on this thread.
    with ThreadPoolExecutor(1) as pool:
        pool.submit(lambda: asyncio.run(hearing.run_once())).result()


def test_it_searches_while_one_types_and_slides_back_in_time(home: Site):
    with home.visit() as page:
        page.goto("/memory")
        expect(page.locator("#part-known")).to_contain_text("cello")
        page.get_by_role("searchbox", name="Search memory").press_sequentially("peanuts")
        expect(page.locator(".known").first).to_contain_text("Leo is allergic to peanuts")
        expect(page.locator("#part-known")).not_to_contain_text("cello")
        expect(page.locator("#announcer")).to_contain_text("found")
        assert "q=peanuts" in page.url
        page.get_by_role("searchbox", name="Search memory").fill("")
        expect(page.locator("#part-known")).to_contain_text("cello")
        page.get_by_text("As of another day").click()
        slider = page.get_by_role("slider", name="Slide back in time")
        slider.focus()
        slider.press("ArrowLeft")
        expect(page.locator("#part-known")).not_to_contain_text("cello")
        expect(page.locator("#part-known")).to_contain_text("as of")


def _whole_way(page: Page, home: Site) -> None:
    """From a fact through its edit back to what it was, and to the question before it is erased."""
    home.serving.clock.advance_to(home.serving.clock.now() + timedelta(minutes=1))
    path = f"/memory/facts/{fact_about(home.serving, 'green').id}"
    page.goto(path)
    expect(page.locator("main")).to_contain_text("Sarah")
    page.locator("main").get_by_text("Edit", exact=True).click()
    page.get_by_label("In one sentence").fill("Mia's favourite colour is blue")
    page.get_by_role("button", name="Save").click()
    expect(page.locator("h1")).to_have_text("Mia's favourite colour is blue")
    page.locator(".notice").get_by_role("button", name="Undo").click()
    expect(page.locator(".notice")).to_contain_text("Undone")
    expect(page.locator("#part-known")).to_contain_text("green")
    page.goto(path)
    page.get_by_role("link", name="Forget it").click()
    expect(page.locator("h1")).to_have_text("Forget this?")
    page.get_by_role("button", name="Forget it").click()
    expect(page.locator("h1")).to_have_text("Forget this?")  # the box that says so is not ticked
    page.get_by_role("link", name="Keep it").click()
    expect(page.locator("h1")).to_contain_text("green")


def test_a_memory_is_set_right_with_scripts(home: Site):
    with home.visit() as page:
        _whole_way(page, home)


def test_a_memory_is_set_right_without_scripts(home: Site):
    with home.visit(java_script_enabled=False) as page:
        _whole_way(page, home)
        page.goto("/memory")
        page.get_by_role("searchbox", name="Search memory").fill("peanuts")
        page.get_by_role("button", name="Search").click()
        expect(page.locator(".known").first).to_contain_text("Leo is allergic to peanuts")


@pytest.mark.parametrize(("width", "theme"), VIEWS)
def test_every_page_is_for_every_eye_and_thumb(home: Site, width: int, theme: str):
    fact = f"/memory/facts/{fact_about(home.serving, 'peanuts').id}"
    axe = axe_source()
    with home.visit(viewport={"width": width, "height": 800}, color_scheme=theme) as page:
        for path in (
            "/memory",
            "/memory?q=library",
            "/memory?on=2026-03-02",
            fact,
            f"{fact}/forget",
            "/memory/heard",
            "/memory/map",
            "/memory/changes",
        ):
            page.goto(path)
            page.evaluate(
                "document.querySelectorAll('main details').forEach((each) => each.open = true)"
            )
            assert violations(page, axe) == [], path
            assert small_targets(page) == [], path
            assert page.evaluate("document.documentElement.scrollWidth") <= width, path


def test_what_was_overheard_waits_here_and_a_yes_remembers_it(home: Site):
    with home.visit() as page:
        page.goto("/memory")
        card = page.locator(".card", has_text="Mia is allergic to cats")
        expect(card).to_contain_text("Will be saved to memory")
        expect(card).to_contain_text("btw Mia is allergic to cats")
        card.get_by_role("button", name="Approve").click()
        expect(page.locator(".notice")).to_contain_text("Saved:")
        page.goto("/memory")
        expect(page.locator(".known", has_text="Mia is allergic to cats")).to_be_visible()


def test_an_open_page_learns_what_is_remembered_meanwhile(home: Site):
    with home.visit() as page:
        page.goto("/memory")
        page.evaluate("window.stayed = true")
        remember(home.serving, "john", "My blood type is A positive")
        expect(page.locator("#part-known")).to_contain_text("blood type")
        assert page.evaluate("window.stayed") is True


def test_a_screen_on_the_wall_shows_what_everybody_sees_and_changes_nothing(home: Site):
    remember(home.serving, "sarah", "My locker code is 4711", is_private=True)
    with home.visit("sarah", AccessRole.SCREEN) as page:
        page.goto("/memory")
        expect(page.locator("#part-known")).to_contain_text("peanuts")
        expect(page.locator("main")).not_to_contain_text("locker")
        expect(page.locator("main").get_by_role("button", name="Save")).to_have_count(0)
        page.goto(f"/memory/facts/{fact_about(home.serving, 'peanuts').id}")
        expect(page.locator("main form")).to_have_count(0)
