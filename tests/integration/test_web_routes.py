"""Every route there is: it declares whom it lets in, lets nobody else in, and knows no other household."""

import asyncio
import re
from collections.abc import Iterator
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import pytest
from fastapi import FastAPI
from fastapi.routing import APIRoute, iter_route_contexts

from kinkeeper.web.access.door import Allowed, anyone
from kinkeeper.web.access.model import AccessRole
from kinkeeper.web.api.observe import genuine
from kinkeeper.web.app import create_app
from page_visits import FREE
from web_server import BROWSER, Served, second_house, served

# Who comes here needs no login: probes, the ways in, the sample's play, and what has a secret of its own.
OPEN = {
    "/healthz",
    "/readyz",
    "/login",
    "/invite/{code}",
    "/telegram/webhook",
    "/openapi.json",
    "/welcome",
    "/welcome/live",
    "/calendar.ics",
    "/service-worker.js",
    "/offline",
}


@dataclass(frozen=True)
class Declared:
    """A route and its rule."""

    path: str
    methods: frozenset[str]
    rule: Any

    @property
    def address(self) -> str:
        """Return a path of this template, with ids that nothing has."""
        return re.sub(r"{[^}]*}", "0" * 20, self.path)


class TakesUpdates:
    def is_genuine(self, secret: str | None) -> bool:
        return secret == "agreed"  # noqa: S105 - a test's

    async def receive(self, body: bytes) -> None:
        return


@pytest.fixture
def house(tmp_path: Path) -> Iterator[Served]:
    with served(tmp_path, webhook=TakesUpdates(), rates=FREE) as serving:
        yield serving


def routes(app: FastAPI) -> list[Declared]:
    return [
        Declared(each.path, frozenset(each.methods or ()), rule_of(each.original_route))
        for each in iter_route_contexts(app.routes)
        if each.path is not None
    ]


def rule_of(route: Any) -> Any:
    if not isinstance(route, APIRoute):
        return getattr(getattr(route, "endpoint", None), "rule", None)
    rules = [
        each.call
        for each in route.dependant.dependencies
        if isinstance(each.call, Allowed) or each.call is anyone
    ]
    return rules[0] if len(rules) == 1 else None


def test_every_route_declares_whom_it_lets_in(house: Served) -> None:
    found = routes(house.app)
    assert len(found) > 10
    undeclared = [each.path for each in found if each.rule is None]
    assert undeclared == ["/openapi.json"]
    is_open = {each.path for each in found if not isinstance(each.rule, Allowed)}
    assert is_open <= OPEN | {path for path in is_open if path.startswith("/static")}


def test_nobody_gets_in_without_a_login(house: Served) -> None:
    guarded = [each for each in routes(house.app) if isinstance(each.rule, Allowed)]

    async def story() -> None:
        async with house.client() as client:
            for each in guarded:
                for method in each.methods:
                    told = await client.request(method, each.address)
                    assert told.status_code == 401, (method, each.path, told.text)
                    shown = await client.request(method, each.address, headers=BROWSER)
                    expected = (401,) if each.path.startswith(("/api/", "/v1/", "/mcp")) else (303,)
                    assert shown.status_code in expected, (method, each.path)

    asyncio.run(story())


@pytest.mark.parametrize("role", list(AccessRole))
def test_a_route_lets_in_exactly_the_roles_it_declares(house: Served, role: AccessRole) -> None:
    guarded = [each for each in routes(house.app) if isinstance(each.rule, Allowed)]

    async def story() -> None:
        token = house.token("john", role)
        for each in guarded:
            if role in each.rule.roles:
                continue
            for method in each.methods - {"HEAD"}:
                async with house.bearing(token) as client:
                    told = await client.request(method, each.address, json={})
                    # A body that is looked at first may be wrong; nothing else may come before the role.
                    assert told.status_code in {403, 422}, (method, each.path, role, told.text)
                    assert told.status_code == 403 or method != "GET", (method, each.path)

    asyncio.run(story())


def test_a_cookie_alone_writes_nothing_anywhere(house: Served) -> None:
    guarded = [each for each in routes(house.app) if isinstance(each.rule, Allowed)]

    async def story() -> None:
        async with house.client() as client:
            await house.log_in(client, "john")
            for each in guarded:
                if each.rule.only_shows:
                    continue
                for method in each.methods - {"GET", "HEAD"}:
                    told = await client.request(method, each.address)
                    assert told.status_code in {403, 422}, (method, each.path, told.text)

    asyncio.run(story())
    # What a phone shares is shown as an unsent message; `meta/test_gate.py` says why nothing lasts.
    assert [each.path for each in guarded if each.rule.only_shows] == ["/share"]


def test_what_belongs_to_another_household_is_not_there(house: Served) -> None:
    other = second_house(house, "jones")
    context = replace(house.context, houses={**house.context.houses, "jones": other})
    two = replace(house, app=create_app(context), context=context)

    async def story() -> None:
        theirs = two.token("john", household="jones")
        async with two.bearing(theirs) as jones, two.bearing(two.token("john")) as miller:
            key = (await jones.get("/api/keys")).json()[0]["id"]
            existing = {"key_id": key}
            for each in routes(two.app):
                names = {part.strip("{}") for part in each.path.split("/") if part.startswith("{")}
                if not names & set(existing):
                    continue
                path = each.path.format(**existing)
                for method in each.methods - {"HEAD"}:
                    told = await miller.request(method, path, json={})
                    assert told.status_code in {404, 422}, (method, each.path, told.text)
            assert (await jones.get("/api/me")).status_code == 200

    asyncio.run(story())


def test_updates_are_taken_only_with_the_agreed_secret(house: Served) -> None:
    header = "X-Telegram-Bot-Api-Secret-Token"

    async def story() -> None:
        async with house.client() as client:
            path = "/telegram/webhook"
            assert (await client.post(path, content=b"{}")).status_code == 403
            assert (
                await client.post(path, content=b"{}", headers={header: "x"})
            ).status_code == 403
            taken = await client.post(path, content=b"{}", headers={header: "agreed"})
            assert taken.status_code == 200

    asyncio.run(story())
    assert (
        rule_of(next(r for r in house.app.routes if getattr(r, "path", "") == "/telegram/webhook"))
        is genuine
    )


def test_a_server_without_webhook_has_no_such_route(tmp_path: Path) -> None:
    with served(tmp_path) as serving:
        assert "/telegram/webhook" not in {each.path for each in routes(serving.app)}
