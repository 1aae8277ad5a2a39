"""Open cards of every kind count in every kind of question, marked as not confirmed, for whoever may see them."""

import asyncio
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from datetime import datetime, timedelta
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from sqlalchemy import update

from asking import ABE, FAMILY, NIA, NOW, RUTH, ZONE, Desk, event
from kinkeeper.actions.effects.calendar import (
    AddEvent,
    AssignOccurrence,
    CancelEvent,
    CancelOccurrence,
    MoveOccurrence,
    UpdateEvent,
)
from kinkeeper.actions.effects.contract import Effect
from kinkeeper.actions.expected import expected_between
from kinkeeper.actions.model import ActionType, Choice, Proposal
from kinkeeper.actions.proposals import propose
from kinkeeper.actions.requests.event_views import Wanted
from kinkeeper.actions.tables import pending_actions
from kinkeeper.brain.household_brain import HouseholdBrain
from kinkeeper.brain.model import BrainQuery
from kinkeeper.calendar.event_records import occurrence_record
from kinkeeper.calendar.model import Change, Event, EventKind, Occurrence
from kinkeeper.conversation.answering.names_and_times import Setting
from kinkeeper.conversation.answering.request_text import was_found
from kinkeeper.core.time import Interval, VirtualClock
from kinkeeper.household.model import Household, Member, Role
from kinkeeper.household.viewers import Viewer, person_scope, viewer_for
from kinkeeper.memory.finding.search import Finder
from kinkeeper.reading.times.time_text import clock
from kinkeeper.store.store import Store

MARK = "not confirmed yet"
GUEST = Member(id="lou", name="Lou", role=Role.OTHER)
HOUSE: Household = replace(FAMILY, members=(*FAMILY.members, GUEST))
THINGS = ("fair", "recital", "checkup", "swimming gala", "bake sale", "haircut")
BEGIN = NOW.replace(hour=0) + timedelta(days=1)
SPAN = Interval(BEGIN, BEGIN + timedelta(days=14))
CALLED = {"extracted_entities": [{"type": "generic", "surface": "ceilidh"}]}
"""What every message called what its card is about, by another word than the card."""


@dataclass(frozen=True)
class Card:
    """An open card, with what is asked about it."""

    effects: Sequence[Effect]
    thing: str
    start: datetime
    stored: Event | None = None
    choices: tuple[Choice, ...] = ()
    conflict: str | None = None
    scope: str = "household"
    named: tuple[str, ...] = ()
    """Names that an answer about who is in charge must hold."""


def cards(seed: int) -> Mapping[str, Card]:
    """Return a card of each kind, about something else and at another time for each seed."""
    chance = np.random.default_rng(seed)
    thing = str(chance.choice(THINGS))
    start = BEGIN + timedelta(days=int(chance.integers(1, 12)), hours=int(chance.integers(9, 18)))
    begins = start.replace(tzinfo=None).isoformat()
    new = event(f"Nia {thing}", begins)
    stored = event(f"Nia {thing}", begins, responsible=("ruth",))
    one = {"event_id": stored.id, "original_start": start}
    care = [
        event(
            f"{who} picks up Nia",
            begins,
            kind=EventKind.CARE,
            task="pickup",
            activity=thing,
            who=("nia",),
            responsible=(who,),
        )
        for who in ("ruth", "abe")
    ]
    both = tuple(
        Choice(label=who, effects=(AddEvent(event=each).frozen(),), result="")
        for who, each in zip(("Ruth", "Abe"), care, strict=True)
    )
    plain = {"thing": thing, "start": start}
    mine = replace(new, scope=person_scope("ruth"), who=("ruth",))
    return {
        "new": Card([AddEvent(event=new)], **plain),
        "series": Card([AddEvent(event=replace(new, rrule="FREQ=WEEKLY"))], **plain),
        "private": Card([AddEvent(event=mine)], **plain, scope=mine.scope),
        "move": Card(
            [MoveOccurrence(**one, new_start=start + timedelta(hours=2))], **plain, stored=stored
        ),
        "cancel": Card([CancelOccurrence(**one)], **plain, stored=stored),
        "end": Card([CancelEvent(event_id=stored.id)], **plain, stored=stored),
        "change": Card([UpdateEvent(event=replace(stored, place="hall"))], **plain, stored=stored),
        "assign": Card(
            [AssignOccurrence(**one, responsible=("abe",))], **plain, stored=stored, named=("Abe",)
        ),
        "claim": Card([AddEvent(event=care[1])], **plain, named=("Abe",)),
        "two claims": Card([], **plain, choices=both, conflict="c", named=("you", "Abe")),
        "asked": Card([], **plain, choices=both, named=("you", "Abe")),
    }


KINDS = tuple(cards(0))
RUTH_SEES = viewer_for(HOUSE, RUTH, now=NOW)


@pytest.fixture
def desk(tmp_path: Path) -> Iterator[Desk]:
    with Store.open(str(tmp_path / "family.db")) as store:
        yield Desk(store, HOUSE)


def lay(desk: Desk, card: Card) -> None:
    """Store the calendar and the open card."""
    desk.put(*([card.stored] if card.stored else []))
    shown = Proposal(
        household=HOUSE.id,
        type=ActionType.EVENT_CREATE,
        source_type="OBSERVER",
        source_id="m1",
        slot="0",
        chat_id=None,
        extraction=CALLED,
        extraction_confidence=0.9,
        summary=card.thing,
        effects=tuple(each.frozen() for each in card.effects),
        choices=card.choices,
        merge_key=None,
        conflict_key=card.conflict,
        scope=card.scope,
    )
    desk.store.write_now(lambda conn: propose(conn, shown, household=HOUSE, now=NOW))


def seen(desk: Desk, viewer: Viewer, **more: Any) -> list[Occurrence]:
    return desk.store.read_now(lambda conn: expected_between(conn, viewer, SPAN, now=NOW, **more))


def said(desk: Desk, key: str, params: Mapping[str, Any], by: Member = RUTH) -> str:
    return was_found(desk.ask(key, params, by=by), Setting(household=HOUSE, member=by.id, now=NOW))


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("seed", range(3))
def test_an_answer_of_every_kind_counts_an_open_card_and_marks_it(
    desk: Desk, kind: str, seed: int
) -> None:
    card = cards(seed)[kind]
    lay(desk, card)
    day = {"from": card.start.date().isoformat(), "days_ahead": 1}
    about = {"query": card.thing}
    answers = {
        wanted: said(desk, "calendar.list_events", {"wanted": wanted.value, **day, **about})
        for wanted in Wanted
        if wanted not in {Wanted.UNOWNED, Wanted.CLASH, Wanted.AWAY}
    }
    answers |= {"this week": said(desk, "calendar.list_events", day)}
    assert {name for name, answer in answers.items() if MARK not in answer} == set()
    told = answers[Wanted.RESPONSIBLE]
    assert all(name.lower() in told.lower() for name in card.named), told


@pytest.mark.parametrize("kind", sorted({*KINDS} - {"private"}))
def test_free_time_and_suggestions_count_an_open_card(desk: Desk, kind: str) -> None:
    card = cards(7)[kind]
    lay(desk, card)
    end = (card.start + timedelta(hours=3)).replace(tzinfo=None).isoformat()
    between = {"from": card.start.replace(tzinfo=None).isoformat(), "to": end}
    who = ["abe"] if card.named else ["nia"]
    told = said(desk, "calendar.find_free", {"between": between, "who": who})
    free = {"between": between, "who": ["ruth", "abe"], "is_any": True}
    suggested = said(desk, "calendar.find_free", free)
    # Who was only asked is still free.
    assert (MARK in told) == (kind != "asked")
    is_taken = kind != "asked" and bool(card.named or card.stored)
    assert (MARK in suggested) == is_taken


@pytest.mark.parametrize("kind", KINDS)
def test_the_brain_knows_an_open_card_and_says_so(desk: Desk, kind: str) -> None:
    card = cards(11)[kind]
    lay(desk, card)
    finder = Finder(desk.store, HOUSE.id, zone=ZONE, embedder=None)
    brain = HouseholdBrain(desk.store, HOUSE, finder, VirtualClock(NOW))
    known = asyncio.run(
        brain.know(BrainQuery(text=f"when is the {card.thing}?"), viewer_for(HOUSE, RUTH, now=NOW))
    )
    assert MARK in known.answer
    assert all(each.is_confirmed == (card.stored is not None) for each in known.events)


@pytest.mark.parametrize("kind", KINDS)
def test_a_card_is_found_by_the_word_that_people_used(desk: Desk, kind: str) -> None:
    card = cards(12)[kind]
    lay(desk, card)
    finder = Finder(desk.store, HOUSE.id, zone=ZONE, embedder=None)
    brain = HouseholdBrain(desk.store, HOUSE, finder, VirtualClock(NOW))
    query = BrainQuery(text="when is the ceilidh?")
    known = asyncio.run(brain.know(query, viewer_for(HOUSE, RUTH, now=NOW)))
    when = {"from": card.start.date().isoformat(), "days_ahead": 1}
    listed = said(desk, "calendar.list_events", {"wanted": "start", **when, "query": "ceilidh"})
    assert MARK in listed
    assert MARK in known.answer or card.stored is not None


@pytest.mark.parametrize("kind", KINDS)
def test_records_tell_what_is_confirmed_and_what_waits(desk: Desk, kind: str) -> None:
    card = cards(13)[kind]
    lay(desk, card)
    viewer = viewer_for(HOUSE, RUTH, now=NOW)
    records = [occurrence_record(each, HOUSE, viewer) for each in seen(desk, viewer)]
    assert any(each["waiting"] for each in records)
    assert all(each["waiting"] for each in records if not each["confirmed"])
    confirmed = [each["id"] for each in records if each["confirmed"]]
    assert set(confirmed) == ({card.stored.id} if card.stored else set())


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("member", [RUTH, ABE, NIA, GUEST], ids=lambda each: each.id)
def test_a_card_counts_only_for_those_who_may_read_it(
    desk: Desk, kind: str, member: Member
) -> None:
    card = cards(17)[kind]
    lay(desk, card)
    found = seen(desk, viewer_for(HOUSE, member, now=NOW), with_busy=True)
    may_read = member.role is not Role.OTHER and (card.scope == "household" or member is RUTH)
    assert any(each.waiting or not each.is_confirmed for each in found) == may_read


@pytest.mark.parametrize("kind", KINDS)
def test_what_has_expired_counts_no_more(desk: Desk, kind: str) -> None:
    lay(desk, cards(19)[kind])
    desk.store.write_now(lambda conn: conn.execute(update(pending_actions).values(expires_at=NOW)))
    found = seen(desk, viewer_for(HOUSE, RUTH, now=NOW))
    assert not any(each.waiting or not each.is_confirmed for each in found)


def test_a_move_is_told_with_its_new_time_on_either_day(desk: Desk) -> None:
    card = cards(23)["move"]
    lay(desk, card)
    old, new = seen(desk, viewer_for(HOUSE, RUTH, now=NOW))
    assert (old.is_confirmed, new.is_confirmed) == (True, False)
    assert [each.change for each in (*old.waiting, *new.waiting)] == [Change.MOVE, Change.MOVE]
    assert old.waiting[0].moved_to == new.interval


MOVES = tuple(timedelta(hours=each) for each in (-26, -3, -1, 1, 2, 25))
TOLD_OF_ONE = (
    "next",
    "start",
    "end",
    "who",
    "responsible",
    "length",
    "days",
    "whether",
    "count",
    "all",
)


@pytest.mark.parametrize("is_new_version", [False, True])
@pytest.mark.parametrize("rrule", [None, "FREQ=WEEKLY"])
@pytest.mark.parametrize("move", MOVES)
def test_what_waits_to_move_stands_until_then_for_every_reader(
    desk: Desk, move: timedelta, rrule: str | None, *, is_new_version: bool
) -> None:
    card = cards(5)["move"]
    stored = replace(card.stored or event("none", "2026-01-01T10:00"), rrule=rrule)
    moved = MoveOccurrence(
        event_id=stored.id, original_start=card.start, new_start=card.start + move
    )
    whole = UpdateEvent(event=replace(stored, start=card.start + move))
    lay(desk, replace(card, stored=stored, effects=[whole if is_new_version else moved]))
    day = {"from": (card.start + min(move, timedelta(0))).date().isoformat(), "days_ahead": 3}
    for wanted in TOLD_OF_ONE:
        for span in ({}, day) if wanted not in {"count", "all"} else (day,):
            told = said(
                desk, "calendar.list_events", {"query": card.thing, "wanted": wanted, **span}
            )
            stands = card.start + timedelta(hours=wanted == "end")
            assert clock(stands.time(), HOUSE.locale) in told.split(" – ")[0], told
            assert MARK in told, told
            assert told.count(f"Nia {card.thing}") == 1, told
    (new,) = [each for each in seen(desk, RUTH_SEES) if not each.is_confirmed][:1]
    alone = {"from": new.interval.start.isoformat(), "days_ahead": 1, "wanted": "whether"}
    if new.interval.start.date() != card.start.date():
        told = said(desk, "calendar.list_events", {"query": card.thing, **alone})
        assert not told.startswith(("Yes", "No")), told
        assert MARK in told, told
        assert "until then" in told or (rrule and is_new_version), told


@pytest.mark.parametrize("kind", ["new", "series", "assign", "change", "cancel"])
def test_what_moves_nothing_is_told_at_its_own_time(desk: Desk, kind: str) -> None:
    card = cards(7)[kind]
    lay(desk, card)
    told = said(desk, "calendar.list_events", {"query": card.thing, "wanted": "next"})
    assert clock(card.start.time(), HOUSE.locale) in told, told
    assert MARK in told, told
    assert "until then" not in told, told


def test_what_is_only_proposed_cannot_be_changed_and_the_answer_says_why(desk: Desk) -> None:
    card = cards(29)["new"]
    lay(desk, card)
    result = desk.ask("calendar.delete_event", {"find_by": card.thing})
    assert MARK in (result.error or "")
