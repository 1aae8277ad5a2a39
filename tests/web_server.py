"""The sample household behind the server's application, reached in process by a real client."""

import threading
import time
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass, replace
from pathlib import Path
from types import MappingProxyType
from typing import Any

import httpx
import uvicorn
from fastapi import FastAPI

from kinkeeper.bootstrap import System, live_intake
from kinkeeper.core.time import VirtualClock
from kinkeeper.web.access import logins
from kinkeeper.web.access.model import AccessRole
from kinkeeper.web.app import create_app
from kinkeeper.web.context import House, WebContext
from live_household import HOUSEHOLD, MONDAY, live_system

ADDRESS = "http://127.0.0.1:8765"
BROWSER = {"Accept": "text/html,application/xhtml+xml"}


@dataclass(frozen=True, slots=True, kw_only=True)
class Served:
    """An application and what it stands on."""

    app: FastAPI
    context: WebContext
    system: System
    clock: VirtualClock

    def client(self, address: str = ADDRESS, **more: Any) -> httpx.AsyncClient:
        """Return a client that is nobody yet."""
        transport = httpx.ASGITransport(self.app, raise_app_exceptions=False)
        return httpx.AsyncClient(transport=transport, base_url=address, **more)

    def bearing(self, token: str, **more: Any) -> httpx.AsyncClient:
        """Return a client with an API token."""
        return self.client(headers={"Authorization": f"Bearer {token}"}, **more)

    def token(
        self,
        member: str,
        role: AccessRole = AccessRole.OWNER,
        household: str | None = None,
        *,
        is_program: bool = False,
    ) -> str:
        """Return an API token."""
        issued = self.context.store.write_now(
            lambda conn: logins.create_token(
                conn,
                household or self.system.household.id,
                member,
                role=role,
                label="test",
                now=self.clock.now(),
                is_program=is_program,
            )
        )
        return issued.secret

    def invitation(
        self, member: str, role: AccessRole = AccessRole.OWNER, household: str | None = None
    ) -> str:
        """Return the path of an invite."""
        issued = self.context.store.write_now(
            lambda conn: logins.invite(
                conn,
                household or self.system.household.id,
                member,
                role=role,
                now=self.clock.now(),
                hours=48,
            )
        )
        return f"/invite/{issued.secret}"

    async def log_in(
        self, client: httpx.AsyncClient, member: str, role: AccessRole = AccessRole.OWNER
    ) -> None:
        """Give a client a session of the member."""
        answer = await client.post(self.invitation(member, role), headers=BROWSER)
        assert answer.status_code == 303, answer.text


@contextmanager
def served(
    folder: Path,
    *,
    database: str | None = None,
    members: str = "",
    renamed: Mapping[str, str] = MappingProxyType({}),
    **context: Any,
) -> Iterator[Served]:
    """Serve the sample household from a database, one in that folder by default, on a clock that is moved by hand.

    Args:
        folder: For its files.
        database: Another database.
        members: Further members, as the household's file has them.
        renamed: Other ids for what the file names by these.
        **context: Of the server, in place of the usual.
    """
    with (
        live_system(
            database or folder / "family.sqlite", household=_listening(folder, members, renamed)
        ) as system,
        live_intake(system, refuses_chats=True) as intake,
    ):
        clock = VirtualClock(MONDAY)
        talk = system.talk(clock)
        house = House(
            participants=system.participants,
            store=system.store,
            intake=intake,
            prover=system.prover(),
            finder=system.recall.finder,
            streaming=talk.streaming,
            conversation=talk.conversation,
        )
        values: dict[str, Any] = {
            "houses": {system.household.id: house},
            "store": system.store,
            "clock": clock,
            "address": ADDRESS,
        }
        made = WebContext(**{**values, **context})
        yield Served(app=create_app(made), context=made, system=system, clock=clock)


@contextmanager
def listening(serving: Served) -> Iterator[str]:
    """Let clients of any kind reach an application on a free port; yields its address."""
    config = uvicorn.Config(
        serving.app, host="127.0.0.1", port=0, log_level="error", lifespan="off"
    )
    server = uvicorn.Server(config)
    thread = threading.Thread(target=server.run, daemon=True)
    thread.start()
    while not server.started:
        time.sleep(0.02)
    port = server.servers[0].sockets[0].getsockname()[1]
    try:
        yield f"http://127.0.0.1:{port}"
    finally:
        serving.context.stopping.set()
        server.should_exit = True
        thread.join(10)


def _listening(folder: Path, members: str, renamed: Mapping[str, str]) -> Path:
    """Write the sample household's file, with a chat that may be listened to."""
    text = HOUSEHOLD.read_text(encoding="utf-8")
    for old, new in renamed.items():
        text = text.replace(f'"{old}"', f'"{new}"')
    file = folder / "household.toml"
    file.write_text(
        text.replace("[household]\n", '[household]\nchats = ["family"]\n', 1) + members, "utf-8"
    )
    return file


@contextmanager
def with_neighbours(serving: Served, folder: Path) -> Iterator[Served]:
    """Serve another household beside the sample's, "jones" with a bot called Otto, on the same database."""
    text = HOUSEHOLD.read_text("utf-8").replace('id = "miller"', 'id = "jones"', 1)
    (folder / "jones.toml").write_text(text.replace('"Icarus"', '"Otto"', 1), "utf-8")
    with live_system(folder / "family.sqlite", household=folder / "jones.toml") as system:
        talk = system.talk(serving.clock)
        house = replace(
            serving.context.houses["miller"],
            participants=system.participants,
            store=system.store,
            finder=system.recall.finder,
            streaming=talk.streaming,
            conversation=talk.conversation,
        )
        context = replace(serving.context, houses={**serving.context.houses, "jones": house})
        yield replace(serving, app=create_app(context), context=context)


def second_house(serving: Served, household_id: str) -> House:
    """Return the same people again as another household, on the same store."""
    house = serving.context.houses[serving.system.household.id]
    other = replace(house.household, id=household_id)
    return replace(house, participants=replace(house.participants, household=other))
