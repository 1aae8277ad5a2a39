"""Memory, as the pages of memory say and draw it."""

import itertools
import re
from dataclasses import replace
from datetime import date, timedelta

import pytest
from hypothesis import given
from hypothesis import strategies as st

from kinkeeper.household.viewers import HOUSEHOLD_SCOPE, person_scope, surprise_scope
from kinkeeper.memory.concepts import Concept, Relation, told_as
from kinkeeper.memory.model import Category, Fact, FactStatus, Origin
from kinkeeper.memory.statements.canonical_words import canon_of
from kinkeeper.web.views.concept_map import ROW, WIDTH, concept_map
from kinkeeper.web.views.known import (
    A_PAGE,
    A_SHELF,
    Recollection,
    ShelfView,
    asked_for,
    days_of,
    pieces_of,
    shelves,
    shown_day,
)
from kinkeeper.web.views.memory_changes import fact_changes, unlisted
from kinkeeper.web.views.people import people_of
from memory_samples import NOW, episode, fact, statement
from page_samples import home, words_at

HOME = home()
CHILD = HOME.children[0]
PARENT = HOME.adults[0]


def recollection() -> Recollection:
    return Recollection(people_of(HOME), words_at(NOW))


def test_facts_stand_under_whom_they_are_about_and_else_under_who_told_them():
    about_child = fact("a", subject=CHILD.id)
    told = fact("b", subject="anna")
    nobody = fact("c", subject="boiler")
    said = {"b": [statement("b", speaker=PARENT.id)]}
    shown = shelves(recollection(), [about_child, told, nobody], said)
    found = {
        shelf.person.name: [each.id for topic in shelf.topics for each in topic.facts]
        for shelf in shown
    }
    assert found == {CHILD.name: ["a"], PARENT.name: ["b"], "Everybody": ["c"]}


def test_what_is_not_for_all_is_labelled_with_who_may_see_it():
    labels = {
        HOUSEHOLD_SCOPE: "",
        person_scope(PARENT.id): "Only you can see this",
        surprise_scope([CHILD.id]): f"Hidden from {CHILD.name}",
        surprise_scope([CHILD.id, PARENT.id]): "Hidden from "
        + " and ".join(HOME.names[each] for each in sorted([CHILD.id, PARENT.id])),
    }
    for scope, label in labels.items():
        assert recollection().known(fact("a", scope=scope), []).audience == label
    people = people_of(HOME)
    assert {scope: people.audience(scope) for scope in labels} == labels


def headings_of(*facts: Fact, told_by: str) -> dict[str, list[str]]:
    said = {each.id: [statement(each.narrative, speaker=told_by)] for each in facts}
    return {
        shelf.person.name: [topic.name for topic in shelf.topics]
        for shelf in shelves(recollection(), facts, said)
    }


def test_what_is_said_of_a_member_stands_under_who_they_are_unless_it_names_somebody():
    """To whoever says it, it is of a relative; under the relative's own name it is of themselves."""
    number = fact(
        "a",
        subject=CHILD.id,
        category=Category.RELATIONSHIP,
        narrative=f"{CHILD.name}'s phone number is 0155",
    )
    teacher = fact(
        "b",
        subject=CHILD.id,
        category=Category.RELATIONSHIP,
        narrative=f"{CHILD.name}'s teacher is Mrs Govender",
    )
    assert headings_of(number, told_by=PARENT.id) == {CHILD.name: ["Who they are"]}
    assert headings_of(teacher, told_by=PARENT.id) == {CHILD.name: ["People they know"]}


def test_a_sentence_that_begins_with_a_member_is_theirs_where_nothing_more_is_read_of_it():
    swells = fact("a", subject=PARENT.id, narrative=f"{CHILD.name} swells up")
    both = fact("b", subject=PARENT.id, narrative=f"{CHILD.name} and I swim on Mondays")
    assert list(headings_of(swells, told_by=PARENT.id)) == [CHILD.name]
    assert list(headings_of(both, told_by=PARENT.id)) == [PARENT.name]


def test_what_is_everybodys_stands_under_headings_of_a_home():
    code = fact(
        "a", subject=PARENT.id, category=Category.IDENTITY, narrative="The gate code is 9038"
    )
    assert headings_of(code, told_by=PARENT.id) == {"Everybody": ["The home"]}


@pytest.mark.parametrize("count", [0, 1, A_SHELF, A_SHELF + 1, 2 * A_PAGE + 5])
def test_every_fact_of_a_person_is_on_exactly_one_page(count: int):
    facts = [fact(f"f{number}", subject=CHILD.id) for number in range(count)]
    beside_others = shelves(recollection(), facts, {})
    assert [shelf.count for shelf in beside_others] == ([count] if count else [])
    assert all(bool(shelf.older) == (count > A_SHELF) for shelf in beside_others)
    seen: list[str] = []
    page, shelf = 1, None
    while shelf is None or shelf.older:
        found = shelves(recollection(), facts, {}, ShelfView(of=CHILD.id, page=page))
        if not found:
            break
        (shelf,) = found
        assert bool(shelf.newer) == (page > 1)
        seen += [each.id for topic in shelf.topics for each in topic.facts]
        page += 1
    assert seen == [each.id for each in facts]


def test_a_page_of_a_person_keeps_the_day():
    (shelf,) = shelves(
        recollection(),
        [fact(f"f{number}", subject=CHILD.id) for number in range(A_SHELF + 1)],
        {},
        ShelfView(on="2026-03-01"),
    )
    assert shelf.older == f"/memory?of={CHILD.id}&on=2026-03-01"


def test_a_day_since_when_something_holds_keeps_its_capitals():
    since = fact("a", valid_from=NOW - timedelta(days=40))
    assert re.fullmatch(r"Since .*[A-Z][a-z]{2}.*", recollection().known(since, []).holds)


def test_a_fact_says_who_said_it_when_and_how_often():
    known = recollection().known(
        fact("a", evidence_count=3, last_evidence_at=NOW - timedelta(days=1)),
        [
            statement("late", said_at=NOW, speaker=PARENT.name.casefold()),
            statement("early", said_at=NOW - timedelta(days=3), speaker="Gran"),
        ],
    )
    assert known.because is not None
    assert (known.because.text, known.because.speaker.name) == ("late", PARENT.name)
    assert known.often == "Said 3 times, last yesterday."
    assert known.doubt == ""
    assert not known.is_private


def test_what_is_unsure_says_so():
    say = recollection().known
    assert say(fact("a", is_contradicted=True), []).doubt.startswith("This conflicts")
    assert say(fact("a", confidence=0.6), []).fading == "Not certain."
    faded = fact("a", decayed_until=NOW - timedelta(days=60), is_transient=True)
    assert (say(faded, []).fading, say(faded, []).doubt) == ("Only found by searching.", "")
    assert say(fact("a", origin=Origin.OBSERVED), []).learnt == "heard in the chat, and confirmed"


@given(
    st.text(max_size=60), st.lists(st.tuples(st.integers(0, 70), st.integers(0, 70)), max_size=6)
)
def test_pieces_are_the_text_and_outdated_exactly_where_it_is(
    text: str, spans: list[tuple[int, int]]
):
    pieces = pieces_of(text, spans)
    assert "".join(piece.text for piece in pieces) == text
    outdated = {place for start, end in spans for place in range(start, min(end, len(text)))}
    place = 0
    for piece in pieces:
        for _ in piece.text:
            assert piece.is_outdated == (place in outdated)
            place += 1


def test_a_long_turn_is_cut_at_a_word_and_keeps_what_is_outdated_in_its_rest():
    text = "word " * 200
    (day,) = days_of([episode("e", text=text)], {"e": [(900, 904)]}, recollection())
    (turn,) = day.turns
    assert "".join(piece.text for piece in (*turn.pieces, *turn.rest)) == text
    assert [piece.text for piece in turn.rest if piece.is_outdated] == ["word"]
    assert day.label == "Today"


def test_the_map_keeps_every_name_apart_and_says_all_in_words():
    people = [_concept(f"p{number}") for number in range(14)]
    things = [_concept(f"t{number}") for number in range(30)]
    relations = [
        Relation(
            source=f"p{number % 14}", target=f"t{number}", type="likes", weight=1 + number, facts=()
        )
        for number in range(30)
    ]
    drawn = concept_map(
        [*people, *things], relations, named=lambda each: each.name, told=lambda each: [each.target]
    )
    assert drawn.left_out == 30 - len(drawn.threads)
    assert drawn.left_out > 0
    for column in (drawn.left, drawn.right):
        heights = [knot.y for knot in column]
        assert all(below - above >= ROW - 0.1 for above, below in itertools.pairwise(heights))
        assert all(0 < y < drawn.height for y in heights)
    assert sum(len(lines) for lines in drawn.sentences.values()) == 30
    assert WIDTH <= 320


@pytest.mark.parametrize(
    ("subject", "narrative", "told"),
    [
        ("grandmother rosalind", "Grandma Rosalind takes warfarin", "Grandma Rosalind"),
        ("neighbours dog", "The neighbours' dog is called Bruno", "neighbours' dog"),
        ("sister", "My sister's home is Leeds", "sister"),
        ("nurse hospital", "Ada is a nurse at the hospital", "nurse at the hospital"),
        ("beetroot mash", "I like beetroot now, gogo makes mash", "beetroot"),
        ("dark light", "Mo is afraid of the dark so that somebody leaves a light on", "dark"),
        ("grandmother", "It is in Leeds", ""),
    ],
)
def test_words_that_were_folded_are_told_as_they_were_said(
    subject: str, narrative: str, told: str
) -> None:
    assert told_as(map(canon_of, subject.split()), narrative) == told


def test_everybody_is_on_the_picture_before_anybody_has_a_second_thread():
    names = [f"name {number}" for number in range(5)]
    people = [Concept(name=name, weight=1) for name in names]
    things = [Concept(name=f"{name} {number}", weight=1) for name in names for number in range(20)]
    relations = [
        Relation(source=name, target=f"{name} {number}", type="likes", weight=9.0 - at, facts=())
        for at, name in enumerate(names)
        for number in range(20)
    ]
    drawn = concept_map(
        [*people, *things], relations, named=lambda each: each.name, told=lambda each: [each.target]
    )
    assert [knot.name for knot in drawn.left] == names
    assert {sum(knot.name.startswith(name) for knot in drawn.right) for name in names} <= {4, 5}


def test_nothing_is_drawn_of_what_is_not_there():
    drawn = concept_map([], [], named=lambda each: each.name, told=lambda _: ())
    assert (drawn.threads, drawn.sentences, drawn.left_out) == ((), {}, 0)


def test_changes_tell_what_became_of_each_memory():
    old, new = fact("a"), fact("a", narrative="B.")
    gone = replace(old, status=FactStatus.SUPERSEDED)
    surer = replace(old, confidence=0.9)
    private = replace(old, scope="person:x")
    told = [
        (each.what, each.before, each.after)
        for each in fact_changes(
            [(old, new), (None, new), (old, gone), (gone, old), (old, surer), (old, private)]
        )
    ]
    assert told == [
        ("Reworded", "a.", "B."),
        ("New", "", "B."),
        ("Replaced by something newer", "a.", ""),
        ("Again", "", "a."),
        ("Audience changed", "", "a."),
    ]
    assert unlisted([(old, surer), (old, new)], beyond=4) == "1 became more certain, 4 more"


@pytest.mark.parametrize(
    ("wanted", "shown"),
    [
        ("", None),
        ("nonsense", None),
        ("2026-03-05", None),
        ("2027-01-01", None),
        ("2026-03-04", date(2026, 3, 4)),
    ],
)
def test_only_a_past_day_is_looked_back_to(wanted: str, shown: date | None):
    assert shown_day(wanted, words_at(NOW)) == shown


def test_a_day_is_shown_as_of_its_end_in_the_households_zone():
    wording = words_at(NOW)
    asked = asked_for("nuts", date(2026, 3, 4), first=NOW, count=1, wording=wording)
    assert asked.sentence == "One thing found, as of Wednesday 4 March."
    assert asked.first == "2026-03-04"
    assert asked_for("", None, first=None, count=0, wording=wording).nothing


def test_every_category_has_a_heading():
    for category in Category:
        assert recollection().known(fact("a", category=category), []).topic


def _concept(name: str) -> Concept:
    return Concept(name=name, weight=1.0)
