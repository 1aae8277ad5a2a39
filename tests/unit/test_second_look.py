"""Where a second look is worth it, what a model may choose from, and what of its answer counts."""

from collections.abc import Sequence
from datetime import date, time

import pytest
from hypothesis import given
from hypothesis import strategies as st

from kinkeeper.models.model import Outcome, PromptRef
from kinkeeper.models.structured import output_schema
from kinkeeper.observer.accounts.traces import consulted
from kinkeeper.observer.consultation import (
    ANSWERED,
    Answer,
    Consultation,
    consultation_record,
    consultations_from,
)
from kinkeeper.observer.extraction.completion import Earlier
from kinkeeper.observer.extraction.model_grounding import (
    Doubt,
    Offer,
    added_to,
    doubt_about,
    grounded,
    offer_of,
)
from kinkeeper.observer.model import BY_MODEL, Extraction, Stance, Task
from kinkeeper.observer.settling.model_extraction import answer_type
from kinkeeper.observer.wording.clauses import ERRANDS
from miller_words import HOUSEHOLD, PARTICIPANTS, read, said

PROMPT = PromptRef(id="observer.extract_coordination", version=7, hash="0" * 64)


def offer(text: str, *before: str, sender: str = "sarah") -> Offer:
    earlier = [
        Earlier(reading=read(each), extraction=said(each), is_same_sender=False) for each in before
    ]
    return offer_of(
        read(text),
        said(text),
        sender=HOUSEHOLD.member(sender),
        earlier=earlier,
        asked=(),
        participants=PARTICIPANTS,
    )


def answer(**fields: object) -> Answer:
    plain = {
        "is_arrangement": True,
        "stance": "states",
        "task": None,
        "owners": [],
        "children": [],
        "activity": None,
        "place": None,
        "dates": [],
        "times": [],
    }
    return Answer.model_validate({**plain, **fields})


def looked(text: str, doubt: Doubt, *before: str, **fields: object) -> Extraction:
    """Return a message after a second look, asked for one reason, answered so."""
    choice = offer(text, *before)
    kept, discarded = grounded(answer(**fields), choice)
    consultation = Consultation(
        part=0,
        doubt=doubt.value,
        outcome=Outcome.OK,
        prompt=PROMPT,
        model="m",
        answer=kept,
        discarded=discarded,
    )
    return added_to(said(text), consultation, choice, sender=HOUSEHOLD.member("sarah"))


@pytest.mark.parametrize(
    ("text", "doubt"),
    [
        ("John is on pickup duty Friday", Doubt.NO_SUBJECT),
        ("there is a recital on Saturday at 9 in town", Doubt.NO_SUBJECT),
        ("Leo has soccer Thursday at 4 or 5", Doubt.SEVERAL_TIMES),
        ("Leo has soccer Thursday 4 to 5", None),
        ("Leo has soccer Tuesday at 4 and Thursday at 5", None),
        ("I'll pick up Leo from soccer on Thursday", None),
        ("Who's picking up Leo Thursday after soccer?", None),
        ("I'll do it", None),
        ("can't, sorry", None),
        ("Mia was so funny today", None),
        ('my boss goes "who is on pickup duty Friday"', None),
        ("pickup duty Friday " * 40, None),
    ],
)
def test_what_is_clear_short_or_a_story_is_not_looked_at_twice(
    text: str, doubt: Doubt | None
) -> None:
    assert doubt_about(read(text), said(text)) is doubt


def test_days_and_times_to_choose_from_are_those_the_rules_found() -> None:
    found = offer("Friday at 4", "soccer is on Thursday 16:30")
    assert found.dates == {"d1": date(2026, 3, 6), "d2": date(2026, 3, 5)}
    assert found.times == {"t1": time(16), "t2": time(16, 30)}


@pytest.mark.parametrize(
    ("text", "before", "owners"),
    [
        ("pickup duty Friday", (), ()),
        ("I am on pickup duty Friday", (), ("sarah",)),
        ("John is on pickup duty Friday", (), ("john",)),
        ("he is on pickup duty Friday", ("John has Friday off",), ("john",)),
        ("pickup duty Friday", ("John has Friday off",), ()),
    ],
)
def test_a_job_can_only_be_given_to_whom_the_message_names(
    text: str, before: Sequence[str], owners: Sequence[str]
) -> None:
    assert offer(text, *before).owners == tuple(owners)


def test_a_child_can_only_be_chosen_if_somebody_spoke_of_it() -> None:
    assert offer("pickup duty Friday").children == ()
    assert offer("pickup duty Friday", "Mia has ballet").children == ("mia",)
    assert offer("who drives the kids").children == ("leo", "mia")


def test_values_without_ground_are_discarded_and_lower_the_confidence() -> None:
    text, talk = "pickup duty is on Friday, I am fine with it", "Mia sounds happy"
    sure = looked(text, Doubt.NO_SUBJECT, talk, children=["mia"])
    doubtful = looked(
        text, Doubt.NO_SUBJECT, talk, children=["mia", "leo"], dates=["d1"], place="casino"
    )
    assert sure.child == doubtful.child == ("mia",)
    assert (doubtful.activity, doubtful.location) == (None, None)
    assert sure.confidence - doubtful.confidence == pytest.approx(0.3)
    assert (sure.extractor, sure.version) == (BY_MODEL, "7")


def test_an_answer_of_which_most_has_no_ground_adds_nothing() -> None:
    text = "pickup duty is on Friday, I am fine with it"
    assert looked(
        text,
        Doubt.NO_SUBJECT,
        "Mia sounds happy",
        children=["mia", "bob"],
        activity="poker",
        place="casino",
        dates=["d9"],
    ) == said(text)


def test_who_makes_something_up_is_not_believed_in_a_guess() -> None:
    text = "John is on pickup duty Friday"
    sound = {"task": "pickup", "owners": ["john"], "dates": ["d1"]}
    guessed = looked(text, Doubt.NO_SUBJECT, **sound, activity="soccer")
    assert (guessed.activity, guessed.is_loose) == ("soccer", True)
    beside = looked(text, Doubt.NO_SUBJECT, **sound, activity="soccer", children=["leo"])
    assert beside == said(text)


def test_only_what_was_open_is_filled_in() -> None:
    text = "John is on pickup duty Friday"
    filled = looked(
        text,
        Doubt.NO_SUBJECT,
        "Mia sounds happy",
        children=["mia"],
        owners=["john"],
        task="cancel",
        stance="asks",
        times=["t1"],
    )
    before = said(text)
    assert filled.child == ("mia",)
    assert (filled.task, filled.stance, filled.dates, filled.times, filled.assigned_to) == (
        before.task,
        before.stance,
        before.dates,
        before.times,
        before.assigned_to,
    )


def test_an_activity_that_nobody_called_by_its_name_is_tied_to_no_time() -> None:
    filled = looked("kit bag is needed on Friday at 9 for Leo", Doubt.UNPLACED, activity="soccer")
    assert filled.activity == "soccer"
    assert filled.is_loose


@pytest.mark.parametrize(
    ("keys", "hours"),
    [(["t2"], [18]), (["t1", "t2"], [16, 18]), (["t3"], [16, 18]), ([], [16, 18])],
)
def test_of_several_times_those_meant_are_taken_and_no_others(
    keys: list[str], hours: list[int]
) -> None:
    text = "Leo's soccer is Thursday, at 4 or 6"
    chosen = looked(text, Doubt.SEVERAL_TIMES, "Mia is back at 8pm", dates=["d2"], times=keys)
    assert chosen.times == tuple(map(time, hours))
    assert chosen.dates == said(text).dates


def test_no_arrangement_no_answer_and_nothing_new_leave_it_as_the_rules_read_it() -> None:
    text = "John is on pickup duty Friday"
    assert looked(text, Doubt.NO_SUBJECT, is_arrangement=False, task="pickup") == said(text)
    assert looked(text, Doubt.NO_SUBJECT, task="pickup") == said(text)
    unanswered = Consultation(part=0, doubt="no_subject", outcome=Outcome.TIMEOUT)
    assert added_to(said(text), unanswered, offer(text), sender=None) == said(text)


def test_the_schema_lists_what_can_be_chosen_and_the_type_takes_more() -> None:
    shape = answer_type(offer("John is on pickup duty Friday at 5", "Mia is late"))
    schema = output_schema(shape).schema
    assert schema["properties"]["owners"]["items"]["enum"] == ["john"]
    assert schema["properties"]["children"]["items"]["enum"] == ["mia"]
    assert schema["properties"]["dates"]["items"]["enum"] == ["d1"]
    assert schema["additionalProperties"] is False
    stranger = answer(owners=["bob"], activity="poker").model_dump_json()
    assert shape.model_validate_json(stranger, strict=True).owners == ["bob"]
    nobody = output_schema(answer_type(offer("pickup duty"))).schema["properties"]["owners"]
    assert nobody["maxItems"] == 0


WORDS = st.sampled_from(["john", "sarah", "leo", "mia", "soccer", "westside-park", "d1", "t1", "x"])
ANSWERS = st.builds(
    Answer,
    is_arrangement=st.booleans(),
    stance=st.sampled_from(Stance),
    task=st.none() | st.sampled_from(Task),
    owners=st.lists(WORDS, max_size=6),
    children=st.lists(WORDS, max_size=6),
    activity=st.none() | WORDS | st.text(max_size=9),
    place=st.none() | WORDS | st.text(max_size=9),
    dates=st.lists(WORDS, max_size=6),
    times=st.lists(WORDS, max_size=6),
)
TEXTS = st.sampled_from(
    [
        "John is on pickup duty Friday",
        "kit bag is needed on Friday at 9 for Leo",
        "pickup duty is on",
        "she has it on Tuesday or Thursday at 4",
        "Mia, swimming, 5pm?",
    ]
)


@given(text=TEXTS, doubt=st.sampled_from(Doubt), given_answer=ANSWERS)
def test_whatever_a_model_says_stays_within_what_was_said_and_known(
    text: str, doubt: Doubt, given_answer: Answer
) -> None:
    choice, rules = offer(text), said(text)
    kept, discarded = grounded(given_answer, choice)
    assert grounded(kept, choice) == (kept, 0)
    assert discarded >= 0
    consultation = Consultation(
        part=0,
        doubt=doubt.value,
        outcome=Outcome.OK,
        prompt=PROMPT,
        model="m",
        answer=kept,
        discarded=discarded,
    )
    assert consultations_from([consultation_record(consultation)]) == (consultation,)
    after = added_to(rules, consultation, choice, sender=HOUSEHOLD.member("sarah"))
    assert after.dates == rules.dates
    assert set(after.times) <= set(rules.times)
    assert set(after.owners) <= set(choice.owners) | set(rules.owners)
    assert set(after.child) <= choice.spoken_of | set(rules.child)
    assert after.activity in {None, rules.activity, *choice.activities}
    assert after.location in {None, rules.location, *choice.places} - {"x"}
    assert 0 <= after.confidence <= 0.95
    is_guessed = after.task != rules.task
    assert not (is_guessed and after.task in {Task.CANCEL, Task.MOVE})
    assert not (is_guessed and after.task in ERRANDS and not after.owners)
    assert (after.stance is Stance.ASKS) == (rules.stance is Stance.ASKS)


@pytest.mark.parametrize("outcome", sorted(set(Outcome) - ANSWERED - {Outcome.CANCELLED}))
def test_why_there_was_no_answer_is_told_in_words(outcome: Outcome) -> None:
    told = consulted(Consultation(part=0, doubt=Doubt.FAINT.value, outcome=outcome, prompt=PROMPT))
    assert "_" not in told
    assert f"({outcome.value})" not in told
