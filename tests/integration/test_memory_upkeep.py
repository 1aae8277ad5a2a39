"""Nights of memory on a real database: support, sameness, doubt, silence, and asking before much is lost."""

import math
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path

import pytest

from kinkeeper.household.viewers import Viewer
from kinkeeper.memory.adjustments import Adjustment
from kinkeeper.memory.confidence import confidence_now
from kinkeeper.memory.episodes import list_episodes, outdated_spans
from kinkeeper.memory.model import Category, Fact, FactStatus, Origin
from kinkeeper.memory.upkeep.runs import ChangeKind, RunState
from kinkeeper.store.store import Store
from memory_nights import HOUSE, Memory, day, meaning, unlike


@pytest.fixture
def memory(tmp_path: Path) -> Iterator[Memory]:
    with Store.open(str(tmp_path / "family.db")) as store:
        yield Memory(store)


def unmet(memory: Memory, first: str, second: str) -> tuple[Fact, Fact]:
    """Two alike facts that were written as if the other one were not there."""
    (one,) = memory.say(first, day(0))
    memory.forget_meeting_points()
    (other,) = memory.say(second, day(1))
    for fact in (one, other):
        memory.place("fact", fact.id, meaning("alike", twist=fact.id))
    return one, other


def test_an_empty_memory_has_quiet_nights(memory: Memory) -> None:
    run = memory.night(day(1))
    assert (run.state, run.change_set, run.report.differences) == (RunState.DONE, None, ())


def test_what_is_said_in_passing_supports_a_fact_once(memory: Memory) -> None:
    (fact,) = memory.say("Leo loves football", day(0))
    memory.place("fact", fact.id, meaning("football"))
    passing = memory.hear(
        "Leo played football all afternoon", day(2), vector=meaning("football", twist="a")
    )
    run = memory.night(day(3))
    supported = memory.facts()["Leo loves football"]
    assert supported.derived_from == (fact.derived_from[0], passing)
    assert supported.evidence_count == 2
    assert supported.confidence > confidence_now(fact, day(3))
    assert [each.kind for each in run.report.differences] == [ChangeKind.SUPPORTED]
    again = memory.night(day(3.1))
    assert (again.change_set, again.report.differences) == (None, ())
    assert memory.facts()["Leo loves football"].seq == supported.seq


@pytest.mark.parametrize(
    "text",
    [
        "Leo no longer loves football",
        "Does Leo love football?",
        "Mia loves football",
        "Leo doesn't love football",
        "If Leo loved football he would play",
    ],
)
def test_what_only_resembles_a_fact_does_not_support_it(memory: Memory, text: str) -> None:
    (fact,) = memory.say("Leo loves football", day(0))
    memory.place("fact", fact.id, meaning("football"))
    memory.hear(text, day(2), vector=meaning("football", twist="b"))
    memory.night(day(3))
    assert memory.facts()["Leo loves football"].evidence_count == 1


def test_a_taste_in_passing_that_nobody_repeats_leaves_and_nothing_is_written_before(
    memory: Memory,
) -> None:
    memory.say("Leo loves football these days", day(0))
    for count in (1, 2, 30, 60):
        assert memory.night(day(count)).change_set is None
    fact = memory.facts()["Leo loves football these days"]
    assert confidence_now(fact, day(60)) == pytest.approx(0.8 * 0.5488, abs=1e-3)
    run = memory.night(day(99))
    assert [each.kind for each in run.report.differences] == [ChangeKind.FADED]
    assert memory.facts()["Leo loves football these days"].status is FactStatus.DEPRECATED


LASTING = (
    ("We live at 14 Alder Lane", Category.IDENTITY),
    ("Mia is allergic to kiwi", Category.EMOTIONAL),
    ("The alarm code is 7741", Category.PREFERENCE),
    ("Leo takes shoe size 31", Category.PREFERENCE),
    ("John's mother is called Rosa", Category.RELATIONSHIP),
    ("Mia's favourite colour is green", Category.PREFERENCE),
    ("No screens at the table", Category.CONSTRAINT),
    ("John wants to run a marathon", Category.GOAL),
    ("Leo has had asthma lately", Category.PROJECT_ACTIVE),
)


def test_what_does_not_fade_holds_for_years_whatever_category_was_guessed(memory: Memory) -> None:
    for text, category in LASTING:
        memory.say(text, day(0), category=category)
    for count in range(30, 800, 70):
        assert memory.night(day(count)).change_set is None
    for text, _ in LASTING:
        fact = memory.facts()[text]
        assert fact.is_current(day(800)), text
        assert confidence_now(fact, day(800)) == pytest.approx(0.8), text


def test_what_had_faded_although_it_does_not_comes_back_unless_a_person_declines(
    memory: Memory,
) -> None:
    memory.say("Mia is allergic to kiwi", day(0))
    memory.say("Leo loves football these days", day(0))
    gone = [Adjustment(fact_id=each.id, is_deprecated=True) for each in memory.every()]
    memory.adjust(gone, day(90))
    run = memory.night(day(200))
    assert [each.kind for each in run.report.differences] == [ChangeKind.RESTORED]
    assert memory.facts()["Mia is allergic to kiwi"].is_current(day(200))
    assert memory.facts()["Leo loves football these days"].status is FactStatus.DEPRECATED
    memory.revert(run, day(201))
    assert memory.night(day(202)).change_set is None
    assert memory.facts()["Mia is allergic to kiwi"].status is FactStatus.DEPRECATED


def test_what_only_faded_or_expired_is_still_found_in_the_words_it_was_said_in(
    memory: Memory,
) -> None:
    memory.say("I am sad about the cat", day(0), category=Category.EMOTIONAL)
    memory.say("Leo loves football these days", day(0))
    memory.night(day(200))
    assert {each.status for each in memory.every()} == {FactStatus.DEPRECATED}
    episodes = memory.store.read_now(lambda conn: list_episodes(conn, Viewer.of(HOUSE)))
    spans = memory.store.read_now(
        lambda conn: outdated_spans(conn, HOUSE, [each.id for each in episodes], at=day(200))
    )
    assert (len(episodes), spans) == (2, {})


def test_feelings_end_after_a_fortnight(memory: Memory) -> None:
    memory.say("I am sad about the cat", day(0), category=Category.EMOTIONAL)
    memory.night(day(13.9))
    assert memory.facts()["I am sad about the cat"].status.is_active
    run = memory.night(day(14.1))
    assert [each.kind for each in run.report.differences] == [ChangeKind.ENDED]


def test_much_silence_at_once_is_asked_about_and_a_person_decides(memory: Memory) -> None:
    for text in unlike(12):
        memory.say(f"{text} these days", day(0))
    active = sum(fact.status.is_active for fact in memory.every())
    run = memory.night(day(120))
    assert run.state is RunState.ASKS
    assert run.report.leaving == active > 3
    assert sum(fact.status.is_active for fact in memory.every()) == active
    agreed = memory.night(day(120.1), is_agreed=True)
    assert (agreed.state, agreed.report.leaving) == (RunState.DONE, active)
    assert not any(fact.status.is_active for fact in memory.every())


def test_a_rehearsal_tells_all_and_changes_nothing(memory: Memory) -> None:
    memory.say("Leo loves football these days", day(0))
    before = memory.every()
    run = memory.night(day(120), is_rehearsal=True)
    assert [each.kind for each in run.report.differences] == [ChangeKind.FADED]
    assert memory.every() == before
    assert memory.night(day(120)).report.differences == run.report.differences


def test_what_arrived_without_meeting_is_joined_and_can_be_taken_back_for_good(
    memory: Memory,
) -> None:
    first, second = unmet(memory, "Leo loves football", "Leo likes football")
    run = memory.night(day(2))
    assert {each.kind for each in run.report.differences} == {
        ChangeKind.MERGED,
        ChangeKind.SUPPORTED,
    }
    (active,) = (fact for fact in memory.every() if fact.status.is_active)
    assert set(active.derived_from) == {*first.derived_from, *second.derived_from}
    assert active.evidence_count == 2
    memory.revert(run, day(2.5))
    as_before = {fact.id: replace(fact, seq=0) for fact in memory.every()}
    assert as_before == {fact.id: replace(fact, seq=0) for fact in (first, second)}
    assert memory.night(day(3)).change_set is None


def test_a_newer_one_takes_the_older_ones_place(memory: Memory) -> None:
    old, new = unmet(memory, "Anna lives in Leeds", "Anna lives in York now")
    run = memory.night(day(2))
    assert [each.kind for each in run.report.differences] == [ChangeKind.SUPERSEDED]
    facts = {fact.id: fact for fact in memory.every()}
    assert (facts[old.id].status, facts[old.id].superseded_by) == (FactStatus.SUPERSEDED, new.id)
    assert facts[new.id].status.is_active


def test_what_was_told_again_and_again_becomes_a_fact(memory: Memory) -> None:
    texts = (
        "Went for a run along the river",
        "Another run by the river done",
        "River run before work",
    )
    ids = [
        memory.hear(text, day(number), vector=meaning("run", twist=str(number)))
        for number, text in enumerate(texts)
    ]
    for number in range(12):
        memory.hear(f"Nothing much today {number}", day(number), vector=meaning(f"else {number}"))
    run = memory.night(day(13))
    learnt = [each for each in run.report.differences if each.kind is ChangeKind.LEARNED]
    assert len(learnt) == 1
    (fact,) = (each for each in memory.every() if each.id == learnt[0].fact)
    assert set(fact.derived_from) == set(ids)
    assert fact.narrative in texts
    assert memory.night(day(14)).change_set is None
    memory.revert(run, day(15))
    assert memory.every() == []
    memory.hear("One more run at the river", day(15.5), vector=meaning("run", twist="late"))
    assert memory.night(day(16)).change_set is None


def test_what_was_only_overheard_is_never_learnt_without_a_yes(memory: Memory) -> None:
    proposed = []
    memory.tools = replace(memory.tools, propose=lambda _, theme: proposed.append(theme))
    for number, text in enumerate(("Went for a run", "Another run done", "A run before work")):
        origin = Origin.OBSERVED if number else Origin.SAID
        memory.hear(text, day(number), vector=meaning("run", twist=str(number)), origin=origin)
    for number in range(12):
        memory.hear(f"Nothing much today {number}", day(number), vector=meaning(f"else {number}"))
    memory.night(day(13))
    assert memory.every() == []
    assert [theme.origin for theme in proposed] == [Origin.OBSERVED]
    memory.hear("Hello again", day(13.5), vector=meaning("hello"))
    memory.night(day(14))
    assert len(proposed) == 1


@pytest.mark.parametrize(
    "text",
    ["Mia can eat kiwi again", "Kiwi is fine for Mia now", "Mia is allowed to eat kiwi again"],
)
def test_what_is_possible_again_does_not_support_what_forbade_it(memory: Memory, text: str) -> None:
    (fact,) = memory.say("Mia is allergic to kiwi", day(0))
    memory.place("fact", fact.id, meaning("kiwi"))
    memory.hear(text, day(2), vector=meaning("kiwi", twist="b"))
    memory.night(day(3))
    assert memory.facts()["Mia is allergic to kiwi"].evidence_count == 1


def test_confidences_before_and_after_are_of_the_same_day(memory: Memory) -> None:
    (fact,) = memory.say("Leo loves football these days", day(0))
    memory.place("fact", fact.id, meaning("football"))
    memory.hear("Leo really loves football", day(20), vector=meaning("football", twist="b"))
    (difference,) = memory.night(day(30)).report.differences
    assert difference.before == pytest.approx(0.8 * math.exp(-0.3), abs=1e-6)
    assert difference.after > difference.before
