"""Coming in by a link, staying in, leaving; roles, forged forms, keys that end."""

import asyncio
from collections.abc import Iterator
from dataclasses import replace
from datetime import datetime, timedelta
from pathlib import Path

import pytest
from sqlalchemy import select

from kinkeeper.bootstrap.web import end_keys_of_who_left
from kinkeeper.core.time import Clock
from kinkeeper.household.model import Role
from kinkeeper.web.access import logins
from kinkeeper.web.access.logins import access_keys
from kinkeeper.web.access.model import IDLE, READERS, AccessRole, usual_role
from kinkeeper.web.app import create_app
from kinkeeper.web.security.browser_protection import csrf_token
from web_server import ADDRESS, BROWSER, Served, second_house, served

RANKS = (AccessRole.GUEST, AccessRole.CHILD, AccessRole.ADULT, AccessRole.OWNER)


@pytest.fixture
def house(tmp_path: Path) -> Iterator[Served]:
    with served(tmp_path) as serving:
        yield serving


def test_an_invite_logs_in_once_and_looking_at_it_uses_nothing_up(house: Served) -> None:
    async def story() -> None:
        path = house.invitation("sarah")
        async with house.client(headers=BROWSER) as preview, house.client(headers=BROWSER) as phone:
            for _ in range(3):
                shown = await preview.get(path)
                assert shown.status_code == 200
                assert "Sign in as Sarah" in shown.text
                assert (await preview.head(path)).status_code in {200, 405}
            came = await phone.post(path, headers={"Origin": ADDRESS})
            assert (came.status_code, came.headers["location"]) == (303, "/")
            assert (await phone.get("/api/me")).json()["member"] == "sarah"
            assert (await preview.post(path)).status_code == 404
            assert (await preview.get(path)).status_code == 404
            assert (await preview.get("/api/me")).status_code == 401

    asyncio.run(story())


def test_racing_for_one_invite_makes_one_session(house: Served) -> None:
    async def story() -> None:
        path = house.invitation("sarah")
        async with house.client(headers=BROWSER) as client:
            answers = await asyncio.gather(*(client.post(path) for _ in range(8)))
        assert sorted(each.status_code for each in answers) == [303] + [404] * 7

    asyncio.run(story())


def test_an_old_invite_is_refused(house: Served) -> None:
    path = house.invitation("sarah")
    house.clock.advance_to(house.clock.now() + timedelta(hours=48))

    async def story() -> None:
        async with house.client(headers=BROWSER) as client:
            assert (await client.post(path)).status_code == 404

    asyncio.run(story())


def test_the_cookie_is_out_of_reach_of_scripts_and_bound_to_tls(house: Served) -> None:
    async def story() -> None:
        async with house.client("https://127.0.0.1:8765", headers=BROWSER) as client:
            answer = await client.post(house.invitation("sarah"))
            cookie = answer.headers["set-cookie"]
            assert cookie.startswith("__Host-kinkeeper=")
            assert {"HttpOnly", "Secure", "Path=/", "SameSite=lax"} <= set(cookie.split("; "))
            assert "Domain" not in cookie
            assert "max-age" in answer.headers["strict-transport-security"]
        async with house.client(headers=BROWSER) as client:
            answer = await client.post(house.invitation("sarah"))
            assert "HttpOnly" in answer.headers["set-cookie"]
            assert "strict-transport-security" not in answer.headers

    asyncio.run(story())


def test_no_secret_is_stored(house: Served) -> None:
    async def story() -> list[str]:
        token, path = house.token("sarah"), house.invitation("sarah")
        async with house.client(headers=BROWSER) as client:
            await client.post(path)
            return [token, path.removeprefix("/invite/"), client.cookies["kinkeeper"]]

    secrets = asyncio.run(story())
    rows = house.context.store.read_now(lambda conn: conn.execute(select(access_keys)).all())
    stored = " ".join(str(value) for row in rows for value in row)
    assert len(rows) == 3
    assert not [secret for secret in secrets if secret in stored]


@pytest.mark.parametrize(
    "headers",
    [
        {"Origin": "http://evil.example"},
        {"Origin": "null"},
        {"Sec-Fetch-Site": "cross-site"},
        {"Sec-Fetch-Site": "same-site"},
        {"Origin": "https://127.0.0.1:8765"},
    ],
)
def test_another_site_s_form_is_refused(house: Served, headers: dict[str, str]) -> None:
    async def story() -> None:
        async with house.client(headers=BROWSER) as client:
            assert (
                await client.post(house.invitation("sarah"), headers=headers)
            ).status_code == 403
            await house.log_in(client, "sarah")
            token = csrf_token(client.cookies["kinkeeper"])
            answer = await client.post("/logout", data={"csrf": token}, headers=headers)
            assert answer.status_code == 403
            assert (await client.get("/api/me")).status_code == 200

    asyncio.run(story())


def test_a_write_by_cookie_needs_the_session_s_own_token(house: Served) -> None:
    async def story() -> None:
        async with house.client() as mine, house.client() as other:
            await house.log_in(mine, "john")
            await house.log_in(other, "sarah")
            own = csrf_token(mine.cookies["kinkeeper"])
            foreign = csrf_token(other.cookies["kinkeeper"])
            wish = {"member": "sarah"}
            for headers in (
                {},
                {"X-CSRF-Token": ""},
                {"X-CSRF-Token": foreign},
                {"X-CSRF-Token": "é"},
            ):
                raw = {name: value.encode() for name, value in headers.items()}
                refused = await mine.post("/api/invites", json=wish, headers=raw)
                assert refused.status_code == 403, headers
            made = await mine.post("/api/invites", json=wish, headers={"X-CSRF-Token": own})
            assert made.status_code == 201
            assert made.json()["link"].startswith(f"{ADDRESS}/invite/")
            assert (await mine.post("/logout", data={"csrf": foreign})).status_code == 403
            assert (await mine.post("/logout", data={"csrf": own})).status_code == 303

    asyncio.run(story())


def test_logging_out_ends_the_session_not_only_the_cookie(house: Served) -> None:
    async def story() -> None:
        async with house.client() as phone, house.client() as laptop:
            await house.log_in(phone, "sarah")
            await house.log_in(laptop, "sarah")
            kept = phone.cookies["kinkeeper"]
            await phone.post("/logout", data={"csrf": csrf_token(kept)})
            again = await phone.get("/api/me", headers={"Cookie": f"kinkeeper={kept}"})
            assert again.status_code == 401
            assert (await laptop.get("/api/me")).status_code == 200
            await house.log_in(phone, "sarah")
            token = csrf_token(phone.cookies["kinkeeper"])
            await phone.post("/logout/everywhere", data={"csrf": token})
            assert (await laptop.get("/api/me")).status_code == 401

    asyncio.run(story())


@pytest.mark.parametrize(
    ("member", "mine", "others"),
    [
        ("john", AccessRole.SCREEN, AccessRole.OWNER),
        ("john", AccessRole.GUEST, AccessRole.OWNER),
        ("john", AccessRole.GUEST, AccessRole.ADULT),
        ("john", AccessRole.CHILD, AccessRole.ADULT),
        ("john", AccessRole.ADULT, AccessRole.OWNER),
        ("leo", AccessRole.SCREEN, AccessRole.CHILD),
        ("leo", AccessRole.GUEST, AccessRole.CHILD),
    ],
)
def test_a_lowered_login_ends_itself_and_none_that_opens_more(
    house: Served, member: str, mine: AccessRole, others: AccessRole
) -> None:
    async def story() -> None:
        async with house.client() as wall, house.client() as phone:
            await house.log_in(phone, member, others)
            await house.log_in(wall, member, mine)
            wanted = phone.cookies["kinkeeper"]
            headers = {"X-CSRF-Token": csrf_token(wall.cookies["kinkeeper"])}
            listed = (await phone.get("/api/keys")).json()
            [key] = [each["id"] for each in listed if each["is_this"]]
            for write in (
                lambda: wall.request("DELETE", f"/api/keys/{key}", headers=headers),
                lambda: wall.post(f"/people/keys/{key}/end", headers=headers),
            ):
                assert (await write()).status_code in {403, 404}
            assert (await wall.post("/logout/everywhere", headers=headers)).status_code == 303
            assert phone.cookies["kinkeeper"] == wanted
            assert (await phone.get("/api/me")).status_code == 200
            assert (await wall.get("/api/me")).status_code == 401

    asyncio.run(story())


def test_a_full_login_ends_the_lowered_ones(house: Served) -> None:
    async def story() -> None:
        async with house.client() as phone:
            await house.log_in(phone, "john", AccessRole.ADULT)
            walls = [house.client() for _ in range(3)]
            for wall, role in zip(
                walls, (AccessRole.SCREEN, AccessRole.GUEST, AccessRole.ADULT), strict=True
            ):
                await house.log_in(wall, "john", role)
            await phone.post(
                "/logout/everywhere", data={"csrf": csrf_token(phone.cookies["kinkeeper"])}
            )
            answers = [(await each.get("/api/me")).status_code for each in (phone, *walls)]
            assert answers == [401] * 4

    asyncio.run(story())


@pytest.mark.parametrize(
    "path",
    [
        *(f"/memory/changes?before={n}" for n in (2**31, 2**63, 10**30)),
        *(f"/chat/kitchen/events?after={n}" for n in (2**31, 2**63, 10**30)),
        *(
            f"{page}{at}"
            for page in ("/memory/heard?before=", "/calendar/x?at=")
            for at in ("0001-01-01T00:00:00%2B14:00", "9999-12-31T23:59:59-14:00")
        ),
    ],
)
def test_a_number_or_time_beyond_any_is_refused(house: Served, path: str) -> None:
    async def story() -> None:
        async with house.bearing(house.token("john")) as client:
            assert 400 <= (await client.get(path)).status_code < 500

    asyncio.run(story())


def test_an_idle_session_ends_and_a_used_one_does_not(house: Served) -> None:
    async def story() -> None:
        async with house.client() as client:
            await house.log_in(client, "sarah")
            for _ in range(4):
                house.clock.advance_to(house.clock.now() + IDLE - timedelta(hours=1))
                assert (await client.get("/api/me")).status_code == 200
            house.clock.advance_to(house.clock.now() + IDLE)
            assert (await client.get("/api/me")).status_code == 401

    asyncio.run(story())


def test_a_page_asks_for_a_login_and_a_program_is_told_so(house: Served) -> None:
    async def story() -> None:
        async with house.client() as client:
            page = await client.post("/logout", headers=BROWSER)
            assert (page.status_code, page.headers["location"]) == (303, "/login")
            told = await client.post("/logout")
            assert told.status_code == 401
            assert told.headers["www-authenticate"] == "Bearer"
            assert told.headers["content-type"] == "application/problem+json"

    asyncio.run(story())


@pytest.mark.parametrize(
    "header", ["Bearer", "Bearer ", "Basic x", "Bearer " + "x" * 5000, "Bearer é"]
)
def test_an_odd_authorization_is_no_login(house: Served, header: str) -> None:
    async def story() -> int:
        async with house.client() as client:
            answer = await client.get("/api/me", headers={"Authorization": header.encode()})
            return answer.status_code

    assert asyncio.run(story()) == 401


@pytest.mark.parametrize(
    ("role", "may_invite", "may_observe"),
    [
        (AccessRole.OWNER, True, True),
        (AccessRole.ADULT, False, True),
        (AccessRole.CHILD, False, False),
        (AccessRole.GUEST, False, False),
        (AccessRole.SCREEN, False, False),
        (AccessRole.BRIDGE, False, True),
    ],
)
def test_each_role_may_do_what_is_its(
    house: Served, role: AccessRole, may_invite: bool, may_observe: bool
) -> None:
    async def story() -> None:
        async with house.bearing(house.token("john", role)) as client:
            invited = await client.post("/api/invites", json={"member": "sarah"})
            assert (invited.status_code == 201) is may_invite
            observed = await client.post("/observe", content=b"[]")
            assert (observed.status_code == 422) is may_observe

    asyncio.run(story())


def test_a_role_lasts_only_while_the_household_file_allows_it(house: Served) -> None:
    child = house.system.household.children[0]

    async def story() -> None:
        async with house.bearing(house.token(child.id, AccessRole.OWNER)) as client:
            assert (await client.get("/api/me")).json()["role"] == "child"
            assert (await client.get("/metrics")).status_code == 403
        async with house.bearing(house.token("john")) as owner:
            for wish in (
                {"member": child.id, "role": "adult"},
                {"member": "sarah", "role": "owner"},
            ):
                assert (await owner.post("/api/invites", json=wish)).status_code == 422

    asyncio.run(story())


@pytest.mark.parametrize("owner", ["john", "sarah", None])
@pytest.mark.parametrize("role", Role)
def test_every_key_opens_no_more_than_the_household_file_grants_now(
    house: Served, role: Role, owner: str | None
) -> None:
    """Logins of every role and addresses of calendars, made while their holder was owner and parent."""
    tokens = {each: house.token("john", each) for each in READERS}

    async def feeds() -> list[str]:
        async with house.bearing(tokens[AccessRole.OWNER]) as client:
            made = [await client.post("/api/feeds", json={"is_own": own}) for own in (True, False)]
        return [each.json()["address"] for each in made]

    addresses = asyncio.run(feeds())
    home = house.system.household
    now = replace(
        home,
        owner=owner,
        members=tuple(
            replace(each, role=role) if each.id == "john" else each for each in home.members
        ),
    )
    john = now.member("john")
    assert john is not None
    inside = house.context.houses[home.id]
    changed = replace(inside, participants=replace(inside.participants, household=now))
    app = create_app(replace(house.context, houses={home.id: changed}))
    most = RANKS.index(usual_role(now, john))

    async def story() -> None:
        async with replace(house, app=app).client() as client:
            for granted, token in tokens.items():
                bearer = {"Authorization": f"Bearer {token}"}
                told = AccessRole((await client.get("/api/me", headers=bearer)).json()["role"])
                assert RANKS.index(told) <= min(RANKS.index(granted), most), granted
                keys = (await client.get("/api/keys", headers=bearer)).json()
                assert told is AccessRole.OWNER or {each["member"] for each in keys} <= {"john"}
            for address in addresses:
                answer = await client.get(address)
                assert answer.status_code == (200 if john.is_adult else 404), address

    asyncio.run(story())


def test_who_left_the_household_file_is_out(house: Served) -> None:
    token = house.token("nobody-any-more")

    async def story() -> int:
        async with house.bearing(token) as client:
            return (await client.get("/api/me")).status_code

    assert asyncio.run(story()) == 401


def test_who_left_leaves_no_key_to_the_next_one_of_that_id(house: Served, tmp_path: Path) -> None:
    nanny = house.system.household.adults[0]
    left = replace(
        house.system.household,
        members=tuple(each for each in house.system.household.members if each != nanny),
    )
    tokens = [house.token(nanny.id), house.token(left.adults[0].id)]
    invitation = house.invitation(nanny.id)
    system = replace(house.system, household=left)
    house.context.store.write_now(
        lambda conn: end_keys_of_who_left(conn, system.household, now=house.clock.now())
    )

    async def story() -> list[int]:
        async with house.client(headers=BROWSER) as client:
            found = [(await client.post(invitation)).status_code]
        for token in tokens:
            async with house.bearing(token) as client:
                found.append((await client.get("/api/me")).status_code)
        return found

    assert asyncio.run(story()) == [404, 401, 200]


def test_people_end_their_own_keys_and_the_owner_ends_all(house: Served) -> None:
    async def story() -> None:
        owner_token, token = house.token("john"), house.token("sarah", AccessRole.ADULT)
        async with house.bearing(owner_token) as owner, house.bearing(token) as adult:
            seen = (await adult.get("/api/keys")).json()
            assert [key["member"] for key in seen] == ["sarah"]
            everybody = (await owner.get("/api/keys")).json()
            assert {key["member"] for key in everybody} == {"john", "sarah"}
            johns = next(key["id"] for key in everybody if key["member"] == "john")
            assert (await adult.delete(f"/api/keys/{johns}")).status_code == 404
            assert (await owner.delete(f"/api/keys/{seen[0]['id']}")).status_code == 204
            assert (await adult.get("/api/me")).status_code == 401
            assert (await owner.delete(f"/api/keys/{seen[0]['id']}")).status_code == 404

    asyncio.run(story())


def test_a_key_that_another_process_ends_closes_within_seconds(house: Served) -> None:
    async def story() -> None:
        async with house.bearing(house.token("sarah")) as client:
            assert (await client.get("/api/me")).status_code == 200
            key = (await client.get("/api/keys")).json()[0]["id"]
            await house.context.store.write(
                lambda conn: logins.end_key(
                    conn, house.system.household.id, key, now=house.clock.now()
                )
            )
            house.clock.advance_to(house.clock.now() + timedelta(seconds=5))
            assert (await client.get("/api/me")).status_code == 401

    asyncio.run(story())


class SetBack:
    """A clock that somebody sets back by a day."""

    def __init__(self, clock: Clock) -> None:
        self._clock = clock
        self.is_set_back = False

    def now(self) -> datetime:
        return self._clock.now() - timedelta(days=self.is_set_back)


def test_a_clock_set_back_keeps_no_ended_key_alive(house: Served) -> None:
    clock = SetBack(house.clock)
    context = replace(house.context, clock=clock)
    server = replace(house, app=create_app(context), context=context)

    async def story() -> None:
        async with server.bearing(house.token("sarah")) as client:
            key = (await client.get("/api/keys")).json()[0]["id"]
            clock.is_set_back = True
            await house.context.store.write(
                lambda conn: logins.end_key(conn, house.system.household.id, key, now=clock.now())
            )
            assert (await client.get("/api/me")).status_code == 401

    asyncio.run(story())


def test_a_key_opens_one_household(house: Served, tmp_path: Path) -> None:
    other = second_house(house, "jones")
    both = replace(house.context, houses={**house.context.houses, "jones": other})
    two = replace(house, app=create_app(both), context=both)

    async def story() -> None:
        here, there = house.token("sarah"), house.token("sarah", household="jones")
        async with two.bearing(here) as miller, two.bearing(there) as jones:
            assert (await miller.get("/api/me")).json()["household"] == "miller"
            assert (await jones.get("/api/me")).json()["household"] == "jones"
            seen = (await jones.get("/api/keys")).json()
            assert len(seen) == 1
            assert (await miller.delete(f"/api/keys/{seen[0]['id']}")).status_code == 404
            assert (await jones.get("/api/me")).status_code == 200
        # A server that does not serve that household does not let its keys in.
        async with house.bearing(there) as elsewhere:
            assert (await elsewhere.get("/api/me")).status_code == 401

    asyncio.run(story())
