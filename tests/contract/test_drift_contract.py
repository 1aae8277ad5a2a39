"""Idle thought is kept alike in both databases: what was thought, told, kept and chosen, as it stood at any moment."""

from dataclasses import replace
from datetime import datetime, timedelta

import pytest
from sqlalchemy import select

from drift_samples import DAY, NOW, all_seen, task
from kinkeeper.background.drift import repository
from kinkeeper.background.drift.cycle import Cycle, Remark, State
from kinkeeper.background.drift.model import Observation
from kinkeeper.store.store import Store

MINUTES, HOUR = timedelta(minutes=1), timedelta(hours=1)
[THOUGHT] = all_seen(tasks=[task("Pay the deposit", deadline=NOW + 5 * DAY)])


def cycle(thought: Observation | None = THOUGHT, action: str = "COMMUNICATE") -> Cycle:
    return Cycle(
        seed=7,
        seeds=["Kofi"],
        activated={"Kofi": 1.0, "judo": 0.5},
        thought=thought,
        worth=0.85,
        action=action,
        scores={action: 0.85},
    )


def remark(name: str, state: State = State.DEFERRED, member: str = "amara") -> Remark:
    return Remark(
        id=name,
        member=member,
        matter=THOUGHT.matter,
        news=THOUGHT.news,
        text=THOUGHT.text,
        about=frozenset(each.id for each in THOUGHT.evidence),
        score=0.85,
        state=state,
        made_at=NOW,
        until=THOUGHT.until,
    )


def put(store: Store, found: Remark) -> None:
    store.write_now(lambda conn: repository.insert_remark(conn, "vienna", found, THOUGHT.evidence))


def think(store: Store, found: Cycle, at: datetime, effect: str) -> None:
    store.write_now(
        lambda conn: repository.insert_cycle(conn, "vienna", "amara", found, at=at, effect=effect)
    )


def test_history_is_what_it_was_at_each_moment(store: Store) -> None:
    told = replace(remark("r1"), state=State.WAITING, told_at=NOW + 10 * MINUTES, thread_id="t")
    with_effect = replace(told, state=State.ACTED_ON)
    store.write_now(
        lambda conn: repository.insert_cycle(
            conn, "vienna", "amara", cycle(), at=NOW, effect="told"
        )
    )
    store.write_now(
        lambda conn: repository.insert_remark(conn, "vienna", remark("r1"), THOUGHT.evidence)
    )
    store.write_now(
        lambda conn: repository.change_remark(conn, "vienna", told, at=NOW + 10 * MINUTES)
    )
    store.write_now(
        lambda conn: repository.change_remark(conn, "vienna", with_effect, at=NOW + 20 * MINUTES)
    )
    store.write_now(lambda conn: repository.plant(conn, "vienna", "amara", THOUGHT, at=NOW))
    for minutes, states in (
        (0, []),
        (1, [State.DEFERRED]),
        (10, [State.DEFERRED]),
        (11, [State.WAITING]),
        (20, [State.WAITING]),
        (21, [State.ACTED_ON]),
    ):
        found = store.read_now(
            lambda conn, now=NOW + minutes * MINUTES: repository.history_of(conn, "vienna", now=now)
        )
        assert [each.state for each in found.remarks] == states
        assert found.thoughts == len(found.questions) == (minutes > 0)
        assert found.cooling == (frozenset({"Kofi"}) if minutes else frozenset())
    later = store.read_now(
        lambda conn: repository.history_of(conn, "vienna", now=NOW + 90 * MINUTES)
    )
    assert (later.thoughts, later.cooling) == (0, frozenset())
    assert not store.read_now(
        lambda conn: repository.history_of(conn, "graz", now=NOW + DAY)
    ).remarks


def test_figures_count_by_household_and_time_and_hold_no_words(store: Store) -> None:
    for number, (action, effect) in enumerate(
        (("COMMUNICATE", "waiting"), ("NOTHING", ""), ("NOTHING", ""), ("REFLECT", "map"))
    ):
        thought = THOUGHT if action == "COMMUNICATE" else None
        think(store, cycle(thought, action), NOW + number * MINUTES, effect)
    for name, state in (
        ("a", State.ANSWERED),
        ("b", State.IGNORED),
        ("c", State.DROPPED),
        ("d", State.ACTED_ON),
    ):
        put(store, remark(name, state))
    found = store.read_now(lambda conn: repository.figures(conn, "vienna", since=NOW))
    assert found.cycles == {"COMMUNICATE": 1, "NOTHING": 2, "REFLECT": 1}
    assert found.effects == {"COMMUNICATE": 1, "REFLECT": 1}
    assert (found.told, found.taken_up) == (3, 2)
    assert store.read_now(lambda conn: repository.figures(conn, "graz", since=NOW)).cycles == {}
    shown = store.read_now(lambda conn: repository.latest_cycles(conn, "vienna", limit=2))
    assert [each["action"] for each in shown] == ["REFLECT", "NOTHING"]
    assert store.write_now(lambda conn: repository.purge(conn, "vienna", before=NOW + DAY)) == 4
    rest = store.read_now(lambda conn: repository.history_of(conn, "vienna", now=NOW + DAY))
    assert {each.text for each in rest.remarks} == {""}
    assert {each.about for each in rest.remarks} == {
        frozenset(each.id for each in THOUGHT.evidence)
    }


@pytest.mark.parametrize("is_on", [False, True])
def test_a_choice_holds_until_the_next_and_drops_what_waits(store: Store, *, is_on: bool) -> None:
    for member in ("amara", "tom"):
        put(store, remark(member, member=member))
    for choice in (True, False, is_on):
        store.write_now(
            lambda conn, choice=choice: repository.choose(
                conn, "vienna", "amara", is_on=choice, now=NOW
            )
        )
    assert store.read_now(lambda conn: repository.wants_none(conn, "vienna")) == (
        frozenset() if is_on else {"amara"}
    )
    found = store.read_now(lambda conn: repository.history_of(conn, "vienna", now=NOW + DAY))
    assert {each.member: each.state for each in found.remarks} == {
        "amara": State.DROPPED,
        "tom": State.DEFERRED,
    }


@pytest.mark.parametrize(
    ("hours", "days"),
    [
        ([1, 5, 20], 0),
        ([24], 1),
        ([25, 30, 47], 1),
        ([3, 26, 50], 2),
        ([24, 48, 72, 96, 120, 144], 6),
        ([167], 1),
        ([168, 200, 400], 0),
    ],
)
def test_days_on_which_something_came_to_mind_are_counted_for_a_week(
    store: Store, hours: list[int], days: int
) -> None:
    for back in hours:
        think(store, cycle(), NOW - back * HOUR, "")
        think(store, cycle(None), NOW - back * HOUR - MINUTES, "")
    history = store.read_now(lambda conn: repository.history_of(conn, "vienna", now=NOW))
    assert history.days == ({THOUGHT.news: days} if days else {})
    assert (history.planned, history.planned_at) == (frozenset(), None)


def test_only_a_proposal_that_was_made_counts_as_one(store: Store) -> None:
    for back, action, effect in (
        (90, "PLAN", "proposed"),
        (60, "PLAN", "proposed"),
        (9, "PLAN", ""),
        (8, "SEED_THREAD", "kept"),
    ):
        think(store, cycle(action=action), NOW - back * HOUR, effect)
    for back, at in ((100, None), (70, 90), (0, 60)):
        now = NOW - back * HOUR
        history = store.read_now(
            lambda conn, now=now: repository.history_of(conn, "vienna", now=now)
        )  # type: ignore[misc]
        assert history.planned_at == (None if at is None else NOW - at * HOUR)
        assert history.planned == (frozenset() if at is None else {THOUGHT.news})


@pytest.mark.parametrize("state", State)
def test_what_came_to_mind_is_fresh_until_it_is_told(store: Store, state: State) -> None:
    think(store, cycle(), NOW - 29 * MINUTES, "")
    think(store, cycle(None), NOW, "")

    def fresh(member: str, minutes: int) -> frozenset[str]:
        since = NOW - minutes * MINUTES
        return store.read_now(
            lambda conn: repository.fresh_news(conn, "vienna", member, since=since)
        )

    assert fresh("amara", 30) == {THOUGHT.news}
    assert fresh("amara", 28) == fresh("tom", 30) == frozenset()
    put(store, remark("theirs", State.WAITING, member="tom"))
    assert fresh("amara", 30) == {THOUGHT.news}
    put(store, remark("r1", state))
    assert fresh("amara", 30) == (frozenset() if state.is_told else {THOUGHT.news})


def test_words_are_forgotten_and_what_people_want_and_were_asked_is_not(store: Store) -> None:
    for name, state in (("told", State.IGNORED), ("waits", State.DEFERRED)):
        put(store, remark(name, state))
    put(store, remark("ended", State.UNWANTED, member="tom"))
    store.write_now(lambda conn: repository.forget_words(conn, "vienna", at=NOW + HOUR))
    found = store.read_now(lambda conn: repository.history_of(conn, "vienna", now=NOW + DAY))
    assert {each.id: (each.state, each.text) for each in found.remarks} == {
        "told": (State.IGNORED, ""),
        "waits": (State.DROPPED, ""),
        "ended": (State.UNWANTED, ""),
    }
    rows = store.read_now(lambda conn: conn.execute(select(repository.drift_remarks)).all())
    assert not any(each["words"] for row in rows for each in row.evidence)
    is_unwanted = store.read_now(
        lambda conn: repository.is_unwanted(conn, "vienna", "tom", THOUGHT.news)
    )
    assert is_unwanted
