"""Charts, comfort, health and the ledger: figures that are right, and silence where nothing is known."""

from datetime import UTC, date, datetime, timedelta
from typing import Any

import pytest

from kinkeeper.actions.bars import Bar, Offsets
from kinkeeper.actions.model import ActionStatus, PendingAction
from kinkeeper.conversation.model import Mode
from kinkeeper.conversation.turn_records import Effects, Fired, ModeShare
from kinkeeper.observability.findings import Finding, Health
from kinkeeper.observer.accounts.metrics import LedgerDay, Metrics, NearMiss
from kinkeeper.observer.feedback import FeedbackCount, Verdict
from kinkeeper.web.views.health import (
    HEIGHT,
    WIDTH,
    Comfort,
    Work,
    chart,
    comfort,
    health_page,
    shown_until,
)
from kinkeeper.web.views.people import people_of
from kinkeeper.web.views.quotes import Quotes
from kinkeeper.web.views.why import ledger
from page_samples import action, heard, home, words_at
from pending_samples import proposal

NOW = datetime(2026, 3, 30, 9, tzinfo=UTC)  # the day after the clocks changed
WORDS = words_at(NOW)
DAYS = shown_until(NOW, WORDS, count=30)
NOTHING = FeedbackCount(not_right={}, verdicts={}, confusion=0)


def _day(day: date, **counts: Any) -> LedgerDay:
    plain = {"messages": 0, "understood": 0, "saved": 0, "spoken": 0, "near_misses": ()}
    return LedgerDay(day=day, **{**plain, **counts})


def _metrics(**fields: Any) -> Metrics:
    plain: dict[str, Any] = {
        "days": (),
        "gates": (),
        "spoken_by_rule": {},
        "spoken_per_day": 0.0,
        "actions": {},
        "confirmed_share": None,
        "refusals": {},
        "refused_presses": {},
        "feedback": NOTHING,
        "failed": 0,
        "consulted": {},
        "talk": {},
    }
    return Metrics(**{**plain, **fields})


def _said(**fields: Any) -> FeedbackCount:
    return FeedbackCount(**{"not_right": {}, "verdicts": {}, "confusion": 0, **fields})


def _figures(
    metrics: Metrics | None = None,
    said: dict[date, FeedbackCount] | None = None,
    actions: tuple[PendingAction, ...] = (),
) -> dict[str, Comfort]:
    found = comfort(metrics or _metrics(), said or {}, actions, days=DAYS, wording=WORDS)
    return {each.name: each for each in found}


def _confirmed(name: str, decided_at: datetime, minutes: float) -> PendingAction:
    return action(
        proposal(name),
        status=ActionStatus.DONE,
        decided_at=decided_at,
        created_at=decided_at - timedelta(minutes=minutes),
    )


def test_thirty_days_end_today_and_leave_none_out() -> None:
    assert (DAYS[0], DAYS[-1], len(set(DAYS))) == (date(2026, 3, 1), date(2026, 3, 30), 30)


def test_a_household_that_said_nothing_has_no_figure_made_up() -> None:
    figures = _figures()
    unknown = [name for name, each in figures.items() if not each.figure]
    assert unknown == ["Should have stayed quiet", "Approved cards", "Time to approval"]
    assert all(each.chart is None for each in figures.values())
    assert figures["Asked why it spoke"].figure == "0"


def test_wonder_counts_seven_days_and_draws_thirty() -> None:
    said = {
        DAYS[-8]: _said(confusion=4),
        DAYS[-7]: _said(confusion=2),
        DAYS[-1]: _said(confusion=1),
    }
    found = _figures(said=said)["Asked why it spoke"]
    assert found.figure == "3"
    assert found.chart is not None
    assert [value for _, value in found.chart.rows] == ["4", "2", "1"]


def test_false_speaks_are_a_share_of_what_was_judged() -> None:
    said = {
        DAYS[3]: _said(verdicts={Verdict.KEEP_QUIET: 1, Verdict.GOOD_CALL: 2}),
        DAYS[9]: _said(verdicts={Verdict.SPEAK: 1}),
    }
    found = _figures(said=said)["Should have stayed quiet"]
    assert (found.figure, found.note) == ("25%", "Of 4 decisions with feedback.")
    assert found.chart is not None
    assert found.chart.rows == (("4 Mar", "1"),)


def test_waiting_is_the_middle_of_all_yeses_on_the_household_s_days() -> None:
    midnight = datetime(2026, 3, 29, 22, 30, tzinfo=UTC)  # half past midnight in Vienna
    actions = (
        _confirmed("a", midnight, 10),
        _confirmed("b", midnight, 90),
        _confirmed("c", NOW, 200),
        action(status=ActionStatus.REJECTED, decided_at=NOW),
    )
    found = _figures(_metrics(confirmed_share=0.75), actions=actions)
    waited, right = found["Time to approval"], found["Approved cards"]
    assert waited.figure == "1 h 30 min"
    assert waited.chart is not None
    assert waited.chart.rows == (("30 Mar", "90"),)
    assert right.figure == "75%"
    assert right.chart is not None
    assert right.chart.rows == (("30 Mar", "3"),)


def test_a_chart_keeps_to_its_box_and_shows_the_goal() -> None:
    days = DAYS[:3]
    values = {days[0]: 8.0, days[2]: 0.001}
    drawn = chart(
        "Spoken",
        values,
        figure="x",
        days=days,
        labels={day: day.isoformat() for day in days},
        goal=2.0,
    )
    assert drawn is not None
    assert [bar.height for bar in drawn.bars] == [58.0, 0.0, 1.0]
    assert all(bar.x >= 0 and bar.x + bar.width <= WIDTH for bar in drawn.bars)
    assert all(0 <= bar.y <= HEIGHT for bar in drawn.bars)
    assert drawn.goal_y == pytest.approx(58 * 0.75)
    assert drawn.spoken == "Spoken: x. Highest on 2026-03-01: 8."


EFFECTS = Effects(
    decisions=60,
    shares=[ModeShare(mode=Mode.ACT, share=0.9, least=0.05, most=0.15, is_healthy=False)],
    parts=[
        Fired(name="reviews of steps", fired=7, had_effect=2),
        Fired(name="ties decided by a model", fired=0, had_effect=0),
    ],
)


def test_what_fired_is_shown_beside_what_that_changed() -> None:
    page = _page()
    assert page.parts == (
        ("Reviews of steps", "7 times; 2 had an effect"),
        ("Ties decided by a model", "not needed so far"),
    )
    assert page.learned == (("Offers in conversation", "+0.04"),)
    assert page.shares == (("Act", "90% (normal: 5% to 15%)", True),)


def _page(*findings: Finding, **work: Any) -> Any:
    counts = {"reading": {}, "sending": {}, "failed_updates": 0, **work}
    return health_page(
        findings,
        Work(**counts),
        _metrics(),
        {},
        actions=[],
        hosts=["b", "a", "b"],
        effects=EFFECTS,
        learned=Offsets({Bar.OFFERS: 0.04, Bar.JOBS: 0.0}),
        days=DAYS,
        wording=WORDS,
    )


def test_what_is_broken_comes_first_with_its_remedy() -> None:
    page = _page(
        Finding(check="clock", health=Health.OK, found="right"),
        Finding(check="disk", health=Health.BROKEN, found="full", remedy="make room"),
        Finding(check="backup", health=Health.WARNING, found="none", remedy="set one up"),
    )
    assert [check.name for check in page.checks] == ["disk", "backup", "clock"]
    assert page.checks[0].remedy == "make room"
    assert page.sentence == "1 check failed; see below how to fix it."
    assert page.hosts == ("a", "b")


@pytest.mark.parametrize(
    ("work", "stuck"),
    [
        ({}, []),
        ({"reading": {"done": 3, "manual_review": 1}}, ["Messages heard"]),
        ({"sending": {"sent": 3, "unknown": 1}}, ["Messages sent"]),
        ({"failed_updates": 2}, ["Updates that couldn't be processed"]),
    ],
)
def test_what_needs_a_person_is_marked(work: dict[str, Any], stuck: list[str]) -> None:
    page = _page(**work)
    assert [queue.name for queue in page.queues if queue.is_stuck] == stuck
    wanted = "some work needs attention" if stuck else "OK"
    assert wanted in page.sentence


def test_work_is_told_in_words_in_the_order_it_goes_through() -> None:
    page = _page(reading={"manual_review": 1, "done": 3, "queued": 2, "new_state": 4})
    assert page.queues[0].states == "2 waiting to be read, 3 read, 1 left to a person, 4 new_state"
    assert page.queues[2].states == "none"


def test_the_ledger_goes_back_from_today_with_what_came_nearest() -> None:
    quotes = Quotes(people_of(home()), WORDS)
    kept = NearMiss(message_id="m1", chat_id="chat-1", score=0.666)
    gone = NearMiss(message_id="m2", chat_id="chat-1", score=0.6)
    said = quotes.of(heard(1, "ines", "maybe later", NOW))
    pages = ledger(
        [
            _day(date(2026, 3, 29)),
            _day(
                date(2026, 3, 30),
                messages=213,
                understood=9,
                saved=7,
                spoken=1,
                near_misses=(kept, gone),
            ),
        ],
        {kept: (said, 0.7)},
        wording=WORDS,
    )
    assert [page.label for page in pages] == ["Today", "Yesterday"]
    assert pages[0].sentence == "213 messages, 9 understood, 7 saved, 1 spoken"
    assert [step.width for step in pages[0].steps] == [100, 4, 3, 1]
    assert [step.width for step in pages[1].steps] == [0, 0, 0, 0]
    assert [(miss.score, miss.needed) for miss in pages[0].misses] == [("0.67", "0.70")]
