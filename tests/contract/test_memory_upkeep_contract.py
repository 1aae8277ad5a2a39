"""A night of memory does the same on every database that the store supports."""

from dataclasses import replace

from kinkeeper.memory.model import FactStatus
from kinkeeper.memory.upkeep.rollback import keep_all
from kinkeeper.memory.upkeep.runs import ChangeKind, RunState, approve, latest_runs, open_question
from kinkeeper.store.store import Store
from memory_nights import HOUSE, Memory, day, meaning, unlike


def test_a_night_joins_supports_and_is_taken_back(store: Store) -> None:
    memory = Memory(store)
    (one,) = memory.say("Leo loves football", day(0))
    memory.forget_meeting_points()
    (other,) = memory.say("Leo likes football", day(1))
    for fact in (one, other):
        memory.place("fact", fact.id, meaning("football", twist=fact.id))
    before = {fact.id: replace(fact, seq=0) for fact in memory.every()}
    run = memory.night(day(2))
    assert ChangeKind.MERGED in {each.kind for each in run.report.differences}
    assert store.read_now(lambda conn: latest_runs(conn, HOUSE)) == [run]
    memory.revert(run, day(3))
    assert {fact.id: replace(fact, seq=0) for fact in memory.every()} == before
    assert memory.night(day(4)).change_set is None


def test_a_night_that_asks_is_answered(store: Store) -> None:
    memory = Memory(store)
    for text in unlike(8):
        memory.say(f"{text} these days", day(0))
    asking = memory.night(day(120))
    assert asking.state is RunState.ASKS
    assert store.read_now(lambda conn: open_question(conn, HOUSE)) == asking
    store.write_now(lambda conn: keep_all(conn, HOUSE, asking.id, by="john", at=day(121)))
    assert all(fact.status.is_active for fact in memory.every())
    assert memory.night(day(122)).report.differences == ()
    asking = memory.night(day(300))
    store.write_now(lambda conn: approve(conn, HOUSE, asking.id))
    done = memory.night(day(300.1))
    assert (done.state, done.report.leaving) == (RunState.DONE, asking.report.leaving)
    assert {fact.status for fact in memory.every()} == {FactStatus.DEPRECATED}
