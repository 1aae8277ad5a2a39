"""What is said in sessions is read in the background: each turn once, whatever happens in between."""

import asyncio
from collections.abc import Callable, Iterator, Sequence
from datetime import timedelta
from functools import partial
from pathlib import Path
from typing import ClassVar
from zoneinfo import ZoneInfo

import pytest
from sqlalchemy import Connection, delete, update

from kinkeeper.core.errors import ConflictError
from kinkeeper.core.time import VirtualClock
from kinkeeper.household.viewers import Viewer, person_scope
from kinkeeper.memory.concepts import concept_map
from kinkeeper.memory.episodes import count_episodes, list_episodes
from kinkeeper.memory.erasure import forget
from kinkeeper.memory.extraction_job import MOST_READ, PIECE, SessionReading, pieces
from kinkeeper.memory.facts import list_facts
from kinkeeper.memory.memory_rows import TOPIC
from kinkeeper.memory.model import Episode, Fact, Observation
from kinkeeper.memory.sessions import SessionMessage, take_in
from kinkeeper.memory.tables import episodes
from kinkeeper.memory.undecided import settle_doubt
from kinkeeper.store.store import Store
from memory_chains import NOW, START

JOHN = Viewer.of("h", "john")


@pytest.fixture
def store(tmp_path: Path) -> Iterator[Store]:
    with Store.open(str(tmp_path / "family.sqlite")) as opened:
        yield opened


def _nobody_is_asked(conn: Connection, episode: Episode, found: Sequence[Observation]) -> None:
    raise AssertionError(episode.text)


def reading(store: Store, kind: type[SessionReading] = SessionReading) -> SessionReading:
    return kind(
        store,
        "h",
        people={"dad": "john", "ida": "ida", "sarah": "sarah"},
        guardians={"ida": ("john", "sarah")},
        zone=ZoneInfo("Europe/London"),
        locale="en-GB",
        clock=VirtualClock(NOW),
        propose=_nobody_is_asked,
    )


def read_all(store: Store) -> None:
    async def work() -> None:
        while await reading(store).run_once():
            pass

    asyncio.run(work())


def tell(store: Store, *turns: str, member: str = "john", scope: str = "household") -> None:
    for place, text in enumerate(turns):
        message = SessionMessage(
            content_session_id="s",
            user_message=text,
            assistant_response="I live in Atlantis, noted.",
            timestamp=START + timedelta(minutes=place),
            member=member,
            scope=scope,
        )
        store.write_now(lambda conn, message=message: take_in(conn, "h", message, at=NOW))  # type: ignore[misc]


def known(store: Store, viewer: Viewer = JOHN) -> list[str]:
    return [
        fact.narrative for fact in store.read_now(lambda conn: list_facts(conn, viewer, now=NOW))
    ]


def test_statements_become_facts_and_small_talk_nothing(store: Store) -> None:
    tell(store, "Hi there! How are you?", "I live in York.", "Thanks, bye!")
    read_all(store)
    assert len(known(store)) == 1
    assert "York" in known(store)[0]
    assert store.read_now(lambda conn: count_episodes(conn, "h")) == {
        "all": 6,
        "pending": 6,
        "unread": 0,
    }
    relations = store.read_now(lambda conn: concept_map(conn, JOHN, now=NOW)).relations
    assert [(each.source, each.target) for each in relations] == [("john", "York")]


def test_reading_twice_finds_nothing_new(store: Store) -> None:
    tell(store, "I live in York.", "My car is a Volvo.")

    async def both() -> None:
        await asyncio.gather(reading(store).run_once(), reading(store).run_once())

    asyncio.run(both())
    read_all(store)
    tell(store, "I live in York.", "My car is a Volvo.")
    read_all(store)
    facts = store.read_now(lambda conn: list_facts(conn, JOHN, now=NOW))
    assert [fact.evidence_count for fact in facts] == [1, 1]


def test_what_the_assistant_says_never_becomes_a_fact(store: Store) -> None:
    tell(store, "What did I tell you about my home?")
    read_all(store)
    assert known(store) == []


def test_a_correction_takes_the_last_words_place(store: Store) -> None:
    tell(store, "I live in York.", "No, actually I live in Leeds.")
    read_all(store)
    assert len(known(store)) == 1
    assert "Leeds" in known(store)[0]


def test_private_words_stay_private(store: Store) -> None:
    tell(store, "I live in York.", scope=person_scope("john"))
    read_all(store)
    assert len(known(store)) == 1
    assert known(store, Viewer.of("h", "sarah")) == []


def test_a_long_text_is_read_in_pieces_and_its_places_are_right(store: Store) -> None:
    filler = "Nothing much. " * 700
    text = f"{filler}I live in York. {filler}My car is a Volvo."
    assert all(len(piece) <= PIECE for _, piece in pieces(text))
    assert "".join(piece for _, piece in pieces(text)) == text
    tell(store, text)
    read_all(store)
    assert len(known(store)) == 2
    fact = next(
        fact
        for fact in store.read_now(lambda conn: list_facts(conn, JOHN, now=NOW))
        if "York" in fact.narrative
    )
    store.write_now(lambda conn: forget(conn, JOHN, fact.id, by="john", at=NOW))
    assert len(known(store)) == 1
    (kept,) = store.read_now(lambda conn: list_facts(conn, JOHN, now=NOW))
    erased = store.write_now(lambda conn: forget(conn, JOHN, kept.id, by="john", at=NOW))
    assert all("York" not in episode.text for episode in erased.episodes)


def test_no_turn_holds_up_the_others_however_long(store: Store) -> None:
    end = "My car is a Volvo."
    tell(store, "I live in York. " + "well " * (MOST_READ // 5) + end)
    read_all(store)
    assert known(store) == ["I live in York"]
    _, turn = store.read_now(lambda conn: list_episodes(conn, JOHN))
    assert turn.text.endswith(end)


def test_no_byte_of_what_is_forgotten_is_left_in_the_folder(store: Store, tmp_path: Path) -> None:
    tell(store, "I live in Zanzibar. My car is a Volvo.", "Remember: I live in Zanzibar.")
    read_all(store)
    fact = next(
        fact
        for fact in store.read_now(lambda conn: list_facts(conn, JOHN, now=NOW))
        if "Zanzibar" in fact.narrative
    )

    def places(mark: bytes) -> set[str]:
        return {
            file.name for file in tmp_path.iterdir() if mark.lower() in file.read_bytes().lower()
        }

    store.fold_log()
    assert places(b"Zanzibar") == {"family.sqlite"}
    store.write_now(lambda conn: forget(conn, JOHN, fact.id, by="john", at=NOW))
    store.fold_log()
    assert places(b"Zanzibar") == set()
    assert places(b"Volvo") == {"family.sqlite"}
    tell(store, "I live in Zanzibar. My car is a Volvo.")
    read_all(store)
    store.fold_log()
    assert places(b"Zanzibar") == set()


def test_it_reads_by_itself_until_it_is_cancelled(store: Store) -> None:
    async def work() -> list[str]:
        task = asyncio.create_task(reading(store).run(timedelta(hours=1)))
        await asyncio.sleep(0)
        message = SessionMessage(
            content_session_id="s", user_message="I live in York.", member="john"
        )
        await store.write(lambda conn: take_in(conn, "h", message, at=NOW))
        with store.watch((TOPIC, "h")) as watch:
            while not (found := await store.read(lambda conn: list_facts(conn, JOHN, now=NOW))):
                await watch.wait(0.05)
        task.cancel()
        await asyncio.gather(task, return_exceptions=True)
        return [fact.narrative for fact in found]

    assert asyncio.run(work()) == ["I live in York"]


def facts_of(store: Store) -> dict[str, Fact]:
    found = store.read_now(lambda conn: list_facts(conn, JOHN, now=NOW))
    return {fact.narrative: fact for fact in found}


def test_a_childs_word_does_not_outdate_its_parents_but_casts_doubt(store: Store) -> None:
    tell(store, "Ida is allergic to peanuts.")
    later = {"content_session_id": "t", "timestamp": START + timedelta(days=3)}
    for member, text in (("ida", "I'm no longer allergic to peanuts."), ("guest", "Hello there.")):
        message = SessionMessage(user_message=text, member=member, **later)  # type: ignore[arg-type]
        store.write_now(lambda conn, message=message: take_in(conn, "h", message, at=NOW))  # type: ignore[misc]
    read_all(store)
    (doubted,) = facts_of(store).values()
    assert "Ida is allergic" in doubted.narrative
    assert doubted.doubted_by is not None
    assert doubted.confidence >= 0.8

    store.write_now(
        lambda conn: settle_doubt(conn, JOHN, doubted.id, is_changed=True, by="john", at=NOW)
    )
    assert not any("is allergic" in text for text in facts_of(store))


def test_who_may_settle_it_clears_the_doubt_or_outdates(store: Store) -> None:
    say(store, 0, "sarah", "I'm allergic to penicillin.")
    say(store, 1, "john", "Sarah isn't allergic to penicillin any more.")
    assert facts_of(store)["I'm allergic to penicillin"].doubted_by is not None
    say(store, 2, "sarah", "I am allergic to penicillin.")
    (again,) = facts_of(store).values()
    assert again.doubted_by is None
    assert again.evidence_count == 2
    say(store, 3, "sarah", "I'm no longer allergic to penicillin.")
    assert "I am allergic to penicillin" not in facts_of(store)


def test_a_doubt_that_was_wrong_leaves_the_fact_as_it_was(store: Store) -> None:
    say(store, 0, "sarah", "I'm allergic to penicillin.")
    say(store, 1, "ida", "Sarah is no longer allergic to penicillin.")
    (fact,) = facts_of(store).values()
    assert fact.doubted_by is not None
    store.write_now(
        lambda conn: settle_doubt(conn, JOHN, fact.id, is_changed=False, by="john", at=NOW)
    )
    (kept,) = facts_of(store).values()
    assert kept.doubted_by is None
    assert kept.id == fact.id
    with pytest.raises(ConflictError):
        store.write_now(
            lambda conn: settle_doubt(conn, JOHN, fact.id, is_changed=False, by="john", at=NOW)
        )


def test_about_things_everybodys_word_counts(store: Store) -> None:
    say(store, 0, "john", "Our car is a Volvo.")
    say(store, 1, "ida", "Our car is now a Skoda.")
    (fact,) = facts_of(store).values()
    assert "Skoda" in fact.narrative
    assert fact.doubted_by is None


def say(store: Store, day: int, member: str, text: str) -> None:
    message = SessionMessage(
        content_session_id=f"day {day}",
        user_message=text,
        member=member,
        timestamp=START + timedelta(days=day),
    )
    store.write_now(lambda conn: take_in(conn, "h", message, at=NOW))
    read_all(store)


@pytest.mark.parametrize("order", [(0, 1), (1, 0)])
@pytest.mark.parametrize(
    ("wrong", "correction", "right"),
    [
        ("Mia's swimming is on Monday.", "I meant Tuesday.", "Mia's swimming is on Tuesday"),
        (
            "I am allergic to nuts.",
            "no wait, I'm not allergic to nuts, to milk",
            "I'm allergic to milk",
        ),
        ("My son is called Tim.", "it's not Tim, it's Tom", "My son is called Tom"),
        ("We keep the key at Ada's.", "sorry, not at Ada's but at Bo's", "We keep the key at Bo's"),
    ],
)
def test_a_short_correction_sets_right_what_arrives_before_or_after_it(
    store: Store, order: tuple[int, int], wrong: str, correction: str, right: str
) -> None:
    for place in order:
        message = SessionMessage(
            content_session_id="s",
            user_message=(wrong, correction)[place],
            member="john",
            timestamp=START + timedelta(minutes=place),
        )
        store.write_now(lambda conn, message=message: take_in(conn, "h", message, at=NOW))  # type: ignore[misc]
        read_all(store)
    assert known(store) == [right]


def test_what_is_possible_again_ends_what_forbade_it_whoever_said_it_how(store: Store) -> None:
    say(store, 0, "sarah", "I'm allergic to kiwi.")
    say(store, 1, "sarah", "I can eat kiwi again.")
    assert list(facts_of(store)) == ["I can eat kiwi again"]


def test_dad_is_a_childs_own_father_and_anybody_for_others(store: Store) -> None:
    say(store, 0, "john", "I'm allergic to kiwi.")
    say(store, 1, "sarah", "Dad is no longer allergic to kiwi.")
    assert facts_of(store)["I'm allergic to kiwi"].doubted_by is None
    say(store, 2, "ida", "Dad is no longer allergic to kiwi.")
    assert facts_of(store)["I'm allergic to kiwi"].doubted_by is not None


class Interrupted(SessionReading):
    """Has something happen to a turn once it was read and before what was found is written."""

    happens: ClassVar[list[Callable[[], None]]] = []

    def _observed(self, episode: Episode, previous: Sequence[str]) -> list[Observation]:
        found = super()._observed(episode, previous)
        while self.happens:
            self.happens.pop()()
        return found


@pytest.mark.parametrize("text", ["The stopcock is behind the piano.", "I have asthma."])
@pytest.mark.parametrize(
    ("before", "after"), [("household", "person:john"), ("person:john", "household")]
)
def test_what_is_shared_or_hidden_while_it_is_read_is_kept_for_those_meant_last(
    store: Store, text: str, before: str, after: str
) -> None:
    tell(store, text, scope=before)

    def change() -> None:
        store.write_now(lambda conn: conn.execute(update(episodes).values(scope=after)))

    Interrupted.happens.append(change)
    asyncio.run(reading(store, Interrupted).run_once())
    assert not Interrupted.happens
    found = store.read_now(lambda conn: list_facts(conn, JOHN, now=NOW))
    assert {fact.scope for fact in found} == {after}


def test_what_is_erased_while_it_is_read_is_not_written(store: Store) -> None:
    tell(store, "The stopcock is behind the piano.")
    Interrupted.happens.append(lambda: store.write_now(lambda conn: conn.execute(delete(episodes))))
    asyncio.run(reading(store, Interrupted).run_once())
    assert known(store) == []


@pytest.mark.parametrize(
    "answer",
    [
        "You plan to leave Sarah in January.",
        "I will keep it from Sarah that you lost 3000 pounds.",
        "Your PIN is 4711.",
        "The lawyer is on the 5th at 10.",
    ],
)
@pytest.mark.parametrize("said", ["what did we say about January?", "ok do that", "thanks"])
def test_what_was_answered_is_for_whom_it_was_answered(
    store: Store, said: str, answer: str
) -> None:
    message = SessionMessage(
        content_session_id="s",
        user_message=said,
        assistant_response=answer,
        timestamp=START,
        member="john",
    )
    store.write_now(lambda conn: take_in(conn, "h", message, at=NOW))
    john, sarah = (
        [each.text for each in store.read_now(partial(list_episodes, viewer=Viewer.of("h", name)))]
        for name in ("john", "sarah")
    )
    assert answer in john
    assert answer not in sarah
