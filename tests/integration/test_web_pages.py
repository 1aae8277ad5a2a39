"""The pages over HTTP, as a browser without scripts uses them: see, decide, change, take back, ask why."""

import asyncio
import re
from datetime import timedelta
from html import unescape
from pathlib import Path

import httpx

from kinkeeper.actions.model import ActionStatus
from kinkeeper.web.access.model import AccessRole
from page_visits import actions_of, field_of, hear, press, run
from web_server import BROWSER, Served

HOSTILE = "<script>alert(1)</script> \u202e \"'><img src=x onerror=alert(1)>"
CLAIM = ("sarah", "I'll pick up Leo from school tomorrow at 3pm")


def test_a_yes_puts_it_into_the_calendar_and_undo_takes_it_out(tmp_path: Path):
    async def steps(serving: Served, client: httpx.AsyncClient) -> None:
        await hear(serving, CLAIM)
        [action] = actions_of(serving)
        page = (await client.get("/pending")).text
        assert action.proposal.summary in unescape(page)
        assert "I&#39;ll pick up Leo" in page
        assert "can approve this" in page
        assert "autofocus" not in page
        told = await press(client, page, f"/pending/{action.id}/confirm")
        assert "Saved:" in told.text
        assert "Nothing is waiting for you." in told.text
        week = (await client.get("/calendar")).text
        assert "Sarah picks up Leo" in week
        entry = re.search(
            r'href="(/calendar/event/[^"]+)"[^>]*>(?:(?!</a>).)*Sarah picks', week, re.DOTALL
        )
        assert entry is not None
        told_why = (await client.get(unescape(entry[1]))).text
        assert "Mentioned in the group chat." in told_why
        assert "Approved by Sarah" in told_why
        undone = await press(client, page, f"/pending/{action.id}/undo")
        assert "Undone:" in undone.text
        assert "Sarah picks up Leo" not in (await client.get("/calendar")).text

    run(tmp_path, steps)


def test_not_right_puts_it_away_with_its_reason(tmp_path: Path):
    async def steps(serving: Served, client: httpx.AsyncClient) -> None:
        await hear(serving, CLAIM)
        [action] = actions_of(serving)
        page = (await client.get("/pending")).text
        told = await press(client, page, f"/pending/{action.id}/not-right", reason="wrong_day")
        assert "Dismissed:" in told.text
        assert actions_of(serving)[0].status is ActionStatus.REJECTED
        again = await press(client, page, f"/pending/{action.id}/confirm")
        assert "Nothing changed" in again.text
        assert actions_of(serving)[0].status is ActionStatus.REJECTED

    run(tmp_path, steps)


def test_a_card_can_be_corrected_before_it_is_saved(tmp_path: Path):
    async def steps(serving: Served, client: httpx.AsyncClient) -> None:
        await hear(serving, CLAIM)
        [action] = actions_of(serving)
        form = (await client.get(f"/pending/{action.id}/change")).text
        fields = {"start": "15:30", "end": "16:00", "owner": ["john"]}
        told = await press(
            client, form, f"/pending/{action.id}/change", day=field_of(form, "day"), **fields
        )
        assert "Saved: John picks up Leo" in told.text
        [old] = [each for each in actions_of(serving) if each.id == action.id]
        [new] = [each for each in actions_of(serving) if each.id != action.id]
        assert old.status is ActionStatus.SUPERSEDED
        assert new.status is ActionStatus.DONE
        assert new.decided_by == "sarah"
        event = new.proposal.effects[0]["event"]
        assert event["responsible"] == ["john"]
        assert "T15:30" in event["start"]
        repeated = await press(
            client, form, f"/pending/{action.id}/change", day=field_of(form, "day"), **fields
        )
        assert "It was replaced by something newer" in repeated.text
        assert len(actions_of(serving)) == 2

    run(tmp_path, steps)


def test_a_correction_that_makes_no_sense_changes_nothing(tmp_path: Path):
    async def steps(serving: Served, client: httpx.AsyncClient) -> None:
        await hear(serving, CLAIM)
        [action] = actions_of(serving)
        form = (await client.get(f"/pending/{action.id}/change")).text
        path, day = f"/pending/{action.id}/change", field_of(form, "day")
        for fields in ({"start": "quarter past"}, {"start": "15:00", "owner": ["stranger"]}):
            refused = await press(client, form, path, day=day, **fields)
            assert refused.status_code == 422
        for far in ("2026-13-40", "9999-12-31", "0001-01-01"):
            overnight = {"start": "23:00", "end": "01:00"}
            assert (await press(client, form, path, day=far, **overnight)).status_code == 422
        assert [each.status for each in actions_of(serving)] == [ActionStatus.PENDING]

    run(tmp_path, steps)


def test_a_child_reads_but_decides_nothing_and_a_screen_sees_two_pages(tmp_path: Path):
    async def steps(serving: Served, client: httpx.AsyncClient) -> None:
        await hear(serving, CLAIM)
        [action] = actions_of(serving)
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
                fields = {"csrf": field_of(page, "csrf"), "hash": field_of(adult, "hash")}
                forged = await other.post(f"/pending/{action.id}/confirm", data=fields)
                assert forged.status_code == 403
                assert "Approve</span>" not in (await other.get("/pending")).text
        assert actions_of(serving)[0].status is ActionStatus.PENDING

    run(tmp_path, steps)


def test_a_card_that_is_not_what_was_shown_is_not_confirmed(tmp_path: Path):
    async def steps(serving: Served, client: httpx.AsyncClient) -> None:
        await hear(serving, CLAIM)
        [action] = actions_of(serving)
        page = (await client.get("/pending")).text
        told = await press(client, page, f"/pending/{action.id}/confirm", hash="0" * 64)
        assert "has changed in the meantime" in told.text
        lapsed = serving.clock.now() + timedelta(days=8)
        serving.clock.advance_to(lapsed)
        late = await press(client, page, f"/pending/{action.id}/confirm")
        assert "This had expired" in late.text
        assert actions_of(serving)[0].status is ActionStatus.EXPIRED

    run(tmp_path, steps)


def test_words_of_the_chat_are_never_markup(tmp_path: Path):
    async def steps(serving: Served, client: httpx.AsyncClient) -> None:
        await hear(
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

    run(tmp_path, steps)


def test_why_tells_the_ladder_takes_a_verdict_and_proves_itself(tmp_path: Path):
    async def steps(serving: Served, client: httpx.AsyncClient) -> None:
        await hear(serving, CLAIM, ("john", "lol"))
        page = (await client.get("/pending")).text
        address = unescape(re.search(r'href="(/why/[^"]+)">why', page)[1])  # type: ignore[index]
        why = (await client.get(address)).text
        assert "Sounds like a plan" in why
        assert "What was saved" in why
        judged = await client.post(
            address, data={"csrf": field_of(why, "csrf"), "verdict": "good_call"}
        )
        assert "noted: good call" in judged.text
        replay = address.replace("/why/", "/replay/")
        proved = await client.post(replay, data={"csrf": field_of(why, "csrf")})
        assert "exactly the same decision" in proved.text
        ledger = (await client.get("/silence")).text
        assert "2 messages, 1 understood, 1 saved" in ledger
        assert "lol" in ledger

    run(tmp_path, steps)


def test_every_address_that_a_page_may_carry_answers(tmp_path: Path):
    paths = (
        "/calendar?span=month&on=2026-11-01",
        "/calendar?span=agenda",
        "/calendar?on=1971-01-01",
        "/calendar?on=2199-12-31&span=month",
        "/calendar?on=9999-12-31",
        "/calendar?on=0001-01-01",
        "/health",
        "/pending?about=nothing&outcome=done",
    )

    at = {
        "2026-03-05": 200,
        "2199-12-31T00:00Z": 200,
        "9999-12-31T23:59:59Z": 422,
        "0001-01-01T00:00:00%2B14:00": 422,
    }

    async def steps(serving: Served, client: httpx.AsyncClient) -> None:
        entry = re.search(r'href="(/calendar/event/[^"?]+)', (await client.get("/calendar")).text)
        assert entry is not None
        for path in paths:
            assert (await client.get(path)).status_code == 200, path
        for time, status in at.items():
            assert (await client.get(f"{entry[1]}?at={time}")).status_code == status, time

    run(tmp_path, steps)


def test_what_does_not_exist_is_said_on_a_page(tmp_path: Path):
    missing = {
        "/calendar?span=decade": 422,
        "/calendar?on=never": 422,
        "/why/unheard-of": 404,
        "/calendar/event/none": 404,
        "/pending/none/change": 404,
        "/static/none.css": 404,
        "/static/..%2Fcontext.py": 404,
    }

    async def steps(serving: Served, client: httpx.AsyncClient) -> None:
        for path, status in missing.items():
            answer = await client.get(path)
            assert answer.status_code == status, path
            assert "<h1>" in answer.text, path

    run(tmp_path, steps)


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

    run(tmp_path, steps)


def test_live_tells_at_once_what_a_page_missed_and_then_what_happens(tmp_path: Path):
    async def steps(serving: Served, client: httpx.AsyncClient) -> None:
        page = (await client.get("/")).text
        seen = re.search(r'data-cursor="([^"]+)"', page)[1]  # type: ignore[index]
        await hear(serving, CLAIM)
        request = client.build_request("GET", "/live", headers={"Last-Event-ID": seen})
        told: list[str] = []

        async def listen() -> None:
            answer = await client.send(request)
            told.append(answer.text)

        async with asyncio.timeout(20), asyncio.TaskGroup() as tasks:
            tasks.create_task(listen())
            await asyncio.sleep(0.3)
            await hear(serving, ("john", "pizza tonight?"))
            await asyncio.sleep(0.3)
            serving.context.stopping.set()
            await hear(serving, ("john", "or sushi"))
        ids = re.findall(r"^id: (\S+)$", told[0], re.MULTILINE)
        assert len(ids) >= 2
        assert ids[0] != seen
        assert len(set(ids)) == len(ids)

    run(tmp_path, steps)


def test_one_person_listens_with_so_many_pages_and_no_more(tmp_path: Path):
    async def steps(serving: Served, client: httpx.AsyncClient) -> None:
        async with serving.bearing(serving.token("john")) as john, asyncio.TaskGroup() as tasks:
            listening = [tasks.create_task(client.get("/live")) for _ in range(20)]
            while serving.app.state.listeners.count("miller", "sarah") < len(listening):
                await asyncio.sleep(0)
            assert (await client.get("/live")).status_code == 429
            others = tasks.create_task(john.get("/live"))
            await asyncio.sleep(0.1)
            serving.context.stopping.set()
            await hear(serving, CLAIM)
        answers = [each.result().status_code for each in (*listening, others)]
        assert answers == [200] * 21
        assert serving.app.state.listeners.count("miller", "sarah") == 0
        assert (await client.get("/live")).status_code == 200

    run(tmp_path, steps)
