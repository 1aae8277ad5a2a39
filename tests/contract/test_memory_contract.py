"""Memory behaves the same on every database."""

from collections.abc import Callable
from dataclasses import replace
from datetime import timedelta
from typing import TypeVar

import pytest
from sqlalchemy import Connection, select

from kinkeeper.core.errors import ConflictError, DeniedError, NotFoundError
from kinkeeper.household.viewers import Viewer, person_scope
from kinkeeper.memory import corrections
from kinkeeper.memory.adjustments import Finding, decide, support
from kinkeeper.memory.browser import as_of, history
from kinkeeper.memory.concepts import concept_map, follow_facts
from kinkeeper.memory.episodes import (
    episodes_by_id,
    episodes_changed,
    insert_episodes,
    list_episodes,
    neighbours,
    outdated_spans,
)
from kinkeeper.memory.erasure import forget, preview_forget
from kinkeeper.memory.facts import facts_changed, find_fact, list_facts, statements_of
from kinkeeper.memory.ingest import ImportedFact, import_facts, remember
from kinkeeper.memory.invariants import check, mend
from kinkeeper.memory.journal import Cause, changing, list_changes, purge_images, why_not_undoable
from kinkeeper.memory.memory_rows import last_seq
from kinkeeper.memory.model import Category, Correction, Episode, FactStatus, Origin, Ruling
from kinkeeper.memory.sessions import SessionMessage, take_in
from kinkeeper.memory.statements.extraction import observe
from kinkeeper.memory.tables import facts, memory_tombstones
from kinkeeper.memory.undo import undo
from kinkeeper.store.store import Store
from memory_chains import NOW, START, Said, rows, say

T = TypeVar("T")
JOHN = Viewer.of("h", "john")


@pytest.fixture
def do(store: Store) -> Callable[[Callable[[Connection], T]], T]:
    return store.write_now


def told(conn: Connection, viewer: Viewer = JOHN) -> list[str]:
    return sorted(fact.narrative for fact in list_facts(conn, viewer, now=NOW))


def test_an_update_takes_the_old_ones_place(store: Store) -> None:
    def work(conn: Connection) -> None:
        say(conn, 1, Said(text="I live in York.", day=1))
        change = say(conn, 2, Said(text="I moved to Leeds.", day=9)).change_set
        say(conn, 3, Said(text="I live in Leeds.", day=20))
        (now,) = list_facts(conn, JOHN, now=NOW)
        assert (now.narrative, now.evidence_count, now.slot) == ("I live in Leeds.", 2, "home")
        assert [each.text for each in statements_of(conn, JOHN, now.id)] == [
            "I moved to Leeds.",
            "I live in Leeds.",
        ]
        assert [fact.narrative for fact in as_of(conn, JOHN, START + timedelta(days=5))] == [
            "I live in York."
        ]
        assert outdated_spans(conn, "h", ["h-1", "h-2"], at=NOW) == {"h-1": ((0, 15),)}
        assert [version.fact.evidence_count for version in history(conn, JOHN, now.id)] == [2, 1]
        with pytest.raises(ConflictError, match="write of"):
            undo(conn, "h", str(change), by="john", at=NOW)
        assert check(conn, "h") == []

    store.write_now(work)


def test_who_speaks_decides_whose_it_is(store: Store) -> None:
    def work(conn: Connection) -> None:
        say(conn, 1, Said(text="My car is a Volvo.", day=1))
        say(conn, 2, Said(text="My car is a Fiat.", day=2, member="sarah"))
        say(conn, 3, Said(text="John lives in York.", day=3, member="sarah"))
        say(conn, 4, Said(text="I live in Leeds.", day=4))
        say(conn, 5, Said(text="Our wifi password is seven.", day=5))
        say(conn, 6, Said(text="The wifi password is eight now.", day=6, member="sarah"))
        now = {(fact.speaker, fact.narrative) for fact in list_facts(conn, JOHN, now=NOW)}
        assert now == {
            ("john", "My car is a Volvo."),
            ("sarah", "My car is a Fiat."),
            ("john", "I live in Leeds."),
            ("sarah", "The wifi password is eight now."),
        }

    store.write_now(work)


def test_everybody_sees_only_what_is_theirs(store: Store) -> None:
    def work(conn: Connection) -> None:
        say(conn, 1, Said(text="I live in York.", day=1), scope=person_scope("john"))
        say(conn, 2, Said(text="I live in Hull.", day=1, member="sarah"), household="other")
        say(conn, 3, Said(text="I love jazz.", day=1, category=Category.PREFERENCE))
        assert told(conn) == ["I live in York.", "I love jazz."]
        assert told(conn, Viewer.of("h", "sarah")) == ["I love jazz."]
        assert told(conn, Viewer.of("other", "john")) == ["I live in Hull."]
        (hidden,) = [fact for fact in list_facts(conn, JOHN, now=NOW) if "York" in fact.narrative]
        sarah = Viewer.of("h", "sarah")
        assert find_fact(conn, sarah, hidden.id) is None
        assert "York" not in str(
            [list_episodes(conn, sarah), as_of(conn, sarah, NOW), concept_map(conn, sarah, now=NOW)]
        )
        for seen in (
            lambda: history(conn, sarah, hidden.id),
            lambda: preview_forget(conn, sarah, hidden.id),
        ):
            with pytest.raises(NotFoundError):
                seen()

    store.write_now(work)


def test_what_people_set_right_stays_right_and_can_be_taken_back(store: Store) -> None:
    def work(conn: Connection) -> None:
        say(conn, 1, Said(text="I live in York.", day=1))
        say(conn, 2, Said(text="I moved to Leeds.", day=9))
        (fact,) = list_facts(conn, JOHN, now=NOW)
        before = rows(conn)
        late = NOW + timedelta(hours=1)
        edits = [
            (
                lambda: corrections.edit_fact(
                    conn, JOHN, fact.id, "I live in Bergen.", by="john", at=NOW
                ),
                ["I live in Bergen."],
            ),
            (
                lambda: corrections.mark_wrong(conn, JOHN, fact.id, by="john", at=NOW),
                ["I live in York."],
            ),
            (lambda: corrections.retract_fact(conn, JOHN, fact.id, by="john", at=NOW), []),
            (
                lambda: corrections.set_scope(
                    conn, JOHN, fact.id, "person:john", by="john", at=NOW
                ),
                ["I moved to Leeds."],
            ),
        ]
        for edit, expected in edits:
            change = edit().change_set
            assert change is not None
            assert [each.narrative for each in list_facts(conn, JOHN, now=late)] == expected
            assert check(conn, "h") == []
            undo(conn, "h", change, by="john", at=late)
            assert rows(conn) == before
        edited = corrections.edit_fact(conn, JOHN, fact.id, "I live in Bergen.", by="john", at=NOW)
        assert find_fact(conn, JOHN, fact.id).narrative == "I live in Bergen."  # type: ignore[union-attr]
        say(conn, 5, Said(text="I live in Oslo.", day=300, origin=Origin.IMPORTED))
        assert [each.narrative for each in list_facts(conn, JOHN, now=late)] == [
            "I live in Bergen."
        ]
        assert fact.id in {each.id for each in edited.facts}

    store.write_now(work)


def test_what_was_only_overheard_needs_a_yes(store: Store) -> None:
    overheard = Said(text="I live in York.", day=1, origin=Origin.OBSERVED)
    with pytest.raises(DeniedError, match="overheard"):
        store.write_now(lambda conn: say(conn, 1, overheard))
    for origin in (Origin.SYSTEM, Origin.DRIFT, Origin.INFERRED):
        with pytest.raises(DeniedError, match=r"nothing from .* can become a fact"):
            store.write_now(
                lambda conn, origin=origin: say(conn, 1, replace(overheard, origin=origin))
            )  # type: ignore[misc]
    assert store.read_now(last_seq_of_h) == 0


def last_seq_of_h(conn: Connection) -> int:
    return last_seq(conn, "h")


def test_what_is_found_about_two_facts_outlasts_what_is_heard_later(store: Store) -> None:
    def work(conn: Connection) -> None:
        say(conn, 1, Said(text="Tom plays the cello.", day=1))
        say(conn, 2, Said(text="Our nephew practises a string instrument.", day=3))
        one, other = sorted(list_facts(conn, JOHN, now=NOW), key=lambda fact: fact.said_at)
        before = rows(conn)
        with changing(
            conn, "h", cause=Cause.CONSOLIDATE, summary="night", by="upkeep", at=NOW
        ) as night:
            decide(
                conn,
                night,
                [Finding(older=one.id, newer=other.id, ruling=Ruling.SAME)],
                by="upkeep",
                at=NOW,
            )
            insert_episodes(
                conn,
                [Episode(household="h", id="more", text="cello!", said_at=NOW, origin=Origin.SAID)],
                at=NOW,
            )
            support(conn, night, [(one.id, "more")], by="upkeep", at=NOW)
        (merged,) = list_facts(conn, JOHN, now=NOW)
        assert set(merged.derived_from) == {"h-1", "h-2", "more"}
        assert merged.evidence_count == 3
        say(conn, 3, Said(text="Tom plays the cello.", day=5))
        (merged,) = list_facts(conn, JOHN, now=NOW)
        assert merged.evidence_count == 4
        gone = {one.id, other.id} - {merged.id}
        assert {find_fact(conn, JOHN, each).merged_into_id for each in gone} == {merged.id}  # type: ignore[union-attr]
        assert check(conn, "h") == []
        for change in list_changes(conn, "h")[:2]:
            undo(conn, "h", change.id, by="john", at=NOW)
        after = rows(conn)
        after["episodes"] = [row for row in after["episodes"] if "'more'" not in row]  # type: ignore[index]
        assert after == before

    store.write_now(work)


def test_a_contradiction_halves_both_once(store: Store) -> None:
    def work(conn: Connection) -> None:
        say(conn, 1, Said(text="I love jazz.", day=1, category=Category.PREFERENCE))
        say(conn, 2, Said(text="Music makes me nervous.", day=3, category=Category.PREFERENCE))
        one, other = list_facts(conn, JOHN, now=NOW)
        finding = Finding(older=one.id, newer=other.id, ruling=Ruling.CONTRADICTION)
        for _ in range(2):
            with changing(
                conn, "h", cause=Cause.CONSOLIDATE, summary="n", by="upkeep", at=NOW
            ) as night:
                decide(conn, night, [finding], by="upkeep", at=NOW)
        found = list_facts(conn, JOHN, now=NOW)
        assert [(fact.is_contradicted, fact.confidence) for fact in found] == [(True, 0.4)] * 2

    store.write_now(work)


def test_what_is_forgotten_leaves_every_table_and_does_not_come_back(store: Store) -> None:
    def work(conn: Connection) -> None:
        say(conn, 1, Said(text="I live in York.", day=1))
        say(conn, 2, Said(text="I moved to Xanadu.", day=9))
        follow_facts(conn, "h")
        (fact,) = list_facts(conn, JOHN, now=NOW)
        erased = forget(conn, JOHN, fact.id, by="john", at=NOW)
        assert [each.text for each in erased.statements] == ["I moved to Xanadu."]
        assert told(conn) == [], "what it had outdated stays outdated"
        assert "Xanadu" not in str(rows(conn))
        assert say(conn, 3, Said(text="I moved to Xanadu.", day=30)).blocked == 1
        assert say(conn, 4, Said(text="My home is in Xanadu.", day=31)).blocked == 1
        assert told(conn) == []
        (change,) = [each for each in list_changes(conn, "h") if each.cause is Cause.FORGET]
        assert why_not_undoable(conn, change) == "what was forgotten has been erased"
        assert "Xanadu" not in str(rows(conn))
        assert len(conn.execute(select(memory_tombstones)).all()) >= 1
        assert check(conn, "h") == []

    store.write_now(work)


def test_what_one_wants_forgotten_of_themselves_is_not_taken_from_others(store: Store) -> None:
    def work(conn: Connection) -> None:
        say(conn, 1, Said(text="I am allergic to nuts.", day=1), scope=person_scope("john"))
        say(conn, 2, Said(text="I am allergic to nuts.", day=2, member="sarah"))
        (own,) = [each for each in list_facts(conn, JOHN, now=NOW) if each.speaker == "john"]
        forget(conn, JOHN, own.id, by="john", at=NOW)
        assert say(conn, 3, Said(text="I am allergic to nuts.", day=3, member="leo")).blocked == 0
        assert say(conn, 4, Said(text="I am allergic to nuts.", day=4)).blocked == 1
        assert [each.text for each in list_episodes(conn, JOHN)] == [
            "…",
            "I am allergic to nuts.",
            "I am allergic to nuts.",
            "…",
        ]
        session = SessionMessage(
            content_session_id="s", user_message="I am allergic to nuts.", member="mia"
        )
        kept = take_in(conn, "h", session, at=NOW)
        assert episodes_by_id(conn, "h", [kept.episode_id])[kept.episode_id].text == (
            "I am allergic to nuts."
        )
        assert check(conn, "h") == []

    store.write_now(work)


def test_what_was_answered_to_what_is_forgotten_goes_with_it(store: Store) -> None:
    def work(conn: Connection) -> None:
        message = SessionMessage(
            content_session_id="s",
            user_message="I moved to Xanadu.",
            member="john",
            assistant_response="So Xanadu is your home now.",
            timestamp=START,
        )
        episode_id = take_in(conn, "h", message, at=NOW).episode_id
        said = episodes_by_id(conn, "h", [episode_id])[episode_id]
        found = observe(said.text, said_at=START)
        (fact,) = remember(conn, said, found, at=NOW).facts
        forget(conn, JOHN, fact.id, by="john", at=NOW)
        assert "Xanadu" not in str(rows(conn))

    store.write_now(work)


def test_followers_hear_of_every_change_and_of_what_is_gone(store: Store) -> None:
    def work(conn: Connection) -> None:
        say(conn, 1, Said(text="I live in York.", day=1))
        seen = last_seq(conn, "h")
        change = say(conn, 2, Said(text="I moved to Leeds.", day=9)).change_set
        changed = facts_changed(conn, "h", after_seq=seen)
        assert {each.value.narrative for each in changed if each.value} == {
            "I live in York.",
            "I moved to Leeds.",
        }
        assert [each.id for each in episodes_changed(conn, "h", after_seq=seen)] == ["h-2"]
        seen = last_seq(conn, "h")
        undo(conn, "h", str(change), by="john", at=NOW)
        changed = facts_changed(conn, "h", after_seq=seen)
        assert sorted(each.value is None for each in changed) == [False, True]
        assert [(each.id, each.value) for each in episodes_changed(conn, "h", after_seq=seen)] == [
            ("h-2", None)
        ]

    store.write_now(work)


def test_sessions_are_stored_whole_and_once(store: Store) -> None:
    long = "I live in York. " * (10 * 1024 * 1024 // 16)
    message = SessionMessage(
        content_session_id="s",
        user_message=long,
        assistant_response="Noted.",
        timestamp=START,
        message_id="m1",
        member="john",
    )
    repeats = (
        message,
        replace(message, message_id=None),
        replace(message, timestamp=None),
        replace(message, assistant_response=None),
    )
    first = store.write_now(lambda conn: take_in(conn, "h", message, at=NOW))
    assert first.is_new
    for each in repeats:
        again = store.write_now(lambda conn, each=each: take_in(conn, "h", each, at=NOW))  # type: ignore[misc]
        assert (again.is_new, again.episode_id) == (False, first.episode_id)
    later = replace(
        message, user_message="Next.", message_id=None, timestamp=START - timedelta(days=1)
    )
    store.write_now(lambda conn: take_in(conn, "h", later, at=NOW))
    turns = store.read_now(lambda conn: neighbours(conn, JOHN, first.episode_id))
    assert [turn.text[:10] for turn in turns] == ["Next.", "Noted.", "I live in ", "Noted."]
    assert turns[2].text == long


def test_imported_facts_keep_their_ids_and_evidence(store: Store) -> None:
    def fact(name: str, text: str, **more: object) -> ImportedFact:
        return ImportedFact(
            id=name, text=text, category=Category.IDENTITY, title=text, at=START, **more
        )  # type: ignore[arg-type]

    def work(conn: Connection) -> None:
        heard = [
            Episode(
                household="h",
                id=each,
                text="I live in York.",
                said_at=START,
                origin=Origin.IMPORTED,
            )
            for each in ("e1", "e2")
        ]
        insert_episodes(conn, heard, at=NOW)
        batch = [
            fact("f1", "Anna lives in York.", evidence=("e1", "e2")),
            fact("f2", "Tom works for Lidl.", confidence=0.9, evidence=("gone",)),
            fact("f3", "Anna lives in York."),
        ]
        import_facts(conn, "h", batch, at=NOW)
        assert import_facts(conn, "h", batch, at=NOW) == []
        found = {each.id: each for each in list_facts(conn, JOHN, now=NOW)}
        assert found["f2"].confidence == 0.9
        assert {"f1", "f3"} & set(found)
        (kept,) = {"f1", "f3"} & set(found)
        (other,) = {"f1", "f3"} - {kept}
        assert find_fact(conn, JOHN, other).merged_into_id == kept  # type: ignore[union-attr]
        assert set(found[kept].derived_from) == {"e1", "e2", "import:f3"}
        assert found["f2"].derived_from == ("import:f2",)
        assert check(conn, "h") == []

    store.write_now(work)


def test_what_is_broken_is_found_and_mended(store: Store) -> None:
    def work(conn: Connection) -> None:
        say(conn, 1, Said(text="I live in York.", day=1))
        say(conn, 2, Said(text="I live in York.", day=3))
        before = rows(conn)
        conn.execute(facts.update().values(evidence_count=7, derived_from=["h-1"]))
        found = check(conn, "h")
        assert len(found) == 2
        mend(conn, "h", found, at=NOW)
        assert check(conn, "h") == []
        assert rows(conn)["facts"] == before["facts"]

    store.write_now(work)


def test_a_clock_that_was_set_back_loses_nothing(store: Store) -> None:
    def work(conn: Connection) -> None:
        say(conn, 1, Said(text="I live in York.", day=1), at=NOW)
        say(conn, 2, Said(text="I moved to Leeds.", day=9), at=NOW - timedelta(days=400))
        say(conn, 3, Said(text="I live in Leeds.", day=10), at=NOW - timedelta(days=200))
        assert told(conn) == ["I live in Leeds."]
        for change in list_changes(conn, "h"):
            undo(conn, "h", change.id, by="john", at=NOW - timedelta(days=900))
        assert told(conn) == []

    store.write_now(work)


def test_old_images_are_purged_and_what_they_allowed_is_refused(store: Store) -> None:
    def work(conn: Connection) -> None:
        change = say(
            conn, 1, Said(text="I live in York.", day=1), at=NOW - timedelta(days=91)
        ).change_set
        say(conn, 2, Said(text="I love jazz.", day=1, category=Category.PREFERENCE), at=NOW)
        assert purge_images(conn, "h", older_than=NOW - timedelta(days=90)) > 0
        with pytest.raises(ConflictError, match="too old"):
            undo(conn, "h", str(change), by="john", at=NOW)
        assert told(conn) == ["I live in York.", "I love jazz."]

    store.write_now(work)


def test_a_feeling_ends_by_itself_and_a_correction_outlasts_imports(store: Store) -> None:
    def work(conn: Connection) -> None:
        say(
            conn, 1, Said(text="I feel anxious about the move.", day=1, category=Category.EMOTIONAL)
        )
        assert told(conn) == []
        held = as_of(conn, JOHN, START + timedelta(days=10))
        assert [fact.narrative for fact in held] == ["I feel anxious about the move."]
        assert as_of(conn, JOHN, START + timedelta(days=16)) == []
        say(conn, 2, Said(text="My car is a Volvo.", day=1))
        say(
            conn,
            3,
            Said(
                text="My car is a Skoda.",
                day=5,
                correction=Correction(corrects="My car is a Volvo."),
            ),
        )
        say(conn, 4, Said(text="My car is a Honda.", day=9, origin=Origin.IMPORTED))
        assert told(conn) == ["My car is a Skoda."]
        say(
            conn,
            5,
            Said(
                text="That's not true any more.",
                day=12,
                correction=Correction(corrects="My car is a Skoda.", is_retraction=True),
            ),
        )
        assert told(conn) == []
        statuses = {row.status for row in conn.execute(select(facts.c.status))}
        assert statuses == {FactStatus.DEPRECATED, FactStatus.SUPERSEDED, FactStatus.RETRACTED}

    store.write_now(work)
