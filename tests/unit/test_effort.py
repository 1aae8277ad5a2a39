"""How long acting in rounds may go on."""

from itertools import cycle, pairwise

from hypothesis import given
from hypothesis import strategies as st

from kinkeeper.core.effort import Effort

COSTS = st.floats(min_value=0.1, max_value=5)


@given(COSTS, st.integers(min_value=1, max_value=5))
def test_it_ends_once_its_budget_is_spent_and_later_rounds_cost_more(
    cost: float, repeats: int
) -> None:
    effort, spent = Effort(repeats=repeats + 1), [0.0]
    for number, what in enumerate(cycle("ab")):
        if (why := effort.why_not(what)) is not None:
            break
        effort.add(cost, number=number)
        spent.append(effort.spent)
    assert why == "fatigue"
    assert effort.is_spent
    rounds = [after - before for before, after in pairwise(spent)]
    assert rounds == sorted(rounds)


@given(st.lists(st.sampled_from("ab"), max_size=30), st.integers(min_value=1, max_value=4))
def test_only_the_same_thing_so_often_running_is_going_in_circles(
    done: list[str], repeats: int
) -> None:
    effort = Effort(repeats=repeats)
    for at, what in enumerate(done, 1):
        is_same = len({*done[max(0, at - repeats) : at]}) == 1 and at >= repeats
        assert effort.why_not(what) == ("repetition" if is_same else None)
