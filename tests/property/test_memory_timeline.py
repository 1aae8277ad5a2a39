"""What is believed follows from what was said and when it holds, never from what arrived first."""

from collections.abc import Iterator
from datetime import datetime, timedelta
from itertools import pairwise

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from sqlalchemy import Connection

from kinkeeper.household.viewers import Viewer
from kinkeeper.memory.browser import as_of
from kinkeeper.memory.journal import list_changes
from kinkeeper.memory.model import Category
from kinkeeper.memory.undo import undo
from memory_chains import (
    MANY,
    MANY_CHAINS,
    NOW,
    SINGLE,
    START,
    Said,
    chains,
    memory,
    rows,
    say,
    state,
)

VIEWER = Viewer.of("h", "john")
FEW = settings(max_examples=20, suppress_health_check=[HealthCheck.function_scoped_fixture])
MANY_MORE = settings(FEW, max_examples=MANY_CHAINS)


@pytest.fixture(scope="module")
def conn() -> Iterator[Connection]:
    with memory() as opened:
        yield opened


def check_order(conn: Connection, chain: list[Said], order: list[int]) -> None:
    """Compare what is believed after two orders of arrival."""
    with conn.begin_nested() as nested:
        for place, said in enumerate(chain):
            say(conn, place, said)
        expected = state(conn)
        nested.rollback()
    with conn.begin_nested() as nested:
        for place in order:
            say(conn, place, chain[place])
        found = state(conn)
        nested.rollback()
    assert found == expected


ordered_chains = chains.flatmap(
    lambda chain: st.tuples(st.just(chain), st.permutations(range(len(chain))))
)


@given(ordered_chains)
@FEW
def test_the_order_of_arrival_does_not_matter(
    conn: Connection, case: tuple[list[Said], list[int]]
) -> None:
    check_order(conn, *case)


@pytest.mark.nightly
@given(ordered_chains)
@MANY_MORE
def test_the_order_of_arrival_does_not_matter_in_many_chains(
    conn: Connection, case: tuple[list[Said], list[int]]
) -> None:
    check_order(conn, *case)


def check_undo(conn: Connection, chain: list[Said], order: list[int]) -> None:
    """Take every change back, the latest first, and compare every row at each step."""
    with conn.begin_nested() as nested:
        before = [rows(conn)]
        made = []
        for place in order:
            made.append(say(conn, place, chain[place]).change_set)
            before.append(rows(conn))
        for change_set, (earlier, later) in zip(
            reversed(made), reversed(list(pairwise(before))), strict=True
        ):
            assert rows(conn) == later
            assert change_set is not None
            undo(conn, "h", change_set, by="john", at=NOW)
            assert rows(conn) == earlier
        assert all(change.undone_at for change in list_changes(conn, "h"))
        nested.rollback()


@given(ordered_chains)
@FEW
def test_every_change_is_taken_back_bit_for_bit(
    conn: Connection, case: tuple[list[Said], list[int]]
) -> None:
    check_undo(conn, *case)


@pytest.mark.nightly
@given(ordered_chains)
@MANY_MORE
def test_every_change_of_a_thousand_chains_is_taken_back_bit_for_bit(
    conn: Connection, case: tuple[list[Said], list[int]]
) -> None:
    check_undo(conn, *case)


@st.composite
def moves(draw: st.DrawFn) -> list[Said]:
    """Return a chain of changes of one slot, each on a day of its own and to another value."""
    told, changed, _, values, _ = SINGLE[draw(st.sampled_from(sorted(SINGLE)))]
    days = sorted(draw(st.sets(st.integers(0, 60), min_size=2, max_size=6)))
    chain: list[Said] = []
    for day in days:
        others = [value for value in values if not chain or value not in chain[-1].text]
        text = draw(st.sampled_from([*told, *changed])).replace("{}", draw(st.sampled_from(others)))
        chain.append(Said(text=text, day=day))
    return chain


def boundaries(chain: list[Said]) -> Iterator[datetime]:
    """Yield every instant at which something else may hold than right before it, and right before."""
    for said in chain:
        yield START + timedelta(days=said.day, microseconds=-1)
        yield START + timedelta(days=said.day)


def check_as_of(conn: Connection, chain: list[Said], order: list[int]) -> None:
    with conn.begin_nested() as nested:
        for place in order:
            say(conn, place, chain[place])
        for instant in boundaries(chain):
            held = [said.text for said in chain if START + timedelta(days=said.day) <= instant][-1:]
            assert [fact.narrative for fact in as_of(conn, VIEWER, instant)] == held
        nested.rollback()


ordered_moves = moves().flatmap(
    lambda chain: st.tuples(st.just(chain), st.permutations(range(len(chain))))
)


@given(ordered_moves)
@FEW
def test_what_held_at_any_time_is_known_exactly(
    conn: Connection, case: tuple[list[Said], list[int]]
) -> None:
    check_as_of(conn, *case)


@pytest.mark.nightly
@given(ordered_moves)
@MANY_MORE
def test_what_held_at_any_time_is_known_exactly_in_many_chains(
    conn: Connection, case: tuple[list[Said], list[int]]
) -> None:
    check_as_of(conn, *case)


@given(st.lists(st.sampled_from(MANY[0]), min_size=1, max_size=5))
@settings(FEW, max_examples=8)
def test_saying_it_again_makes_no_second_fact(conn: Connection, told: list[str]) -> None:
    with conn.begin_nested() as nested:
        for day, text in enumerate(told):
            say(conn, day, Said(text=text.format("jazz"), day=day, category=Category.PREFERENCE))
        assert len(state(conn)) == 1
        assert state(conn)[0][5] == len(told)
        nested.rollback()
