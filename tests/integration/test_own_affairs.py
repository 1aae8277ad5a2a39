"""What a child or a guest does alone: each kind of thing, by who made it, whom it concerns, who asks, and for what."""

import itertools
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import pytest
from sqlalchemy import Connection

from asking import ABE, FAMILY, IVO, NIA, NOW, RUTH, Desk
from kinkeeper.actions.model import ActionStatus, PendingAction
from kinkeeper.actions.receipts import Outcome
from kinkeeper.actions.repository import list_actions
from kinkeeper.actions.requests.model import ActionResult, ResultStatus
from kinkeeper.core.errors import NotFoundError
from kinkeeper.household.model import Member, Role
from kinkeeper.household.viewers import viewer_for
from kinkeeper.store.store import Store

GUS = Member(id="gus", name="Gus", role=Role.OTHER)
HOUSEHOLD = replace(FAMILY, members=(*FAMILY.members, GUS))
NAME = "Blood test"
START = "2026-11-13T17:00:00"
FOUND = {"find_by": NAME}
NARROW = "narrow"


@dataclass(frozen=True, kw_only=True)
class Kind:
    """How a kind of thing is made, and what can be done to it: the request and its parameters."""

    make: str
    made: Mapping[str, Any]
    ways: Mapping[str, tuple[str, Mapping[str, Any]]]
    names_people: bool = True


KINDS = {
    "event": Kind(
        make="calendar.create_event",
        made={"summary": NAME, "start_time": START},
        ways={
            NARROW: ("calendar.set_audience", {**FOUND, "private": True}),
            "delete": ("calendar.delete_event", FOUND),
            "move": (
                "calendar.update_event",
                {**FOUND, "changes": {"start_time": "2026-11-14T17:00:00"}},
            ),
        },
    ),
    "task": Kind(
        make="task.create",
        made={"title": NAME, "deadline": START},
        ways={
            NARROW: ("task.set_audience", {**FOUND, "private": True}),
            "delete": ("task.delete", FOUND),
            "move": ("task.update", {**FOUND, "changes": {"deadline": "2026-11-14T17:00:00"}}),
        },
    ),
    "note": Kind(
        make="notes.create",
        made={"title": NAME, "body": "no breakfast"},
        ways={
            NARROW: ("notes.set_audience", {**FOUND, "private": True}),
            "delete": ("notes.delete", {"title": NAME}),
            "move": ("notes.change_line", {"title": NAME, "line": "no breakfast", "new": "toast"}),
        },
        names_people=False,
    ),
}
CASES = [
    (kind, maker, concerned, asker, way)
    for kind, maker, concerned, asker in itertools.product(
        KINDS, (RUTH, NIA, GUS), (NIA, GUS, IVO), (NIA, GUS)
    )
    for way in KINDS[kind].ways
    if KINDS[kind].names_people or concerned is NIA
]


@pytest.fixture
def desk(tmp_path: Path) -> Iterator[Desk]:
    with Store.open(str(tmp_path / "family.db")) as store:
        yield Desk(store, HOUSEHOLD)


def seen(desk: Desk, member: Member) -> str:
    """Return what somebody is told of all there is, and when, whoever it is for; not what is proposed."""
    asked = {
        "calendar.list_events": {"days_ahead": 14, "who": []},
        "task.list": {"who": []},
        "notes.list": {},
    }
    found = [
        each
        for key, params in asked.items()
        for things in desk.ask(key, params, by=member).result.values()
        if isinstance(things, list)
        for each in things
        if each.get("confirmed", True)
    ]
    told = ("title", "start", "deadline", "body")
    return repr([[each.get(name) for name in told] for each in found])


def asked_to_make(desk: Desk, kind: Kind, maker: Member, concerned: Member) -> None:
    """Let a thing be made for the household; what is no adult's to add, an adult agrees to."""
    people = {"who": [concerned.id]} if kind.names_people else {}
    made = desk.ask(kind.make, {**kind.made, **people, "private": False}, by=maker)
    if made.status is ResultStatus.AWAITING:
        assert desk.yes(made).is_change
    assert NAME in seen(desk, RUTH)


def tries(desk: Desk, asked: ActionResult, member: Member) -> None:
    """Let somebody say yes to what they asked for, and take it back, as if it were theirs."""
    if asked.action_id is None:
        return
    for press in (desk.yes, desk.undo):
        try:
            press(asked, by=member)
        except NotFoundError:
            continue


def done(desk: Desk, member: Member) -> list[PendingAction]:
    def read(conn: Connection) -> list[PendingAction]:
        viewer = viewer_for(HOUSEHOLD, member, now=NOW)
        return list_actions(conn, viewer, statuses={ActionStatus.DONE}, now=NOW)

    return desk.store.read_now(read)


@pytest.mark.parametrize(
    "case", CASES, ids=lambda case: "-".join(getattr(each, "id", each) for each in case)
)
def test_nobody_who_is_no_adult_takes_from_others_what_they_see(
    desk: Desk, case: tuple[str, Member, Member, Member, str]
) -> None:
    name, maker, concerned, asker, way = case
    kind = KINDS[name]
    asked_to_make(desk, kind, maker, concerned)
    before = {each.id: seen(desk, each) for each in (RUTH, ABE)}
    asked = desk.ask(*kind.ways[way], by=asker)
    tries(desk, asked, asker)
    if seen(desk, RUTH) != before[RUTH.id]:
        # Their own and still in everybody's sight: an adult sees what was done and takes it back.
        assert (maker, way, asked.status) == (asker, "move", ResultStatus.DONE)
        assert NAME in seen(desk, ABE)
        assert asked.action_id in {each.id for each in done(desk, ABE)}
        assert desk.undo(asked, by=ABE).is_change
    assert {each.id: seen(desk, each) for each in (RUTH, ABE)} == before
    if asked.status is not ResultStatus.AWAITING:
        return
    # An adult of those who see it agrees, and every one of them sees that it was done, and takes it back.
    assert desk.yes(asked, by=RUTH).is_change
    assert asked.action_id in {each.id for each in done(desk, ABE)}
    assert len(done(desk, ABE)) == len(done(desk, RUTH)) > 1
    if way == NARROW:
        tries(desk, desk.ask(*kind.ways["delete"], by=asker), asker)
        is_kept = NAME in seen(desk, asker)
        assert is_kept or maker is asker
    if NAME in seen(desk, asker) or way != NARROW:
        assert desk.undo(asked, by=ABE).is_change
        assert {each.id: seen(desk, each) for each in (RUTH, ABE)} == before


@pytest.mark.parametrize("kind", KINDS.values(), ids=KINDS)
@pytest.mark.parametrize("member", [NIA, GUS], ids=["child", "guest"])
@pytest.mark.parametrize("way", ["delete", "move"])
def test_what_only_they_ever_saw_is_theirs_alone(
    desk: Desk, kind: Kind, member: Member, way: str
) -> None:
    made = desk.ask(kind.make, {**kind.made, "private": True}, by=member)
    assert made.status is ResultStatus.DONE
    before = seen(desk, member)
    asked = desk.ask(*kind.ways[way], by=member)
    if asked.status is ResultStatus.AWAITING:
        with pytest.raises(NotFoundError):
            desk.yes(asked, by=RUTH)
        assert desk.yes(asked, by=member).is_change
    assert seen(desk, member) != before
    assert desk.undo(asked, by=member).is_change
    assert seen(desk, member) == before
    assert NAME not in seen(desk, RUTH)


def test_a_child_ticks_off_what_a_parent_gave_it_and_a_parent_takes_that_back(desk: Desk) -> None:
    asked_to_make(desk, KINDS["task"], RUTH, NIA)
    ticked = desk.ask("task.complete", FOUND, by=NIA)
    assert ticked.status is ResultStatus.DONE
    assert desk.undo(ticked, by=ABE).is_change


@pytest.mark.parametrize("kind", ["event", "task"])
def test_an_adult_hides_what_another_adult_made_in_the_sight_of_adults_alone(
    desk: Desk, kind: str
) -> None:
    asked_to_make(desk, KINDS[kind], RUTH, ABE)
    hidden = desk.ask(*KINDS[kind].ways[NARROW], by=ABE)
    assert hidden.status is ResultStatus.DONE
    assert NAME not in seen(desk, RUTH)
    assert hidden.action_id in {each.id for each in done(desk, RUTH)}
    assert not [each for each in done(desk, NIA) if NAME in each.proposal.summary]
    assert desk.undo(hidden, by=RUTH).outcome is Outcome.UNDONE
    assert NAME in seen(desk, RUTH)


@pytest.mark.parametrize("kind", KINDS.values(), ids=KINDS)
def test_what_an_adult_made_and_hides_is_told_to_nobody_else(desk: Desk, kind: Kind) -> None:
    asked_to_make(desk, kind, ABE, ABE)
    hidden = desk.ask(*kind.ways[NARROW], by=ABE)
    assert hidden.status is ResultStatus.DONE
    assert not [each for each in (RUTH, NIA) if done(desk, each)]
