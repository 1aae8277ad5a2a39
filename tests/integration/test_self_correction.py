"""What people did with cards moves the bar of the next ones, in their household alone, at once, and reversibly."""

from collections.abc import Iterator
from dataclasses import replace
from datetime import timedelta
from itertools import islice, product

import pytest

from family_chat import Chat, chat
from kinkeeper.actions.bars import Bar, Cause, Evidence, Version, add_version, versions
from kinkeeper.actions.model import ActionStatus, RejectReason
from kinkeeper.background.regulator import STEP, Regulator, Ruling, reset
from kinkeeper.bootstrap.self_correction import regulator
from kinkeeper.core.time import VirtualClock
from kinkeeper.observer.feedback import say_not_right

DAYS = ("tuesday", "wednesday", "thursday", "friday", "saturday")
WHAT = (
    "dentist",
    "checkup",
    "haircut",
    "vaccination",
    "interview",
    "concert",
    "assembly",
    "optician",
    "rehearsal",
    "tournament",
)
FAINT = [f"{what} next {day}" for day, what in product(DAYS, WHAT)]
"""Heard with a confidence of .60: what and when, nobody, no hour."""
SURE = [
    f"Leo has a {what} on {day} at {hour}"
    for day, what, hour in product(DAYS, WHAT, ("8am", "7pm"))
]
JOBS = [
    f"who can pick up {child} from {what} tomorrow?"
    for child, what in product(("Leo", "Mia"), ("soccer", "ballet"))
]
OFF = [f"{what} is cancelled tomorrow" for what in ("soccer", "ballet")]


@pytest.fixture
def miller() -> Iterator[Chat]:
    with chat(tripwire_threshold=0.01) as found:
        yield found


def move(miller: Chat, offset: float, *, bar: Bar = Bar.CARDS, household: str = "miller") -> None:
    none = Evidence(decisions=60, pressure=0.3)

    def work(conn: object) -> None:
        known = versions(conn, household)  # type: ignore[arg-type]
        made = Version(
            id=len(known) + 1,
            bar=bar,
            cause=Cause.STEP,
            offset=offset,
            back_to=0.0,
            why=none,
            at=miller.at("Sun 2026-03-01 10:00"),
        )
        add_version(conn, household, made)  # type: ignore[arg-type]

    miller.store.write_now(work)


def cards(miller: Chat, text: str, number: int = 0) -> int:
    """Say something, and return how many cards came of it."""
    before = {each.id for each in miller.actions()}
    at = miller.at("Mon 2026-03-02 06:00") + timedelta(minutes=20 * number)
    miller.say(at, "sarah", text)
    return len({each.id for each in miller.actions()} - before)


@pytest.mark.parametrize("bar", [Bar.CARDS, Bar.EVENTS])
def test_readers_take_up_a_new_version_at_once_and_only_of_their_household(
    miller: Chat, bar: Bar
) -> None:
    texts = FAINT[::7]
    assert [cards(miller, each, n) for n, each in enumerate(texts)] == [1] * len(texts)
    move(miller, 0.2, bar=bar, household="neighbour")
    assert cards(miller, FAINT[1], 20) == 1
    move(miller, STEP, bar=bar)
    held = FAINT[2::7]
    assert [cards(miller, each, 30 + n) for n, each in enumerate(held)] == [0] * len(held)
    gate = next(
        each
        for each in miller.gates()
        if each["stage"] == "extraction" and each["message"] == miller.decisions()[-1]["id"]
    )
    assert (gate["score"], round(gate["threshold"], 2), gate["passed"]) == (0.6, 0.62, 0)
    now = miller.at("Mon 2026-03-02 22:00")
    assert miller.store.write_now(lambda conn: reset(conn, "miller", bar, now=now))
    assert not miller.store.write_now(lambda conn: reset(conn, "miller", bar, now=now))
    assert cards(miller, FAINT[3], 60) == 1


@pytest.mark.parametrize("text", [*SURE[::19], *JOBS, *OFF])
def test_what_is_sure_asks_or_calls_off_comes_through_at_any_bar(text: str) -> None:
    seen = []
    for offset in (0.0, 0.2):
        with chat(tripwire_threshold=0.01) as miller:
            move(miller, offset)
            if text in OFF:
                cards(miller, f"Leo has {text.split(maxsplit=1)[0]} tomorrow at 7pm")
            line = miller.say("Mon 2026-03-02 10:00", "john", text)
            seen.append((line["reason"], len(miller.actions())))
    assert seen[0] == seen[1]


def test_an_answer_to_a_question_is_heard_at_any_bar(miller: Chat) -> None:
    move(miller, 0.2)
    cards(miller, JOBS[0])
    miller.say("Mon 2026-03-02 06:05", "john", "I can")
    owners = [each.proposal.extraction["assigned_to"] for each in miller.actions()]
    assert ["john"] in owners


def corrected(miller: Chat, at: str) -> Ruling:
    clock = VirtualClock(miller.at(at))
    found: Regulator = regulator(miller.system.settings, miller.household, miller.store, clock)
    return miller.wait(found.run_once())


@pytest.mark.parametrize("how", ["dismissed", "undone", "not right", "already known", "unanswered"])
def test_what_people_do_with_cards_moves_their_bar_and_only_that(miller: Chat, how: str) -> None:
    texts = [*islice(FAINT, 25), *islice(SURE, 40)]
    for number, text in enumerate(texts):
        cards(miller, text, number)
    noon = "Tue 2026-03-03 12:00"
    for each in miller.pending("Tue 2026-03-03 08:00"):
        if each.proposal.extraction_confidence > 0.6:
            label = each.proposal.choices[-1].label if each.proposal.choices else None
            if label is None:
                miller.confirm(noon, "john", each.id)
            else:
                miller.resolve(noon, "john", each.id, label)
        elif how == "undone":
            miller.confirm(noon, "john", each.id)
            miller.undo(noon, "sarah", each.id)
        elif how != "unanswered":
            miller.reject(noon, "john", each.id)
            if how != "dismissed":
                miller.store.write_now(
                    lambda conn, action=each.id: say_not_right(
                        conn,
                        "miller",
                        action,
                        RejectReason(how.replace(" ", "_"))
                        if how == "already known"
                        else RejectReason.NOT_A_PLAN,
                        by="john",
                        now=miller.at(noon),
                    )
                )
    done = sum(each.status is ActionStatus.DONE for each in miller.actions())
    assert done >= 30
    found = corrected(miller, "Tue 2026-03-03 13:00")
    if how in {"already known", "unanswered"}:
        assert found == Ruling()
        assert cards(miller, FAINT[30], 150) == 1
        return
    assert found.version is not None
    assert (found.version.bar, found.version.offset) == (Bar.EVENTS, STEP)
    assert found.version.why.signals[how] == 25
    assert corrected(miller, "Tue 2026-03-03 14:00") == Ruling()
    assert cards(miller, FAINT[30], 150) == 0
    assert cards(miller, SURE[60], 151) == 1
    # What was decided before is proved by the bar of then.
    first = miller.decisions()[3]["id"]
    assert miller.wait(miller.system.prover().prove(first)).is_same
    kept = miller.store.read_now(lambda conn: versions(conn, "miller"))
    assert kept == [replace(found.version)]
    assert miller.store.read_now(lambda conn: versions(conn, "neighbour")) == []
