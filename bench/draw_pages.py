"""Draws the pictures of the pages in the documentation: the sample family, seen in a real browser.

Needs Chromium (`apt-get install chromium fonts-noto-color-emoji`); `pngquant`, where it is installed,
makes the files a third as large.
"""

import asyncio
import shutil
import subprocess
import sys
import tempfile
import threading
import time
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from datetime import datetime, timedelta
from importlib.resources import as_file, files
from pathlib import Path
from typing import Literal

import uvicorn
from playwright.sync_api import Browser, sync_playwright

from kinkeeper.actions import approvals
from kinkeeper.actions.memory_proposals import asked_to_remember
from kinkeeper.bootstrap import System, live_intake, open_system
from kinkeeper.cli.chat_files import BadLine, ChatLine, decisions, play_sample, read_any_chat
from kinkeeper.conversation.conversation import Conversation
from kinkeeper.core.time import VirtualClock
from kinkeeper.settings.model import Settings
from kinkeeper.web.access import logins
from kinkeeper.web.access.model import AccessRole
from kinkeeper.web.app import create_app
from kinkeeper.web.context import House, WebContext

CHROMIUM = Path("/usr/bin/chromium")
IMAGES = Path(__file__).parents[1] / "docs" / "images"
SAMPLE = files("kinkeeper.cli").joinpath("sample")
NOW = datetime.fromisoformat("2026-03-05T07:50:00-06:00")
VIEWER = "sarah"
PHONE_HEIGHT, DESK_HEIGHT, DESK = 844, 800, 1000
# The sample's days end on a Wednesday night; this is how the next morning begins.
MORNING = b"""
{"chat_id": "millers", "message_id": "m28", "sender": "john", "text": "I'll get Leo from soccer today at 5:30", "sent_at": "2026-03-05T07:21:00-06:00"}
{"chat_id": "millers", "message_id": "m29", "sender": "sarah", "text": "I can pick up Leo from soccer today at 5:30", "sent_at": "2026-03-05T07:24:00-06:00"}
{"chat_id": "millers", "message_id": "m30", "sender": "sarah", "text": "Mia has a playdate today from 3 to 5pm", "sent_at": "2026-03-05T07:31:00-06:00"}
"""
REMEMBERED = (
    ("sarah", "Leo is allergic to peanuts"),
    ("john", "Leo's favourite colour is green"),
    ("sarah", "Mia wants to learn the cello"),
    ("sarah", "My sister Anna lives in Leeds"),
    ("john", "Leo is allergic to peanuts"),
    ("sarah", "Mia's best friend is Priya"),
    ("john", "I work at the hospital on Elm Street"),
    ("sarah", "I don't eat pork"),
    ("john", "Mia doesn't like mushrooms"),
    ("sarah", "Leo wears shoe size 34"),
)
TALKED = (
    "Am I free for lunch tomorrow?",
    "Remind me to call mom tomorrow at 5pm",
    "Cancel Mia's swimming on Saturday",
)


@dataclass(frozen=True, slots=True, kw_only=True)
class Picture:
    """One picture.

    Attributes:
        page: Name of the page.
        path: Its address.
        width: Of the browser, CSS pixels.
        theme: Colour scheme.
        card: Words of the card that is scrolled to; empty shows the page's beginning.
    """

    page: str
    path: str
    width: int = 390
    theme: Literal["light", "dark"] = "light"
    card: str = ""

    @property
    def name(self) -> str:
        """Name of its file."""
        return f"{self.page}-{self.width}-{self.theme}.png"


PICTURES = (
    Picture(page="today", path="/"),
    Picture(page="today", path="/", theme="dark"),
    Picture(page="pending", path="/pending", card="Sarah picks up Leo and Mia"),
    Picture(page="why", path="/why/m13"),
    Picture(page="silence", path="/silence", theme="dark"),
    Picture(page="memory", path="/memory"),
    Picture(page="map", path="/memory/map", theme="dark"),
    Picture(page="chat", path="/chat"),
    Picture(page="week", path="/calendar", width=1280, theme="dark"),
)


def main() -> None:
    """Play the sample family's days, serve them, and take the pictures."""
    if not CHROMIUM.exists():
        sys.exit(f"{CHROMIUM} is missing; apt-get install chromium fonts-noto-color-emoji")
    IMAGES.mkdir(parents=True, exist_ok=True)
    with tempfile.TemporaryDirectory() as folder, family(Path(folder)) as (system, address):
        invitation = invite(system)
        with sync_playwright() as playwright:
            browser = playwright.chromium.launch(
                executable_path=CHROMIUM, args=["--no-sandbox", "--disable-gpu"]
            )
            take(browser, address, invitation, PICTURES, IMAGES)
            browser.close()
    for picture in PICTURES:
        file = shrunk(IMAGES / picture.name)
        print(f"wrote {file}, {file.stat().st_size // 1000} kB")


@contextmanager
def family(folder: Path) -> Iterator[tuple[System, str]]:
    """Serve the sample family as it stands on that morning; yields its system and the address."""
    inputs = [
        *read_any_chat(SAMPLE.joinpath("chat.jsonl").read_bytes().splitlines(keepends=True)),
        *read_any_chat(MORNING.strip().splitlines(keepends=True)),
    ]
    with (
        as_file(SAMPLE.joinpath("household.toml")) as household,
        open_system(
            Settings(),
            household_file=household,
            database=str(folder / "family.sqlite"),
            now=first_moment(inputs),
        ) as system,
        live_intake(system, refuses_chats=False) as intake,
    ):
        asyncio.run(play(system, inputs))
        for place, (who, text) in enumerate(REMEMBERED):
            remember(system, who, text, at=first_moment(inputs) + place * timedelta(hours=5))
        clock = VirtualClock(NOW)
        conversation = system.talk(clock).conversation
        asyncio.run(converse(system, conversation))
        house = House(
            participants=system.participants,
            store=system.store,
            intake=intake,
            prover=system.prover(),
            finder=system.recall.finder,
            conversation=conversation,
        )
        context = WebContext(
            houses={system.household.id: house},
            store=system.store,
            clock=clock,
            address="http://127.0.0.1",
            sample=play_sample,
        )
        with running(context) as address:
            yield system, address


def remember(system: System, who: str, text: str, *, at: datetime) -> None:
    """Let a member have something remembered."""
    household = system.household
    member = next(each for each in household.members if each.id == who)
    proposal = asked_to_remember(household, member, text, channel="telegram", now=at)
    system.store.write_now(
        lambda conn: approvals.request(conn, proposal, member=member, household=household, now=at)
    )


def first_moment(inputs: Sequence[ChatLine | BadLine]) -> datetime:
    """Return when the chat begins."""
    return next(line.message.sent_at for line in inputs if isinstance(line, ChatLine))


async def play(system: System, inputs: Sequence[ChatLine | BadLine]) -> None:
    """Let the family talk."""
    async for _ in decisions(system, inputs, until=NOW):
        pass


async def converse(system: System, conversation: Conversation) -> None:
    """Let the viewer talk with the assistant."""
    member = next(each for each in system.household.members if each.id == VIEWER)
    for text in TALKED:
        await conversation.say(member, text, channel="web")
        await conversation.idle()


@contextmanager
def running(context: WebContext) -> Iterator[str]:
    """Run the server on a free port."""
    config = uvicorn.Config(
        create_app(context), host="127.0.0.1", port=0, log_level="error", lifespan="off"
    )
    server = uvicorn.Server(config)
    thread = threading.Thread(target=server.run, daemon=True)
    thread.start()
    while not server.started:
        time.sleep(0.02)
    try:
        yield f"http://127.0.0.1:{server.servers[0].sockets[0].getsockname()[1]}"
    finally:
        context.stopping.set()
        server.should_exit = True
        thread.join(10)


def invite(system: System) -> str:
    """Return the path of an invite."""
    household = system.household.id
    issued = system.store.write_now(
        lambda conn: logins.invite(conn, household, VIEWER, role=AccessRole.OWNER, now=NOW, hours=1)
    )
    return f"/invite/{issued.secret}"


def take(  # noqa: PLR0917 - what a picture needs
    browser: Browser, address: str, invitation: str, pictures: Sequence[Picture], folder: Path
) -> None:
    """Sign in once and take each picture as a screen shows it."""
    first = browser.new_context(base_url=address)
    page = first.new_page()
    page.goto(invitation)
    page.get_by_role("button", name="Sign in as").click()
    page.wait_for_url("**/")
    state = first.storage_state()
    first.close()
    for picture in pictures:
        is_phone = picture.width < DESK
        height = PHONE_HEIGHT if is_phone else DESK_HEIGHT
        context = browser.new_context(
            base_url=address,
            storage_state=state,
            color_scheme=picture.theme,
            viewport={"width": picture.width, "height": height},
            device_scale_factor=2 if is_phone else 1,
        )
        page = context.new_page()
        page.goto(picture.path)
        if picture.card:
            found = page.locator(".card", has_text=picture.card).first
            found.evaluate("(card) => card.scrollIntoView({ behavior: 'instant' })")
        page.screenshot(path=folder / picture.name)
        context.close()


def shrunk(file: Path) -> Path:
    """Return a picture with as few colours as it needs, where `pngquant` is installed."""
    if program := shutil.which("pngquant"):
        subprocess.run(  # noqa: S603 - our own file
            [program, "--force", "--strip", "--skip-if-larger", "--ext", ".png", "128", str(file)],
            check=False,
        )
    return file


if __name__ == "__main__":
    main()
