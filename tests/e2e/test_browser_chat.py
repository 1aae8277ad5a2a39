"""The conversation page in a real browser: streamed, resumed where it broke off, for every eye and hand, with and without scripts."""

from collections.abc import Iterator

import pytest
from playwright.sync_api import Browser, Locator, Page, expect

from browsing import CHROMIUM, Site, axe_source, site, small_targets, violations
from kinkeeper.web.access.model import AccessRole

pytestmark = [
    pytest.mark.slow,
    pytest.mark.skipif(not CHROMIUM.exists(), reason="needs Chromium: apt-get install chromium"),
]

VIEWS = ((320, "dark"), (390, "light"), (1280, "dark"))


@pytest.fixture(scope="module")
def home(tmp_path_factory: pytest.TempPathFactory, browser: Browser) -> Iterator[Site]:
    with site(tmp_path_factory.mktemp("home"), browser) as opened:
        yield opened


@pytest.fixture(autouse=True)
def nothing_strays(home: Site) -> Iterator[None]:
    """No page may ask another host for anything, nor make the browser complain of what is not said to it."""
    yield
    assert home.strayed == []
    offline = [each for each in home.complaints if "ERR_INTERNET_DISCONNECTED" in each]
    assert [each for each in home.complaints if each not in offline] == []


def last(page: Page) -> Locator:
    """The last exchange."""
    return page.locator(".exchange").last


def say(page: Page, text: str) -> None:
    """Write something, send it by the keyboard, and wait until it is answered."""
    box = page.get_by_role("textbox", name="Your message")
    box.fill(text)
    box.press("Enter")
    expect(last(page).locator(".mine")).to_have_text(text)
    expect(last(page).locator(".reply")).not_to_be_empty()
    expect(page.locator("#talk-log")).to_have_attribute("aria-busy", "false")


def test_a_question_is_answered_and_tells_what_it_rests_on(home: Site):
    with home.visit() as page:
        page.goto("/chat?new=true")
        say(page, "What is on this week?")
        expect(last(page)).to_contain_text("soccer")
        expect(page.locator("#announcer")).not_to_be_empty()
        last(page).get_by_text("What is this based on?").click()
        expect(last(page).locator(".used li").first).to_be_visible()


def test_what_matters_waits_for_a_press_that_is_never_the_default(home: Site):
    with home.visit() as page:
        page.goto("/chat?new=true")
        say(page, "cancel soccer on Thursday")
        question = last(page).locator(".ask")
        expect(question).to_contain_text("soccer")
        expect(page.get_by_role("textbox", name="Your message")).to_be_focused()
        question.get_by_role("button", name="Dismiss").click()
        expect(last(page).locator(".ask-stands")).to_contain_text("Declined")
        expect(page.get_by_role("button", name="Approve")).to_have_count(0)


def test_a_typed_yes_settles_the_card_and_it_can_be_taken_back(home: Site):
    with home.visit() as page:
        page.goto("/chat?new=true")
        say(page, "cancel soccer on Thursday")
        expect(page.get_by_role("button", name="Approve")).to_have_count(1)
        say(page, "yes")
        expect(page.get_by_role("button", name="Approve")).to_have_count(0)
        expect(last(page).locator(".ask-stands")).to_contain_text("Done")
        last(page).get_by_role("button", name="Undo").click()
        expect(last(page).locator(".ask-stands")).to_contain_text("Undone")


def test_two_open_pages_show_the_same_and_a_lost_connection_loses_nothing(home: Site):
    with home.visit() as here:
        here.goto("/chat?new=true")
        say(here, "add oat milk to the shopping list")
        there = here.context.new_page()
        thread = here.locator("#talk").get_attribute("data-thread")
        there.goto(f"/chat?thread={thread}")
        expect(last(there).locator(".reply")).to_contain_text("milk", ignore_case=True)
        say(there, "what is on tomorrow?")
        expect(last(here).locator(".mine")).to_have_text("what is on tomorrow?")
        here.context.set_offline(True)
        here.context.set_offline(False)
        say(there, "am I free on Friday evening?")
        expect(last(here).locator(".mine")).to_have_text("am I free on Friday evening?")
        expect(here.locator(".exchange")).to_have_count(there.locator(".exchange").count())


def test_nobody_reads_anothers_conversation(home: Site):
    with home.visit() as page:
        page.goto("/chat?new=true")
        say(page, "remember that my locker code is 4711")
        thread = page.locator("#talk").get_attribute("data-thread")
    with home.visit("john", AccessRole.ADULT) as page:
        answer = page.goto(f"/chat?thread={thread}")
        assert answer is not None
        assert answer.status == 404
        expect(page.locator("body")).not_to_contain_text("4711")
    home.complaints.clear()  # the browser tells of the refused page


def test_it_works_without_scripts(home: Site):
    with home.visit(java_script_enabled=False) as page:
        page.goto("/chat?new=true")
        page.get_by_role("textbox", name="Your message").fill("What's on tomorrow?")
        page.get_by_role("button", name="Send").click()
        expect(last(page).locator(".mine")).to_have_text("What's on tomorrow?")
        for _ in range(50):
            if last(page).locator(".reply").inner_text():
                break
            page.reload()
        expect(last(page).locator(".reply")).not_to_be_empty()


def test_a_child_may_ask_and_an_adult_decides(home: Site):
    with home.visit("leo", AccessRole.CHILD) as page:
        page.goto("/chat?new=true")
        say(page, "cancel soccer on Thursday")
        for _ in ("as it came", "as it stands"):
            expect(page.get_by_role("button", name="Approve")).to_have_count(0)
            expect(last(page)).to_contain_text("Needs an adult's approval")
            page.reload()


@pytest.mark.parametrize(("width", "theme"), VIEWS)
def test_the_page_is_for_every_eye_and_thumb(home: Site, width: int, theme: str):
    with home.visit(viewport={"width": width, "height": 800}, color_scheme=theme) as page:
        page.goto("/chat?new=true")
        axe = axe_source()
        assert violations(page, axe) == []
        assert small_targets(page) == []
        say(page, "What is on this week?")
        say(page, "delete the event soccer on Thursday")
        page.evaluate(
            "document.querySelectorAll('main details').forEach((each) => each.open = true)"
        )
        assert violations(page, axe) == []
        assert small_targets(page) == []
        assert page.evaluate("document.documentElement.scrollWidth") <= width


def test_what_somebody_asked_is_not_read_by_a_child(home: Site):
    with home.visit() as page:
        page.goto("/chat?new=true")
        say(page, "cancel Mia's swimming on Saturday")
        page.goto("/pending")
        expect(page.locator("main")).to_contain_text("swimming")
    with home.visit("leo", AccessRole.CHILD) as page:
        for path in ("/pending", "/", "/calendar"):
            page.goto(path)
            expect(page.locator("body")).not_to_contain_text("Cancel Mia swimming")
