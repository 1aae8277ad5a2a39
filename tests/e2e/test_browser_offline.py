"""The app on a phone: what it shows without a connection, for whom, and for how long."""

import socket
import threading
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest
import uvicorn
from playwright.sync_api import Browser, Page, expect

from browsing import CHROMIUM, FREE, axe_source, small_targets, violations
from kinkeeper.web.access import logins
from kinkeeper.web.access.model import AccessRole
from kinkeeper.web.pages import offline, responses
from web_server import Served, served

pytestmark = [
    pytest.mark.slow,
    pytest.mark.skipif(not CHROMIUM.exists(), reason="needs Chromium: apt-get install chromium"),
]

COPIES = """async () => {
  const found = [];
  for (const name of await caches.keys())
    if (name.startsWith("copies-"))
      for (const each of await (await caches.open(name)).keys()) found.push(new URL(each.url).pathname);
  return found.sort();
}"""
ALL_KEPT = """async () => {
  const found = [];
  for (const name of await caches.keys())
    for (const each of await (await caches.open(name)).keys()) found.push(new URL(each.url).pathname);
  return found;
}"""


class Server:
    """A server on one port that can go away and come back."""

    def __init__(self, serving: Served) -> None:
        self.serving = serving
        with socket.socket() as free:
            free.bind(("127.0.0.1", 0))
            self.port = free.getsockname()[1]
        self.address = f"http://127.0.0.1:{self.port}"

    def start(self) -> None:
        self.serving.context.stopping.clear()
        config = uvicorn.Config(
            self.serving.app, host="127.0.0.1", port=self.port, log_level="error", lifespan="off"
        )
        self.server = uvicorn.Server(config)
        self.thread = threading.Thread(target=self.server.run, daemon=True)
        self.thread.start()
        while not self.server.started:
            time.sleep(0.02)

    def stop(self) -> None:
        self.serving.context.stopping.set()
        self.server.should_exit = self.server.force_exit = True
        self.thread.join(10)


@pytest.fixture
def server(tmp_path: Path) -> Iterator[Server]:

    with served(tmp_path, rates=FREE) as serving:
        made = Server(serving)
        made.start()
        yield made
        made.stop()


@contextmanager
def phone(server: Server, browser: Browser, **options: object) -> Iterator[Page]:
    context = browser.new_context(
        base_url=server.address, viewport={"width": 390, "height": 800}, **options
    )
    context.set_default_timeout(15_000)
    yield context.new_page()
    context.close()


def sign_in(page: Page, server: Server, member: str, role: AccessRole = AccessRole.OWNER) -> None:
    page.goto(server.serving.invitation(member, role))
    page.get_by_role("button", name="Sign in as").click()
    page.wait_for_url("**/")


def until_copies(page: Page, wanted: list[str]) -> None:
    found: list[str] = []
    for _ in range(100):
        found = page.evaluate(COPIES)
        if found == wanted:
            return
        page.wait_for_timeout(50)
    pytest.fail(f"copies are {found}, not {wanted}")


def test_today_and_inbox_are_there_without_a_connection_and_say_so(
    server: Server, browser: Browser
):
    with phone(server, browser) as page:
        sign_in(page, server, "sarah")
        until_copies(page, ["/", "/pending"])
        kept = page.evaluate(ALL_KEPT)
        assert not [each for each in kept if each.startswith(("/api", "/live", "/chat", "/memory"))]
        server.stop()
        for path, title in (("/", "Today"), ("/pending", "Inbox")):
            page.goto(path)
            expect(page.locator("#offline")).to_contain_text("Offline. As of ")
            expect(page.locator("nav a[aria-current]")).to_contain_text(title)
            assert (
                page.locator("main button:enabled, main a[href]:not([href='/pending'])").count()
                == 0
            )
            assert violations(page, axe_source()) == []
            assert small_targets(page) == []
        page.goto("/calendar")
        expect(page.locator("h1")).to_have_text("You're offline")
        page.goto("/")
        expect(page.locator("#offline")).to_be_visible()
        server.start()
        expect(page.locator("#offline")).to_be_hidden(timeout=20_000)


def test_signing_out_deletes_the_copies_also_without_a_connection(server: Server, browser: Browser):
    with phone(server, browser) as page:
        sign_in(page, server, "sarah")
        until_copies(page, ["/", "/pending"])
        page.locator(".me summary").click()
        page.get_by_role("button", name="Sign out").click()
        page.wait_for_url("**/login")
        assert page.evaluate(COPIES) == []
        server.stop()
        page.goto("/")
        expect(page.locator("h1")).to_have_text("You're offline")
        server.start()


def test_a_sign_in_that_was_ended_elsewhere_deletes_the_copies(server: Server, browser: Browser):
    with phone(server, browser) as page:
        sign_in(page, server, "sarah")
        until_copies(page, ["/", "/pending"])
        serving = server.serving
        household = serving.system.household.id
        now = serving.clock.now()
        serving.context.store.write_now(
            lambda conn: logins.end_sessions(
                conn, household, "sarah", now=now, roles=frozenset(AccessRole)
            )
        )
        serving.app.state.door.forget()
        page.goto("/pending")
        page.wait_for_url("**/login**")
        until_copies(page, [])


def test_two_people_on_one_phone_never_see_each_others_copies(server: Server, browser: Browser):
    with phone(server, browser) as page:
        sign_in(page, server, "sarah")
        until_copies(page, ["/", "/pending"])
        sign_in(page, server, "leo", AccessRole.CHILD)
        until_copies(page, ["/", "/pending"])
        server.stop()
        page.goto("/")
        expect(page.locator(".me summary")).to_have_attribute("aria-label", "You are Leo")
        page.goto("/pending")
        expect(page.locator(".me summary")).to_have_attribute("aria-label", "You are Leo")
        server.start()


def test_a_copy_is_shown_no_longer_than_it_may_be_kept(server: Server, browser: Browser):
    with phone(server, browser) as page:
        sign_in(page, server, "sarah")
        until_copies(page, ["/", "/pending"])
        page.evaluate(
            """async () => {
              for (const name of await caches.keys()) {
                if (!name.startsWith("copies-")) continue;
                const cache = await caches.open(name);
                const found = await cache.match("/");
                const headers = new Headers(found.headers);
                headers.set("kinkeeper-kept-until", "1");
                await cache.put("/", new Response(await found.text(), { headers }));
              }
            }"""
        )
        server.stop()
        page.goto("/")
        expect(page.locator("h1")).to_have_text("You're offline")
        assert page.evaluate(COPIES) == ["/pending"]
        server.start()


def test_a_new_release_takes_over_and_leaves_nothing_of_the_old_one(
    server: Server, browser: Browser, monkeypatch: pytest.MonkeyPatch
):
    with phone(server, browser) as page:
        sign_in(page, server, "sarah")
        until_copies(page, ["/", "/pending"])
        before = page.evaluate("caches.keys()")
        server.stop()
        changed = responses.static_files()["kin.css"] + b"\n.brand { outline: 3px solid red; }\n"
        monkeypatch.setitem(responses.static_files(), "kin.css", changed)
        caches = (responses.asset, offline.worker_text, responses.environment)
        for each in caches:
            each.cache_clear()
        try:
            server.start()
            page.goto("/")
            assert (
                page.evaluate("getComputedStyle(document.querySelector('.brand')).outlineWidth")
                == "3px"
            )
            page.wait_for_function(
                "async (old) => !(await caches.keys()).some((name) => name.startsWith('files-') && old.includes(name))",
                arg=before,
            )
            until_copies(page, ["/", "/pending"])
            server.stop()
            page.goto("/")
            expect(page.locator("#offline")).to_be_visible()
            assert (
                page.evaluate("getComputedStyle(document.querySelector('.brand')).outlineWidth")
                == "3px"
            )
            server.start()
        finally:
            monkeypatch.undo()
            for each in caches:
                each.cache_clear()


def test_the_app_can_be_installed(server: Server, browser: Browser):
    with phone(server, browser) as page:
        sign_in(page, server, "sarah")
        page.evaluate("navigator.serviceWorker.ready.then(() => true)")
        session = page.context.new_cdp_session(page)
        manifest = session.send("Page.getAppManifest")
        assert manifest["errors"] == []
        found = session.send("Page.getInstallabilityErrors")["installabilityErrors"]
        # Every context of a test is a private window.
        assert [each["errorId"] for each in found if each["errorId"] != "in-incognito"] == []


@pytest.mark.parametrize("theme", ["light", "dark"])
def test_what_is_shared_is_a_message_that_the_person_sends(
    server: Server, browser: Browser, theme: str
):
    with phone(server, browser, color_scheme=theme) as page:
        sign_in(page, server, "sarah")
        # As the phone sends it: a form of its own, without our token.
        page.evaluate(
            """() => {
              const form = document.createElement("form");
              form.method = "post"; form.action = "/share"; form.enctype = "multipart/form-data";
              for (const [name, value] of [["title", "Swim meet"], ["text", "Saturday at 9 <b>sharp</b>"], ["url", "https://example.org/meet"]]) {
                const input = document.createElement("input");
                input.name = name; input.value = value; form.append(input);
              }
              document.body.append(form); form.submit();
            }"""
        )
        page.wait_for_url("**/share")
        box = page.get_by_label("Your message")
        expect(box).to_have_value("Swim meet\nSaturday at 9 <b>sharp</b>\nhttps://example.org/meet")
        assert violations(page, axe_source()) == []
        assert small_targets(page) == []
        assert page.evaluate("document.documentElement.scrollWidth") <= 390
        page.get_by_role("button", name="Send", exact=True).click()
        page.wait_for_url("**/chat?thread=*")
        expect(page.locator(".mine")).to_contain_text("Swim meet")
