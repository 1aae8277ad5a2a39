"""The pages in a real browser: the whole way of one decision, with and without scripts, for every eye and hand."""

from collections.abc import Iterator
from datetime import timedelta
from pathlib import Path

import pytest
from playwright.sync_api import Browser, Page, expect

from browsing import CHROMIUM, Site, axe_source, site, small_targets, violations
from kinkeeper.web.access.model import AccessRole

pytestmark = [
    pytest.mark.slow,
    pytest.mark.skipif(not CHROMIUM.exists(), reason="needs Chromium: apt-get install chromium"),
]

WIDTHS = (320, 390, 1280)
THEMES = ("light", "dark")
PAGES = (
    "/",
    "/pending",
    "/calendar",
    "/calendar?span=agenda",
    "/calendar?span=month",
    "/silence",
    "/health",
    "/people",
    "/nowhere",
)
CLAIM = "I'll pick up Leo from school tomorrow at 3pm"
SUMMARY = "Sarah picks up Leo"


@pytest.fixture
def home(tmp_path: Path, browser: Browser) -> Iterator[Site]:
    """A household for each test: what one has confirmed must not stand on another's pages."""
    with site(tmp_path, browser) as opened:
        yield opened


@pytest.fixture(autouse=True)
def nothing_strays(home: Site) -> Iterator[None]:
    """No page may ask another host for anything, nor make the browser complain."""
    yield
    assert home.strayed == []
    allowed = "status of 404"
    assert [each for each in home.complaints if allowed not in each] == []


def _whole_way(page: Page) -> None:
    """From the card to the calendar and back out of it."""
    page.goto("/pending")
    card = page.locator(".card", has_text=SUMMARY).first
    expect(card).to_contain_text(CLAIM)
    card.get_by_role("link", name="why?").first.click()
    expect(page.locator(".ladder")).to_contain_text("Sounds like a plan")
    expect(page.locator(".rung").last).to_contain_text("Saved for approval")
    page.get_by_role("button", name="Re-run this decision").click()
    expect(page.locator("#proof")).to_contain_text("the same decision")
    page.goto("/pending")
    page.locator(".card", has_text=SUMMARY).first.get_by_role("button", name="Approve").click()
    expect(page.locator(".notice")).to_contain_text("Saved:")
    page.goto("/calendar?span=agenda")
    piece = page.locator(".piece.stands", has_text=SUMMARY)
    expect(piece).to_be_visible()
    piece.click()
    expect(page.locator("main")).to_contain_text("Mentioned in the group chat.")
    page.get_by_role("button", name="Undo").click()
    expect(page.locator(".notice")).to_contain_text("Undone:")
    page.goto("/calendar?span=agenda")
    expect(page.locator(".piece.stands", has_text=SUMMARY)).to_have_count(0)


def test_a_message_arrives_by_itself_and_goes_all_the_way(home: Site):
    with home.visit() as page:
        page.goto("/pending")
        page.evaluate("window.stayed = true")
        home.hear("john", "Mia has the optician Friday at 2pm")
        expect(page.locator("article.card", has_text="optician Friday")).to_be_visible()
        assert page.evaluate("window.stayed") is True
        home.hear("sarah", CLAIM)
        _whole_way(page)


def test_without_scripts_everything_works_the_same(home: Site):
    home.hear("sarah", CLAIM)
    with home.visit(java_script_enabled=False) as page:
        _whole_way(page)
        page.goto("/welcome")
        assert page.locator(".scene").count() >= 20
        expect(page.locator(".scene").last).to_be_visible()


def _wait_for_an_owner(home: Site) -> None:
    """Let somebody speak of what nobody takes on, until it may be confirmed as it is, or with an owner."""
    home.hear("john", "Leo has a haircut tomorrow at 8am")
    clock = home.serving.clock
    clock.advance_to(clock.now() + timedelta(minutes=30))
    home.hear("sarah", "lovely")


@pytest.mark.parametrize("theme", THEMES)
@pytest.mark.parametrize("width", WIDTHS)
def test_every_page_is_for_every_eye_and_thumb(home: Site, width: int, theme: str):
    home.hear("sarah", "who's picking up Mia from ballet tomorrow?")
    home.hear("john", "Leo has the dentist Thursday at 4pm")
    _wait_for_an_owner(home)
    axe = axe_source()
    with home.visit(viewport={"width": width, "height": 800}, color_scheme=theme) as page:
        page.goto("/pending")
        asked = page.locator(".card", has_text="Leo haircut").get_by_role("button")
        expect(asked.filter(has_text="Approve")).to_be_visible()
        expect(asked.filter(has_text="John")).to_be_visible()
        card = page.locator(".card a:has-text('Change')").first.get_attribute("href") or ""
        why = page.locator("a:has-text('why?')").first.get_attribute("href") or ""
        for path in (*PAGES, card, why):
            page.goto(path)
            for fold in page.locator("main details > summary").all():
                fold.click()
            assert violations(page, axe) == [], path
            assert small_targets(page) == [], path
            assert page.evaluate("document.documentElement.scrollWidth") <= width, path
    with home.visit(None, viewport={"width": width, "height": 800}, color_scheme=theme) as page:
        for path in ("/login", "/welcome"):
            page.goto(path)
            assert violations(page, axe) == [], path
            assert small_targets(page) == [], path
            assert page.evaluate("document.documentElement.scrollWidth") <= width, path


def test_the_keyboard_reaches_a_decision_and_never_begins_on_it(home: Site):
    home.hear("sarah", CLAIM)
    with home.visit() as page:
        page.goto("/pending")
        assert page.evaluate("document.activeElement.tagName") == "BODY"
        page.keyboard.press("Tab")
        assert page.evaluate("document.activeElement.className") == "skip"
        page.keyboard.press("Enter")
        assert page.evaluate("document.activeElement.id") == "main"
        reached = []
        for _ in range(60):
            page.keyboard.press("Tab")
            reached.append(page.evaluate("document.activeElement.innerText.trim()"))
            if reached[-1] == "Approve":
                break
        assert reached[-1] == "Approve"
        assert page.evaluate("getComputedStyle(document.activeElement).outlineStyle") == "solid"
        page.keyboard.press("Enter")
        expect(page.locator(".notice")).to_contain_text("Saved:")


def test_an_update_keeps_what_is_unfolded_and_focused(home: Site):
    home.hear("sarah", "lol")
    with home.visit() as page:
        page.goto("/silence")
        fold = page.locator("#part-ledger details").first
        fold.locator("summary").click()
        expect(fold).to_have_attribute("open", "")
        before = page.locator(".ledger-sentence").first.inner_text()
        home.hear("john", "pizza tonight?")
        expect(page.locator(".ledger-sentence").first).not_to_have_text(before)
        expect(page.locator("#part-ledger details").first).to_have_attribute("open", "")


def test_a_screen_on_the_wall_shows_and_cannot_decide(home: Site):
    home.hear("sarah", CLAIM)
    with home.visit("john", AccessRole.SCREEN) as page:
        page.goto("/")
        expect(page.locator(".lanes")).to_be_visible()
        expect(page.get_by_role("link", name="Inbox")).to_have_count(0)
        page.goto("/calendar")
        expect(page.get_by_role("button", name="Approve")).to_have_count(0)


@pytest.mark.nightly
def test_the_play_runs_to_its_end(home: Site):
    with home.visit(None, reduced_motion="no-preference") as page:
        page.goto("/welcome")
        expect(page.locator(".scene").last).to_be_hidden()
        expect(page.get_by_role("button", name="Play again")).to_be_visible(timeout=60_000)
        expect(page.locator(".scene").last).to_be_visible()
        assert (
            int(page.locator("#counts dd").first.inner_text())
            == page.locator(".scene", has=page.locator(".bubble")).count()
            - page.locator(".scene", has_text="nobody has answered").count()
        )
