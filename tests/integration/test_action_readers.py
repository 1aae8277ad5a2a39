"""What waits for a yes is told by who asked for it, what it is, who looks, and whether others read along."""

import itertools
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path

import pytest

from kinkeeper.actions.model import PendingAction
from kinkeeper.actions.proposals import propose
from kinkeeper.actions.readers import Reader, waiting_for
from kinkeeper.actions.session_words import TOLD
from kinkeeper.household.model import Member
from kinkeeper.household.viewers import HOUSEHOLD_SCOPE, Viewer, person_scope, viewer_for
from kinkeeper.store.store import Store
from outside_samples import sending
from pending_samples import CHILD, FAMILY, GUARDIAN, NOW, PARENT, adding, event, proposal

PEOPLE = (PARENT, GUARDIAN, CHILD)
SOURCES = ("OBSERVER", "CHAT", TOLD)


@pytest.fixture
def store(tmp_path: Path) -> Iterator[Store]:
    with Store.open(str(tmp_path / "family.db")) as opened:
        yield opened


def plant(store: Store) -> dict[str, tuple[str, Member | None, str]]:
    """Let everything wait: plans and mails from every source, of each person, for all and for one."""
    planted: dict[str, tuple[str, Member | None, str]] = {}
    for number, (source, asker, is_mail, is_private) in enumerate(
        itertools.product(SOURCES, PEOPLE, (False, True), (False, True))
    ):
        scope = person_scope(asker.id) if is_private else HOUSEHOLD_SCOPE
        plan = event(f"m{number}", household_id=FAMILY.id)
        made = sending() if is_mail else proposal(effects=adding(replace(plan, scope=scope)))
        made = replace(
            made,
            source_type=source,
            source_id=f"s{number}",
            scope=scope,
            merge_key=None,
            request={
                "domain": "d",
                "action": "a",
                "params": {},
                "result": {},
                "asked_by": asker.id,
            },
        )
        action = store.write_now(
            lambda conn, made=made: propose(conn, made, household=FAMILY, now=NOW).action
        )
        planted[action.id] = (source if not is_mail else f"mail {source}", asker, scope)
    return planted


def told(store: Store, reader: Reader) -> list[PendingAction]:
    return store.read_now(lambda conn: waiting_for(conn, reader, now=NOW))


@pytest.mark.parametrize("member", PEOPLE, ids=lambda each: each.id)
def test_each_person_alone_is_told_what_is_theirs_to_read(store: Store, member: Member) -> None:
    planted = plant(store)
    viewer = viewer_for(FAMILY, member, now=NOW)
    found = {
        each.id for each in told(store, Reader(member=member, household=FAMILY, viewer=viewer))
    }
    for action_id, (source, asker, scope) in planted.items():
        is_mine, is_open = asker == member, scope == HOUSEHOLD_SCOPE
        is_said = source.split()[-1] != "OBSERVER"
        if not is_open:
            expected = is_mine
        elif source.startswith("mail") and not is_mine and asker != CHILD:
            expected = False
        else:
            expected = member.is_adult or not is_said
        assert (action_id in found) == expected, (source, asker, scope)


@pytest.mark.parametrize("member", PEOPLE, ids=lambda each: each.id)
def test_where_others_read_along_only_what_was_overheard_is_told(
    store: Store, member: Member
) -> None:
    planted = plant(store)
    reader = Reader(member=member, household=FAMILY, viewer=Viewer.of(FAMILY.id), is_shared=True)
    found = {planted[each.id][0] for each in told(store, reader)}
    assert found == {"OBSERVER"}
