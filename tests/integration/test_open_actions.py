"""The open actions that a message can be about, and when the first of them runs out."""

from collections.abc import Iterator
from datetime import date, datetime, timedelta
from pathlib import Path

import pytest

from kinkeeper.actions.payload import Scope
from kinkeeper.actions.proposals import expire_due, propose
from kinkeeper.actions.repository import next_expiry, open_actions
from kinkeeper.household.viewers import Viewer
from kinkeeper.store.store import Store
from pending_samples import FAMILY, NOW, ZONE, adding, event, proposal


@pytest.fixture
def store(tmp_path: Path) -> Iterator[Store]:
    with Store.open(str(tmp_path / "family.db")) as opened:
        yield opened


def put(store: Store, name: str, day: int | None, *, activity: str | None = None) -> str:
    """Propose an appointment on a day of May, or something without a day; return its id."""
    start = datetime(2026, 5, day or 1, 16, tzinfo=ZONE)
    said = {"dates": [start.date().isoformat()] if day else [], "activity": activity}
    effects = adding(event(name, start=start)) if day else ()
    asked = proposal(name, extraction=said, effects=effects)
    return store.write_now(lambda conn: propose(conn, asked, household=FAMILY, now=NOW)).action.id


def found(store: Store, first: int, last: int, **about: frozenset[str]) -> list[str]:
    scope = Scope(
        first_day=date(2026, 5, first),
        last_day=date(2026, 5, last),
        subjects=about.get("subjects", frozenset()),
        action_ids=about.get("ids", frozenset()),
    )
    actions = store.read_now(
        lambda conn: open_actions(conn, Viewer.whole(FAMILY.id), now=NOW, scope=scope)
    )
    return sorted(action.proposal.source_id for action in actions)


def test_days_subjects_and_ids_bring_in_what_they_name(store: Store) -> None:
    far = put(store, "far", 28)
    put(store, "near", 14)
    put(store, "judo", 25, activity="judo")
    assert found(store, 10, 13) == ["near"]
    assert found(store, 16, 20) == []
    assert found(store, 16, 20, subjects=frozenset({"judo", "choir"})) == ["judo"]
    assert found(store, 16, 20, ids=frozenset({far})) == ["far"]
    assert found(store, 1, 31) == ["far", "judo", "near"]


def test_what_names_no_day_is_about_every_day(store: Store) -> None:
    put(store, "some day", None)
    assert found(store, 3, 3) == ["some day"]


def test_what_has_run_out_is_gone_although_nobody_swept(store: Store) -> None:
    put(store, "near", 14)
    runs_out = datetime(2026, 5, 15, tzinfo=ZONE)
    assert store.read_now(lambda conn: next_expiry(conn, FAMILY.id)) == runs_out

    def still_open(now: datetime) -> int:
        return store.read_now(
            lambda conn: len(open_actions(conn, Viewer.whole(FAMILY.id), now=now))
        )

    assert still_open(runs_out - timedelta(microseconds=1)) == 1
    assert still_open(runs_out) == 0
    assert store.read_now(lambda conn: next_expiry(conn, FAMILY.id)) == runs_out
    store.write_now(lambda conn: expire_due(conn, FAMILY.id, runs_out))
    assert store.read_now(lambda conn: next_expiry(conn, FAMILY.id)) is None
