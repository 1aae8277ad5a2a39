"""What is said without a model: out of receipts and readings, honestly, and each part by name."""

from dataclasses import replace

import pytest

from answered_turns import TOMORROW_AT_FIVE, answered, outcome, turn
from asking import IVO, NOW
from kinkeeper.actions.requests.model import ActionResult, Card, ResultStatus
from kinkeeper.brain.model import BrainQuery, Knowledge, Source, SourceKind, Sureness
from kinkeeper.conversation.answering.answerer import Answerer
from kinkeeper.conversation.answering.names_and_times import (
    day_words,
    moment_words,
    rule_words,
    span_words,
)
from kinkeeper.conversation.answering.nothing_done import reply
from kinkeeper.conversation.answering.templates import told
from kinkeeper.conversation.model import Branch, Confirmation, Mode, Social, Triage, TurnType
from kinkeeper.core.errors import UnavailableError
from kinkeeper.household.viewers import Viewer

NAMES = {"me": "Kin", "name": "Ruth"}


def test_a_reminder_is_promised_with_its_time_and_words() -> None:
    made = outcome(
        "task.create", result={"id": "t1", "title": "call mom", "remind_at": TOMORROW_AT_FIVE}
    )
    answer = told(turn("remind me to call mom tomorrow at 5pm", made))
    assert "I'll remind you tomorrow at 5pm: call mom." in answer.text
    assert answer.used == ({"kind": "task", "id": "t1", "text": "call mom"},)


def test_a_reminder_that_recurs_says_how_often() -> None:
    made = outcome(
        "task.create",
        result={
            "id": "t1",
            "title": "bins",
            "remind_at": TOMORROW_AT_FIVE,
            "rrule": "FREQ=WEEKLY;BYDAY=TH",
        },
    )
    assert "every Thursday at 5pm: bins." in told(turn("x", made)).text


def test_a_reminder_that_recurs_says_until_when() -> None:
    rules = {
        "FREQ=DAILY;UNTIL=20260322": "every day at 5pm until March 22",
        "FREQ=WEEKLY;UNTIL=20270105;BYDAY=TH": "every Thursday at 5pm until January 5 2027",
    }
    for rule, said in rules.items():
        result = {"id": "t1", "title": "bins", "remind_at": TOMORROW_AT_FIVE, "rrule": rule}
        made = outcome("task.create", result=result)
        assert f"I'll remind you {said}: bins." in told(turn("x", made)).text


@pytest.mark.parametrize(
    ("who", "whom", "whose"),
    [
        ((), "you", ""),
        (("ruth",), "you", ""),
        (("ivo",), "Ivo", ", for Ivo"),
        (("ivo", "ruth"), "you and Ivo", ", for Ivo and you"),
        (("abe", "ivo"), "Abe and Ivo", ", for Abe and Ivo"),
    ],
)
def test_a_reminder_names_who_is_reminded_and_how_often(
    who: tuple[str, ...], whom: str, whose: str
) -> None:
    values = {
        "id": "t1",
        "title": "bins",
        "remind_at": TOMORROW_AT_FIVE,
        "rrule": "FREQ=DAILY",
        "who": who,
    }
    made = outcome("task.create", result=values)
    assert f"I'll remind {whom} every day at 5pm: bins." in told(turn("x", made)).text
    waits = outcome("task.create", ResultStatus.AWAITING, result=values)
    wanted = f"Shall I add “bins” to the list every day at 5pm{whose}?"
    assert told(turn("x", waits)).text == wanted


def test_a_mail_that_awaits_a_yes_shows_all_of_what_would_be_sent() -> None:
    waits = outcome(
        "email.send_email",
        ResultStatus.AWAITING,
        params={"to": ["Bo Larsen"], "subject": "Delay", "body": "We are late."},
    )
    text = told(turn("tell Bo", waits)).text
    assert text == "Shall I send this to Bo Larsen? “Delay”: “We are late.”"


def test_what_a_child_asks_for_awaits_an_adult() -> None:
    waits = outcome("calendar.delete_event", ResultStatus.AWAITING, result={"title": "Piano"})
    assert (
        told(turn("x", waits, member=IVO)).text == "An adult has to agree before I cancel “Piano”."
    )


def test_of_mixed_outcomes_each_is_named_and_only_what_may_pass_is_offered_again() -> None:
    draft = outcome("email.create_draft", params={"to": "Bo"}, result={"body": "We are late."})
    late = outcome(
        "calendar.list_events",
        ResultStatus.FAILED,
        is_write=False,
        may_retry=True,
        error="the calendar did not answer in time",
    )
    none = outcome(
        "task.complete", ResultStatus.FAILED, params={"find_by": "bins"}, error="no such task"
    )
    text = told(turn("x", draft, late, none)).text
    assert "I've drafted an email to Bo but not sent it" in text
    assert "I couldn't check the calendar: the calendar did not answer in time." in text
    assert "I couldn't mark “bins” as done: no such task." in text
    assert text.endswith("Shall I try again to check the calendar?")


@pytest.mark.parametrize("status", [each for each in ResultStatus if each is not ResultStatus.DONE])
def test_what_is_not_done_is_never_told_as_done(status: ResultStatus) -> None:
    done = told(turn("x", outcome("task.create", result={"title": "stamps"}))).text
    other = told(turn("x", outcome("task.create", status, result={"title": "stamps"}))).text
    assert "is on the list" in done
    assert "is on the list" not in other


def test_several_that_could_be_meant_are_offered() -> None:
    open_ = outcome(
        "task.complete",
        ResultStatus.UNCLEAR,
        error="Which one do you mean?",
        options=("Bins", "Stamps"),
    )
    assert told(turn("x", open_)).text == "Which one do you mean: Bins or Stamps?"


def test_a_tool_without_a_row_is_told_by_its_summary() -> None:
    text = told(turn("x", outcome("lamps.switch_on", summary="Lamp in the hall on"))).text
    assert text.endswith("Done: Lamp in the hall on.")
    waits = outcome("lamps.switch_on", ResultStatus.AWAITING, summary="Lamp in the hall on")
    assert told(turn("x", waits)).text == "Shall I use lamps switch on (Lamp in the hall on)?"


def test_events_are_told_with_days_times_and_people() -> None:
    found = outcome(
        "calendar.list_events",
        is_write=False,
        params={"days_ahead": 1, "from": "2026-11-12"},
        result={
            "events": [
                {"id": "e", "title": "Piano", "start": TOMORROW_AT_FIVE, "who": ["ivo", "ruth"]}
            ]
        },
    )
    assert told(turn("x", found)).text == "Piano tomorrow at 5pm (Ivo and you)."
    nothing = outcome(
        "calendar.list_events",
        is_write=False,
        params={"days_ahead": 1, "from": "2026-11-12"},
        result={"events": []},
    )
    assert told(turn("x", nothing)).text == "Nothing is in the calendar tomorrow."


def test_a_no_drops_what_was_open_and_says_so() -> None:
    dropped = outcome("email.send_email", ResultStatus.CANCELLED, params={"to": "Bo"})
    triage = Triage(
        type=TurnType.CHAT, branch=Branch.RESPOND, mode=Mode.RESPOND, confirmation=Confirmation.NO
    )
    assert "send this to Bo" in told(turn("no", dropped, triage=triage)).text


def test_what_was_not_understood_is_not_pretended() -> None:
    text = told(turn("zork the frobs", branch=Branch.ACT, mode=Mode.ACT, kind=TurnType.ACTION)).text
    assert "nothing" in text


def test_nothing_is_said_to_what_is_to_be_ignored() -> None:
    triage = Triage(
        type=TurnType.CHAT, branch=Branch.SOCIAL, mode=Mode.IGNORE, social=Social.IGNORE
    )
    assert told(turn("...", mode=Mode.IGNORE, triage=triage)).text == ""


@pytest.mark.parametrize(
    "text",
    [
        "Hey, how's it going?",
        "hi Kin!",
        "thanks a lot",
        "good night everyone",
        "what can you do?",
        "who are you?",
        "Kin, what's your name?",
        "hello there",
        "i'm so tired today",
        "are you a robot?",
        "good morning",
    ],
)
def test_small_talk_is_answered_without_a_model(text: str) -> None:
    assert reply(text, turn="t", names=NAMES)


@pytest.mark.parametrize(
    "text",
    [
        "hey, add milk to my list",
        "thanks, and what about Friday?",
        "who is picking up Ivo?",
        "hello kitty is on at 5",
        "good morning call moved to 9",
        "what can you do about the leak?",
        "how is it going to work on Friday",
    ],
)
def test_what_asks_for_more_is_no_small_talk(text: str) -> None:
    assert reply(text, turn="t", names=NAMES) is None


def test_openings_vary_by_turn_and_stay_for_the_same_turn() -> None:
    said = {reply("hello", turn=str(number), names=NAMES) for number in range(40)}
    assert len(said) > 3
    assert reply("hello", turn="7", names=NAMES) == reply("hello", turn="7", names=NAMES)


def test_the_name_somebody_goes_by_is_used() -> None:
    assert answered(turn("what's my name?", called="Rue")).text == "You're Rue."
    assert answered(turn("what's my name?")).text == "You're Ruth."


def test_what_was_said_lately_answers_a_question() -> None:
    context = turn("what's the wifi code?", known={"the wifi code": "1234"})
    assert answered(context).text == "The wifi code is 1234, as somebody said earlier."
    assert "1234" not in answered(turn("what's the capital of France?", known=context.known)).text


def test_days_and_times_are_told_as_people_do() -> None:
    today = NOW.date()
    assert day_words(today, today=today, locale="en-GB") == "today"
    assert day_words(today.replace(day=14), today=today, locale="en-GB") == "on Saturday"
    assert day_words(today.replace(month=12, day=3), today=today, locale="en-GB") == "on 3 December"
    assert day_words(today.replace(month=12, day=3), today=today, locale="en-US") == "on December 3"
    assert moment_words("2026-11-13", now=NOW, locale="en-US") == "on Friday"
    assert moment_words("nonsense", now=NOW, locale="en-US") == ""
    assert span_words(
        TOMORROW_AT_FIVE, TOMORROW_AT_FIVE.replace("T17", "T18"), now=NOW, locale="en-GB"
    ) == ("tomorrow from 17:00 to 18:00")
    assert rule_words("FREQ=WEEKLY;BYDAY=MO,TU,WE,TH,FR") == "every weekday"
    assert rule_words("FREQ=WEEKLY;INTERVAL=2") == "every other week"
    assert rule_words("FREQ=HOURLY") == ""


@pytest.mark.parametrize(
    "text", ["don't email Bob", "please do not book that", "No, never call them"]
)
def test_what_is_forbidden_is_left_alone(text: str) -> None:
    assert told(turn(text)).text in {"All right, I won't.", "Okay, I won't."}


@pytest.mark.parametrize(
    "text",
    [
        "don't cook on Friday, Gran brings lasagne at 6",
        "no need to fetch Kit, Grandma picks him up at 4",
        "don't call them. The plumber comes on Monday at 8",
        "please don't play drums, Kit has an exam on Tuesday at 9",
        "never mention politics at dinner, Uncle Bob comes on Friday at 7",
    ],
)
def test_what_is_forbidden_with_news_is_not_answered_as_if_nothing_was_told(text: str) -> None:
    assert "I won't" not in told(turn(text)).text


@pytest.mark.parametrize(
    "text", ["don't worry about it", "I don't like fish", "don't you think so?"]
)
def test_a_no_in_talk_forbids_nothing(text: str) -> None:
    assert "I won't" not in told(turn(text)).text


def events(*more: dict[str, object], card: Card | None = None) -> ActionResult:
    items = [
        {"id": str(at), "title": f"Piano {at}", "start": TOMORROW_AT_FIVE, **each}
        for at, each in enumerate(more)
    ]
    return outcome(
        "calendar.list_events",
        is_write=False,
        card=card,
        params={"days_ahead": 7},
        result={"events": items},
    )


def test_a_longer_list_is_told_in_a_sentence_where_a_card_shows_it() -> None:
    card = Card(kind="events", title="Events")
    assert told(turn("x", events({}, {}, {}, card=card))).text == (
        "There are 3 things in the next 7 days. The first is Piano 0 tomorrow at 5pm."
    )
    assert "Piano 2" in told(turn("x", events({}, {}, {}))).text


def test_who_does_something_is_said_also_where_nobody_does() -> None:
    def answer(item: dict[str, object]) -> str:
        found = replace(events(item), params={"wanted": "responsible"})
        return told(turn("who's taking Ivo to piano?", found)).text

    assert answer({"responsible": ["abe"]}).startswith("Abe is down for Piano 0 tomorrow")
    assert answer({"responsible": ["ruth"]}).startswith("You are down for Piano 0 tomorrow")
    assert answer({}).startswith("Nobody is down yet for Piano 0 tomorrow")
    assert "nobody" not in told(turn("what's on?", events({}))).text


def test_of_what_memory_was_asked_the_brain_tells_and_names_its_sources() -> None:
    async def know(query: BrainQuery, viewer: Viewer) -> Knowledge:
        assert "person:ruth" in viewer.scopes
        source = Source(
            id="e1",
            kind=SourceKind.EVENT,
            text="Piano",
            sentence="Piano: Friday at 5pm.",
            relevance=0.9,
            at=NOW,
        )
        return Knowledge(
            answer="Piano: Friday at 5pm.",
            sources=[source],
            sureness=Sureness.HIGH,
            relevance=0.9,
            times=(),
            events=(),
        )

    empty = outcome("memory.search", is_write=False, result={"facts": []})
    answer = answered(turn("what do you know about Ivo?", empty), Answerer(know=know))
    assert answer.text == "Piano: Friday at 5pm."
    assert answer.used == ({"kind": "event", "id": "e1", "text": "Piano"},)
    assert answered(turn("when is piano?"), Answerer(know=know)).text == "Piano: Friday at 5pm."
    assert "Piano" not in answered(turn("we had a nice piano evening"), Answerer(know=know)).text


def test_a_memory_that_cannot_be_reached_is_said_to_be_so() -> None:
    async def know(query: BrainQuery, viewer: Viewer) -> Knowledge:
        raise UnavailableError("gone")

    text = answered(turn("when is piano?"), Answerer(know=know)).text
    assert "again" in text


@pytest.mark.parametrize("text", ["The alarm code is 8642.", "Leo has a fever", "I like blue"])
def test_what_is_told_and_not_kept_is_said_to_be_so_whatever_routing_made_of_it(text: str) -> None:
    said = told(turn(text, branch=Branch.ACT, kind=TurnType.ACTION)).text
    assert "say “remember that …”" in said.replace("Say", "say")


@pytest.mark.parametrize(
    "text", ["we painted the fence", "I need a break", "we're off to the lake on Sunday"]
)
def test_a_deed_a_wish_or_a_time_is_never_only_heard(text: str) -> None:
    said = told(turn(text, branch=Branch.ACT, kind=TurnType.ACTION)).text
    assert "remind me to" in said


@pytest.mark.parametrize("text", ["book the hall", "could you please fix the roster"])
def test_a_request_that_nothing_came_of_is_never_waved_through(text: str) -> None:
    assert "nothing" in told(turn(text)).text


def test_a_question_that_nobody_can_answer_is_answered_by_not_knowing() -> None:
    said = told(turn("who won the cup in 1974?", branch=Branch.ACT, kind=TurnType.ACTION)).text
    assert "know" in said or "nothing" in said


@pytest.mark.parametrize(
    "text", ["am i allowed prawns", "may i eat prawns", "should he wear the brace at night"]
)
def test_a_question_without_a_mark_is_not_taken_for_news(text: str) -> None:
    said = told(turn(text)).text
    assert "know" in said or "nothing" in said
    assert not said.startswith(("Good to know", "Thanks"))


def test_own_words_are_told_back_as_ones_own_and_only_where_nothing_is_better() -> None:
    def source(kind: SourceKind, sentence: str, speaker: str | None) -> Source:
        return Source(
            id=sentence,
            kind=kind,
            text="x",
            sentence=sentence,
            speaker=speaker,
            relevance=0.9,
            at=NOW,
        )

    mine = source(SourceKind.EPISODE, "On Monday Ruth said: “The key is under the mat.”", "Ruth")
    fact = source(SourceKind.FACT, "Ruth: “My shoe size is 39.”", "Ruth")
    event = source(SourceKind.EVENT, "Piano: Friday.", None)

    def text(*sources: Source) -> str:
        async def know(query: BrainQuery, viewer: Viewer) -> Knowledge:
            return Knowledge(
                answer="",
                sources=sources,
                sureness=Sureness.HIGH,
                relevance=0.9,
                times=(),
                events=(),
            )

        return answered(turn("where is it?"), Answerer(know=know)).text

    assert text(mine) == "On Monday you said: “The key is under the mat.”"
    assert text(fact, mine) == "You told me: “My shoe size is 39.”"
    assert text(mine, event) == "Piano: Friday."


def test_a_yes_to_nothing_is_told_so() -> None:
    assert told(turn("yes, go ahead")).text == "Nothing is waiting for your approval."
    assert "waits" not in told(turn("ok great")).text


def test_where_only_memory_was_asked_for_a_name_the_name_is_said() -> None:
    found = outcome("memory.search", is_write=False, result={"facts": [{"text": "My name is Rue"}]})
    assert answered(turn("what is my name?", found, called="Rue")).text == "You're Rue."


def test_somebodys_own_words_are_never_told_as_if_they_were_the_assistants() -> None:
    def asked(speaker: str) -> str:
        fact = {"text": "My therapist is Dr Zorb", "speaker": speaker}
        found = outcome("memory.search", is_write=False, result={"facts": [fact]})
        return told(turn("who is it?", found)).text

    assert asked("Bo") == "Bo told me: “My therapist is Dr Zorb”"
    assert asked(IVO.name) != asked("Bo")
