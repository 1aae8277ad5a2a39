"""Cards: one decision each, with every way out of it; which go together; and what is told afterwards."""

from dataclasses import replace
from datetime import timedelta
from typing import Any

import pytest

from kinkeeper.actions.effects.calendar import CancelEvent, CancelOccurrence, UpdateEvent
from kinkeeper.actions.model import ActionStatus, Choice, PendingAction
from kinkeeper.actions.receipts import Outcome
from kinkeeper.web.views.calendar_diff import Standing
from kinkeeper.web.views.cards import Card, Cards, Ground, batches, lapses_at, notice_of
from kinkeeper.web.views.people import people_of
from kinkeeper.web.views.quotes import Quotes
from page_samples import EMPTY, action, care, diffs_at, heard, home, standing, words_at
from pending_samples import NOW, adding, choice, event, proposal, weekly


def _card(
    asked: PendingAction,
    ground: Ground | None = None,
    stands: Standing = EMPTY,
    *,
    may_decide: bool = True,
) -> Card:
    quotes = Quotes(people_of(home()), words_at(NOW))
    made = Cards(home(), quotes, diffs_at(NOW), may_decide)
    return made.card(asked, ground or Ground(), stands)


def test_a_plain_card_says_what_who_and_until_when() -> None:
    said = heard(7, "omar", "judo at four", NOW - timedelta(minutes=5))
    card = _card(action(), Ground(messages=(said,), said="Which one?"))
    assert [(way.label, way.choice, way.is_grave) for way in card.ways] == [("Approve", "", False)]
    assert card.deciders == "Ines, Omar or Bea can approve this."
    assert card.lapses == "Expires at the end of Thu 14 May."
    assert not card.said  # asked aloud, but not about a conflict
    [quote] = card.quotes
    assert (quote.sender.name, quote.text, quote.at) == ("Omar", "judo at four", "today 10:55")
    assert quote.why_href == "/why/m7?chat=chat-1"


def test_a_conflict_has_a_way_for_each_side_and_says_what_was_asked() -> None:
    judo = weekly()
    freed = CancelOccurrence(event_id=judo.id, original_start=judo.start).frozen()
    ways = (
        Choice(label="Checkup", effects=(*adding(event()), freed), result="x"),
        Choice(label="Judo", effects=(), result="y"),
    )
    asked = action(proposal(effects=(), choices=ways, conflict_key="k"))
    card = _card(asked, Ground(said="Which one?"), standing(judo))
    assert card.said == "Which one?"
    assert card.shared == ()
    assert [way.choice for way in card.ways] == ["Checkup", "Judo"]
    assert [[change.heading for change in way.changes] for way in card.ways] == [
        ["New event", "Removed"],
        [],
    ]
    assert not card.can_change


def test_ways_that_differ_in_the_owner_alone_share_what_is_written() -> None:
    ways = tuple(choice(name, care(name, NOW, name.lower())) for name in ("Ines", "Omar"))
    card = _card(action(proposal(effects=(), choices=ways)))
    [shared] = card.shared
    assert shared.heading == "New event, assigned to the person you choose"
    assert shared.after is not None
    assert [each.name for each in shared.after.owners] == ["Nobody yet"]
    assert card.can_change


def test_a_whole_entry_is_a_grave_matter_and_one_day_of_it_is_not() -> None:
    judo = weekly()
    whole = CancelEvent(event_id=judo.id).frozen()
    day = CancelOccurrence(event_id=judo.id, original_start=judo.start).frozen()
    for effect, is_grave in ((whole, True), (day, False)):
        card = _card(action(proposal(effects=(effect,))), stands=standing(judo))
        assert [way.is_grave for way in card.ways] == [is_grave]


def test_of_a_series_only_a_series_is_spoken() -> None:
    once, judo = event(), weekly()
    for stored, heading in ((once, "Changes"), (judo, "Whole series changed")):
        moved = replace(stored, place="the hall")
        update = UpdateEvent(event=moved).frozen()
        card = _card(action(proposal(effects=(update,))), None, standing(stored))
        assert [change.heading for way in card.ways for change in way.changes] == [heading]


def test_who_may_not_decide_may_not_change_either() -> None:
    card = _card(action(), may_decide=False)
    assert not card.may_decide
    assert not card.can_change
    assert batches([card, card]) == ()


def test_only_plain_cards_of_one_kind_go_together() -> None:
    judo = weekly()
    grave = proposal("g", effects=(CancelEvent(event_id=judo.id).frozen(),))
    ways = proposal("w", effects=(), choices=(choice("A", event("a")), choice("B", event("b"))))
    cards = [
        _card(action(each), stands=standing(judo))
        for each in (proposal("1"), grave, ways, proposal("2"), proposal("empty", effects=()))
    ]
    [batch] = batches(cards)
    assert [card.id for card in batch.cards] == ["action-1", "action-2"]
    assert batches(cards[:3]) == ()


def test_what_lapses_first_comes_first() -> None:
    soon = action(proposal("soon"), expires_at=NOW)
    assert min([action(), soon], key=lapses_at) is soon


@pytest.mark.parametrize(
    ("fields", "outcome", "is_change", "text", "can_undo"),
    [
        ({"status": ActionStatus.DONE}, Outcome.DONE, True, "Saved: Tara checkup", True),
        ({"status": ActionStatus.DONE, "undone_at": NOW}, Outcome.UNDONE, True, "Undone:", False),
        ({"status": ActionStatus.REJECTED}, Outcome.REJECTED, True, "Dismissed:", False),
        (
            {"status": ActionStatus.REJECTED, "decided_by": "omar"},
            Outcome.REJECTED,
            False,
            "Already dismissed by Omar.",
            False,
        ),
        (
            {"status": ActionStatus.FAILED, "receipt": {"reason": "it was moved"}},
            Outcome.DONE,
            True,
            "This couldn't be done, and nothing was changed: it was moved.",
            False,
        ),
        (
            {"status": ActionStatus.DONE},
            Outcome.ALREADY_DONE,
            False,
            "That was already approved",
            True,
        ),
        ({}, Outcome.DENIED, False, "Only an adult", False),
        ({}, Outcome.CHANGED, False, "The card has changed", False),
        (
            {"status": ActionStatus.EXPIRED},
            Outcome.EXPIRED,
            False,
            "This had expired; you can restore it",
            False,
        ),
        ({"status": ActionStatus.WITHDRAWN}, Outcome.DONE, False, "This was withdrawn in", False),
        ({"status": ActionStatus.SUPERSEDED}, Outcome.DONE, False, "It was replaced", False),
    ],
)
def test_afterwards_it_is_told_as_it_really_stands(
    fields: dict[str, Any], outcome: Outcome, is_change: bool, text: str, can_undo: bool
) -> None:
    notice = notice_of(outcome, action(**fields), home(), is_change=is_change)
    assert notice.text.startswith(text)
    assert bool(notice.undo_id) is can_undo


def test_after_a_choice_its_result_is_told() -> None:
    asked = proposal(effects=(), choices=(choice("Judo", event("judo")), choice("Checkup")))
    done = action(asked, status=ActionStatus.DONE, choice="Judo")
    notice = notice_of(Outcome.DONE, done, home(), is_change=True)
    assert notice.text == "Saved: Judo it is."
