"""A decision made again with what was known then is the same, and proving it leaves no trace."""

import asyncio
from collections.abc import Iterator
from contextlib import contextmanager
from datetime import timedelta
from importlib.resources import files
from pathlib import Path
from shutil import copyfile

import pytest
from sqlalchemy import Connection, select

from kinkeeper.actions import approvals, reversal
from kinkeeper.actions.authority import PressDetails
from kinkeeper.actions.repository import open_actions
from kinkeeper.actions.tables import action_sources, action_transitions, pending_actions
from kinkeeper.bootstrap import System, open_system
from kinkeeper.calendar.tables import event_changes, events, occurrences
from kinkeeper.cli.chat_files import decisions, read_any_chat
from kinkeeper.core.errors import ConflictError, NotFoundError
from kinkeeper.household.viewers import Viewer
from kinkeeper.messaging.tables import messages, outbox
from kinkeeper.observer.accounts.proof import Proof
from kinkeeper.observer.tables import confidence_log, observer_messages, open_questions
from kinkeeper.settings.model import Settings

SAMPLE = files("kinkeeper.cli").joinpath("sample")
TABLES = (
    messages,
    observer_messages,
    confidence_log,
    open_questions,
    pending_actions,
    action_sources,
    action_transitions,
    events,
    event_changes,
    occurrences,
    outbox,
)


@contextmanager
def opened(file: Path) -> Iterator[System]:
    with SAMPLE.joinpath("chat.jsonl").open("rb") as chat:
        [start, *_] = [line.message.sent_at for line in read_any_chat(chat)]
    with open_system(
        Settings(),
        household_file=Path(str(SAMPLE / "household.toml")),
        database=str(file),
        now=start,
    ) as system:
        yield system


@pytest.fixture(scope="module")
def heard(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The sample, heard once; every test works on a copy."""
    file = tmp_path_factory.mktemp("heard") / "family.sqlite"
    with SAMPLE.joinpath("chat.jsonl").open("rb") as chat:
        lines = list(read_any_chat(chat))

    async def hear(system: System) -> None:
        async for _ in decisions(system, lines):
            pass

    with opened(file) as system:
        asyncio.run(hear(system))
        system.store.fold_log()
    return file


@pytest.fixture
def system(tmp_path: Path, heard: Path) -> Iterator[System]:
    file = tmp_path / "family.sqlite"
    copyfile(heard, file)
    with opened(file) as system:
        yield system


def prove(system: System, *row_ids: str) -> list[Proof]:
    prover = system.prover()

    async def every() -> list[Proof]:
        return [await prover.prove(row_id) for row_id in row_ids]

    return asyncio.run(every())


def _row_ids(system: System) -> list[str]:
    found = system.store.read_now(
        lambda conn: conn.execute(select(observer_messages.c.id)).scalars().all()
    )
    return sorted(found, key=int)


def _everything(system: System) -> list[list[tuple[object, ...]]]:
    return system.store.read_now(
        lambda conn: [
            sorted((tuple(row) for row in conn.execute(select(table))), key=str) for table in TABLES
        ]
    )


def _decide_all(system: System) -> None:
    household = system.household
    member = household.members[0]

    def work(conn: Connection) -> tuple[list[str], PressDetails]:
        newest = select(messages.c.sent_at).order_by(messages.c.id.desc())
        last = conn.execute(newest.limit(1)).scalar_one()
        now = last + timedelta(minutes=1)
        details: PressDetails = {"member": member, "household": household, "now": now}
        done = []
        for number, action in enumerate(open_actions(conn, Viewer.whole(household.id), now=last)):
            if number % 3 == 2:
                approvals.reject(conn, action.id, **details)
            elif action.proposal.choices:
                approvals.resolve(conn, action.id, action.proposal.choices[0].label, **details)
            else:
                approvals.confirm(conn, action.id, **details)
                done.append(action.id)
        return done, details

    done, details = system.store.write_now(work)
    details["now"] += timedelta(minutes=5)
    system.store.write_now(lambda conn: reversal.undo(conn, done[0], **details))


def test_every_decision_of_the_sample_comes_out_the_same(system: System):
    for proof in prove(system, *_row_ids(system)):
        assert proof.is_same, proof.differences
        assert proof.then == proof.now


def test_it_comes_out_the_same_after_people_decided_and_took_back(system: System):
    _decide_all(system)
    last_first = reversed(_row_ids(system)[2::2])
    assert [proof.differences for proof in prove(system, *last_first) if not proof.is_same] == []


def test_proving_keeps_nothing(system: System):
    _decide_all(system)
    before = _everything(system)
    prove(system, *_row_ids(system)[2::8])
    assert _everything(system) == before


def test_a_decision_that_would_differ_is_told(system: System):
    row_id = _row_ids(system)[2]
    system.store.write_now(
        lambda conn: conn.execute(
            observer_messages.update()
            .where(observer_messages.c.id == row_id)
            .values(redline_decision="SILENT", reply=None)
        )
    )
    [proof] = prove(system, row_id)
    assert not proof.is_same
    assert "redline_decision" in proof.differences
    assert proof.then != proof.now


def test_words_that_are_deleted_cannot_be_decided_again(system: System):
    system.store.write_now(lambda conn: conn.execute(messages.update().values(text=None)))
    with pytest.raises(ConflictError, match="deleted"):
        prove(system, _row_ids(system)[0])


def test_an_unknown_message_is_not_proved(system: System):
    with pytest.raises(NotFoundError):
        prove(system, "4711")
