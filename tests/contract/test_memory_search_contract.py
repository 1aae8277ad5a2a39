"""What is stored is found, by those who may and while it holds, on either database."""

import asyncio
from collections.abc import Sequence
from dataclasses import replace
from datetime import UTC, datetime, timedelta
from zoneinfo import ZoneInfo

import numpy as np
import pytest
from sqlalchemy import Connection, update

from kinkeeper.household.viewers import Viewer, person_scope
from kinkeeper.memory.corrections import mark_wrong, retract_fact
from kinkeeper.memory.episodes import count_episodes, insert_episodes
from kinkeeper.memory.erasure import forget
from kinkeeper.memory.facts import facts_by_id
from kinkeeper.memory.finding.candidates import DENSE
from kinkeeper.memory.finding.embedding_worker import EmbeddingWork
from kinkeeper.memory.finding.search import Finder, Found, HitKind, Search
from kinkeeper.memory.finding.vectors import VectorKey, VectorKind, count_vectors, put_vectors
from kinkeeper.memory.ingest import ImportedFact, import_facts, remember
from kinkeeper.memory.memory_rows import reserve
from kinkeeper.memory.model import Category, Episode, FactStatus, Observation, Origin, StatementType
from kinkeeper.memory.tables import episodes
from kinkeeper.memory.undo import undo
from kinkeeper.models.embedding.embedder import HashingEmbedder, Vectors, normalised
from kinkeeper.store.store import Store

HOUSE = "reyes"
NOW = datetime(2026, 5, 4, 9, tzinfo=UTC)


class Senses:
    """Tells apart a few subjects, whatever the words: an embedder small enough to be read."""

    dimension = 8

    def __init__(self, model: str = "senses-1") -> None:
        self.model = model
        self.asked = 0
        self._of = {
            "dog": 0,
            "puppy": 0,
            "hound": 0,
            "boat": 1,
            "sailing": 1,
            "ship": 1,
            "doctor": 2,
            "dentist": 2,
            "clinic": 2,
        }

    async def embed(self, texts: Sequence[str]) -> Vectors:
        self.asked += len(texts)
        vectors = np.full((len(texts), self.dimension), 0.05, np.float32)
        for vector, text in zip(vectors, texts, strict=True):
            for word in text.lower().split():
                if (place := self._of.get(word.strip(".,?!"))) is not None:
                    vector[place] += 1
        return normalised(vectors)


def turn(number: int, text: str, **different: object) -> Episode:
    episode = Episode(
        household=HOUSE,
        id=f"t{number}",
        session="s",
        speaker="Ines",
        text=text,
        said_at=NOW - timedelta(days=30) + timedelta(minutes=number),
        origin=Origin.IMPORTED,
    )
    return replace(episode, **different)  # type: ignore[arg-type] - fields of the episode


def fact(number: int, text: str, **different: object) -> ImportedFact:
    given = ImportedFact(
        id=f"f{number}", text=text, title=text, category=Category.PREFERENCE, at=NOW, confidence=0.8
    )
    return replace(given, **different)  # type: ignore[arg-type] - fields of the fact


def told(store: Store, *episodes: Episode) -> None:
    store.write_now(lambda conn: insert_episodes(conn, episodes, at=NOW, is_read=True))


def known(store: Store, *facts: ImportedFact) -> None:
    store.write_now(lambda conn: import_facts(conn, HOUSE, facts, at=NOW))


def finder(store: Store, embedder: Senses | None = None) -> Finder:
    return Finder(store, HOUSE, zone=ZoneInfo("UTC"), embedder=embedder)


def found(finder: Finder, text: str, **asked: object) -> Found:
    search = replace(
        Search(text=text, viewer=Viewer.of(HOUSE), now=NOW),
        **asked,  # type: ignore[arg-type] - fields of the search
    )
    return asyncio.run(finder.search(search))


def ids(finder: Finder, text: str, **asked: object) -> list[str]:
    return [hit.id for hit in found(finder, text, **asked).hits]


def test_what_is_stored_is_found_at_once_and_by_a_finder_that_runs_already(store: Store):
    running = finder(store)
    assert ids(running, "violin") == []
    told(store, turn(1, "I started the violin"), turn(2, "How nice"), turn(3, "Dinner at six"))
    assert ids(running, "violin")[0] == "t1"
    told(store, turn(4, "The violin needs new strings"))
    assert ids(running, "violin strings")[0] == "t4"
    assert ids(finder(store), "violin strings") == ids(running, "violin strings")


def test_a_turn_is_found_by_the_words_around_it_and_only_in_its_session(store: Store):
    told(
        store,
        turn(1, "Where did you leave the telescope?"),
        turn(2, "Under the stairs."),
        turn(3, "Under the bed.", session="other"),
    )
    assert set(ids(finder(store), "telescope")) == {"t1", "t2"}


@pytest.mark.parametrize("word", ["cheese", "nurse", "horse", "exercise", "surprise", "purchases"])
def test_a_word_is_found_that_would_be_shortened_twice(store: Store, word: str):
    known(store, fact(1, f"Bo keeps the {word} to himself"))
    assert ids(finder(store), word) == ["f1"]


def test_nobody_finds_what_only_another_may_recall(store: Store):
    told(
        store,
        turn(1, "The surprise is a trampoline", scope=person_scope("ines"), session=None),
        turn(2, "A trampoline would be fun", session=None),
        turn(3, "trampoline", household="others", session=None),
    )
    known(store, fact(1, "Ines wants a trampoline", scope=person_scope("ines")))
    searched = finder(store)
    assert ids(searched, "trampoline") == ["t2"]
    assert set(ids(searched, "trampoline", viewer=Viewer.of(HOUSE, "ines"))) == {"t1", "t2", "f1"}
    assert ids(searched, "trampoline", viewer=Viewer.of(HOUSE, "bo")) == ["t2"]


def test_what_holds_no_more_is_found_by_no_way(store: Store):
    known(store, fact(1, "Bo is allergic to walnuts"), fact(2, "Bo plays chess"))
    searched = finder(store)
    assert ids(searched, "walnuts", kinds=(HitKind.FACT,)) == ["f1"]
    store.write_now(lambda conn: mark_wrong(conn, Viewer.of(HOUSE), "f1", by="ines", at=NOW))
    assert ids(searched, "walnuts") == []
    assert ids(finder(store), "walnuts") == []


def test_what_fades_leaves_passive_search_first_and_then_all_search(store: Store):
    told(store, turn(1, "stamp album", said_at=NOW))
    known(store, fact(1, "Bo is quite into stamps", confidence=0.6, evidence=("t1",)))
    searched = finder(store)
    soon, later = NOW + timedelta(days=25), NOW + timedelta(days=75)
    assert ids(searched, "stamps", kinds=(HitKind.FACT,), now=soon) == ["f1"]
    assert ids(searched, "stamps", kinds=(HitKind.FACT,), now=soon, min_confidence=0.5) == []
    assert ids(searched, "stamps", kinds=(HitKind.FACT,), now=later) == []


DAY = timedelta(days=1)


def moved(store: Store, **different: object) -> None:
    """Let Ines say where she lives, and, twenty days later, that she has moved."""
    said = [
        turn(number, text, session=None, member="ines", said_at=NOW - days * DAY, **different)
        for number, text, days in ((1, "I live in York.", 40), (2, "I moved to Leeds.", 20))
    ]

    def work(conn: Connection) -> None:
        for each in said:
            observed = Observation(
                text=each.text,
                start=0,
                end=len(each.text),
                category=Category.IDENTITY,
                title=each.text,
                narrative=each.text,
            )
            remember(conn, each, [observed], at=NOW)

    store.write_now(work)


def then(finder: Finder, text: str, days: float, **asked: object) -> list[tuple[str, str]]:
    hits = found(finder, text, as_of=NOW - days * DAY, is_diverse=False, **asked).hits
    return sorted((hit.kind.value, hit.text) for hit in hits)


YORK = [("episode", "I live in York."), ("fact", "I live in York.")]
LEEDS = [("episode", "I moved to Leeds."), ("fact", "I moved to Leeds.")]


def test_what_held_then_is_found_as_of_that_time_and_what_came_later_is_not(store: Store):
    searched = finder(store)
    assert then(searched, "York Leeds", 30) == []
    moved(store)
    assert then(searched, "York Leeds", 30) == YORK
    assert then(searched, "York Leeds", 10) == LEEDS
    assert then(searched, "York Leeds", 0) == then(searched, "York Leeds", -9) == LEEDS
    assert then(searched, "York Leeds", 50) == []
    assert {hit.text for hit in found(searched, "York Leeds").hits} == {"I moved to Leeds."}
    assert then(finder(store), "York Leeds", 30) == YORK


def test_who_sees_it_now_decides_who_sees_what_held_then(store: Store):
    moved(store, scope=person_scope("ines"))
    searched = finder(store)
    assert then(searched, "York Leeds", 30) == []
    assert then(searched, "York Leeds", 30, viewer=Viewer.of(HOUSE, "bo")) == []
    assert then(searched, "York Leeds", 30, viewer=Viewer.of(HOUSE, "ines")) == YORK


def test_what_was_forgotten_or_never_held_is_found_as_of_no_time(store: Store):
    moved(store)
    known(store, fact(1, "Bo sails", at=NOW - 40 * DAY), fact(2, "Bo skates", at=NOW - 40 * DAY))
    searched, ines = finder(store), Viewer.of(HOUSE)
    assert [text for _, text in then(searched, "sails skates", 30)] == ["Bo sails", "Bo skates"]
    (york,) = found(searched, "York", as_of=NOW - 30 * DAY, kinds=(HitKind.FACT,)).hits
    store.write_now(lambda conn: forget(conn, ines, york.id, by="ines", at=NOW))
    store.write_now(lambda conn: forget(conn, ines, "f1", by="ines", at=NOW))
    store.write_now(lambda conn: mark_wrong(conn, ines, "f2", by="ines", at=NOW))
    for each in (searched, finder(store)):
        for days in (39, 30, 10, 0):
            hits = then(each, "York sails skates", days)
            assert not [text for _, text in hits if "Leeds" not in text], days


def test_what_is_over_or_faded_by_now_had_its_time(store: Store):
    told(store, turn(1, "an album", said_at=NOW))
    known(
        store,
        fact(1, "Bo rents a garage", at=NOW - 40 * DAY),
        fact(2, "Bo is quite into stamps", evidence=("t1",)),
    )
    searched = finder(store)
    ended = NOW + 5 * DAY
    store.write_now(lambda conn: retract_fact(conn, Viewer.of(HOUSE), "f1", by="bo", at=ended))
    late = {"now": NOW + 400 * DAY, "kinds": (HitKind.FACT,)}
    assert then(searched, "garage", -4, **late) == [("fact", "Bo rents a garage")]
    assert then(searched, "garage", -5, **late) == []
    assert then(searched, "stamps", -60, **late) == [("fact", "Bo is quite into stamps")]
    assert then(searched, "stamps", -200, **late) == []


def test_a_fact_that_holds_again_is_found_once(store: Store):
    known(store, fact(1, "Bo plays chess", at=NOW - 40 * DAY))
    searched, here = finder(store), Viewer.of(HOUSE)
    change = store.write_now(lambda conn: retract_fact(conn, here, "f1", by="bo", at=NOW))
    assert then(searched, "chess", 1, kinds=(HitKind.FACT,)) == [("fact", "Bo plays chess")]
    store.write_now(lambda conn: undo(conn, HOUSE, str(change.change_set), by="bo", at=NOW))
    assert then(searched, "chess", 1, kinds=(HitKind.FACT,)) == [("fact", "Bo plays chess")]
    assert then(searched, "chess", 0, kinds=(HitKind.FACT,)) == [("fact", "Bo plays chess")]


def test_who_spoke_and_when_decide_among_equal_words(store: Store):
    told(
        store,
        turn(1, "I repaired the fence", speaker="Ines", session="a"),
        turn(2, "I repaired the fence", speaker="Bo", session="b"),
        turn(
            3, "I repaired the fence", speaker="Kai", session="c", said_at=NOW - timedelta(days=400)
        ),
    )
    searched = finder(store)
    assert ids(searched, "did Bo repair the fence", is_diverse=False)[0] == "t2"
    assert ids(searched, "who repaired the fence in March 2025", is_diverse=False)[0] == "t3"
    # What each says of themselves is no repeat of what another does.
    assert len(ids(searched, "fence repaired")) == 3


def test_what_the_assistant_said_is_found_only_on_request(store: Store):
    told(store, turn(1, "You keep the passports in the blue drawer", is_assistant=True))
    searched = finder(store)
    assert ids(searched, "passports") == []
    assert ids(searched, "passports", with_assistant=True) == ["t1"]


def test_a_fact_takes_the_place_of_the_episode_that_says_the_same(store: Store):
    known(store, fact(1, "Kai swims on Mondays"))
    assert ids(finder(store), "who swims on Mondays") == ["f1"]


def test_who_said_a_fact_is_told_with_it_and_leads_to_it(store: Store):
    for number, name in enumerate(["Ines", "Bo"]):
        text = "I play the cello"
        said = Observation(
            text=text,
            start=0,
            end=len(text),
            category=Category.PREFERENCE,
            title=text,
            type=StatementType.STATEMENT,
            narrative=text,
            confidence=0.9,
        )
        spoken = turn(number, text, speaker=name, session=None, origin=Origin.SAID)
        store.write_now(lambda conn, one=spoken, o=said: remember(conn, one, [o], at=NOW))
    hits = found(finder(store), "does Bo play the cello", kinds=(HitKind.FACT,)).hits
    assert hits[0].speaker == "Bo"


def test_meaning_finds_what_words_do_not_once_vectors_are_made(store: Store):
    senses = Senses()
    told(store, turn(1, "Our puppy ate a shoe", session=None), turn(2, "Rain again", session=None))
    known(store, fact(1, "Kai gets seasick on every ship"))
    searched = finder(store, senses)
    assert ids(searched, "hound") == []
    work = EmbeddingWork(store, HOUSE, senses)
    assert asyncio.run(work.finish()) == 4
    assert ids(searched, "hound")[0] == "t1"
    assert ids(searched, "sailing")[0] == "f1"
    assert asyncio.run(work.finish()) == 0
    counts = store.read_now(lambda conn: count_vectors(conn, HOUSE))
    assert counts == {
        ("senses-1", VectorKind.EPISODE): 3,
        ("senses-1", VectorKind.CONTEXT): 3,
        ("senses-1", VectorKind.FACT): 1,
    }
    stored = store.read_now(lambda conn: facts_by_id(conn, HOUSE, ["f1"]))["f1"]
    assert stored.status is FactStatus.ACTIVE


def test_a_name_of_who_speaks_changes_nothing_about_what_a_query_means(store: Store):
    senses = Senses()
    told(store, turn(1, "A ship came in", speaker="Ann"), turn(2, "So late", speaker="Hound"))
    asyncio.run(EmbeddingWork(store, HOUSE, senses).finish())

    def likeness(query: str) -> float:
        (hit,) = [hit for hit in found(finder(store, senses), query).hits if hit.id == "t1"]
        return hit.parts[DENSE]

    assert likeness("Where was Hound sailing?") == pytest.approx(likeness("Where was sailing?"))
    assert likeness("Where was puppy sailing?") < likeness("Where was sailing?") - 0.1


def test_another_model_makes_all_vectors_anew_and_its_are_never_compared_with_old_ones(
    store: Store,
):
    told(store, turn(1, "Our puppy ate a shoe", session=None))
    asyncio.run(EmbeddingWork(store, HOUSE, Senses()).finish())
    new = Senses("senses-2")
    searched = finder(store, new)
    assert ids(searched, "hound") == []
    assert asyncio.run(EmbeddingWork(store, HOUSE, new).finish()) == 1
    assert ids(searched, "hound") == ["t1"]
    models = {model for model, _ in store.read_now(lambda conn: count_vectors(conn, HOUSE))}
    assert models == {"senses-2"}


@pytest.mark.parametrize("embedder", [None, HashingEmbedder()])
def test_without_meaning_nothing_waits_for_vectors(store: Store, embedder: HashingEmbedder | None):
    told(store, turn(1, "The key is under the pot"))
    known(store, fact(1, "Ines sings"))
    asyncio.run(EmbeddingWork(store, HOUSE, None).finish())
    assert store.read_now(lambda conn: count_episodes(conn, HOUSE))["pending"] == 0
    result = found(Finder(store, HOUSE, zone=ZoneInfo("UTC"), embedder=embedder), "key")
    assert [hit.id for hit in result.hits] == ["t1"]
    assert not result.by_meaning
    assert result.is_complete


def _rewritten(conn: Connection) -> None:
    conn.execute(
        update(episodes)
        .where(episodes.c.id == "t1")
        .values(text="Rain again", seq=reserve(conn, HOUSE))
    )


def test_vectors_of_a_text_that_changed_meanwhile_are_not_kept(store: Store):
    told(store, turn(1, "Our puppy ate a shoe", session=None))

    class Slow(Senses):
        async def embed(self, texts: Sequence[str]) -> Vectors:
            if not self.asked:
                await store.write(_rewritten)
            return await super().embed(texts)

    work = EmbeddingWork(store, HOUSE, Slow())
    asyncio.run(work.run_once())
    assert store.read_now(lambda conn: count_episodes(conn, HOUSE))["pending"] == 1
    asyncio.run(work.finish())
    assert ids(finder(store, Senses()), "hound", min_relevance=0.5) == []


def test_a_finder_reads_the_past_as_time_allows_and_says_so(store: Store):
    told(store, *(turn(number, f"errand number{number}", session=None) for number in range(5_000)))
    starting = finder(store)
    search = Search(text="errand number3", viewer=Viewer.of(HOUSE), now=NOW)
    early = asyncio.run(starting.search(search, patience=0.0))
    assert not early.is_complete
    assert early.hits
    told(store, turn(6_000, "errand to the florist", session=None))
    florist = replace(search, text="florist")
    assert [hit.id for hit in asyncio.run(starting.search(florist, patience=0.0)).hits] == ["t6000"]
    asyncio.run(starting.prepare())
    late = asyncio.run(starting.search(search))
    assert late.is_complete
    assert late.hits[0].id == "t3"


def test_many_vectors_are_read_in_parts_and_all_of_them_in_the_end(store: Store):
    turns = [turn(number, f"errand number{number}", session=None) for number in range(5_000)]
    told(store, *turns)
    senses = Senses()
    starting = finder(store, senses)
    asyncio.run(starting.prepare())
    one = asyncio.run(senses.embed(["Our puppy ate a shoe"]))[0]
    keys = [VectorKey(VectorKind.EPISODE, each.id) for each in turns]
    store.write_now(lambda conn: put_vectors(conn, HOUSE, senses.model, dict.fromkeys(keys, one)))
    search = Search(text="hound", viewer=Viewer.of(HOUSE), now=NOW, limit=1)
    complete = [asyncio.run(starting.search(search, patience=0.0)).is_complete for _ in range(4)]
    assert complete == [False, False, False, True]
    assert len(starting._followed[HitKind.EPISODE].shelf.vectors[VectorKind.EPISODE]) == 5_000


def test_what_is_left_is_read_ahead_once_somebody_has_searched(store: Store):
    told(store, *(turn(number, f"errand number{number}", session=None) for number in range(5_000)))
    starting = finder(store)
    search = Search(text="errand number3", viewer=Viewer.of(HOUSE), now=NOW)

    async def asked() -> list[bool]:
        async with asyncio.timeout(60), asyncio.TaskGroup() as tasks:
            ahead = tasks.create_task(starting.read_ahead())
            await asyncio.sleep(0)
            before = len(starting._followed[HitKind.EPISODE].shelf)
            found = [(await starting.search(search, patience=0.0)).is_complete]
            while not all(each.is_complete for each in starting._followed.values()):
                await asyncio.sleep(0.01)
            found.append((await starting.search(search, patience=0.0)).is_complete)
            ahead.cancel()
        return [before == 0, *found]

    assert asyncio.run(asked()) == [True, False, True]
