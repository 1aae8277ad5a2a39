"""What is told not to take place, or only in jest, never gets a card that says that it does."""

from combinations import combined
from family_chat import chat
from kinkeeper.actions.model import ActionType

NEXT = (
    ("soccer", "Leo", "thursday", "on Thu Mar 5"),
    ("ballet", "Mia", "on wed", "on Wed Mar 4"),
    ("swimming", "Mia", "this week", "on Sat Mar 7"),
    ("chess", "leo", "on wednesday", "on Wed Mar 4"),
)
"""What is in the calendar, whose it is, when it is next, and how a card says so."""
OFF = (
    "{it}'s off {day}, coach ill",
    "{it}'s off {day}",
    "{it}'s not on {day}",
    "{who} hasn't got {it} {day}",
    "{who}'s not going to {it} {day}",
    "{who}'s not at {it} {day}",
    "{who} hasn't any {it} {day}",
    "{who} doesn't have {it} {day}",
    "{who}'s not doing {it} {day}, poorly",
)
NOT_KNOWN = (
    "Leo isn't going to pottery on friday",
    "Leo's not going to pottery on friday",
    "Mia hasn't got handball tonight",
    "pottery's off on friday, teacher ill",
    "Mia isn't coming to the fair on saturday",
    "Leo doesn't have soccer tonight",
    "mia's not at ballet on friday",
    "Leo hasn't got chess on saturday",
    "leo is not doing judo on friday at 4",
)
NOT_NEEDED = (
    "Leo doesn't need picking up from soccer on thursday",
    "leo does not need a lift to chess wednesday",
    "no need to pick up leo from soccer thursday",
    "Mia doesn't need taking to ballet on wednesday, she goes with Ava",
    "soccer isn't cancelled thursday",
    "soccer hasn't been cancelled on thursday",
    "don't cancel soccer on thursday",
    "ballet's not cancelled wednesday",
)
IS_ON = (
    "don't forget {it} is {day} at 5",
    "dont forget the {it} {day}",
    "{it}'s still on {day}",
    "{it}'s at 5 {day}",
    "{it} doesn't start until 5 {day}",
    "{who}'s {it} is {day} at 5",
    "no change to {it}, it's {day} at 5",
)
PLANS = (
    "party at ours on saturday at 9pm",
    "I'll get Leo from soccer on thursday",
    "Mia has the dentist on friday at 3",
    "dinner at the Ritz on friday at 8",
    "Sarah takes Mia to ballet on wednesday",
)
IN_JEST = (
    "haha jk",
    "jk",
    ", only joking",
    ", just kidding lol",
    "lol jk",
    "... I'm joking obviously",
    "(joking!)",
)
IN_EARNEST = (", not joking", ", I'm not kidding", "haha", "lol", ", no joke")


def cards(text: str) -> list[tuple[ActionType, str]]:
    """Return the cards that come of one message in the group."""
    with chat("miller") as miller:
        miller.say("Mon 2026-03-02 09:00", "john", text)
        return [(each.proposal.type, each.proposal.summary) for each in miller.actions()]


def test_what_is_off_is_cancelled_on_its_day() -> None:
    wrong = [
        (text, found)
        for (it, who, day, on), form in combined(NEXT, OFF)
        if (found := cards(text := form.format(it=it, who=who, day=day)))
        != [(ActionType.SCHEDULE_CHANGE, f"Cancel {who.capitalize()}'s {it} {on}")]
    ]
    assert wrong == []


def test_what_is_not_known_to_be_on_has_no_card() -> None:
    wrong = [(text, found) for text in (*NOT_KNOWN, *NOT_NEEDED) if (found := cards(text))]
    assert wrong == []


def test_what_is_on_is_not_cancelled() -> None:
    said = [
        form.format(it=it, who=who, day=day)
        for (it, who, day, _), form in combined(NEXT[:2], IS_ON)
    ]
    assert [each for each in said if "Cancel" in str(cards(each))] == []


def test_a_joke_has_no_card() -> None:
    wrong = [
        (plan, jest, found)
        for plan, jest in combined(PLANS, IN_JEST)
        if (found := cards(f"{plan} {jest}"))
    ]
    assert wrong == []


def test_what_is_meant_in_earnest_has_its_card() -> None:
    wrong = [
        (plan, words) for plan, words in combined(PLANS, IN_EARNEST) if not cards(f"{plan} {words}")
    ]
    assert wrong == []
