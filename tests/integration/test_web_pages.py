"""The pages over HTTP, as a browser without scripts uses them: see, decide, change, take back, ask why."""

import asyncio
import re
from collections.abc import Awaitable, Callable
from datetime import timedelta
from html import unescape
from pathlib import Path

import httpx

from kinkeeper.actions.model import ActionStatus, PendingAction
from kinkeeper.actions.repository import list_actions
from kinkeeper.core.messages import InboundMessage
from kinkeeper.web.access.model import AccessRole
from kinkeeper.web.security.rates import RateLimits
from web_server import BROWSER, Served, served

HOSTILE = "<script>alert(1)</script> \u202e \"'><img src=x onerror=alert(1)>"
FREE = RateLimits(read=None, write=None, login=None)


def _run(folder: Path, steps: Callable[[Served, httpx.AsyncClient], Awaitable[None]]) -> None:
    async def all_steps() -> None:
        with served(folder, rates=FREE) as serving:
            async with serving.client(headers=BROWSER) as client:
                await serving.log_in(client, "sarah")
                client.follow_redirects = True
                await steps(serving, client)

    asyncio.run(all_steps())


async def _hear(serving: Served, *said: tuple[str, str]) -> None:
    """Let members say something, a minute apart, through both tiers."""
    replay = serving.system.replay(serving.clock.now())
    for number, (sender, text) in enumerate(said):
        at = serving.clock.now() + timedelta(minutes=1)
        message = InboundMessage(
            channel="replay", chat_id="family", message_id=f"m{at:%H%M}-{number}", sender=sender,
            text=text, sent_at=at,
        )  # fmt: skip
        async for _ in replay.feed(message):
            pass
        serving.clock.advance_to(at)


def _actions(serving: Served) -> list[PendingAction]:
    household = serving.system.household.id
    return serving.context.store.read_now(
        lambda conn: list_actions(
            conn, household, statuses=frozenset(ActionStatus), now=serving.clock.now()
        )
    )


def _field(page: str, name: str) -> str:
    found = re.search(rf'name="{name}" value="([^"]*)"', page)
    assert found is not None, name
    return unescape(found[1])


async def _press(
    client: httpx.AsyncClient, page: str, path: str, **fields: str | list[str]
) -> httpx.Response:
    return await client.post(
        path, data={"csrf": _field(page, "csrf"), "hash": _field(page, "hash"), **fields}
    )


CLAIM = ("sarah", "I'll pick up Leo from school tomorrow at 3pm")


def test_a_yes_puts_it_into_the_calendar_and_undo_takes_it_out(tmp_path: Path):
    async def steps(serving: Served, client: httpx.AsyncClient) -> None:
        await _hear(serving, CLAIM)
        [action] = _actions(serving)
        page = (await client.get("/pending")).text
        assert action.proposal.summary in unescape(page)
        assert "I&#39;ll pick up Leo" in page
        assert "may decide" in page
        assert "autofocus" not in page
        told = await _press(client, page, f"/pending/{action.id}/confirm")
        assert "Saved:" in told.text
        assert "Nothing needs you." in told.text
        week = (await client.get("/calendar")).text
        assert "Sarah picks up Leo" in week
        entry = re.search(
            r'href="(/calendar/event/[^"]+)"[^>]*>(?:(?!</a>).)*Sarah picks', week, re.DOTALL
        )
        assert entry is not None
        told_why = (await client.get(unescape(entry[1]))).text
        assert "It was heard in the chat." in told_why
        assert "Sarah said yes" in told_why
        undone = await _press(client, page, f"/pending/{action.id}/undo")
        assert "Taken back:" in undone.text
        assert "Sarah picks up Leo" not in (await client.get("/calendar")).text

    _run(tmp_path, steps)


def test_not_right_puts_it_away_with_its_reason(tmp_path: Path):
    async def steps(serving: Served, client: httpx.AsyncClient) -> None:
        await _hear(serving, CLAIM)
        [action] = _actions(serving)
        page = (await client.get("/pending")).text
        told = await _press(client, page, f"/pending/{action.id}/not-right", reason="wrong_day")
        assert "nothing was saved" in told.text
        assert _actions(serving)[0].status is ActionStatus.REJECTED
        again = await _press(client, page, f"/pending/{action.id}/confirm")
        assert "Nothing was changed" in again.text
        assert _actions(serving)[0].status is ActionStatus.REJECTED

    _run(tmp_path, steps)


def test_a_card_can_be_corrected_before_it_is_saved(tmp_path: Path):
    async def steps(serving: Served, client: httpx.AsyncClient) -> None:
        await _hear(serving, CLAIM)
        [action] = _actions(serving)
        form = (await client.get(f"/pending/{action.id}/change")).text
        fields = {"start": "15:30", "end": "16:00", "owner": ["john"]}
        told = await _press(
            client, form, f"/pending/{action.id}/change", day=_field(form, "day"), **fields
        )
        assert "Saved: John picks up Leo" in told.text
        [old] = [each for each in _actions(serving) if each.id == action.id]
        [new] = [each for each in _actions(serving) if each.id != action.id]
        assert old.status is ActionStatus.SUPERSEDED
        assert new.status is ActionStatus.DONE
        assert new.decided_by == "sarah"
        event = new.proposal.effects[0]["event"]
        assert event["responsible"] == ["john"]
        assert "T15:30" in event["start"]
        repeated = await _press(
            client, form, f"/pending/{action.id}/change", day=_field(form, "day"), **fields
        )
        assert "Something newer took its place" in repeated.text
        assert len(_actions(serving)) == 2

    _run(tmp_path, steps)


def test_a_correction_that_makes_no_sense_changes_nothing(tmp_path: Path):
    async def steps(serving: Served, client: httpx.AsyncClient) -> None:
        await _hear(serving, CLAIM)
        [action] = _actions(serving)
        form = (await client.get(f"/pending/{action.id}/change")).text
        path, day = f"/pending/{action.id}/change", _field(form, "day")
        for fields in ({"start": "quarter past"}, {"start": "15:00", "owner": ["stranger"]}):
            refused = await _press(client, form, path, day=day, **fields)
            assert refused.status_code == 422
        for far in ("2026-13-40", "9999-12-31", "0001-01-01"):
            overnight = {"start": "23:00", "end": "01:00"}
            assert (await _press(client, form, path, day=far, **overnight)).status_code == 422
        assert [each.status for each in _actions(serving)] == [ActionStatus.PENDING]

    _run(tmp_path, steps)


def test_a_child_reads_but_decides_nothing_and_a_screen_sees_two_pages(tmp_path: Path):
    async def steps(serving: Served, client: httpx.AsyncClient) -> None:
        await _hear(serving, CLAIM)
        [action] = _actions(serving)
        adult = (await client.get("/pending")).text
        for member, role, allowed in (
            ("leo", AccessRole.CHILD, ("/", "/pending", "/calendar", "/silence", "/health")),
            ("john", AccessRole.SCREEN, ("/", "/calendar")),
        ):
            async with serving.client(headers=BROWSER) as other:
                await serving.log_in(other, member, role)
                other.follow_redirects = True
                for path in ("/", "/pending", "/calendar", "/silence", "/health"):
                    wanted = 200 if path in allowed else 403
                    assert (await other.get(path)).status_code == wanted, (role, path)
                page = (await other.get("/")).text
                fields = {"csrf": _field(page, "csrf"), "hash": _field(adult, "hash")}
                forged = await other.post(f"/pending/{action.id}/confirm", data=fields)
                assert forged.status_code == 403
                assert "Confirm</span>" not in (await other.get("/pending")).text
        assert _actions(serving)[0].status is ActionStatus.PENDING

    _run(tmp_path, steps)


def test_a_card_that_is_not_what_was_shown_is_not_confirmed(tmp_path: Path):
    async def steps(serving: Served, client: httpx.AsyncClient) -> None:
        await _hear(serving, CLAIM)
        [action] = _actions(serving)
        page = (await client.get("/pending")).text
        told = await _press(client, page, f"/pending/{action.id}/confirm", hash="0" * 64)
        assert "had changed meanwhile" in told.text
        lapsed = serving.clock.now() + timedelta(hours=60)
        serving.clock.advance_to(lapsed)
        late = await _press(client, page, f"/pending/{action.id}/confirm")
        assert "This had lapsed." in late.text
        assert _actions(serving)[0].status is ActionStatus.EXPIRED

    _run(tmp_path, steps)


def test_words_of_the_chat_are_never_markup(tmp_path: Path):
    async def steps(serving: Served, client: httpx.AsyncClient) -> None:
        await _hear(
            serving, ("sarah", f"I'll pick up Leo tomorrow at 3pm {HOSTILE}"), (HOSTILE, HOSTILE)
        )
        paths = ["/", "/pending", "/calendar", "/calendar?span=agenda", "/silence"]
        ledger = (await client.get("/silence")).text + (await client.get("/pending")).text
        whys = {unescape(each) for each in re.findall(r'href="(/why/[^"]+)"', ledger)}
        assert len(whys) == 2
        for path in [*paths, *whys]:
            answer = await client.get(path)
            assert answer.status_code == 200, path
            assert "<script>alert" not in answer.text
            assert "<img src=x" not in answer.text

    _run(tmp_path, steps)


def test_why_tells_the_ladder_takes_a_verdict_and_proves_itself(tmp_path: Path):
    async def steps(serving: Served, client: httpx.AsyncClient) -> None:
        await _hear(serving, CLAIM, ("john", "lol"))
        page = (await client.get("/pending")).text
        address = unescape(re.search(r'href="(/why/[^"]+)">why', page)[1])  # type: ignore[index]
        why = (await client.get(address)).text
        assert "Looks like planning" in why
        assert "What was kept" in why
        judged = await client.post(
            address, data={"csrf": _field(why, "csrf"), "verdict": "good_call"}
        )
        assert "noted: good call" in judged.text
        replay = address.replace("/why/", "/replay/")
        proved = await client.post(replay, data={"csrf": _field(why, "csrf")})
        assert "the same decision, to the letter" in proved.text
        ledger = (await client.get("/silence")).text
        assert "2 messages, 1 understood, 1 saved" in ledger
        assert "lol" in ledger

    _run(tmp_path, steps)


def test_every_address_that_a_page_may_carry_answers(tmp_path: Path):
    paths = (
        "/calendar?span=month&on=2026-11-01", "/calendar?span=agenda", "/calendar?on=1971-01-01",
        "/calendar?on=2199-12-31&span=month", "/calendar?on=9999-12-31", "/calendar?on=0001-01-01",
        "/health", "/pending?about=nothing&outcome=done",
    )  # fmt: skip

    far = ("9999-12-31T23:59:59Z", "0001-01-01T00:00:00%2B14:00", "2026-03-05", "2199-12-31T00:00Z")

    async def steps(serving: Served, client: httpx.AsyncClient) -> None:
        entry = re.search(r'href="(/calendar/event/[^"?]+)', (await client.get("/calendar")).text)
        assert entry is not None
        for path in (*paths, *(f"{entry[1]}?at={at}" for at in far)):
            assert (await client.get(path)).status_code == 200, path

    _run(tmp_path, steps)


def test_what_does_not_exist_is_said_on_a_page(tmp_path: Path):
    missing = {
        "/calendar?span=decade": 422, "/calendar?on=never": 422, "/why/unheard-of": 404,
        "/calendar/event/none": 404, "/pending/none/change": 404, "/static/none.css": 404,
        "/static/..%2Fcontext.py": 404,
    }  # fmt: skip

    async def steps(serving: Served, client: httpx.AsyncClient) -> None:
        for path, status in missing.items():
            answer = await client.get(path)
            assert answer.status_code == status, path
            assert "<h1>" in answer.text, path

    _run(tmp_path, steps)


def test_static_files_are_kept_for_good_and_need_no_login(tmp_path: Path):
    async def steps(serving: Served, client: httpx.AsyncClient) -> None:
        async with serving.client(headers=BROWSER) as nobody:
            page = (await nobody.get("/login")).text
            assets = re.findall(r'(?:href|src)="(/static/[^"]+)"', page)
            assert len(assets) >= 6
            for asset in assets:
                answer = await nobody.get(asset)
                assert answer.status_code == 200
                assert "immutable" in answer.headers["cache-control"]

    _run(tmp_path, steps)


def test_live_tells_at_once_what_a_page_missed_and_then_what_happens(tmp_path: Path):
    async def steps(serving: Served, client: httpx.AsyncClient) -> None:
        page = (await client.get("/")).text
        seen = re.search(r'data-cursor="([^"]+)"', page)[1]  # type: ignore[index]
        await _hear(serving, CLAIM)
        request = client.build_request("GET", "/live", headers={"Last-Event-ID": seen})
        told: list[str] = []

        async def listen() -> None:
            answer = await client.send(request)
            told.append(answer.text)

        async with asyncio.timeout(20), asyncio.TaskGroup() as tasks:
            tasks.create_task(listen())
            await asyncio.sleep(0.3)
            await _hear(serving, ("john", "pizza tonight?"))
            await asyncio.sleep(0.3)
            serving.context.stopping.set()
            await _hear(serving, ("john", "or sushi"))
        ids = re.findall(r"^id: (\S+)$", told[0], re.MULTILINE)
        assert len(ids) >= 2
        assert ids[0] != seen
        assert len(set(ids)) == len(ids)

    _run(tmp_path, steps)
