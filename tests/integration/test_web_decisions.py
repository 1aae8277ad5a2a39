"""Every way to decide on a card over HTTP: sides of a conflict, several at once, whole entries, moves, leftovers."""

import re
from html import unescape
from pathlib import Path

import httpx
from sqlalchemy import update

from kinkeeper.actions.effects.calendar import CancelEvent
from kinkeeper.actions.model import ActionStatus, ActionType, PendingAction
from kinkeeper.actions.proposals import propose
from kinkeeper.calendar.repository import list_events
from kinkeeper.cli.chat_files import play_sample
from kinkeeper.household.viewers import Viewer
from kinkeeper.jobs.leases import WorkState
from kinkeeper.observer.tables import observer_messages
from page_visits import actions_of, field_of, hear, press, run
from pending_samples import proposal
from web_server import Served

DENTIST = ("john", "Leo has the dentist tomorrow at 4pm")
SCHOOL = ("sarah", "I'll pick up Leo from school tomorrow at 3pm")
BALLET = ("john", "I can take Mia to ballet on Wednesday")
MOVE = ("sarah", "Leo's soccer tomorrow is moved to 6pm")


def _ending_soccer(serving: Served) -> PendingAction:
    """Propose to take a whole series out of the calendar."""
    household = serving.system.household.id
    now = serving.clock.now()
    [soccer] = serving.context.store.read_now(
        lambda conn: [
            each
            for each in list_events(conn, Viewer.whole(household))
            if each.activity == "soccer" and each.rrule
        ][:1]
    )
    asked = proposal(
        household=household,
        type=ActionType.SCHEDULE_CHANGE,
        summary="No more soccer",
        effects=(CancelEvent(event_id=soccer.id).frozen(),),
    )
    return serving.context.store.write_now(
        lambda conn: propose(conn, asked, household=serving.system.household, now=now)
    ).action


def _ticks(page: str) -> list[str]:
    return [unescape(each) for each in re.findall(r'name="card" value="([^"]+)"', page)]


def test_each_side_of_a_conflict_is_one_press(tmp_path: Path):
    async def steps(serving: Served, client: httpx.AsyncClient) -> None:
        await hear(serving, DENTIST)
        [action] = actions_of(serving)
        page = unescape((await client.get("/pending")).text)
        for label in ("Dentist", "Soccer", "Both"):
            assert f'name="choice" value="{label}"' in page
        assert "No change to the calendar." in page
        undecided = await press(client, page, f"/pending/{action.id}/confirm")
        assert "hoose one of the options" in undecided.text
        unheard_of = await press(client, page, f"/pending/{action.id}/confirm", choice="Judo")
        assert unheard_of.status_code in {200, 404, 422}
        assert actions_of(serving)[0].status is ActionStatus.PENDING
        told = await press(client, page, f"/pending/{action.id}/confirm", choice="Dentist")
        assert "Saved: Dentist it is." in told.text
        agenda = (await client.get("/calendar?span=agenda")).text
        tuesday = agenda[agenda.index("Tuesday, March 3") : agenda.index("Wednesday, March 4")]
        assert "dentist" in tuesday
        assert "soccer" not in tuesday

    run(tmp_path, steps)


def test_a_conflict_stands_on_today_until_it_is_decided(tmp_path: Path):
    async def steps(serving: Served, client: httpx.AsyncClient) -> None:
        await hear(serving, ("john", "I'll get Leo from soccer tonight at 7"))
        await hear(serving, ("sarah", "I can pick up Leo from soccer tonight at 7"))
        page = unescape((await client.get("/")).text)
        assert "John and Sarah both took this:" in page
        assert page.count('class="bracket"') >= 3
        [action] = [each for each in actions_of(serving) if each.proposal.choices]
        waiting = unescape((await client.get("/pending")).text)
        await press(client, waiting, f"/pending/{action.id}/confirm", choice="John")
        assert "both took this:" not in (await client.get("/")).text

    run(tmp_path, steps)


def test_several_plain_cards_are_confirmed_together_and_taken_back_alone(tmp_path: Path):
    async def steps(serving: Served, client: httpx.AsyncClient) -> None:
        await hear(serving, SCHOOL, BALLET)
        page = (await client.get("/pending")).text
        assert "Approve several" in page
        ticks = _ticks(page)
        assert len(ticks) == 2
        told = await press(client, page, "/pending/batch", card=ticks)
        assert "2 things are saved." in unescape(told.text)
        again = await press(client, page, "/pending/batch", card=ticks)
        assert "in the calendar now" not in again.text
        first, second = actions_of(serving)
        await press(client, page, f"/pending/{first.id}/undo")
        undone = {each.id: each.undone_at is not None for each in actions_of(serving)}
        assert undone == {first.id: True, second.id: False}

    run(tmp_path, steps)


def test_what_is_grave_changed_or_not_ticked_is_not_confirmed_in_a_batch(tmp_path: Path):
    async def steps(serving: Served, client: httpx.AsyncClient) -> None:
        await hear(serving, SCHOOL, BALLET)
        grave = _ending_soccer(serving)
        page = (await client.get("/pending")).text
        first, second = _ticks(page)
        stale = f"{second.split(':')[0]}:{'0' * 64}"
        forged = [first, stale, f"{grave.id}:{grave.payload_hash}", "nonsense", "unheard-of:1"]
        told = await press(client, page, "/pending/batch", card=forged)
        assert "1 thing is saved." in unescape(told.text)
        done = [each for each in actions_of(serving) if each.status is ActionStatus.DONE]
        assert [each.id for each in done] == [first.split(":")[0]]
        assert "in the calendar now" not in (await press(client, page, "/pending/batch")).text

    run(tmp_path, steps)


def test_a_whole_entry_goes_only_with_the_box_ticked(tmp_path: Path):
    async def steps(serving: Served, client: httpx.AsyncClient) -> None:
        action = _ending_soccer(serving)
        page = (await client.get("/pending")).text
        assert "Whole series removed" in page
        assert re.search(r'name="sure" value="yes" required', page)
        path = f"/pending/{action.id}/confirm"
        for sure in ({}, {"sure": "no"}):
            refused = await press(client, page, path, **sure)
            assert refused.status_code == 422
            assert "tick the box" in refused.text
        assert actions_of(serving)[0].status is ActionStatus.PENDING
        told = await press(client, page, path, sure="yes")
        assert "Saved: No more soccer" in told.text
        assert "occer" not in (await client.get("/calendar")).text

    run(tmp_path, steps)


def test_a_move_can_be_corrected_before_it_is_saved(tmp_path: Path):
    async def steps(serving: Served, client: httpx.AsyncClient) -> None:
        await hear(serving, MOVE)
        [action] = actions_of(serving)
        form = (await client.get(f"/pending/{action.id}/change")).text
        assert field_of(form, "day") == "2026-03-03"
        assert field_of(form, "start") == "18:00"
        assert 'name="owner"' not in form
        told = await press(
            client,
            form,
            f"/pending/{action.id}/change",
            day="2026-03-05",
            start="18:15",
            end="19:00",
        )
        assert "Saved:" in told.text
        agenda = unescape((await client.get("/calendar?span=agenda")).text)
        thursday = agenda[agenda.index("Thursday, March 5") : agenda.index("Saturday, March 7")]
        assert "6:15pm – 7pm" in thursday
        tuesday = agenda[: agenda.index("Thursday, March 5")]
        assert "soccer" not in tuesday

    run(tmp_path, steps)


def test_a_message_that_could_not_be_read_is_laid_before_a_person(tmp_path: Path):
    async def steps(serving: Served, client: httpx.AsyncClient) -> None:
        await hear(serving, SCHOOL)
        serving.context.store.write_now(
            lambda conn: conn.execute(
                update(observer_messages).values(
                    state=WorkState.MANUAL_REVIEW.value,
                    error="TimeoutError",
                    extraction=None,
                    action_id=None,
                    redline_decision=None,
                )
            )
        )
        page = unescape((await client.get("/pending")).text)
        left = page[page.index("Couldn't be read") :]
        assert SCHOOL[1] in left
        why = re.search(r'href="(/why/[^"]+)">', left)
        assert why is not None
        ladder = (await client.get(why[1])).text
        assert "a person has to look at it" in ladder
        health = (await client.get("/health")).text
        assert "1 left to a person" in health
        assert "some work needs attention" in health

    run(tmp_path, steps)


def test_a_play_that_was_cut_off_goes_on_where_it_was(tmp_path: Path):
    async def steps(serving: Served, client: httpx.AsyncClient) -> None:
        async def ids(**headers: str) -> list[int]:
            told = await client.get("/welcome/live?pace=0", headers=headers)
            assert told.headers["content-type"].startswith("text/event-stream")
            assert told.text.endswith("event: end\ndata: {}\n\n")
            return [int(each) for each in re.findall(r"^id: (\d+)$", told.text, re.MULTILINE)]

        every = await ids()
        assert every == list(range(len(every)))
        assert len(every) >= 20
        assert await ids(**{"Last-Event-ID": "9"}) == every[10:]
        assert await ids(**{"Last-Event-ID": str(every[-1])}) == []
        for nonsense in ("-1", "x", "99999", "1e3"):
            assert await ids(**{"Last-Event-ID": nonsense}) == every

    run(tmp_path, steps, sample=play_sample)
