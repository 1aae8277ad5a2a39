"""What rules may write at once: what was plainly asked for and wholly understood, in any household."""

from collections.abc import Iterator
from dataclasses import replace
from functools import cache
from itertools import product
from pathlib import Path

import pytest

from kinkeeper.actions.requests.model import ResultStatus
from kinkeeper.conversation.model import Plan, PlannedAction
from kinkeeper.conversation.planning.rule_planner import plan_of
from kinkeeper.household.file import load_household
from kinkeeper.household.model import Household, Role
from kinkeeper.reading.modality import Modality, modality_of
from planning import ROOT, context, done, plan

HOUSEHOLDS = sorted((ROOT / "tests" / "households").glob("*.toml"))
DAYS = ("on Thursday", "tomorrow at 5pm", "on 3 May")

MOST_ASKED = 0.03
"""Share of plain requests that may be asked about."""

NOT_SAID_AS_FACT = (
    "coach cancelled {it} {when}",
    "they scrapped {it} {when}",
    "the teacher moved {it} {when}",
    "we skipped {it} {when}",
    "{who} never went to {it} {when}",
    "we won't have {it} {when}",
    "nobody wants {it} {when}",
    "if {who} is well, {it} {when}",
    "unless it rains {it} {when}",
    "maybe {it} {when}",
    "we might do {it} {when}",
    "I wish we had {it} {when}",
    "wondering about {it} {when}",
    "ordered shoes for {it} {when}",
    "bought {who} a bag for {it} {when}",
)
"""Denied, over, supposed: no event comes of these, not even a proposal of one."""

HALF_UNDERSTOOD = (
    "giving {it} a miss {when}",
    "put glibber for {it} {when}",
    "book a frambling {when}",
    "plan the whatsit {when}",
    "{who} said {it} {when}",
    "grandma thinks {it} {when}",
    "zorbing with the wombles at {it} {when}",
    "maybe add {it} to the calendar {when}",
    "perhaps put lunch with Ola in the calendar {when}",
    "if nobody minds, schedule a dentist appointment {when}",
    "I might add glibber to the shopping list",
    "no need to add glibber to the shopping list",
    "you needn't add glibber to the shopping list",
    "no point adding glibber to the shopping list",
    "stop putting glibber on the shopping list",
    "dentist {when}? who knows",
    "book club is {when}",
    "play group meets {when}",
    "swim class starts {when}",
)
"""Words that nobody knows, somebody else's, or a request that is not sure of itself: at most a proposal."""

PLAIN = (
    "remind me to ring the frambling company {when}",
    "add glibber and zorb paint to my list",
    "note: the whatsit is behind the boiler",
    "put zorbing with the wombles in the calendar {when}",
    "add {it} to the calendar {when}",
    "schedule a dentist appointment {when}",
    "schedule the whatsit {when}",
    "put dinner with the Garcias in {when}",
    "{it} {when}",
    "remember that {who} likes glibber",
)
"""Requests by their form, all of whose words have a place."""


@cache
def household(path: Path) -> Household:
    return load_household(path)


def said(text: str, home: Household) -> Plan:
    given = context(text)
    now = given.asked.now.replace(tzinfo=home.zone)
    return plan_of(
        replace(given, asked=replace(given.asked, household=home, member=home.adults[0], now=now))
    )


def spoken(patterns: tuple[str, ...]) -> Iterator[tuple[Household, str]]:
    for path in HOUSEHOLDS:
        home = household(path)
        children = [each.name for each in home.members if each.role is Role.CHILD]
        things = [each.name for each in home.activities][:2]
        for pattern, it, when in product(patterns, things, DAYS):
            yield home, pattern.format(it=it, who=children[0], when=when)


def events(plan: Plan) -> list[PlannedAction]:
    return [each for each in plan.actions if each.action == "create_event"]


def test_what_is_denied_over_or_supposed_makes_no_event() -> None:
    wrong = [
        (text, events(plan))
        for home, text in spoken(NOT_SAID_AS_FACT)
        if events(plan := said(text, home))
        or any(not each.is_offer for each in plan.actions if each.domain == "notes")
    ]
    assert not wrong


def test_what_is_half_understood_is_asked_about() -> None:
    wrong = [
        text
        for home, text in spoken(HALF_UNDERSTOOD)
        if any(not each.is_offer for each in events(said(text, home)))
    ]
    assert not wrong


def test_plain_requests_run_at_once() -> None:
    plans = [said(text, home) for home, text in spoken(PLAIN)]
    asked = [
        each for each in plans if not each.actions or any(one.is_offer for one in each.actions)
    ]
    assert len(asked) <= MOST_ASKED * len(plans)


def test_lines_without_a_word_of_their_own_are_not_written() -> None:
    forms = ("{}", "add {}", "buy {}", "put {} on the list", "add {} to my list")
    texts = [
        form.format(" ".join([word] * count))
        for form, word, count in product(forms, ("and", "the", "to", "not", "?", "with"), (2, 30))
    ]
    assert not [text for text in texts if said(text, household(HOUSEHOLDS[0])).actions]


def test_a_proposal_that_is_set_right_stays_one() -> None:
    params = {"summary": "Parish fair", "start_time": "2026-03-14T11:00:00-05:00"}
    waiting = done("calendar.create_event", params=params, status=ResultStatus.AWAITING)
    (changed,) = plan_of(context("no, the 20th", open_edit=[waiting])).actions
    assert changed.is_offer
    assert str(changed.params["start_time"]).startswith("2026-03-20")
    (agreed,) = plan_of(context("yes but at 12", open_edit=[waiting])).actions
    assert not agreed.is_offer


def test_a_change_that_waits_with_an_hour_alone_can_be_set_right() -> None:
    params = {"event_id": "e", "changes": {"start_time": "17:00"}}
    waiting = done("calendar.update_event", params=params, status=ResultStatus.AWAITING)
    (changed,) = plan_of(context("make it 6", open_edit=[waiting])).actions
    assert "start_time" in changed.params["changes"]


@pytest.mark.parametrize(
    ("clause", "meant"),
    [
        ("the dentist on Friday", Modality.NAMED),
        ("we have the dentist on Friday", Modality.TOLD),
        ("I've booked the dentist for Friday", Modality.TOLD),
        ("the dentist rang on Friday", Modality.PAST),
        ("Ahmed and Ted at the shed on Friday", Modality.NAMED),
        ("no dentist on Friday", Modality.NEGATED),
        ("we aren't seeing the dentist", Modality.NEGATED),
        ("if the dentist has time", Modality.CONDITIONAL),
        ("perhaps the dentist on Friday", Modality.HYPOTHETICAL),
        ("gran says the dentist on Friday", Modality.REPORTED),
        ('gran says "dentist on Friday"', Modality.QUOTED),
    ],
)
def test_clauses_are_read_by_their_closed_class_words(clause: str, meant: Modality) -> None:
    assert modality_of(clause) is meant


COMPOUNDS = (
    "book club",
    "book group",
    "book fair",
    "book swap",
    "our book circle",
    "Book week",
    "the book sale",
)
TIMES = (
    "every 2nd tuesday of the month at 7.30",
    "on friday at 7pm",
    "thursday 7pm",
    "every other monday at 8pm",
    "is on friday at 7",
    "every tuesday at 8pm, starting in april",
)
ORDERED = (
    ("book swimming every monday at 5", "swimming"),
    ("book the dentist on friday at 3", "dentist"),
    ("book judo for friday at 4", "judo"),
    ("book a club night for friday at 7", "club night"),
    ("book haircut thursday 10am", "haircut"),
)


def test_two_nouns_of_which_the_first_could_be_a_verb_are_a_title() -> None:
    for compound, time in product(COMPOUNDS, TIMES):
        text = f"{compound} {time}"
        titles = [str(each.params.get("summary")) for each in plan(text).actions]
        assert all(each.lower().endswith(compound.split(" ", 1)[-1].lower()) for each in titles)
        assert titles, text
        assert all("book" in each.lower() for each in titles), (text, titles)
    for text, title in ORDERED:
        assert [each.params["summary"] for each in plan(text).actions] == [title], text
