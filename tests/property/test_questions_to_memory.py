"""However people, places and activities are called: the questions that may leave name no person and no place."""

import re
from datetime import date
from zoneinfo import ZoneInfo

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from kinkeeper.household.model import Household, Member, Named, Role
from kinkeeper.household.name_folding import fold
from kinkeeper.observer.extraction.prepared import compose_queries
from kinkeeper.observer.model import Extraction, Task
from kinkeeper.observer.wording.participants import compile_participants

NAMES = st.sampled_from(
    [
        "Leo",
        "Mia",
        "Zoë",
        "José María",
        "Nguyễn An",
        "Bo",
        "Al",
        "Anne-Marie",
        "O'Neil",
        "Art",
        "Ivy",
        "Ali",
    ]
) | st.text("abcdefghijklmnoprstuvz", min_size=2, max_size=9).map(str.capitalize)
PLACES = st.sampled_from(
    ["Elm Park", "42 Birch Close", "St Mary's Hall", "Westside Pool", "nana's"]
)
NOUNS = st.sampled_from(["swim", "judo", "robotics", "club", "chess", "choir", "band", "party"])


OURS = {"schedule", "who", "usually", "does", "pickup", "dropoff", "cover", "on", "events"} | {
    "activity",
    "thursday",
}
ONE = compile_participants(
    Household(
        id="h",
        zone=ZoneInfo("UTC"),
        locale="en-US",
        bot_name="Kin",
        owner=None,
        members=(Member(id="mia", name="Mia", role=Role.CHILD),),
    )
)


def slug(text: str) -> str:
    return re.sub(r"[^a-z0-9]+", "-", fold(text)).strip("-") or "x"


@st.composite
def households(draw: st.DrawFn) -> Household:
    names = draw(st.lists(NAMES, min_size=2, max_size=5, unique_by=slug))
    places = draw(st.lists(PLACES, max_size=3, unique=True))
    pieces = st.lists(st.sampled_from([*names, *places]) | NOUNS, min_size=1, max_size=4)
    joins = st.sampled_from(["-", "_"])
    activities = draw(st.lists(st.tuples(pieces, joins), min_size=1, max_size=4))
    return Household(
        id="h",
        zone=ZoneInfo("Europe/London"),
        locale="en-GB",
        bot_name="Kin",
        owner=None,
        members=tuple(
            Member(
                id=slug(name), name=name, role=draw(st.sampled_from(Role)), aliases=(f"lil {name}",)
            )
            for name in names
        ),
        activities=tuple(
            Named(id=join.join(map(slug, parts)), name=" ".join(parts))
            for parts, join in activities
        ),
        places=tuple(Named(id=slug(place), name=place) for place in places),
    )


# Each example compiles a household, which costs a tenth of a second.
@pytest.mark.slow
@settings(max_examples=40)
@given(household=households(), data=st.data())
def test_no_word_of_a_question_names_a_person_or_a_place(
    household: Household, data: st.DataObject
) -> None:
    participants = compile_participants(household)
    children = [member.id for member in household.children]
    extraction = Extraction(
        is_coordination=True,
        dates=(date(2026, 3, 5),),
        activity=data.draw(st.sampled_from([each.id for each in household.activities]) | st.text()),
        task=data.draw(st.sampled_from([None, *Task])),
        child=tuple(data.draw(st.permutations(children))),
        location=data.draw(st.sampled_from(household.places)).name if household.places else None,
    )
    queries = compose_queries(extraction, participants, limit=3)
    assert 1 <= len(queries) <= 3
    for query in queries:
        words = set(re.findall(r"[^\W_]+", fold(query.text)))
        # The sentence around it is ours: "on" and "events" tell nothing, whoever is called so.
        words -= OURS
        assert not words & participants.private_words
        assert not {fold(m.name) for m in household.members} & words
        assert query.child is None or not any(
            slug(m.name) == query.child for m in household.members
        )


@given(activity=st.text(min_size=1))
def test_an_activity_nobody_ever_named_is_just_an_activity(activity: str) -> None:
    extraction = Extraction(
        is_coordination=True, dates=(date(2026, 3, 5),), activity=f"the {activity} at 9 Elm Lane"
    )
    [first, *_] = compose_queries(extraction, ONE, limit=3)
    assert first.text == "activity schedule Thursday"
