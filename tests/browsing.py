"""A real browser before a real server with the sample household; nothing else can be reached."""

import asyncio
import json
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from dataclasses import dataclass, field
from datetime import timedelta
from importlib.util import find_spec
from pathlib import Path
from typing import Any

from playwright.sync_api import Browser, BrowserContext, Page, Route, sync_playwright

from kinkeeper.cli.chat_files import play_sample
from kinkeeper.core.messages import InboundMessage
from kinkeeper.web.access.model import AccessRole
from kinkeeper.web.security.request_limits import RateLimits
from web_server import Served, listening, served

CHROMIUM = Path("/usr/bin/chromium")
_FLAGS = [
    "--no-sandbox",
    "--disable-gpu",
    "--disable-background-networking",
    "--disable-sync",
    "--disable-component-update",
    "--no-first-run",
    "--disable-dev-shm-usage",
]
FREE = RateLimits(probe=None, read=None, write=None, login=None)


@dataclass(kw_only=True)
class Site:
    """A running server, a browser, and what pages asked other hosts for."""

    serving: Served
    browser: Browser
    address: str
    strayed: list[str] = field(default_factory=list)
    complaints: list[str] = field(default_factory=list)

    @contextmanager
    def visit(
        self, member: str | None = "sarah", role: AccessRole = AccessRole.OWNER, **options: Any
    ) -> Iterator[Page]:
        """Open a page, logged in unless it is nobody's."""
        context = self.browser.new_context(base_url=self.address, **options)
        context.set_default_timeout(20_000)
        self._watch(context)
        page = context.new_page()
        page.on("console", self._note)
        page.on("pageerror", lambda error: self.complaints.append(str(error)))
        try:
            if member is not None:
                page.goto(self.serving.invitation(member, role))
                page.get_by_role("button", name="Sign in as").click()
                page.wait_for_url("**/")
            yield page
        finally:
            context.close()

    def hear(self, sender: str, text: str) -> None:
        """Let somebody say something in the family's chat."""
        at = self.serving.clock.now() + timedelta(minutes=1)
        message = InboundMessage(
            channel="replay",
            chat_id="family",
            message_id=f"m-{at:%d%H%M}",
            sender=sender,
            text=text,
            sent_at=at,
        )
        replay = self.serving.system.replay(self.serving.clock.now())

        async def feed() -> None:
            async for _ in replay.feed(message):
                pass

        # Playwright keeps an event loop on this thread.
        with ThreadPoolExecutor(1) as pool:
            pool.submit(lambda: asyncio.run(feed())).result()
        self.serving.clock.advance_to(at)

    def _watch(self, context: BrowserContext) -> None:
        def pass_or_stop(route: Route) -> None:
            if route.request.url.startswith((self.address, "data:", "about:")):
                route.continue_()
            else:
                self.strayed.append(route.request.url)
                route.abort()

        context.route("**/*", pass_or_stop)

    def _note(self, message: Any) -> None:
        if message.type in {"error", "warning"}:
            self.complaints.append(message.text)


@contextmanager
def chromium() -> Iterator[Browser]:
    """Start a browser, which takes longer than most of what is looked at in it."""
    with sync_playwright() as playwright:
        browser = playwright.chromium.launch(executable_path=CHROMIUM, args=_FLAGS)
        yield browser
        browser.close()


@contextmanager
def site(folder: Path, browser: Browser) -> Iterator[Site]:
    """Serve the sample household on a free port, to be visited with a browser."""
    with served(folder, rates=FREE, sample=play_sample) as serving, listening(serving) as address:
        yield Site(serving=serving, browser=browser, address=address)


def axe_source() -> str:
    """Return the accessibility checker, to be run inside a page."""
    found = find_spec("axe_playwright_python")
    assert found is not None
    assert found.origin is not None
    return (Path(found.origin).parent / "axe.min.js").read_text(encoding="utf-8")


def violations(page: Page, axe: str) -> list[str]:
    """Return what the accessibility checker finds wrong with a page.

    Words in the very colour of their ground it only calls undecided, as they might be hidden on purpose.
    """
    page.evaluate(axe)
    found = page.evaluate("axe.run()")
    return [
        f"{each['id']}: {node['target']} {node.get('failureSummary', '')}"
        for kind in ("violations", "incomplete")
        for each in found[kind]
        for node in each["nodes"]
        if kind == "violations" or '"equalRatio"' in json.dumps(node)
    ]


def small_targets(page: Page, least: int = 44) -> list[str]:
    """Return everything that can be pressed and is smaller than a thumb."""
    found: list[str] = page.evaluate(
        """(least) => [...document.querySelectorAll(
            "a, button, summary, select, textarea, input:not([type=hidden]):not([type=checkbox]):not(label.tick input), label.tick")]
          .filter((each) => each.checkVisibility() && !each.matches(".skip"))
          .map((each) => [each, each.getBoundingClientRect()])
          .filter(([, box]) => box.width < least - 0.5 || box.height < least - 0.5)
          .map(([each, box]) => `${each.outerHTML.slice(0, 90)} ${box.width}x${box.height}`)""",
        least,
    )
    return found
