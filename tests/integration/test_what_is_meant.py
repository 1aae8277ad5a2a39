"""What an answer is about: a new plan leaves the old card, a yes what was refused, a retraction what it does not mean."""

from collections.abc import Iterator

import pytest

from combinations import combined
from family_chat import Chat, chat
from kinkeeper.observer.tables import arrangements
from kinkeeper.reading import SlotName
from scripted_frames import frame, read_as

pytestmark = pytest.mark.slow

AT = "Wed 2026-03-04 18:0"
PLANS = {
    "parents evening": "parents evening on Thursday at 7pm",
    "dentist": "Leo has the dentist on Friday at 9am",
    "haircut": "haircut for Mia on Saturday at 4pm",
    "plumber": "plumber coming on Monday at 10am",
}
NEW = {
    "the zoo": "Sunday 15th at 11",
    "bowling": "next Tuesday at 5",
    "a picnic": "Sunday 22nd at 1",
}
YES = ("yes lets", "sounds great", "ok", "perfect")


@pytest.fixture
def miller() -> Iterator[Chat]:
    with chat(tripwire_threshold=0.01) as found:
        yield found


def talk(miller: Chat, *lines: str, start: int = 0) -> list[str]:
    """Say lines a minute apart, and return the summaries of what waits then."""
    for number, line in enumerate(lines, start):
        who, _, text = line.partition(": ")
        miller.say(f"{AT}{number}", who, text, id=f"q{number}")
    return [each.proposal.summary for each in miller.pending(f"{AT}9")]


@pytest.mark.parametrize("label", ["ask.event", "ask.move", "offer.event", "state.event"])
@pytest.mark.parametrize("plan", PLANS)
def test_a_new_plan_never_amends_the_card_of_another_thing(
    plan: str, label: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    for (thing, when), yes in zip(NEW.items(), YES, strict=False):
        text = f"shall we do {thing} on {when}?"
        named = {SlotName.WHAT: thing, SlotName.WHEN: when}
        read_as(
            monkeypatch,
            {
                text: frame(text, label, named=named, answers=0),
                yes: frame(yes, "accept", answers=1),
            },
        )
        with chat(tripwire_threshold=0.01) as family:
            [old] = talk(family, f"sarah: {PLANS[plan]}")
            left = talk(family, f"john: {text}", f"sarah: {yes}", start=1)
            assert old in left
            assert plans(family)[plan] != plans(family)[thing.split()[-1]]


def plans(miller: Chat) -> dict[str, list[str]]:
    """Return the days of what was arranged, by its words without an article."""
    values = [each["versions"][-1]["value"] for each in miller.rows(arrangements)]
    return {
        each["what"].removeprefix("the ").removeprefix("a "): each["when"]["days"]
        for each in values
    }


@pytest.mark.parametrize("plan", PLANS)
def test_the_same_thing_at_another_time_is_amended(miller: Chat, plan: str) -> None:
    left = talk(miller, f"sarah: {PLANS[plan]}", f"sarah: actually move the {plan} to 2.30pm")
    assert len(left) == 1
    assert "2:30pm" in left[0]


@pytest.mark.parametrize("plan", PLANS)
def test_what_is_called_off_by_name_leaves_the_card_of_another(
    miller: Chat, plan: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    texts = {f"{thing} is not happening": thing for thing in NEW}
    read_as(
        monkeypatch,
        {
            text: frame(text, "state.cancel", named={SlotName.WHAT: thing}, answers=0)
            for text, thing in texts.items()
        },
    )
    first = talk(miller, f"sarah: {PLANS[plan]}")
    assert talk(miller, *(f"john: {text}" for text in texts), start=1) == first


JOBS = (
    "can you get Leo from soccer on Thursday?",
    "can you pick up Mia from ballet on Monday?",
    "can you take Leo to the dentist on Friday?",
)
NO = ("cant, sorry", "no can do", "not me, working late")
OTHER = (
    "cinema friday 7pm with Amy, ok?",
    "pizza at 7 on saturday",
    "going to the park sunday at 3",
    "film night friday at 8?",
)
FINE = ("fine", "ok", "yes", "sounds good", "yep")


@pytest.mark.parametrize(("job", "no"), list(combined(JOBS, NO)))
def test_a_yes_never_takes_a_job_that_the_same_person_refused(job: str, no: str) -> None:
    for number, (other, yes) in enumerate(combined(OTHER, FINE)):
        if number % len(NO) != NO.index(no):
            continue
        with chat(tripwire_threshold=0.01) as family:
            talk(family, f"sarah: {job}", f"john: {no}", f"sarah: {other}", f"john: {yes}")
            assert not taken(family), (job, no, other, yes)


@pytest.mark.parametrize("job", JOBS)
@pytest.mark.parametrize("yes", ["yes", "ok", "sure", "on second thoughts I can do it"])
def test_a_yes_takes_the_job_that_is_asked(miller: Chat, job: str, yes: str) -> None:
    no = ("john: cant, sorry",) if yes.startswith("on") else ()
    talk(miller, f"sarah: {job}", *no, f"john: {yes}")
    assert taken(miller) == [["john"]]


def taken(miller: Chat) -> list[list[str]]:
    """Return who has a job of those that wait."""
    waiting = [each.proposal.extraction for each in miller.pending(f"{AT}9")]
    return [
        each["assigned_to"]
        for each in waiting
        if "john" in each["assigned_to"] and each["task"] in {"pickup", "dropoff"}
    ]


POINTING = (
    "cancel that",
    "no, cancel that",
    "no cancel that",
    "actually scrap that",
    "hang on, forget that",
    "nope scrap it",
)
PAIRS = [(old, new) for old in PLANS for new in PLANS if old != new]


@pytest.mark.parametrize(("old", "new"), PAIRS)
def test_who_points_takes_back_what_was_said_last_and_nothing_older(old: str, new: str) -> None:
    for number, words in enumerate(POINTING):
        if number % 3 != PAIRS.index((old, new)) % 3:
            continue
        for who in ("john", "sarah"):
            with chat() as family:
                [kept] = talk(family, f"john: {PLANS[old]}")
                assert talk(family, f"sarah: {PLANS[new]}", f"{who}: {words}", start=1) == [kept], (
                    words
                )


@pytest.mark.parametrize(("named", "other"), PAIRS)
def test_who_names_a_thing_takes_back_that_one_alone(named: str, other: str) -> None:
    said = (f"no not the {named}, cancel that", f"not {named}, scrap that", f"cancel the {named}")
    for words in said:
        for first, second in ((named, other), (other, named)):
            with chat() as family:
                left = talk(
                    family, f"john: {PLANS[first]}", f"sarah: {PLANS[second]}", f"john: {words}"
                )
                assert len(left) == 1, (words, left)
                assert other.split(maxsplit=1)[0] in left[0].lower()
