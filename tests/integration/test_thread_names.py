"""Names of threads: what a person names is theirs alone, also where it is the usual thread of somebody else."""

from collections.abc import Iterator
from itertools import cycle, product
from pathlib import Path

import pytest
from sqlalchemy import Connection, select

from kinkeeper.bootstrap.digests import DigestPost
from kinkeeper.bootstrap.reminders import ReminderPost
from kinkeeper.conversation.tables import threads, turns
from kinkeeper.conversation.threads import usual_thread_id
from kinkeeper.digest.repository import Digest
from kinkeeper.messaging.addresses import remember_private_chat
from kinkeeper.messaging.outbound import QuietHours
from kinkeeper.tasks.model import Place, Reminder, Task
from kinkeeper.web.access.model import READERS
from page_visits import FREE
from talking import on_a_loop
from web_server import Served, served

ADULTS = ("sarah", "john")
MEMBERS = (*ADULTS, "leo", "mia")
CHATS = (("web", None), ("cli", None), ("telegram", "7001"))


@pytest.fixture
def house(tmp_path: Path) -> Iterator[Served]:
    with served(tmp_path, rates=FREE) as serving:
        yield serving


def rows(house: Served) -> dict[str, str]:
    """Return whose each stored thread is, by its id."""
    query = select(threads.c.id, threads.c.member)
    return house.system.store.read_now(
        lambda conn: {row.id: row.member for row in conn.execute(query)}
    )


async def name_usual_threads_of_others(house: Served) -> dict[str, str]:
    """Let logins of every member and role name the usual threads of all others; return whose those are."""
    usual = {
        usual_thread_id(house.system.household.id, member, *chat): member
        for member, chat in product(MEMBERS, CHATS)
    }
    roles = cycle(sorted(READERS))
    for number, (name, owner) in enumerate(usual.items()):
        others = [each for each in MEMBERS if each != owner]
        token = house.token(others[number % len(others)], next(roles))
        async with house.bearing(token) as client:
            await client.post("/chat", json={"text": "hello", "thread": name})
    return usual


@on_a_loop
async def test_nobody_opens_the_usual_thread_of_another(house: Served) -> None:
    usual = await name_usual_threads_of_others(house)
    taken = rows(house)
    assert len(taken) > len(MEMBERS), "they came to threads of their own"
    assert [name for name, owner in usual.items() if taken.get(name, owner) != owner] == []
    for member in ADULTS:
        async with house.bearing(house.token(member)) as client:
            answer = await client.post("/chat", json={"text": "hello"})
        assert usual[answer.headers["x-thread"]] == member


@on_a_loop
async def test_the_same_name_is_another_thread_for_everybody(house: Served) -> None:
    for member in MEMBERS:
        async with house.bearing(house.token(member)) as client:
            answer = await client.post(
                "/chat", json={"text": f"hello from {member}", "thread": "kitchen"}
            )
            assert (answer.status_code, answer.headers["x-thread"]) == (200, "kitchen")
    for member in MEMBERS:
        async with house.bearing(house.token(member)) as client:
            told = (await client.get("/api/threads/kitchen")).json()["turns"]
            assert [each["text"] for each in told] == [f"hello from {member}"]
            listed = (await client.get("/api/threads")).json()["threads"]
            assert [each["id"] for each in listed] == ["kitchen"]
            assert (await client.post("/chat/kitchen/stop")).json() == {"stopped": 0}
            page = (await client.get("/chat", params={"thread": "kitchen"})).text
            assert [each for each in MEMBERS if f"hello from {each}" in page] == [member]


@on_a_loop
async def test_reminders_and_digests_come_whoever_named_their_thread_before(house: Served) -> None:
    household, now = house.system.household, house.clock.now()
    house.system.store.write_now(
        lambda conn: remember_private_chat(
            conn, household.id, "telegram", member="sarah", chat_id="7001", now=now
        )
    )
    await name_usual_threads_of_others(house)
    task = Task(
        household=household.id,
        id="pills",
        title="Take the pills",
        tz=household.zone.key,
        who=ADULTS,
        created_at=now,
        place=Place(channel="web", thread_id=None),
    )
    reminder = Reminder(task=task, due_at=now, after=None, is_late=False, missed=0)
    quiet_hours = QuietHours.parse("22:00-07:00", household.zone)
    post = DigestPost(household, quiet_hours, address=None)

    def deliver(conn: Connection) -> None:
        assert ReminderPost(household, house.clock)(conn, reminder) == []
        for member in household.adults:
            digest = Digest(
                member=member.id, at=now, day=now.date(), waiting=(), unassigned=(), expired=()
            )
            post(conn, member, digest)

    house.system.store.write_now(deliver)
    query = select(turns.c.member).where(turns.c.outcome == "posted")
    told = house.system.store.read_now(lambda conn: conn.execute(query).scalars().all())
    assert sorted(told) == sorted([*ADULTS, *(each.id for each in household.adults)])
