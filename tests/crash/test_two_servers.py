"""Two servers on one PostgreSQL, one of which ends in the middle of turns: the other answers them, once, and soon.

The one that ends waits for a model that never answers; the other one has none. TWO_SERVERS_ENDS asks for more ends,
at random moments of the turns.
"""

import os
import random
import signal
import time
from collections import Counter
from collections.abc import Iterator
from concurrent.futures import Future, ThreadPoolExecutor
from contextlib import ExitStack, contextmanager, suppress
from dataclasses import dataclass
from pathlib import Path

import httpx
import pytest
from sqlalchemy import func, select

from cli_program import Program
from kinkeeper.conversation.tables import turn_events, turns
from kinkeeper.household.viewers import Viewer
from kinkeeper.store.store import Store
from kinkeeper.tasks.repository import list_tasks
from locked_rows import require_locks
from modelserver import hangs, model_server
from running_server import Running, prepared, running, token

pytestmark = [pytest.mark.slow, pytest.mark.crash]

ENDS = int(os.environ.get("TWO_SERVERS_ENDS", "1"))
TURNS = 6
LONGEST_SECONDS = 120
# What was promised, and what a busy machine may add to it.
AFTER_KILL, AFTER_TERM, BUSY = 30, 2, 15


@dataclass(frozen=True, slots=True)
class ServerProgram(Program):
    """The program on a database server."""

    address: str

    @property
    def database(self) -> str:  # type: ignore[override]  # whatever the option takes
        return self.address


@dataclass(frozen=True, slots=True, kw_only=True)
class Household:
    """A household whose members talk with any of its servers."""

    folder: Path
    address: str
    secret: str

    @contextmanager
    def server(self, name: str, **settings: str) -> Iterator[Running]:
        """Run one more server."""
        home = self.folder / name
        home.mkdir()
        with running(prepared(ServerProgram(home, self.address)), **settings) as server:
            yield server

    def say(self, server: Running, number: int) -> float:
        """Say one message; return when its answer had come whole, or 0 where the stream broke off."""
        body = {"text": said(number), "thread": f"thread{number}", "message_id": f"m{number}"}
        headers = {"Authorization": f"Bearer {self.secret}"}
        with suppress(httpx.HTTPError):
            answer = httpx.post(
                f"{server.address}/chat", json=body, headers=headers, timeout=LONGEST_SECONDS
            )
            assert answer.status_code == httpx.codes.OK, answer.text
            return time.monotonic() if "event: done" in answer.text else 0.0
        return 0.0

    def running_turns(self) -> int:
        with Store.open(self.address) as store:
            query = select(func.count()).where(turns.c.state == "running")
            return int(store.read_now(lambda conn: conn.execute(query).scalar_one()))


def said(number: int) -> str:
    return f"add buy stamps number {number + 100} to my to-do list"


@pytest.fixture
def household(tmp_path: Path, postgres_url: str) -> Household:
    home = tmp_path / "first"
    home.mkdir()
    secret = token(prepared(ServerProgram(home, postgres_url)), "john", "--role", "owner")
    with Store.open(postgres_url) as store:
        store.write_now(require_locks)
    return Household(folder=tmp_path, address=postgres_url, secret=secret)


def until_running(household: Household, count: int) -> None:
    deadline = time.monotonic() + LONGEST_SECONDS
    while household.running_turns() < count:
        assert time.monotonic() < deadline, "the turns did not begin, or ended at once"
        time.sleep(0.05)


def seconds_until_answered(
    household: Household,
    other: Running,
    one: Running,
    first: int,
    *,
    ending: signal.Signals,
    life: float,
) -> list[float]:
    """End a server a while after its turns began; return how long their senders then wait at the other one."""
    numbers = range(first, first + TURNS)
    with ThreadPoolExecutor(2 * TURNS) as people:
        begun = [people.submit(household.say, one, number) for number in numbers]
        until_running(household, TURNS)
        time.sleep(life)
        one.process.send_signal(ending)
        ended = time.monotonic()
        again: list[Future[float]] = [
            people.submit(household.say, other, number) for number in numbers
        ]
        answered = [each.result() for each in again]
        assert life or not any(each.result() for each in begun)
    assert all(answered)
    return [at - ended for at in answered]


def all_is_there_once(household: Household, count: int) -> None:
    with Store.open(household.address) as store:
        made = store.read_now(
            lambda conn: [task.title for task in list_tasks(conn, Viewer.whole("miller"))]
        )
        rows = store.read_now(lambda conn: conn.execute(select(turns)).all())
        events = store.read_now(lambda conn: conn.execute(select(turn_events)).all())
    assert len(made) == len(set(made)) == count
    assert Counter(row.outcome for row in rows) == {"answered": count}
    assert set(Counter(each.turn for each in events if each.name == "done").values()) == {1}


@pytest.mark.parametrize(
    ("ending", "at_most"), [(signal.SIGKILL, AFTER_KILL), (signal.SIGTERM, AFTER_TERM)]
)
def test_turns_of_a_server_that_ends_are_answered_by_the_other_one(
    household: Household, ending: signal.Signals, at_most: float
) -> None:
    waited: list[float] = []
    rng = random.Random(7)  # noqa: S311 - a test's
    with ExitStack() as held:
        models = held.enter_context(model_server())
        models.will(hangs())
        asks = {"MODEL_URL": models.url, "MODEL_NAME": "test-model"}
        other = held.enter_context(household.server("other"))
        household.say(other, ENDS * TURNS)  # it has loaded what a turn needs
        for number in range(ENDS):
            with household.server(f"one{number}", **asks) as one:
                # The model is given up after a while, and the turns go on to their ends.
                life = rng.uniform(0, 4) if number else 0
                waited += seconds_until_answered(
                    household, other, one, number * TURNS, ending=ending, life=life
                )
    print(f"{ending.name}: {sorted(round(each, 2) for each in waited)}")  # noqa: T201 - figures for the documents
    all_is_there_once(household, ENDS * TURNS + 1)
    assert max(waited) < at_most + BUSY
