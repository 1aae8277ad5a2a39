"""The pages of memory: what they show to whom, and what people set right there."""

import asyncio
import json
import re
from datetime import timedelta
from html import unescape
from pathlib import Path

import httpx
import pytest

from kinkeeper.memory.model import FactStatus
from kinkeeper.memory.sessions import SessionMessage, take_in
from kinkeeper.web.access.model import AccessRole
from page_visits import FREE, post, run
from remembered import fact_about, known_to, remember
from web_server import BROWSER, Served, served

NUTS = "Leo is allergic to peanuts"
PRIVATE_WORDS = "my therapist is called Robin"


def bytes_of(folder: Path) -> bytes:
    return b"".join(each.read_bytes() for each in folder.glob("family.sqlite*"))


def test_what_is_remembered_stands_under_its_person_with_its_ground(tmp_path: Path):
    async def steps(serving: Served, client: httpx.AsyncClient) -> None:
        assert "No memories yet" in (await client.get("/memory")).text
        remember(serving, "sarah", NUTS)
        remember(serving, "john", NUTS)
        page = unescape((await client.get("/memory")).text)
        shelf = page[page.index('class="shelf"') :]
        assert re.search(r"shelf-who.*?Leo.*?Leo is allergic to peanuts", shelf, re.DOTALL)
        assert "Said 2 times, last today." in page

    run(tmp_path, steps)


def test_somebody_is_remembered_by_the_form_and_takes_it_back(tmp_path: Path):
    async def steps(serving: Served, client: httpx.AsyncClient) -> None:
        page = (await client.get("/memory")).text
        told = await post(client, page, "/memory/remember", text=NUTS)
        assert "Saved." in told.text
        undo = re.search(r'action="(/pending/[^"]+/undo)"', told.text)
        assert undo is not None
        told = await post(client, told.text, undo[1])
        assert "Undone" in told.text
        assert known_to(serving) == []

    run(tmp_path, steps)


def test_search_finds_and_another_day_shows_what_was_known_then(tmp_path: Path):
    async def steps(serving: Served, client: httpx.AsyncClient) -> None:
        remember(serving, "sarah", NUTS)
        serving.clock.advance_to(serving.clock.now() + timedelta(days=3))
        remember(serving, "sarah", "Mia plays the cello")
        found = unescape((await client.get("/memory", params={"q": "peanuts"})).text)
        assert NUTS in found
        assert "cello" not in found
        day = (serving.clock.now() - timedelta(days=1)).date().isoformat()
        then = unescape((await client.get("/memory", params={"on": day})).text)
        assert NUTS in then
        assert "cello" not in then
        assert "Remember something" not in then
        nothing = await client.get("/memory", params={"q": "peanuts", "on": "2020-01-01"})
        assert "Nothing in memory matches this." in nothing.text

    run(tmp_path, steps)


def test_search_finds_what_was_only_said_too(tmp_path: Path):
    async def steps(serving: Served, client: httpx.AsyncClient) -> None:
        said = SessionMessage(
            content_session_id="s", user_message="The boiler hums at night?", member="sarah"
        )
        now, house = serving.clock.now(), serving.system.household.id
        serving.context.store.write_now(lambda conn: take_in(conn, house, said, at=now))
        found = await client.get("/memory", params={"q": "boiler hums"})
        assert found.status_code == 200
        assert said.user_message in unescape(found.text)

    run(tmp_path, steps)


def test_a_fact_is_edited_kept_private_and_marked_wrong_each_with_a_way_back(tmp_path: Path):
    async def steps(serving: Served, client: httpx.AsyncClient) -> None:
        remember(serving, "sarah", NUTS)
        fact = fact_about(serving, "peanuts")
        path = f"/memory/facts/{fact.id}"
        before = known_to(serving)
        for act, fields, told_of in (
            ("edit", {"text": "Leo is allergic to all nuts"}, "Saved."),
            ("scope", {"private": "yes"}, "Only you can see it now."),
            ("over", {}, "Marked as outdated."),
            ("wrong", {}, "Marked as incorrect."),
        ):
            page = (await client.get(path)).text
            told = await post(client, page, f"{path}/{act}", **fields)
            assert told_of in told.text, act
            assert known_to(serving) != before, act
            undo = re.search(r'action="(/pending/[^"]+/undo)"', told.text)
            assert undo is not None, act
            assert "Undone" in (await post(client, told.text, undo[1])).text, act
            assert [each.narrative for each in known_to(serving)] == [NUTS], act
            assert [each.scope for each in known_to(serving)] == ["household"], act

    run(tmp_path, steps)


def test_what_another_alone_told_is_not_offered_to_be_kept_private(tmp_path: Path):
    async def steps(serving: Served, client: httpx.AsyncClient) -> None:
        remember(serving, "john", NUTS)
        path = f"/memory/facts/{fact_about(serving, 'peanuts').id}"
        page = (await client.get(path)).text
        assert "Keep private" not in page
        refused = await post(client, page, f"{path}/scope", private="yes")
        assert refused.status_code == 403
        assert "omebody else said this" in refused.text
        assert [each.scope for each in known_to(serving, "john")] == ["household"]

    run(tmp_path, steps)


def test_forgetting_asks_says_what_goes_and_leaves_not_a_byte(tmp_path: Path):
    async def steps(serving: Served, client: httpx.AsyncClient) -> None:
        remember(serving, "sarah", NUTS)
        remember(serving, "john", "Mia plays the cello")
        path = f"/memory/facts/{fact_about(serving, 'peanuts').id}"
        page = (await client.get(f"{path}/forget")).text
        assert "1 memory" in page
        assert "This can't be undone." in page
        refused = await post(client, page, f"{path}/forget")
        assert refused.status_code == 422
        assert fact_about(serving, "peanuts")
        told = await post(client, page, f"{path}/forget", sure="yes")
        assert "Erased." in told.text
        assert [each.narrative for each in known_to(serving)] == ["Mia plays the cello"]
        data = await asyncio.to_thread(bytes_of, tmp_path)
        assert b"peanuts" not in data
        assert b"cello" in data
        assert (await client.get(path)).status_code == 404

    run(tmp_path, steps)


def test_what_changed_is_told_and_taken_back_there(tmp_path: Path):
    async def steps(serving: Served, client: httpx.AsyncClient) -> None:
        remember(serving, "sarah", "I work at the library")
        remember(serving, "sarah", "I work at the school now")
        page = unescape((await client.get("/memory/changes")).text)
        assert page.index("I work at the school now") < page.rindex("I work at the library")
        undo = re.search(r'action="(/memory/changes/[^"]+/undo)"', page)
        assert undo is not None
        told = await post(client, page, undo[1])
        assert "Undone." in told.text
        assert [each.narrative for each in known_to(serving)] == ["I work at the library"]

    run(tmp_path, steps)


def test_what_was_said_stands_in_order_with_what_is_outdated_struck_out(tmp_path: Path):
    async def steps(serving: Served, client: httpx.AsyncClient) -> None:
        remember(serving, "sarah", "I work at the library")
        remember(serving, "sarah", "I work at the school now")
        page = unescape((await client.get("/memory/heard")).text)
        assert re.search(r"<s>.*?I work at the library</s>", page, re.DOTALL)
        assert "<s>" not in page[: page.index("I work at the school now")]

    run(tmp_path, steps)


def test_the_map_is_drawn_and_told(tmp_path: Path):
    async def steps(serving: Served, client: httpx.AsyncClient) -> None:
        assert "Nothing is connected yet" in (await client.get("/memory/map")).text
        remember(serving, "sarah", NUTS)
        page = unescape((await client.get("/memory/map")).text)
        assert 'class="thread' in page
        assert re.search(r"<dt[^>]*>Leo</dt><dd[^>]*>Leo is allergic to peanuts</dd>", page)
        remember(serving, "sarah", "Grandma Rosalind takes warfarin")
        page = unescape((await client.get("/memory/map")).text)
        assert re.search(r"<dt[^>]*>Grandma Rosalind</dt>", page), "as it was said, not folded"
        remember(serving, "john", "Leo's shoe size is 34")
        remember(serving, "john", "Leo doesn't like mushrooms")
        page = (await client.get("/memory/map")).text
        assert ">shoe size 34<" in page
        assert ">not mushrooms<" in page

    run(tmp_path, steps)


@pytest.mark.parametrize(
    "said",
    ["Mia can't have walnuts", "Mia doesn't play chess any more", "Mia is not friends with Robin"],
)
def test_what_is_not_so_is_not_drawn_as_if_it_were(tmp_path: Path, said: str):
    async def steps(serving: Served, client: httpx.AsyncClient) -> None:
        remember(serving, "sarah", said)
        assert said in unescape((await client.get("/memory")).text)
        assert 'class="thread' not in (await client.get("/memory/map")).text

    run(tmp_path, steps)


def test_nobody_sees_what_is_anothers_own_by_any_page(tmp_path: Path):
    async def steps(serving: Served, client: httpx.AsyncClient) -> None:
        remember(serving, "sarah", PRIVATE_WORDS, is_private=True)
        secret = fact_about(serving, "Robin")
        assert "Robin" in (await client.get("/memory")).text
        changes = (await client.get("/memory/changes")).text
        undo = re.search(r'action="(/memory/changes/[^"]+/undo)"', changes)
        assert undo is not None
        for member, role in (
            ("john", AccessRole.ADULT),
            ("leo", AccessRole.CHILD),
            ("sarah", AccessRole.SCREEN),
        ):
            async with serving.client(headers=BROWSER) as other:
                await serving.log_in(other, member, role)
                other.follow_redirects = True
                for path in (
                    "/memory",
                    "/memory?q=therapist",
                    f"/memory/facts/{secret.id}",
                    f"/memory/facts/{secret.id}/forget",
                    "/memory/heard",
                    "/memory/map",
                    "/memory/changes",
                    "/memory/export?what=facts",
                    "/memory/export?what=episodes",
                    "/pending",
                    "/api/pending?status=done",
                ):
                    answer = await other.get(path)
                    assert "Robin" not in answer.text, (member, role, path)
                if role is AccessRole.ADULT:
                    page = (await other.get("/memory")).text
                    refused = await post(other, page, undo[1])
                    assert refused.status_code == 404
        assert fact_about(serving, "Robin").status is not FactStatus.RETRACTED

    run(tmp_path, steps)


def test_children_and_the_wall_read_and_change_nothing(tmp_path: Path):
    async def steps() -> None:
        with served(tmp_path, rates=FREE) as serving:
            remember(serving, "sarah", NUTS)
            fact = fact_about(serving, "peanuts")
            for member, role in (("leo", AccessRole.CHILD), ("sarah", AccessRole.SCREEN)):
                async with serving.client(headers=BROWSER) as client:
                    await serving.log_in(client, member, role)
                    page = (await client.get(f"/memory/facts/{fact.id}")).text
                    assert NUTS in unescape(page)
                    assert ">Change<" not in page
                    for path in (f"/memory/facts/{fact.id}/wrong", "/memory/remember"):
                        answer = await post(client, page, path, text="x")
                        assert answer.status_code == 403, (role, path)
            assert fact_about(serving, "peanuts")

    asyncio.run(steps())


def test_the_export_can_be_read_line_by_line(tmp_path: Path):
    async def steps(serving: Served, client: httpx.AsyncClient) -> None:
        remember(serving, "sarah", NUTS)
        remember(serving, "john", NUTS)
        answer = await client.get("/memory/export", params={"what": "facts"})
        assert "attachment" in answer.headers["content-disposition"]
        (line,) = [json.loads(each) for each in answer.text.splitlines()]
        assert (line["text"], line["status"], len(line["evidence"])) == (NUTS, "pending_embed", 2)
        said = await client.get("/memory/export", params={"what": "episodes"})
        assert {json.loads(each)["id"] for each in said.text.splitlines()} == set(line["evidence"])

    run(tmp_path, steps)


def test_what_another_doubts_stays_until_somebody_decides(tmp_path: Path):
    async def steps(serving: Served, client: httpx.AsyncClient) -> None:
        remember(serving, "sarah", "I'm allergic to penicillin")
        remember(serving, "john", "Sarah is no longer allergic to penicillin")
        fact = fact_about(serving, "allergic to penicillin")
        path = f"/memory/facts/{fact.id}"
        page = (await client.get(path)).text
        assert "Someone has contradicted this" in page
        assert "no longer allergic" in page
        told = await post(client, page, f"{path}/doubt", holds="other")
        assert "Settled." in told.text
        assert fact.id not in {each.id for each in known_to(serving)}
        undo = re.search(r'action="(/pending/[^"]+/undo)"', told.text)
        assert undo is not None
        await post(client, told.text, undo[1])
        told = await post(client, page, f"{path}/doubt", holds="this")
        assert "Someone has contradicted this" not in told.text
        assert [each.id for each in known_to(serving)] == [fact.id]
        again = await post(client, page, f"{path}/doubt", holds="this")
        assert again.status_code == 409

    run(tmp_path, steps)
