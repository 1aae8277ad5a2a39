"""A cycle of idle thought follows from its seed, and tells nobody anything but as its numbers allow."""

from collections.abc import Callable
from dataclasses import replace
from datetime import datetime, time, timedelta
from itertools import product
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from drift_samples import (
    DAY,
    NOW,
    WEEK,
    ZONE,
    event,
    listed,
    snapshot_of,
    task,
    times,
    told,
    weekly,
)
from kinkeeper.background.drift import cycle as numbers
from kinkeeper.background.drift.actions import (
    ACTIONS,
    COMMUNICATE,
    NOTHING,
    NURTURE,
    REFLECT,
    SEED_THREAD,
    SUGGEST,
)
from kinkeeper.background.drift.activation import DEPTH, SEEDS, TOP, WEIGHTS, graph_of, spread
from kinkeeper.background.drift.cycle import (
    PLANNING,
    Given,
    History,
    Presence,
    Question,
    Remark,
    Said,
    State,
)
from kinkeeper.background.drift.model import Matter
from kinkeeper.background.drift.observations import observed
from kinkeeper.goals.model import MAX_AGE, Goal, GoalKind, GoalStatus, Progress
from kinkeeper.goals.plan import flat
from kinkeeper.household.viewers import person_scope
from kinkeeper.memory.concepts import Concept, ConceptMap, Relation
from kinkeeper.messaging.outbound import QuietHours

QUIET = QuietHours(start=time(22), end=time(7), zone=ZONE)
NIGHT = NOW.replace(hour=23)
RELATIONS = [
    Relation(source=who, target=what, type="preference", weight=weight, facts=[f"f{number}"])
    for number, (who, what, weight) in enumerate(
        [
            ("kofi", "judo", 0.9),
            ("kofi", "peanuts", 0.8),
            ("ella", "piano", 0.7),
            ("amara", "running", 0.6),
            ("judo", "hall", 0.5),
        ]
    )
]
KNOWN = ConceptMap(
    concepts=[Concept(name=each.target, weight=each.weight) for each in RELATIONS],
    relations=RELATIONS,
)
DUE = task("Pay the deposit", deadline=NOW + 5 * DAY)
LATER = task("Renew the insurance", deadline=NOW + 11 * DAY)
LIMIT = told("Kofi is allergic to peanuts", "kofi", said_at=NOW - 3 * DAY)
ROWS: dict[str, list[Any]] = {
    "tasks": [DUE, LATER, *(task("Bins out", remind_at=NOW + back * WEEK) for back in (-2, -1, 0))],
    "facts": [LIMIT, told("I feel exhausted", "amara", said_at=NOW - 3 * DAY)],
    "notes": [listed("Shopping list", "peanut butter", made_by="amara")],
    "occurrences": [
        *times(weekly("Kofi judo", NOW - 3 * WEEK, who=("kofi",), activity="judo")),
        *times(event("Satay night", NOW + 3 * DAY)),
    ],
}


def all_given(member: str = "amara", **changes: Any) -> Given:
    rows = changes.pop("rows", {"tasks": [DUE]})
    now = changes.pop("now", NOW)
    plain = Given(
        snapshot=snapshot_of(member, now=now, **{name: [*found] for name, found in rows.items()}),
        known=KNOWN,
        history=History(),
        presence=Presence(),
        quiet_hours=QUIET,
    )
    return replace(plain, **changes)


def think(given_: Given, seed: int = 1) -> numbers.Cycle:
    return numbers.think(given_, seed, ACTIONS)


subsets = st.fixed_dictionaries(
    {name: st.lists(st.sampled_from(found), unique_by=id) for name, found in ROWS.items()}
)


@settings(max_examples=60)
@given(
    rows=subsets,
    seed=st.integers(0, 2**31),
    order=st.randoms(use_true_random=False),
    member=st.sampled_from(["amara", "tom"]),
)
def test_the_same_seed_comes_to_the_same_whatever_the_order_of_rows(
    rows: dict[str, list[Any]], seed: int, order: Any, member: str
) -> None:
    first = think(all_given(member, rows=rows), seed)
    shuffled = {name: order.sample(found, len(found)) for name, found in rows.items()}
    known = ConceptMap(concepts=KNOWN.concepts, relations=order.sample(RELATIONS, len(RELATIONS)))
    assert think(all_given(member, rows=shuffled, known=known), seed) == first
    assert len(first.seeds) <= SEEDS
    assert len(first.activated) <= TOP
    assert first.scores[first.action] == max(first.scores.values())
    if first.thought is not None:
        assert first.thought.person == member
        assert first.thought.evidence


# Proposing goals.

FAR = {"occurrences": times(event("Kofi's birthday", NOW.replace(hour=0) + 18 * DAY, all_day=True))}
[PARTY] = observed(snapshot_of("amara", **FAR))


def wanted(text: str, status: GoalStatus = GoalStatus.RUNNING) -> Goal:
    return Goal(
        id=text,
        household="vienna",
        member="amara",
        scope=person_scope("amara"),
        kind=GoalKind.FIND,
        text=text,
        status=status,
        created_at=NOW - DAY,
        expires_at=NOW - DAY + MAX_AGE,
        progress=Progress(steps=flat(text)),
    )


@pytest.mark.parametrize(
    ("days", "active", "paused", "rested", "is_planned", "is_there", "wants_quiet"),
    [
        *product(
            (0, 1, 2),
            (0, 4, 5),
            (0, 2),
            (None, timedelta(hours=47), timedelta(hours=48)),
            (False, True),
            (False, True),
            (False, True),
        )
    ],
)
def test_a_goal_is_proposed_only_where_all_numbers_allow_it(
    days: int,
    active: int,
    paused: int,
    rested: timedelta | None,
    is_planned: bool,
    is_there: bool,
    wants_quiet: bool,
) -> None:
    words = ("tent", "piano", "bicycle", "kennel", "ladder", "carpet", "stove")
    goals = [wanted(f"a new {each}") for each in words[:active]]
    goals += [wanted(f"a used {each}", GoalStatus.PAUSED) for each in words[5 : 5 + paused]]
    if is_there:
        goals.append(wanted(f"the {PARTY.goal}", GoalStatus.PAUSED))
    history = History(
        days={PARTY.news: days, "other": 5},
        planned=frozenset({PARTY.news} if is_planned else {"other"}),
        planned_at=None if rested is None else NOW - rested,
    )
    found = think(
        all_given(
            rows=FAR, history=history, goals=goals, presence=Presence(wants_quiet=wants_quiet)
        )
    )
    may_be = days >= 1 and active < 5 and rested != timedelta(hours=47)
    may_be = may_be and not (is_planned or is_there or wants_quiet)
    assert (found.action == PLANNING) is may_be, found.scores


def test_nothing_to_look_for_is_no_goal_and_what_may_be_told_is_told() -> None:
    known = History(days={each.news: 6 for each in observed(snapshot_of("amara", **ROWS))})
    asked = Presence(said=[Said(at=NOW, text="hello", thread_id="t")])
    assert think(all_given(rows={"tasks": [DUE]}, history=known)).action == COMMUNICATE
    for rows in ({"tasks": [DUE]}, {"facts": ROWS["facts"]}):
        assert think(all_given(rows=rows, history=known, presence=asked)).scores[PLANNING] == 0


def test_seeds_differ_between_seeds() -> None:
    """Were nothing drawn, the same would come to mind again and again."""
    assert len({think(all_given(rows=ROWS), seed).seeds for seed in range(40)}) > 10
    assert round(sum(WEIGHTS.values()), 6) == 1


@pytest.mark.parametrize("seed", range(20))
def test_a_concept_that_came_to_mind_is_no_seed_while_it_cools(seed: int) -> None:
    first = think(all_given(rows=ROWS), seed)
    cooling = History(cooling=frozenset(first.seeds))
    assert not {*think(all_given(rows=ROWS, history=cooling), seed).seeds} & {*first.seeds}


@given(start=st.sampled_from(["Kofi", "Ella", "Amara", "judo", "peanuts", "hall"]))
def test_activation_goes_two_steps_and_fades(start: str) -> None:
    graph = graph_of(snapshot_of("amara"), KNOWN)
    active = spread(graph, [start])
    steps = {start: 0}
    for step in range(1, 6):
        for each in [*steps]:
            for other in graph.edges[each]:
                steps.setdefault(other, step)
    assert all(steps[each] <= DEPTH for each in active)
    assert max(active, key=lambda each: active[each]) == start


def remark(
    state: State, ago: timedelta, *, news: str = "other", member: str = "amara", **fields: Any
) -> Remark:
    plain = Remark(
        id=f"r{ago}",
        member=member,
        matter=Matter.HABIT,
        news=news,
        text="",
        about=frozenset({"e1"}),
        score=0.7,
        state=state,
        made_at=NOW - ago,
        told_at=None if state in {State.DEFERRED, State.DROPPED} else NOW - ago,
        until=NOW + 9 * DAY,
        thread_id="t",
    )
    return replace(plain, **fields)


def said(ago: timedelta, text: str = "hello", thread: str | None = "t") -> Presence:
    return Presence(said=[Said(at=NOW - ago, text=text, thread_id=thread)])


def past(*remarks: Remark, **fields: Any) -> History:
    return History(remarks=remarks, **fields)


HOURS, MINUTES = timedelta(hours=1), timedelta(minutes=1)
TOLD, HELD = True, False
CASES: list[tuple[str, dict[str, Any], bool]] = [
    ("nothing stands against it", {}, TOLD),
    ("they ask to stay with one thing", {"presence": Presence(wants_quiet=True)}, HELD),
    ("they spoke 29 minutes ago", {"presence": said(29 * MINUTES)}, HELD),
    ("they spoke 30 minutes ago", {"presence": said(30 * MINUTES)}, TOLD),
    ("others spoke in the group", {"presence": said(MINUTES, thread=None)}, TOLD),
    ("a remark is unanswered", {"history": past(remark(State.WAITING, 23 * HOURS))}, HELD),
    ("answered yesterday", {"history": past(remark(State.ANSWERED, 24 * HOURS))}, TOLD),
    ("answered less than a day ago", {"history": past(remark(State.ANSWERED, 23 * HOURS))}, HELD),
    (
        "another was told today",
        {"history": past(remark(State.ANSWERED, HOURS, member="tom"))},
        HELD,
    ),
    (
        "another was told yesterday",
        {"history": past(remark(State.ANSWERED, 24 * HOURS, member="tom"))},
        TOLD,
    ),
    (
        "two of three failed",
        {"history": past(remark(State.FAILED, HOURS), remark(State.FAILED, 9 * HOURS))},
        HELD,
    ),
    (
        "two of three failed, 8 h ago",
        {"history": past(remark(State.FAILED, 8 * HOURS), remark(State.FAILED, 9 * HOURS))},
        TOLD,
    ),
    (
        "one of three failed",
        {"history": past(remark(State.FAILED, HOURS), remark(State.ANSWERED, 30 * HOURS))},
        TOLD,
    ),
    *(
        (
            f"{ignored} ignored, {days} days",
            {
                "history": past(
                    *(remark(State.IGNORED, (days + each) * DAY) for each in range(ignored))
                )
            },
            is_told,
        )
        for ignored, waits in ((1, 2), (2, 4), (3, 8), (4, 16), (5, 16), (6, 16))
        for days, is_told in ((waits - 1, HELD), (waits, TOLD))
    ),
    (
        "ignored before, then answered",
        {
            "history": past(
                remark(State.ANSWERED, DAY),
                remark(State.IGNORED, 9 * DAY),
                remark(State.IGNORED, 12 * DAY),
            )
        },
        TOLD,
    ),
    ("three thoughts within 30 minutes", {"history": History(thoughts=3)}, HELD),
    ("two thoughts within 30 minutes", {"history": History(thoughts=2)}, TOLD),
    ("at night", {"now": NIGHT}, TOLD),
    (
        "at night, two deferred",
        {"now": NIGHT, "history": past(*(remark(State.DEFERRED, each * HOURS) for each in (1, 2)))},
        TOLD,
    ),
    (
        "at night, three deferred",
        {
            "now": NIGHT,
            "history": past(*(remark(State.DEFERRED, each * HOURS) for each in (1, 2, 3))),
        },
        HELD,
    ),
]


@pytest.mark.parametrize("number", range(len(CASES)))
def test_somebody_is_told_only_as_the_numbers_allow(number: int) -> None:
    why, changes, is_told = CASES[number]
    actions = {think(all_given(**changes), seed).action for seed in range(5)}
    assert actions == {COMMUNICATE if is_told else NOTHING}, why


def test_the_same_is_told_once_and_nothing_like_it() -> None:
    given_ = all_given()
    thought = think(given_).thought
    assert thought is not None
    for other in (
        remark(State.IGNORED, 40 * DAY, news=thought.news),
        remark(State.IGNORED, 40 * DAY, text=thought.text),
    ):
        assert think(all_given(history=past(other))).action == NOTHING
    dropped = remark(State.DROPPED, DAY, news=thought.news, text=thought.text)
    assert think(all_given(history=past(dropped))).thought == thought
    another = remark(
        State.IGNORED,
        40 * DAY,
        text="Ella’s birthday is on Sat 14 Mar, and I see no plan for it yet.",
    )
    assert think(all_given(history=past(another))).thought == thought


NEVER = {
    "occurrences": times(
        weekly(
            "Ella dropoff", NOW - 2 * WEEK, kind=event("x").kind.CARE, task="dropoff", who=("ella",)
        )
    )
}


def question(planted: timedelta, explorations: int, news: str, **fields: Any) -> Question:
    return Question(
        member="amara",
        news=news,
        planted_at=NOW - planted,
        explored_at=NOW - 9 * HOURS,
        explorations=explorations,
        **fields,
    )


def test_what_is_not_worth_telling_yet_is_kept_and_told_once_it_has_lasted() -> None:
    news = think(all_given(rows=NEVER)).thought.news  # type: ignore[union-attr]  # there is one
    for history, action in (
        (History(), SEED_THREAD),
        (History(questions=[question(DAY, 0, news)]), NOTHING),
        (History(questions=[question(71 * HOURS, 5, news)]), NOTHING),
        (History(questions=[question(80 * HOURS, 1, news)]), NOTHING),
        (History(questions=[question(72 * HOURS, 2, news)]), COMMUNICATE),
        (History(questions=[question(HOURS, 0, "another")]), NOTHING),
        (History(questions=[question(30 * HOURS, 0, "another")]), SEED_THREAD),
        (
            History(questions=[question(30 * HOURS, 0, f"other {each}") for each in range(5)]),
            NOTHING,
        ),
        (
            History(
                questions=[
                    question(30 * HOURS, 0, f"other {each}", settled_at=NOW) for each in range(5)
                ]
            ),
            SEED_THREAD,
        ),
    ):
        assert think(all_given(rows=NEVER, history=history)).action == action, history
    related = said(40 * MINUTES, "who does the Ella dropoff?")
    assert think(all_given(rows=NEVER, presence=related)).action == COMMUNICATE
    assert (
        think(all_given(rows=NEVER, presence=said(40 * MINUTES, "who eats the cake?"))).action
        == SEED_THREAD
    )


def test_each_matter_goes_its_way() -> None:
    by_hand = {"tasks": ROWS["tasks"][2:]}
    feeling = {"facts": ROWS["facts"][1:]}
    assert think(all_given(rows=by_hand)).action == SUGGEST
    assert think(all_given(rows=feeling)).action == NURTURE
    assert think(all_given(rows={})).action == NOTHING
    assert think(all_given(rows={}, is_map_behind=True)).action == REFLECT


def held(found: Given) -> Any:
    return observed(found.snapshot)


def becomes(given_: Given, found: Any) -> list[State]:
    return [each.state for each in numbers.settled_remarks(given_, found)]


def test_what_became_of_a_remark_is_seen_from_rows_and_replies() -> None:
    waiting = remark(State.WAITING, 2 * HOURS, matter=Matter.DEADLINE, about=frozenset({DUE.id}))
    ignored = replace(waiting, state=State.IGNORED, told_at=NOW - 3 * DAY)
    cases: list[tuple[Remark, dict[str, Any], Callable[[Given], Any], list[State]]] = [
        (waiting, {}, held, []),
        (waiting, {"presence": said(90 * MINUTES)}, held, [State.ANSWERED]),
        (waiting, {"presence": said(30 * MINUTES)}, held, []),
        (waiting, {"presence": said(90 * MINUTES, thread="another")}, held, []),
        (waiting, {}, lambda _: [], [State.ACTED_ON]),
        (replace(waiting, told_at=NOW - 24 * HOURS), {}, held, [State.IGNORED]),
        (ignored, {}, held, []),
        (ignored, {}, lambda _: [], [State.ACTED_ON]),
        (replace(ignored, until=NOW), {}, lambda _: [], []),
        (replace(waiting, member="tom"), {}, lambda _: [], []),
        (replace(waiting, state=State.DEFERRED), {}, held, []),
        (replace(waiting, state=State.DEFERRED), {}, lambda _: [], [State.DROPPED]),
        (
            replace(waiting, state=State.DEFERRED, made_at=NOW - 48 * HOURS),
            {},
            held,
            [State.DROPPED],
        ),
    ]
    for known, changes, found, states in cases:
        given_ = all_given(history=past(known), **changes)
        assert becomes(given_, found(given_)) == states, known


def test_of_what_was_deferred_the_best_is_told_after_the_quiet_hours() -> None:
    deferred = [
        remark(State.DEFERRED, each * HOURS, news=f"n{each}", score=score)
        for each, score in ((1, 0.7), (2, 0.9), (3, 0.8))
    ]
    morning: datetime = NOW.replace(hour=7)
    best = numbers.due_now(all_given(now=morning, history=past(*deferred)))
    assert best is not None
    assert best.score == 0.9
    assert numbers.due_now(all_given(now=morning - MINUTES, history=past(*deferred))) is None
    busy = past(*deferred, remark(State.ANSWERED, HOURS, member="tom"))
    assert numbers.due_now(all_given(history=busy)) is None


def test_questions_are_looked_at_again_and_settle() -> None:
    given_ = all_given(rows=NEVER)
    found = held(given_)
    news = found[0].news
    for known, changed in (
        (question(DAY, 0, news), (1, None)),
        (replace(question(DAY, 0, news), explored_at=NOW - 7 * HOURS), None),
        (question(DAY, 0, "gone"), (0, NOW)),
        (question(45 * DAY, 9, news), (9, NOW)),
        (question(DAY, 0, news, settled_at=NOW), None),
    ):
        after = numbers.explored(replace(given_, history=History(questions=[known])), found)
        assert [(each.explorations, each.settled_at) for each in after] == (
            [] if changed is None else [changed]
        )


SLIPS = task("Fix the gutter", deadline=NOW + 3 * DAY, who=("amara",))
BIRTHDAYS = [
    told(f"{name.title()}'s birthday is on {(NOW + days * DAY).day} {NOW + days * DAY:%B}", name)
    for name, days in (("kofi", 8), ("ella", 12))
]


def before(matter: Matter, thing: str, ago: timedelta) -> History:
    return past(remark(State.IGNORED, ago, matter=matter, about=frozenset({thing})))


def test_of_the_same_thing_nothing_more_is_said_for_four_weeks() -> None:
    slipping = snapshot_of("amara", tasks=[SLIPS], put_off={SLIPS.id: 3})
    for ago, is_told in ((3 * DAY, False), (27 * DAY, False), (28 * DAY, True)):
        history = before(Matter.SLIPPING, SLIPS.id, ago)
        assert (think(all_given(snapshot=slipping, history=history)).thought is not None) is is_told
    history = before(Matter.DEADLINE, SLIPS.id, 3 * DAY)
    assert think(all_given(snapshot=slipping, history=history)).thought is not None


def test_a_birthday_that_was_told_is_not_told_again_with_the_next() -> None:
    rows = {"facts": BIRTHDAYS}
    both = think(all_given(rows=rows)).thought
    assert both is not None
    assert len(both.evidence) == len(BIRTHDAYS)
    for known, other in (BIRTHDAYS, BIRTHDAYS[::-1]):
        found = think(
            all_given(rows=rows, history=before(Matter.BIRTHDAY, known.id, 3 * DAY))
        ).thought
        assert found is not None
        assert [each.id for each in found.evidence] == [other.id]


def test_a_week_passes_between_two_questions_that_were_asked_even_where_the_words_are_gone() -> (
    None
):
    lesson = weekly(
        "Kofi judo", NOW + 2 * DAY, who=("kofi",), activity="judo", responsible=("amara",)
    )
    rows = {"occurrences": times(lesson)}
    for state, ago, words, is_new in (
        (State.IGNORED, 3 * DAY, "Where is it?", False),
        (State.ANSWERED, 6 * DAY, "", False),
        (State.WAITING, DAY, "", False),
        (State.IGNORED, 8 * DAY, "", True),
        # Nobody was asked this one.
        (State.UNWANTED, DAY, "", True),
        (State.UNWANTED, DAY, "Where is it?", True),
        (State.DROPPED, DAY, "", True),
    ):
        asked = replace(remark(state, ago, matter=Matter.PLACE), text=words)
        found = think(all_given(rows=rows, history=past(asked))).thought
        assert (found is not None) is is_new, (state, ago, words)
