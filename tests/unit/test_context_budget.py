"""What goes into a context, what is cut of it, and that it always fits."""

import itertools
import json
from collections.abc import Sequence
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from kinkeeper.memory.context.context_builder import (
    Cut,
    Fitted,
    Memory,
    Part,
    Wanted,
    best_fit,
    fit,
    most_tokens,
)

COUNTED = Path(__file__).parents[2] / "evals/data/memory/token_counts.jsonl"


def words(text: str) -> int:
    return len(text.split())


def said(tokens: int, word: str = "w") -> str:
    """A text of so many tokens, its line's end included."""
    return " ".join(f"{word}{n}" for n in range(tokens - 1))


def memory(tokens: int, worth: float) -> Memory:
    return Memory(id=f"{tokens}/{worth}", text=said(tokens), worth=worth)


def test_what_fits_goes_in_whole() -> None:
    wanted = Wanted(
        system=said(100),
        recent=[said(50), said(60)],
        tools=[said(70)],
        facts=[memory(40, 0.5)],
        episodes=[memory(80, 0.2)],
    )
    fitted = fit(wanted, count=words)
    assert fitted.recent == wanted.recent
    assert (fitted.facts, fitted.episodes) == (wanted.facts, wanted.episodes)
    assert (fitted.system, fitted.tokens, fitted.cuts) == (wanted.system, 400, ())


def test_too_long_messages_lose_their_oldest_words_and_it_is_told() -> None:
    wanted = Wanted(
        system=said(2000),
        recent=[said(300, "a"), said(300, "b"), said(300, "c")],
        tools=[said(300, "d"), said(300, "e")],
    )
    fitted = fit(wanted, count=words)
    assert fitted.recent[-1] == wanted.recent[2]
    assert fitted.recent[0].startswith("…b")
    assert fitted.recent[0].endswith("b298")
    assert fitted.tools[-1] == wanted.tools[1]
    assert fitted.tools[0].endswith("d298")
    cuts = {(cut.part, cut.index): cut for cut in fitted.cuts}
    assert cuts[Part.RECENT, 0] == Cut(part=Part.RECENT, index=0, tokens=300, kept=0)
    assert cuts[Part.RECENT, 1].kept == 200
    assert cuts[Part.TOOL, 0].kept == 100
    assert cuts[Part.SYSTEM, 0].kept == 600
    assert fitted.system.endswith("w598…")
    assert fitted.tokens == 1500


def test_messages_get_back_what_nobody_else_wants() -> None:
    wanted = Wanted(recent=[said(700), said(700)], system=said(10))
    fitted = fit(wanted, count=words)
    assert fitted.recent == wanted.recent
    assert fitted.system == wanted.system


def test_facts_and_episodes_have_room_of_their_own_that_messages_cannot_take() -> None:
    wanted = Wanted(
        recent=[said(5000)],
        tools=[said(5000)],
        system=said(5000),
        facts=[memory(90, n / 10) for n in range(1, 5)],
        episodes=[memory(150, 0.9)],
    )
    fitted = fit(wanted, count=words)
    assert [each.worth for each in fitted.facts] == [0.3, 0.4]
    assert len(fitted.episodes) == 1


def test_a_small_memory_goes_in_where_a_better_one_is_too_long() -> None:
    fitted = fit(Wanted(facts=[memory(900, 0.9), memory(20, 0.3)]), count=words)
    assert [each.worth for each in fitted.facts] == [0.3]


@given(
    things=st.lists(st.tuples(st.integers(0, 30), st.floats(0, 1)), max_size=10),
    room=st.integers(0, 100),
)
@settings(max_examples=60, deadline=None)
def test_the_best_fit_is_the_best_there_is(things: Sequence[tuple[int, float]], room: int) -> None:
    is_best(things, room)


@pytest.mark.slow
@given(
    things=st.lists(st.tuples(st.integers(0, 60), st.floats(0, 1)), min_size=11, max_size=15),
    room=st.integers(0, 300),
)
@settings(max_examples=40, deadline=None)
def test_the_best_fit_of_many_is_the_best_there_is(
    things: Sequence[tuple[int, float]], room: int
) -> None:
    is_best(things, room)


def is_best(things: Sequence[tuple[int, float]], room: int) -> None:
    sizes, worths = [size for size, _ in things], [worth for _, worth in things]
    chosen = best_fit(sizes, worths, room)
    assert sum(sizes[n] for n in chosen) <= room
    best = max(
        sum(worth for _, worth in some)
        for length in range(len(things) + 1)
        for some in itertools.combinations(things, length)
        if sum(size for size, _ in some) <= room
    )
    assert sum(worths[n] for n in chosen) >= best - 1e-9


TEXTS = st.text(alphabet="ab \n.é", max_size=60)
MEMORIES = st.lists(
    st.builds(Memory, id=st.just("m"), text=TEXTS, worth=st.floats(0, 1)), max_size=6
)
WANTED = st.builds(
    Wanted,
    system=TEXTS,
    recent=st.lists(TEXTS, max_size=6),
    tools=st.lists(TEXTS, max_size=4),
    facts=MEMORIES,
    episodes=MEMORIES,
)


@given(wanted=WANTED, budget=st.integers(0, 250))
@settings(max_examples=100, deadline=None)
def test_a_context_never_exceeds_its_budget(wanted: Wanted, budget: int) -> None:
    keeps_the_rules(wanted, fit(wanted, count=len, budget=budget), budget)


@pytest.mark.slow
def test_a_hundred_thousand_contexts_keep_their_budgets() -> None:
    numbers = itertools.cycle((3, 50, 2, 17, 120, 1, 8, 33, 5, 260, 11))
    for case in range(100_000):
        texts = ["x" * (next(numbers) + case % 7) for _ in range(10)]
        memories = [Memory(id="m", text=text, worth=len(text) % 5) for text in texts[6:]]
        wanted = Wanted(
            system=texts[0],
            recent=texts[1 : 2 + case % 3],
            tools=texts[4 : 4 + case % 3],
            facts=memories[:2],
            episodes=memories[2:],
        )
        budget = (case * 37) % 900
        fitted = fit(wanted, count=len, budget=budget)
        assert fitted.tokens <= budget
        assert not fitted.recent or wanted.recent[-1].endswith(fitted.recent[-1].lstrip("…"))
        assert fitted.recent or budget < 30


def keeps_the_rules(wanted: Wanted, fitted: Fitted, budget: int) -> None:
    every = (
        fitted.system,
        *fitted.recent,
        *fitted.tools,
        *(each.text for each in (*fitted.facts, *fitted.episodes)),
    )
    assert len("\n".join(text for text in every if text)) <= fitted.tokens <= budget
    cut = {(each.part, each.index) for each in fitted.cuts}
    whole = [text for n, text in enumerate(wanted.recent) if (Part.RECENT, n) not in cut and text]
    assert whole == list(fitted.recent)[len(fitted.recent) - len(whole) :]
    assert fitted.system == wanted.system or (Part.SYSTEM, 0) in cut
    for each in fitted.cuts:
        assert each.kept < each.tokens


def test_of_no_text_are_tokens_undercounted() -> None:
    rows = [json.loads(line) for line in COUNTED.read_text("utf-8").splitlines()]
    for row in rows:
        assert most_tokens(row["text"]) >= row["tokens"], row
    total = sum(row["tokens"] for row in rows)
    assert sum(most_tokens(row["text"]) for row in rows) < 1.6 * total
