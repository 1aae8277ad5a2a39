"""The pages for eyes that need more: forced colours, letters twice as large, words from right to left."""

from collections.abc import Iterator

import pytest
from playwright.sync_api import Browser

from browsing import CHROMIUM, Site, site

pytestmark = [
    pytest.mark.slow,
    pytest.mark.skipif(not CHROMIUM.exists(), reason="needs Chromium: apt-get install chromium"),
]

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


@pytest.fixture(scope="module")
def home(tmp_path_factory: pytest.TempPathFactory, browser: Browser) -> Iterator[Site]:
    with site(tmp_path_factory.mktemp("home"), browser) as opened:
        yield opened


def test_forced_colours_keep_edges_and_marks(home: Site):
    home.hear("john", "I'll pick up Leo from school today at 3pm")
    home.hear("sarah", "who's picking up Mia from ballet today?")
    with home.visit(forced_colors="active") as page:
        page.goto("/pending")
        button = page.get_by_role("button", name="Approve").first
        assert button.evaluate("(each) => getComputedStyle(each).borderTopStyle") == "solid"
        card = page.locator(".card").first
        assert (
            float(card.evaluate("(each) => parseFloat(getComputedStyle(each).borderTopWidth)")) >= 1
        )
        page.goto("/")
        for look in ("proposed", "gap"):
            block = page.locator(f".lane .block.{look}").first
            paint = block.evaluate(
                "(each) => [getComputedStyle(each).stroke, getComputedStyle(each).strokeDasharray]"
            )
            assert paint[0] not in {"none", ""}
            assert paint[1] != "none"
        current = page.locator(".tabs a[aria-current]")
        assert (
            current.evaluate("(each) => getComputedStyle(each).textDecorationLine") == "underline"
        )


@pytest.mark.parametrize(("width", "height"), [(390, 800), (640, 400)])
def test_letters_twice_as_large_cut_nothing_off_and_every_end_can_be_seen(
    home: Site, width: int, height: int
):
    home.hear("john", "Leo has the dentist Thursday at 4pm")
    home.hear("sarah", "who's picking up Mia from ballet today?")
    with home.visit(viewport={"width": width, "height": height}) as page:
        for path in PAGES:
            page.goto(path)
            page.evaluate("document.documentElement.style.fontSize = '200%'")
            assert page.evaluate("document.documentElement.scrollWidth") <= width, path
            page.evaluate("scrollTo({ top: document.body.scrollHeight, behavior: 'instant' })")
            end = page.locator("main > :last-child").bounding_box() or {"y": 0, "height": 0}
            bars = page.locator(".tabs").all()
            top = min([height, *(box["y"] for bar in bars if (box := bar.bounding_box()))])
            assert end["y"] + end["height"] <= top, path


def test_words_from_right_to_left_run_from_right_to_left(home: Site):
    mixed, from_the_right = (
        "Mia اليوم has a checkup Wednesday at 11am",
        "اليوم Leo has chess at 5pm",
    )
    home.hear("john", mixed)
    home.hear("sarah", from_the_right)
    with home.visit() as page:
        page.goto("/pending")
        directions = page.evaluate(
            """() => Object.fromEntries([...document.querySelectorAll("blockquote")]
              .map((each) => [each.textContent.trim(), getComputedStyle(each).direction]))"""
        )
    assert (directions.get(mixed), directions.get(from_the_right)) == ("ltr", "rtl"), directions
