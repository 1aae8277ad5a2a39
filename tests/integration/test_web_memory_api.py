"""Memory over HTTP: sessions in, context and answers out, facts set right, and nobody sees another's."""

import asyncio
import json
from collections.abc import Iterator, Sequence
from datetime import datetime, timedelta
from pathlib import Path
from time import process_time
from typing import Any

import pytest

from growth import TRIES, without_collections
from kinkeeper.household.viewers import HOUSEHOLD_SCOPE, Viewer, person_scope, project_scope
from kinkeeper.memory.episodes import list_episodes
from kinkeeper.memory.ingest import ImportedFact, import_facts, remember
from kinkeeper.memory.model import Category, Observation
from kinkeeper.web.access.model import AccessRole
from web_server import Served, served

DAY = timedelta(days=1)
SESSIONS = "/api/sessions/messages"
LONGEST = 65_536


@pytest.fixture
def house(tmp_path: Path) -> Iterator[Served]:
    with served(tmp_path) as serving:
        yield serving


def fact(
    number: int, text: str, category: Category, at: datetime, scope: str = HOUSEHOLD_SCOPE
) -> ImportedFact:
    return ImportedFact(
        id=f"f{number}",
        text=text,
        category=category,
        title=text,
        at=at,
        scope=scope,
        confidence=0.9,
    )


def remembering(house: Served, *, household: str | None = None) -> None:
    now = house.clock.now()
    facts = [
        fact(1, "Leo is allergic to peanuts.", Category.IDENTITY, now - 90 * DAY),
        fact(2, "The family saves for a camping trip to Yosemite.", Category.GOAL, now - 3 * DAY),
        fact(3, "The dishwasher manual is in the drawer.", Category.TECHNICAL, now - 2 * DAY),
        fact(
            4, "Sarah plans a surprise for John.", Category.GOAL, now - DAY, person_scope("sarah")
        ),
        fact(
            5,
            "The kitchen gets green tiles.",
            Category.PREFERENCE,
            now - DAY,
            project_scope("kitchen"),
        ),
    ]
    here = household or house.system.household.id
    house.context.store.write_now(lambda conn: import_facts(conn, here, facts, at=now))


async def got(house: Served, path: str, member: str = "john", **params: Any) -> Any:
    async with house.bearing(house.token(member)) as client:
        answer = await client.get(path, params=params)
        assert answer.status_code == 200, answer.text
        return answer.json()


async def posted(house: Served, *pairs: dict[str, Any], member: str = "john") -> list[Any]:
    async with house.bearing(house.token(member)) as client:
        return [await client.post(SESSIONS, json=pair) for pair in pairs]


def turns(house: Served, viewer: Viewer | None = None) -> Sequence[str]:
    viewer = viewer or Viewer.of(house.system.household.id)
    found = house.context.store.read_now(lambda conn: list_episodes(conn, viewer))
    return [turn.text for turn in reversed(found)]


def pair(text: str = "I like tea", **more: Any) -> dict[str, Any]:
    return {"contentSessionId": "s1", "userMessage": text, **more}


def test_a_pair_is_queued_once_it_is_stored(house: Served) -> None:
    [answer] = asyncio.run(posted(house, pair(assistantResponse="Noted.")))
    assert answer.status_code == 202
    assert answer.json() == {"status": "queued", "sessionId": "s1", "repeat": False}
    assert turns(house) == ["I like tea"]
    john = Viewer.of(house.system.household.id, "john")
    assert turns(house, john) == ["I like tea", "Noted."]  # the answer is for whoever was answered


def test_the_longest_message_is_stored_and_holds_up_nobody(house: Served) -> None:
    john = Viewer.of(house.system.household.id, "john")

    async def longest_wait(text: str) -> float:
        """Return what others waited at most, as a share of the CPU time that storing it takes."""
        async with house.bearing(house.token("john")) as client:
            # What loads on the first request is no wait for the message.
            assert (await client.get("/api/context/inject")).status_code == 200
            body = json.dumps(pair(text)).encode()
            sent_at = process_time()
            sending = asyncio.create_task(client.post(SESSIONS, content=body))
            waits = []
            while not sending.done():
                began = process_time()
                other = await client.get("/api/context/inject")
                assert other.status_code == 200
                waits.append(process_time() - began)
            assert (await sending).status_code == 202
            return max(waits) / (process_time() - sent_at)

    sent: list[str] = []

    def share(number: int) -> float:
        sentence = f"The gate code is {4711 + number}. "
        sent.append((sentence * (LONGEST // len(sentence) + 1))[:LONGEST].strip())
        longest = asyncio.run(longest_wait(sent[-1]))
        # Nobody has read it to its end, where it may ask to be kept secret.
        assert turns(house) == []
        assert turns(house, john) == sent
        return longest

    with without_collections():
        shares = map(share, range(TRIES))
        assert any(each < 0.5 for each in shares), "as a share of the time that the long one takes"


def test_more_than_is_taken_is_refused_by_its_announced_length(house: Served) -> None:
    [answer] = asyncio.run(posted(house, pair("x" * (2 * 1024 * 1024))))
    assert answer.status_code == 413
    assert "at most 1024 KiB" in answer.json()["detail"]
    assert turns(house) == []


@pytest.mark.parametrize("letter", ["x", "é", "🪁"])
@pytest.mark.parametrize(
    ("field", "limit"),
    [("userMessage", LONGEST), ("assistantResponse", LONGEST), ("metadata", 16_384)],
)
def test_no_part_of_a_pair_is_longer_than_can_be_read_at_once(
    house: Served, field: str, limit: int, letter: str
) -> None:
    def sized(length: int) -> dict[str, Any]:
        text = letter * length
        return pair() | {field: {"topic": text} if field == "metadata" else text}

    over, under = asyncio.run(posted(house, sized(limit + 1), sized(limit - 20)))
    assert over.status_code == 413
    assert field in over.json()["detail"]
    assert f"at most {limit:,}" in over.json()["detail"]
    assert under.status_code == 202


def test_the_same_pair_again_is_stored_once(house: Served) -> None:
    at = "2026-03-02T07:00:00-06:00"
    answers = asyncio.run(
        posted(
            house,
            pair(timestamp=at),
            pair(timestamp=at),
            pair(timestamp=at, source="other"),
            pair("and coffee", messageId="m1"),
            pair("and coffee", messageId="m1"),
            pair(),
        )
    )
    assert [answer.json()["repeat"] for answer in answers] == [
        False,
        True,
        True,
        False,
        True,
        False,
    ]
    assert sorted(turns(house)) == ["I like tea", "I like tea", "and coffee"]


TOLD = {"contentSessionId": "s1", "userMessage": "hi"}


@pytest.mark.parametrize(
    ("body", "named"),
    [
        ({"userMessage": "hi"}, "contentSessionId"),
        ({"contentSessionId": "s1"}, "userMessage"),
        ({"contentSessionId": "", "userMessage": "hi"}, "contentSessionId"),
        ({"contentSessionId": "s1", "userMessage": "  "}, "userMessage"),
        ({"contentSessionId": "s1", "userMessage": 7}, "userMessage"),
        ({"contentSessionId": "s1", "userMessage": "hi", "timestamp": "soon"}, "timestamp"),
        ({**TOLD, "timestamp": "0001-01-01T00:00:00+14:00"}, "timestamp"),
        ({**TOLD, "timestamp": "9999-12-31T23:59:59"}, "timestamp"),
        ([], "the body"),
    ],
)
def test_what_is_missing_in_a_pair_is_named(house: Served, body: Any, named: str) -> None:
    [answer] = asyncio.run(posted(house, body))
    assert answer.status_code == 400
    assert answer.headers["content-type"] == "application/problem+json"
    assert named in answer.json()["detail"]
    assert turns(house) == []


def test_other_methods_and_bodies_are_refused(house: Served) -> None:
    async def tried() -> list[int]:
        async with house.bearing(house.token("john")) as client:
            return [
                (await client.request(method, SESSIONS)).status_code
                for method in ("GET", "PUT", "PATCH", "DELETE")
            ] + [(await client.post(SESSIONS, content=b"{")).status_code]

    assert asyncio.run(tried()) == [405, 405, 405, 405, 400]


def test_a_private_or_projects_pair_is_for_those_it_concerns(house: Served) -> None:
    asyncio.run(
        posted(
            house,
            pair("a surprise", metadata={"private": True}),
            pair("green tiles", metadata={"project": "kitchen", "more": 1}),
            member="sarah",
        )
    )
    here = house.system.household.id
    assert turns(house, Viewer.of(here, "john")) == []
    assert turns(house, Viewer.of(here, "sarah")) == ["a surprise"]
    assert turns(house, Viewer.of(here, "john", projects=["kitchen"])) == ["green tiles"]


def test_a_wall_screen_brings_no_sessions(house: Served) -> None:
    async def tried() -> int:
        async with house.bearing(house.token("john", AccessRole.SCREEN)) as client:
            return (await client.post(SESSIONS, json=pair())).status_code

    assert asyncio.run(tried()) == 403


def test_a_session_begins_with_labelled_memories(house: Served) -> None:
    remembering(house)
    found = asyncio.run(
        got(house, "/api/context/inject", format="json", query="where is the dishwasher manual")
    )
    tiers = {each["id"]: each["tier"] for each in found["observations"]}
    assert tiers == {"f1": "core", "f2": "active", "f3": "semantic"}
    assert found["counts"] == {"core": 1, "active": 1, "semantic": 1, "recent": 0}
    assert (found["skipped_tiers"], found["turn"]) == ([], None)
    first = found["observations"][0]
    assert first["narrative"] == "Leo is allergic to peanuts."
    assert set(first) >= {"id", "type", "category", "title", "subtitle", "narrative", "facts"}
    assert datetime.fromisoformat(first["created_at"]) == house.clock.now() - 90 * DAY


def test_memories_of_a_project_come_where_it_is_named(house: Served) -> None:
    remembering(house)

    async def asked(**params: Any) -> set[str]:
        found = await got(house, "/api/context/inject", format="json", **params)
        return {each["id"] for each in found["observations"]}

    assert "f5" not in asyncio.run(asked())
    assert "f5" in asyncio.run(asked(project=["kitchen", "garden"]))


@pytest.mark.parametrize("role", [AccessRole.CHILD, AccessRole.GUEST, AccessRole.SCREEN])
def test_projects_are_for_the_owner_and_adults(house: Served, role: AccessRole) -> None:
    remembering(house)

    async def tried(**params: str) -> int:
        async with house.bearing(house.token("leo", role)) as client:
            return (await client.get("/api/context/inject", params=params)).status_code

    assert asyncio.run(tried()) == 200
    assert asyncio.run(tried(project="kitchen")) == 403


def test_markdown_tells_the_tier_of_each_memory(house: Served) -> None:
    remembering(house)

    async def asked() -> Any:
        async with house.bearing(house.token("john")) as client:
            return await client.get("/api/context/inject")

    answer = asyncio.run(asked())
    assert answer.headers["content-type"] == "text/markdown; charset=utf-8"
    assert "(core)\n- Leo is allergic to peanuts. (identity, 2025-12-02)" in answer.text
    assert "surprise" not in answer.text


def test_the_next_turn_of_a_session_finds_what_its_last_ones_called_for(house: Served) -> None:
    remembering(house)
    [serving] = house.context.houses.values()
    assert serving.streaming is not None
    streaming = serving.streaming

    async def talked() -> list[Any]:
        found = []
        async with house.bearing(house.token("john")) as client, asyncio.TaskGroup() as group:
            looking = group.create_task(streaming.run())
            for text in ("Is Leo allergic to peanuts?", "What about the camping trip?"):
                house.clock.advance_to(house.clock.now() + timedelta(minutes=1))
                await client.post(SESSIONS, json=pair(text, assistantResponse="Let me see."))
                while streaming.figures.searched <= len(found):
                    await asyncio.sleep(0.005)
                params = {"format": "json", "session": "s1"}
                answer = await client.get("/api/context/inject", params=params)
                found.append(answer.json()["turn"])
            looking.cancel()
        return found

    first, second = asyncio.run(talked())
    assert [each["id"] for each in first["facts"]] == ["f1"]
    assert {each["id"] for each in second["facts"]} == {"f1", "f2"}
    assert second["recent"][-2:] == ["John: What about the camping trip?", "assistant: Let me see."]
    assert not first["is_cold"]
    assert second["tokens"] <= 1500


def test_a_session_that_was_not_looked_up_goes_on_without(house: Served) -> None:
    remembering(house)
    asyncio.run(posted(house, pair("Is Leo allergic to peanuts?")))
    turn = asyncio.run(got(house, "/api/context/inject", format="json", session="s1"))["turn"]
    assert (turn["is_cold"], turn["facts"]) == (True, [])
    assert turn["recent"] == ["John: Is Leo allergic to peanuts?"]


def test_search_finds_facts_and_episodes(house: Served) -> None:
    remembering(house)
    asyncio.run(posted(house, pair("The peanuts are on the shelf")))

    async def asked() -> Any:
        async with house.bearing(house.token("john")) as client:
            answers = [
                await client.get(
                    "/api/memory/search",
                    params={"query": "peanuts", "search_type": kind, "limit": 2},
                )
                for kind in ("facts", "episodes", "both")
            ]
            posted = await client.post("/api/memory/search", json={"query": "peanuts"})
            return [each.json() for each in (*answers, posted)]

    facts, episodes, both, wished = asyncio.run(asked())
    assert [(each["kind"], each["id"]) for each in facts["results"]] == [("fact", "f1")]
    assert {each["kind"] for each in episodes["results"]} == {"episode"}
    assert len(both["results"]) == 2
    assert facts["is_complete"]
    assert wished["results"] == both["results"]
    [found] = facts["results"]
    assert found["category"] == "identity"
    assert found["provenance"]
    assert found["parts"]
    assert 0 < found["relevance"] <= 1


@pytest.mark.parametrize("path", ["/api/memory/search", "/api/context/inject", "/brain/query"])
def test_nobody_is_told_another_ones_memories(house: Served, path: str) -> None:
    remembering(house)
    remembering(house, household="elsewhere")
    house.context.store.write_now(
        lambda conn: import_facts(
            conn,
            "elsewhere",
            [fact(9, "The canary sings in the cellar.", Category.IDENTITY, house.clock.now())],
            at=house.clock.now(),
        )
    )

    async def asked(member: str, words: str) -> str:
        params = {"query": words, "q": words, "format": "json"}
        async with house.bearing(house.token(member)) as client:
            return (await client.get(path, params=params)).text.replace(words, "")

    who, where = "Who plans a surprise for John?", "Where does the canary sing?"
    assert "surprise" not in asyncio.run(asked("john", who))
    assert "Sarah plans a surprise for John." in asyncio.run(asked("sarah", who))
    assert "cellar" not in asyncio.run(asked("sarah", where))


def test_a_wall_screen_shows_nobodys_own_memories(house: Served) -> None:
    remembering(house)

    async def asked() -> str:
        async with house.bearing(house.token("sarah", AccessRole.SCREEN)) as client:
            return (await client.get("/api/context/inject")).text

    text = asyncio.run(asked())
    assert "peanuts" in text
    assert "surprise" not in text


def test_a_fact_is_shown_with_what_it_rests_on(house: Served) -> None:
    remembering(house)
    found = asyncio.run(got(house, "/api/facts/f1"))
    assert (found["narrative"], found["is_active"]) == ("Leo is allergic to peanuts.", True)
    assert found["confidence"] == pytest.approx(0.9)
    assert [each["text"] for each in found["evidence"]] == ["Leo is allergic to peanuts."]
    assert found["derived_from"] == [each["episode_id"] for each in found["evidence"]]


async def changed(
    house: Served, method: str, path: str, member: str = "john", **more: Any
) -> tuple[int, Any]:
    async with house.bearing(house.token(member)) as client:
        answer = await client.request(method, path, **more)
        return answer.status_code, answer.json()


def test_a_fact_is_put_differently_and_back(house: Served) -> None:
    remembering(house)
    wish = {"narrative": "Leo is allergic to all nuts."}
    status, told = asyncio.run(changed(house, "PATCH", "/api/facts/f1", json=wish))
    assert (status, told["changed"]) == (200, True), told
    assert asyncio.run(got(house, "/api/facts/f1"))["narrative"] == wish["narrative"]
    versions = asyncio.run(got(house, "/api/facts/f1/history"))
    assert [each["fact"]["narrative"] for each in versions][:2] == [
        "Leo is allergic to all nuts.",
        "Leo is allergic to peanuts.",
    ]
    assert (versions[0]["by"], versions[0]["cause"]) == ("john", "edit")
    undo = f"/api/memory/changes/{versions[0]['change_set']}/undo"
    status, told = asyncio.run(changed(house, "POST", undo))
    assert (status, told["changed"]) == (200, True), told
    assert asyncio.run(got(house, "/api/facts/f1"))["narrative"] == "Leo is allergic to peanuts."


def test_a_wrong_fact_leaves_every_answer(house: Served) -> None:
    remembering(house)
    asyncio.run(changed(house, "PATCH", "/api/facts/f1", json={"wrong": True}))
    assert not asyncio.run(got(house, "/api/facts/f1"))["is_active"]
    found = asyncio.run(got(house, "/api/memory/search", query="peanuts"))
    assert "f1" not in {each["id"] for each in found["results"]}


def test_a_forgotten_fact_is_gone(house: Served) -> None:
    remembering(house)
    status, told = asyncio.run(changed(house, "DELETE", "/api/facts/f1"))
    assert (status, told["changed"]) == (200, True), told
    status, _ = asyncio.run(changed(house, "GET", "/api/facts/f1"))
    assert status == 404
    assert asyncio.run(got(house, "/api/memory/search", query="peanuts"))["results"] == []


def test_only_adults_set_facts_right_and_only_their_own(house: Served) -> None:
    remembering(house)
    wrong = {"wrong": True}
    tried = [
        asyncio.run(changed(house, "PATCH", "/api/facts/f1", "leo", json=wrong)),
        asyncio.run(changed(house, "DELETE", "/api/facts/f1", "leo")),
        asyncio.run(changed(house, "GET", "/api/facts/f4", "john")),
        asyncio.run(changed(house, "PATCH", "/api/facts/f4", "john", json=wrong)),
        asyncio.run(changed(house, "DELETE", "/api/facts/f4", "john")),
        asyncio.run(changed(house, "GET", "/api/facts/f4/history", "john")),
        asyncio.run(changed(house, "PATCH", "/api/facts/f1", "john", json={})),
    ]
    assert [status for status, _ in tried] == [403, 403, 404, 404, 404, 404, 422]


SEARCH = "/api/memory/search"


def test_events_are_found_beside_memories_by_whoever_may_see_the_calendar(house: Served) -> None:
    remembering(house)
    ballet = {"query": "When is Mia's ballet class?", "types": ["fact", "event"]}

    async def tried(role: AccessRole) -> tuple[int, int, list[str]]:
        async with house.bearing(house.token("john", role)) as client:
            listed, answer = await client.get("/api/events"), await client.post(SEARCH, json=ballet)
            got = answer.json().get("results", ())
            return listed.status_code, answer.status_code, [each["kind"] for each in got][:1]

    for role in AccessRole:
        listed, status, kinds = asyncio.run(tried(role))
        assert status == listed
        assert kinds == (["event"] if status == 200 else []), role
    [event] = asyncio.run(got(house, SEARCH, "leo", **ballet | {"types": "event"}))["results"]
    assert event["text"].startswith("Mia ballet class: Monday 2 March 2026 at 4pm")
    assert (event["at"], event["scope"]) == ("2026-03-02T22:00:00Z", "household")
    assert (event["confidence"], event["created_at"], event["parts"]) == (None, None, {})
    assert event["relevance"] >= 0.8
    known = asyncio.run(changed(house, "POST", SEARCH, json={"query": ballet["query"]}))[1]
    assert "event" not in {each["kind"] for each in known["results"]}


def test_an_event_stands_where_its_relevance_puts_it(house: Served) -> None:
    now, here = house.clock.now(), house.system.household.id
    facts = [fact(9, "Mia's ballet shoes are pink.", Category.PREFERENCE, now - DAY)]
    house.context.store.write_now(lambda conn: import_facts(conn, here, facts, at=now))
    every = {"types": ["fact", "event"]}
    for query, first in (("Mia ballet class", "event"), ("pink ballet", "fact")):
        found = asyncio.run(got(house, SEARCH, query=query, **every))["results"]
        assert {each["kind"] for each in found} == {"fact", "event"}
        assert found[0]["kind"] == first, query
        scores = [each["score"] for each in found]
        assert scores == sorted(scores, reverse=True)


def test_a_search_as_of_a_day_finds_what_held_at_its_end(house: Served) -> None:
    remembering(house)
    asyncio.run(
        changed(house, "PATCH", "/api/facts/f1", json={"narrative": "Leo is allergic to all nuts."})
    )
    long_ago, today = house.clock.now() - 30 * DAY, house.clock.now()

    def texts(**asked: Any) -> list[str]:
        found = asyncio.run(got(house, SEARCH, query="allergic", search_type="facts", **asked))
        return [each["text"] for each in found["results"]]

    before, after = ["Leo is allergic to peanuts."], ["Leo is allergic to all nuts."]
    assert texts() == texts(as_of=today.date().isoformat()) == texts(as_of="2100-01-01") == after
    assert texts(as_of=long_ago.date().isoformat()) == texts(as_of=long_ago.isoformat()) == before
    assert texts(as_of="2020-01-01") == []
    wish = {"query": "surprise", "as_of": today.isoformat(), "types": ["fact"]}
    for member, count in (("sarah", 1), ("john", 0)):
        _, found = asyncio.run(changed(house, "POST", SEARCH, member, json=wish))
        assert len(found["results"]) == count


@pytest.mark.parametrize(
    "wish",
    [
        {"as_of": "next Friday"},
        {"as_of": "2026-02-30"},
        {"as_of": "0001-01-01"},
        {"as_of": "2026-03-01", "types": ["fact", "event"]},
        {"types": ["nothing"]},
    ],
)
def test_what_cannot_be_searched_is_refused(house: Served, wish: dict[str, Any]) -> None:
    status, problem = asyncio.run(changed(house, "POST", SEARCH, json={"query": "nuts", **wish}))
    assert (status, problem["status"]) == (422, 422)


def test_an_answer_says_what_it_rests_on(house: Served) -> None:
    remembering(house)
    found = asyncio.run(got(house, "/brain/query", q="What is Leo allergic to?"))
    assert found["answer"] == "Leo is allergic to peanuts."
    assert (found["confidence"], found["sources"][0]["kind"]) == ("high", "fact")
    assert found["sources"][0]["text"] == "Leo is allergic to peanuts."
    assert found["relevance_score"] >= 0.8


def test_an_answer_out_of_the_calendar_has_its_times(house: Served) -> None:
    found = asyncio.run(got(house, "/brain/query", q="When is Mia's ballet class?"))
    assert found["answer"].startswith("Mia ballet class: Monday 2 March 2026 at 4pm")
    assert found["relevance_score"] >= 0.8
    [event] = found["extracted_events"]
    assert event == {
        "summary": "Mia ballet class",
        "start": "2026-03-02T16:00:00-06:00",
        "end": "2026-03-02T17:00:00-06:00",
        "location": "Madison Dance Academy",
        "recurrence": "FREQ=WEEKLY;BYDAY=MO,WE",
        "confirmed": True,
    }
    assert {each["type"] for each in found["temporal_entities"]} == {"datetime", "recurring"}


def test_what_nobody_knows_is_not_made_up(house: Served) -> None:
    remembering(house)
    found = asyncio.run(got(house, "/brain/query", q="What is the wifi password?"))
    assert (found["answer"], found["sources"]) == ("Nothing is known about that.", [])
    assert (found["confidence"], found["extracted_events"]) == ("low", [])
    assert found["relevance_score"] < 0.5


def test_a_fact_is_not_the_answer_because_another_was_said_with_it(house: Served) -> None:
    text = "I am allergic to shellfish. I work as a vet in Austin."
    asyncio.run(posted(house, pair(text)))
    now = house.clock.now()
    here = Viewer.of(house.system.household.id)
    [turn] = house.context.store.read_now(lambda conn: list_episodes(conn, here))
    observations = [
        Observation(
            text=each,
            start=text.index(each),
            end=text.index(each) + len(each),
            category=Category.IDENTITY,
            title=each,
            narrative=each,
        )
        for each in ("I am allergic to shellfish.", "I work as a vet in Austin.")
    ]
    house.context.store.write_now(lambda conn: remember(conn, turn, observations, at=now))
    found = asyncio.run(got(house, "/brain/query", q="Where does John work?"))
    assert found["answer"] == "John: “I work as a vet in Austin.”"
    assert [source["kind"] for source in found["sources"]] == ["fact"]
