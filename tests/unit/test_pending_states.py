"""The life of a pending action, consent, payload hashes and receipts: decisions without a database."""

from dataclasses import fields, replace
from datetime import UTC, datetime, timedelta

import pytest

from kinkeeper.actions.authority import Press, may_decide, objection
from kinkeeper.actions.consent import Consent, Origin, Stakes, consent_for
from kinkeeper.actions.effects.calendar import AddEvent, event_to_json
from kinkeeper.actions.model import (
    DECISIONS,
    TRANSITIONS,
    ActionStatus,
    Cause,
    PendingAction,
    Proposal,
    Refusal,
    as_of,
    step,
)
from kinkeeper.actions.payload import action_record, payload_hash
from kinkeeper.actions.receipts import Outcome, settled
from kinkeeper.actions.registry import EFFECTS, read_effects, stakes_of
from kinkeeper.calendar.model import Event
from kinkeeper.core.errors import InputError, InvariantError
from pending_samples import (
    CHILD,
    EXPIRES,
    FAMILY,
    FRIEND,
    GUARDIAN,
    HELPER,
    NOW,
    PARENT,
    choice,
    event,
    proposal,
)

SETTLED = [
    ActionStatus.DONE,
    ActionStatus.FAILED,
    ActionStatus.REJECTED,
    ActionStatus.EXPIRED,
    ActionStatus.SUPERSEDED,
    ActionStatus.WITHDRAWN,
]


def action(**changes: object) -> PendingAction:
    frozen = proposal()
    plain = PendingAction(
        id="a",
        proposal=frozen,
        payload_hash=payload_hash(frozen, version=1),
        version=1,
        status=ActionStatus.PENDING,
        created_at=NOW,
        expires_at=EXPIRES,
    )
    return replace(plain, **changes)  # type: ignore[arg-type]  # any field


def test_every_pair_that_is_not_in_the_table_is_refused() -> None:
    for status in (None, *ActionStatus):
        for cause in Cause:
            by = "ines" if cause in DECISIONS else None
            if (status, cause) in TRANSITIONS:
                assert step(status, cause, at=NOW, by=by).to_status is TRANSITIONS[status, cause]
            else:
                with pytest.raises(InvariantError):
                    step(status, cause, at=NOW, by=by)


def test_nothing_leaves_a_settled_status_but_undo() -> None:
    leaving = {(status, cause) for status, cause in TRANSITIONS if status in SETTLED}
    assert leaving == {(ActionStatus.DONE, Cause.UNDO)}


def test_execution_is_reached_only_through_a_persons_decision() -> None:
    into_confirmed = {
        cause for (_, cause), to in TRANSITIONS.items() if to is ActionStatus.CONFIRMED
    }
    into_executing = {at for (at, _), to in TRANSITIONS.items() if to is ActionStatus.EXECUTING}
    assert into_confirmed <= DECISIONS
    assert into_executing == {ActionStatus.CONFIRMED}


@pytest.mark.parametrize("cause", [Cause.CONFIRM, Cause.REJECT, Cause.SAID])
def test_no_decision_without_a_person(cause: Cause) -> None:
    with pytest.raises(InvariantError, match="person"):
        step(ActionStatus.PENDING, cause, at=NOW)


@pytest.mark.parametrize("cause", [Cause.EXPIRE, Cause.WITHDRAW, Cause.SUPERSEDE])
def test_time_and_rules_do_not_act_in_a_persons_name(cause: Cause) -> None:
    with pytest.raises(InvariantError, match="person"):
        step(ActionStatus.PENDING, cause, at=NOW, by="ines")


@pytest.mark.parametrize("origin", list(Origin))
@pytest.mark.parametrize("stakes", list(Stakes))
def test_only_a_direct_low_request_runs_at_once(origin: Origin, stakes: Stakes) -> None:
    at_once = origin is Origin.SAID and stakes is Stakes.LOW
    assert consent_for(origin, stakes) is (Consent.RUN_AT_ONCE if at_once else Consent.ASK)


def test_a_proposal_is_overheard_unless_it_says_otherwise() -> None:
    assert proposal().origin is Origin.OBSERVED


def test_every_effect_is_named_by_its_own_parameters() -> None:
    for name, kind in EFFECTS.items():
        assert kind.parameters.model_fields["effect"].default == name


def test_every_effect_has_an_undo_but_what_is_an_undo_itself_and_what_is_at_stake_most() -> None:
    final = {name for name, kind in EFFECTS.items() if kind.undo is None} - {"memory.take_back"}
    assert {"memory.forget_fact", "email.send"} <= final
    assert {EFFECTS[name].stakes for name in final} == {Stakes.HIGH}


def test_one_high_effect_makes_an_action_high() -> None:
    low = proposal().effects
    high = ({"effect": "calendar.cancel_event", "event_id": "e"},)
    assert stakes_of(low) is Stakes.LOW
    assert stakes_of((*low, *high)) is Stakes.HIGH
    assert stakes_of(({"effect": "unheard.of"},)) is Stakes.HIGH
    assert stakes_of(({},)) is Stakes.HIGH


@pytest.mark.parametrize(
    "effect",
    [
        {},
        {"effect": "shell.run", "command": "true"},
        {"effect": "calendar.cancel_event"},
        {"effect": "calendar.cancel_event", "event_id": ""},
        {"effect": "calendar.cancel_event", "event_id": "e", "also": "f"},
        {
            "effect": "calendar.cancel_occurrence",
            "event_id": "e",
            "original_start": "2026-05-14T16:00",
        },
        {
            "effect": "calendar.move_occurrence",
            "event_id": "e",
            "original_start": "2026-05-14T16:00:00Z",
            "new_start": "2026-05-15T16:00:00Z",
            "new_duration": -60,
        },
        {"effect": "calendar.add_event", "event": {}},
        {"effect": "calendar.add_event", "event": {**event_to_json(event()), "color": "red"}},
        {"effect": "calendar.add_event", "event": {**event_to_json(event()), "tz": "Vienna"}},
        {
            "effect": "calendar.add_event",
            "event": {**event_to_json(event()), "rrule": "FREQ=OFTEN"},
        },
        {"effect": "calendar.add_event", "event": event_to_json(event(household_id="others"))},
    ],
)
def test_effects_that_could_never_be_written_are_refused(effect: dict[str, object]) -> None:
    with pytest.raises(InputError):
        read_effects(FAMILY.id, [effect])


def test_an_event_survives_json_with_its_zone_and_its_fold() -> None:
    twice = datetime(2026, 10, 25, 2, 30, tzinfo=FAMILY.zone)
    for start in (twice, twice.replace(fold=1)):
        original = event(start=start, exdates=(start,), rrule="FREQ=DAILY")
        record = {"effect": "calendar.add_event", "event": event_to_json(original)}
        (effect,) = read_effects(FAMILY.id, [record])
        assert isinstance(effect, AddEvent)
        read = effect.event
        assert read == original
        assert read.start.isoformat() == start.isoformat()
        assert read.start.tzinfo is FAMILY.zone


def test_an_event_in_json_has_all_fields_of_an_event() -> None:
    assert event_to_json(event()).keys() == {field.name for field in fields(Event)}


CHANGED = {
    "household": "others",
    "type": "care_assignment",
    "summary": "Something else",
    "suggested_event": {"summary": "x"},
    "effects": (),
    "choices": (choice("Both"),),
    "origin": Origin.SAID,
    "extraction": {"assigned_to": ["omar"]},
}


@pytest.mark.parametrize("name", CHANGED)
def test_the_hash_covers_whatever_is_shown_or_written(name: str) -> None:
    frozen = proposal()
    value = CHANGED[name]
    changed = replace(frozen, **{name: type(frozen.type)(value) if name == "type" else value})
    assert payload_hash(changed, version=1) != payload_hash(frozen, version=1)


def test_the_hash_ignores_words_of_the_chat_that_are_purged_later() -> None:
    frozen = proposal()
    quoting = replace(frozen, extraction={**frozen.extraction, "extracted_entities": ["at 4"]})
    assert payload_hash(quoting, version=1) == payload_hash(frozen, version=1)
    assert payload_hash(frozen, version=2) != payload_hash(frozen, version=1)


def test_time_expires_an_open_action_without_writing_and_nothing_else() -> None:
    end = EXPIRES
    assert as_of(action(), end - timedelta(microseconds=1)).status is ActionStatus.PENDING
    assert as_of(action(), end).status is ActionStatus.EXPIRED
    for status in SETTLED:
        assert as_of(action(status=status), end + timedelta(days=9)).status is status


@pytest.mark.parametrize(
    ("member", "is_allowed"),
    [(PARENT, True), (GUARDIAN, True), (HELPER, True), (CHILD, False), (FRIEND, False)],
)
def test_adults_decide(member: object, is_allowed: bool) -> None:
    press = Press(member=member, household=FAMILY, now=NOW)  # type: ignore[arg-type]  # a Member
    assert may_decide(press) is is_allowed


def test_a_stranger_with_a_members_id_or_a_grown_role_decides_nothing() -> None:
    promoted = replace(CHILD, role=PARENT.role)
    stranger = replace(PARENT, id="someone")
    namesake = replace(PARENT, telegram_id=666)
    for member in (promoted, stranger, namesake):
        press = Press(member=member, household=FAMILY, now=NOW)
        assert objection(action(), press) is Refusal.DENIED


def test_a_card_of_another_chat_or_of_another_payload_is_refused() -> None:
    def why(**fields: str | None) -> Refusal | None:
        return objection(action(), Press(member=PARENT, household=FAMILY, now=NOW, **fields))  # type: ignore[arg-type]  # text fields

    assert why() is None
    assert why(chat_id="chat-1", expected_hash=action().payload_hash) is None
    assert why(chat_id="chat-2") is Refusal.WRONG_CHAT
    assert why(expected_hash="0" * 64) is Refusal.STALE_CARD


@pytest.mark.parametrize("status", SETTLED)
def test_a_late_press_is_told_what_happened_and_by_whom(status: ActionStatus) -> None:
    receipt = settled(action(status=status, decided_by=GUARDIAN.id), FAMILY)
    by_person = {ActionStatus.DONE, ActionStatus.FAILED, ActionStatus.REJECTED}
    assert (GUARDIAN.name in receipt.message) is (status in by_person)
    assert not receipt.is_change
    assert receipt.outcome not in {Outcome.DONE, Outcome.ASKED}


def test_the_public_record_has_the_fields_scripts_read() -> None:
    record = action_record(action())
    for name in ("id", "type", "status", "summary", "source_type", "source_id", "expires_at"):
        assert isinstance(record[name], str), name
    for name in ("assigned_to", "child", "dates", "times"):
        assert isinstance(record[name], list), name
    assert record["activity"] is None
    assert record["confirmed_at"] is record["confirmed_by"] is None
    assert datetime.fromisoformat(record["expires_at"]) == EXPIRES


def test_only_a_yes_counts_as_confirmed_in_the_record() -> None:
    by = {"decided_by": "ines", "decided_at": NOW.astimezone(UTC)}
    assert action_record(action(status=ActionStatus.DONE, **by))["confirmed_by"] == "ines"
    rejected = action_record(action(status=ActionStatus.REJECTED, **by))
    assert rejected["confirmed_by"] is None
    assert rejected["decided_by"] == "ines"


def test_a_proposal_record_is_complete_without_an_extraction() -> None:
    bare: Proposal = replace(proposal(), extraction={})
    assert action_record(action(proposal=bare))["assigned_to"] == []
