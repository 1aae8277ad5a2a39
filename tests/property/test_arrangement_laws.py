"""Laws of the state machine that hold for any talk."""

import atexit
from dataclasses import replace
from datetime import UTC, datetime, timedelta
from functools import cache
from pathlib import Path
from tempfile import TemporaryDirectory

import hypothesis.strategies as st
from hypothesis import assume, given
from sqlalchemy import Connection, delete

from evals.coordination import household_of
from kinkeeper.arrangements import Heard, State, fold
from kinkeeper.observer.arrangement_rows import ChatRows, Kept
from kinkeeper.observer.tables import arrangements
from kinkeeper.reading import Act, Frame, Modality, Predicate, Slot, SlotName, Target
from kinkeeper.reading.model import Clause
from kinkeeper.store.store import Store

HOUSEHOLD = household_of(
    {
        "adult": [{"id": "ann", "words": ["Ann"]}, {"id": "bob", "words": ["Bob"]}],
        "child": [{"id": "mia", "words": ["Mia"]}, {"id": "leo", "words": ["Leo"]}],
    }
)
BEGIN = datetime(2026, 3, 2, 9, tzinfo=UTC)
THINGS = ("judo", "dentist", "piano", "boiler", "parcel", "laundry")
DAYS = ("Tuesday", "Wednesday", "Thursday", "Friday")
UNTRUE = (Modality.JOKE, Modality.PAST, Modality.HYPOTHETICAL)

slots = st.fixed_dictionaries(
    {},
    optional={
        SlotName.WHAT: st.sampled_from(THINGS),
        SlotName.WHO_FOR: st.sampled_from(("Mia", "Leo", "her", "Mia and Leo")),
        SlotName.WHO_DOES: st.sampled_from(("i", "you", "Bob")),
        SlotName.WHEN: st.sampled_from(DAYS),
        SlotName.TO: st.sampled_from(DAYS),
    },
)


@st.composite
def messages(draw: st.DrawFn, *, count: int = 8) -> list[Heard]:
    """Return a talk of messages of one clause, some with links to earlier ones."""
    talk: list[Heard] = []
    for number in range(draw(st.integers(1, count))):
        link = draw(st.none() | st.integers(0, number - 1)) if number else None
        frame = said(
            draw(slots),
            draw(st.sampled_from(Act)),
            draw(st.none() | st.sampled_from(Predicate)),
            modality=draw(st.sampled_from(Modality)),
            is_negated=draw(st.booleans()),
            link=link,
        )
        speaker = draw(st.sampled_from(("Ann", "Bob", "Mia", "Zoe")))
        talk.append(heard(number, speaker, *frame))
    return talk


def said(
    named: dict[SlotName, str],
    act: Act,
    predicate: Predicate | None,
    *,
    modality: Modality = Modality.PLAIN,
    is_negated: bool = False,
    link: int | None = None,
) -> tuple[str, Frame]:
    """Return a text that names slots, and its frame."""
    text, marks = "so", []
    for name, words in named.items():
        marks.append(Slot(name=name, start=len(text) + 1, end=len(text) + 1 + len(words), p=1.0))
        text = f"{text} {words}"
    frame = Frame(
        clause=Clause(0, len(text)),
        act=act,
        predicate=predicate,
        modality=modality,
        is_negated=is_negated,
        is_secret=False,
        slots=tuple(marks),
        target=None if link is None else Target(said=link, p=1.0),
        plan=1.0,
        p=1.0,
    )
    return text, frame


def heard(number: int, speaker: str, text: str, frame: Frame) -> Heard:
    """Return a message of a talk."""
    return Heard(
        message_id=f"m{number}",
        speaker=speaker,
        text=text,
        frames=(frame,),
        sent_at=BEGIN + timedelta(minutes=number),
        before=[f"m{each}" for each in range(number)],
    )


def folded(talk: list[Heard], state: State | None = None) -> State:
    """Return the state after a talk."""
    state = state or State()
    for each in talk:
        state = fold(state, each, HOUSEHOLD, each.sent_at).state
    return state


@given(messages())
def test_the_same_talk_gives_the_same_state(talk: list[Heard]) -> None:
    assert folded(talk) == folded(talk)


@given(messages(), st.data())
def test_a_message_heard_again_changes_nothing(talk: list[Heard], data: st.DataObject) -> None:
    state = folded(talk)
    again = fold(state, data.draw(st.sampled_from(talk)), HOUSEHOLD, BEGIN)
    assert again.state == state
    assert again.changes == ()


@given(messages())
def test_changes_tell_exactly_what_differs(talk: list[Heard]) -> None:
    state = State()
    for each in talk:
        before = {one.id: one for one in state.arrangements}
        after = fold(state, each, HOUSEHOLD, each.sent_at)
        state = after.state
        differing = {one.id for one in state.arrangements if before.get(one.id) != one}
        assert {change.after.id for change in after.changes} == differing
        assert all(each.message_id in change.after.evidence for change in after.changes)


@given(messages())
def test_nothing_closed_opens_again_without_a_message_that_speaks_of_it(talk: list[Heard]) -> None:
    state = State()
    for each in talk:
        closed = {one.id: one for one in state.arrangements if not one.status.is_open}
        state = fold(state, each, HOUSEHOLD, each.sent_at).state
        for one in state.arrangements:
            if one.id in closed and one.status.is_open:
                assert each.frames[0].target is not None or _names(each, closed[one.id].stems)
                assert each.message_id in one.evidence


def _names(message: Heard, stems: frozenset[str]) -> bool:
    return any(stem in message.text for stem in stems)


@given(messages(), st.sampled_from(UNTRUE), slots, st.sampled_from(Predicate))
def test_jokes_stories_and_wishes_change_nothing(
    talk: list[Heard], modality: Modality, named: dict[SlotName, str], predicate: Predicate
) -> None:
    state = folded(talk)
    idle = heard(len(talk), "Ann", *said(named, Act.STATE, predicate, modality=modality))
    after = fold(state, idle, HOUSEHOLD, BEGIN)
    assert after.changes == ()
    assert after.state.absences == state.absences


@given(
    st.sampled_from(THINGS),
    st.sampled_from(DAYS),
    st.sampled_from((Predicate.EVENT, Predicate.TASK)),
    st.sampled_from(("Ann", "Bob", "Mia")),
    st.integers(1, 4),
)
def test_a_plan_told_again_is_one_arrangement(
    thing: str, day: str, predicate: Predicate, speaker: str, times: int
) -> None:
    named = {SlotName.WHAT: thing, SlotName.WHEN: day}
    talk = [heard(n, speaker, *said(named, Act.STATE, predicate)) for n in range(times + 1)]
    assert len(folded(talk).arrangements) == 1


@given(messages(count=5))
def test_a_message_about_something_else_leaves_a_talk_as_it_is(talk: list[Heard]) -> None:
    assume(not any(map(_may_mean_anything, talk)))
    named = {SlotName.WHAT: "zeppelin", SlotName.WHO_FOR: "Zoe", SlotName.WHEN: "Saturday"}
    other = replace(heard(90, "Yan", *said(named, Act.STATE, Predicate.EVENT)), before=[])
    first, last = folded(talk, folded([other])), folded([other], folded(talk))
    assert _without_order(first) == _without_order(last)


def _may_mean_anything(message: Heard) -> bool:
    """Tell whether a message agrees to whatever was said last."""
    frame = message.frames[0]
    return frame.act is Act.ACCEPT and frame.target is None


def _without_order(state: State) -> tuple[frozenset[object], frozenset[object]]:
    return frozenset(state.arrangements), frozenset(state.absences)


@given(messages())
def test_nobody_owns_what_nobody_took(talk: list[Heard]) -> None:
    for one in folded(talk).arrangements:
        assert {*one.settled} <= {*one.who_does}
        assert not (one.status.value == "owned" and not one.who_does)
        assert "" not in one.who_does


@given(messages(), st.data())
def test_a_talk_folded_in_two_sittings_is_the_same(talk: list[Heard], data: st.DataObject) -> None:
    """What is kept of a chat between two messages is all that the next one needs."""
    cut = data.draw(st.integers(0, len(talk)))

    def sitting(conn: Connection) -> Kept:
        conn.execute(delete(arrangements))
        rows = ChatRows(conn, HOUSEHOLD.id, "chat")
        state = folded(talk[:cut])
        rows.save(cut, before=Kept(state=State()), after=Kept(state=state), now=BEGIN)
        return rows.load(BEGIN)

    kept = replace(store().write_now(sitting).state, recent=folded(talk[:cut]).recent)
    whole, rest = folded(talk), folded(talk[cut:], kept)
    assert _without_order(rest) == _without_order(whole)


@cache
def store() -> Store:
    """Return a database that lives as long as the tests."""
    folder = TemporaryDirectory(prefix="kinkeeper-laws-")
    found = Store.open(str(Path(folder.name) / "laws.sqlite"))
    atexit.register(folder.cleanup)
    atexit.register(found.close)
    return found


@given(messages(), st.sampled_from((Act.WITHDRAW, Act.DECLINE)), slots)
def test_who_has_nothing_gives_nothing_back(
    talk: list[Heard], act: Act, named: dict[SlotName, str]
) -> None:
    state = folded(talk)
    named = {name: words for name, words in named.items() if name is not SlotName.WHO_DOES}
    stranger = heard(len(talk), "Yan", *said(named, act, Predicate.PICKUP))
    after = fold(state, stranger, HOUSEHOLD, BEGIN).state
    for one in state.arrangements:
        later = after.arrangement(one.id)
        assert later is not None
        assert later.who_does == one.who_does
