"""What a turn begins with: topics, what is said for a day, names, the moment; each signal changes something."""

from collections.abc import Sequence
from datetime import datetime, timedelta

import numpy as np
import pytest

from answered_turns import TOMORROW_AT_FIVE, outcome
from asking import FAMILY, NOW
from kinkeeper.actions.requests.model import ResultStatus
from kinkeeper.conversation.context.model import Topic, TopicRef
from kinkeeper.conversation.context.topics import (
    SILENCE,
    facts_of,
    gist_of,
    gloss_of,
    grown,
    knowing,
    topic_of,
)
from kinkeeper.conversation.context.turn_context import (
    read_focus,
    read_identity,
    signals_of,
    world_at,
)
from kinkeeper.conversation.encoding.job import Said, is_open, salience, told
from kinkeeper.conversation.model import Exchange, Mode
from kinkeeper.messaging.outbound import QuietHours


def found(text: str, topics: Sequence[Topic], *, now: datetime = NOW) -> TopicRef:
    return topic_of(gloss_of(text), topics, now=now, thread="t", household="larch")


def topic(text: str, *, at: datetime = NOW, known: TopicRef | None = None, **more: object) -> Topic:
    ref = known or found(text, [], now=at)
    values: dict[str, object] = {"at": at, "recalled": 0, "is_focus": None} | more
    return grown(ref, gloss_of(text), **values)  # type: ignore[arg-type]  # values differ in type


CAMPING = topic("the tent for our camping trip leaks", at=NOW - timedelta(minutes=5))
PIANO = topic("Nia's piano recital needs a dress", at=NOW - timedelta(minutes=2))


def test_a_message_joins_the_topic_it_shares_words_with() -> None:
    assert (
        found("can the tent be mended before the camping trip?", [CAMPING, PIANO]).id == CAMPING.id
    )
    assert found("which dress for the recital?", [CAMPING, PIANO]).id == PIANO.id


def test_something_else_begins_a_topic() -> None:
    ref = found("our boiler makes strange noises", [CAMPING, PIANO])
    assert (ref.is_new, ref.streak, ref.label) == (True, 1, "boiler makes strange")


@pytest.mark.parametrize("text", ["and then?", "actually, cancel it", "what about that?", "ok"])
def test_what_only_refers_stays_with_the_latest_topic(text: str) -> None:
    assert found(text, [CAMPING, PIANO]).id == PIANO.id


def test_after_a_silence_a_topic_is_over() -> None:
    late = PIANO.last_at + SILENCE + timedelta(seconds=1)
    assert found("which dress for the recital?", [PIANO], now=late).is_new
    assert not found("which dress for the recital?", [PIANO], now=PIANO.last_at + SILENCE).is_new


def test_a_message_about_nothing_has_no_topic() -> None:
    assert found("hm", []) == TopicRef()


def test_staying_with_a_topic_by_word_holds_what_would_wander() -> None:
    text = "boots and a new tent"
    older = topic("the tent leaks", at=NOW - timedelta(minutes=9))
    newest = topic("piano", at=NOW)
    assert found(text, [older, newest]).is_new
    focused = topic("tent boots", at=NOW - timedelta(minutes=9), is_focus=True)
    assert found("boots and rope", [focused, newest]).id == focused.id
    unfocused = topic("tent boots", at=NOW - timedelta(minutes=9))
    assert found("boots and rope", [unfocused, newest]).is_new


def test_meaning_joins_what_words_do_not() -> None:
    one, other = np.array([1.0, 0.0], np.float32), np.array([0.9, np.sqrt(0.19)], np.float32)
    known = grown(
        found("fever all night", []),
        gloss_of("fever all night", vector=one, model="m"),
        at=NOW,
        recalled=0,
        is_focus=None,
    )

    def joined(model: str) -> TopicRef:
        gloss = gloss_of("high temperature", vector=other, model=model)
        return topic_of(gloss, [known], now=NOW, thread="t", household="larch")

    assert joined("m").id == known.id
    assert joined("another").is_new


def test_the_streak_counts_what_follows_within_two_hours() -> None:
    ref = found("the tent again", [CAMPING])
    assert ref.streak == 2
    assert grown(ref, gloss_of("the tent again"), at=NOW, recalled=0, is_focus=None).streak == 2


def test_only_sure_memories_of_the_last_minutes_are_a_feeling_of_knowing() -> None:
    warm = topic("tent", recalled=3)
    assert knowing(warm, now=NOW + timedelta(minutes=4)) == 3
    assert knowing(warm, now=NOW + timedelta(minutes=6)) == 0
    assert knowing(topic("tent", recalled=40), now=NOW) == 5
    assert knowing(topic("tent"), now=NOW) == 0


def test_every_signal_is_counted() -> None:
    said = Exchange(text="a", answer="b", at=NOW, mode=Mode.ACT, results=(outcome("task.create"),))
    quiet = QuietHours.parse("09:00-11:00", FAMILY.zone)
    signals = signals_of(
        found("our boiler is loud", [topic("x", recalled=2)]),
        [said],
        gists=2,
        facts=3,
        world=world_at(NOW, [], FAMILY, quiet),
        now=NOW,
    )
    assert (signals.turns, signals.gists, signals.facts, signals.has_world) == (1, 2, 3, True)
    assert (signals.is_new_topic, signals.previous_mode) == (True, Mode.ACT)
    calm = signals_of(TopicRef(), [], gists=0, facts=0, world=world_at(NOW, [], FAMILY), now=NOW)
    assert (calm.turns, calm.has_world, calm.previous_mode) == (0, False, None)
    assert signals.warmth > calm.warmth


def test_the_moment_is_told_in_the_familys_words() -> None:
    assert world_at(NOW, [], FAMILY).lines == ["It is Wednesday 2026-11-11, 10am, morning."]


@pytest.mark.parametrize(
    ("text", "name"),
    [
        ("my name is sam", "Sam"),
        ("Call me Bea please", "Bea"),
        ("Hi, my name is Ana Lopez.", "Ana Lopez"),
        ("could you call me Al from now on?", "Al"),
        ("please call me Mr. T", "Mr. T"),
        ("I go by Jo", "Jo"),
        ("everybody calls me Zoë", "Zoë"),
        ("My name's O'Neil, not Neil", "O'Neil"),
        ("my name is Dr. Kaya Okoye", "Dr. Kaya Okoye"),
        ("call me J. R. Smith please", "J. R. Smith"),
        ("call me Mrs. Hall. I'm off to St. Mary's", "Mrs. Hall"),
        ("call me Zo. It's approx. 5pm", "Zo"),
    ],
)
def test_how_somebody_is_called_is_read(text: str, name: str) -> None:
    assert read_identity(text) == name


@pytest.mark.parametrize(
    "text",
    [
        "call me tomorrow",
        "call me back at 5",
        "my name is on the list",
        "call me a taxi",
        "don't call me Sam",
        "remind me to call mum",
        "call me when you can",
        "what's my name?",
        "call me if it rains",
        "her name is Ana",
    ],
)
def test_what_names_nobody_is_not_taken_for_a_name(text: str) -> None:
    assert read_identity(text) is None


def test_focus_is_set_and_ended_by_word() -> None:
    assert read_focus("let's focus on the camping trip") is True
    assert read_focus("let's stay with this for now") is True
    assert read_focus("enough focusing, something else now") is False
    assert read_focus("the camera cannot focus on the bird") is None


def test_what_is_said_for_the_moment_is_kept_by_what_it_is_about() -> None:
    made = outcome("calendar.create_event", result={"title": "Vet", "start": TOMORROW_AT_FIVE})
    said = "The wifi code is 1234. Is the car ready? my locker number is 77 and the trip costs 20 euros."
    assert facts_of(said, [made]) == {
        "The wifi code": "1234",
        "my locker number": "77",
        "the trip": "20 euros",
        "Vet": TOMORROW_AT_FIVE,
    }
    waits = outcome("calendar.create_event", ResultStatus.AWAITING, result=dict(made.result))
    assert facts_of("is the car ready?", [waits]) == {}


def test_a_gist_holds_the_persons_words_and_receipts_only() -> None:
    failed = outcome("task.create", ResultStatus.FAILED)
    assert gist_of("Hi! Please add stamps to the list. Thanks.", [failed]) == (
        "“Please add stamps to the list” - task create failed"
    )
    assert gist_of("ok", []) == ""


def said(*texts: str) -> list[Said]:
    return [Said(text=text, at=NOW) for text in texts]


def test_a_talk_is_told_by_what_recurs_and_whom_it_names() -> None:
    talk = said("the tent leaks", "can Ivo mend the tent?", "we need rope")
    episode = told(talk, name="Ruth", names=["Ivo"], before=())
    assert episode is not None
    assert episode.topic == "tent, ivo"
    assert episode.title == "Conversation about tent, ivo"
    assert "3 messages" in episode.narrative
    assert "rope" not in episode.narrative
    assert told(said("ok", "hm"), name="Ruth", names=(), before=()) is None


def test_salience_counts_novelty_feeling_promises_and_what_is_open() -> None:
    plain = salience(said("the tent is green"), before={"tent", "green"})
    assert plain == 0
    assert salience(said("the tent is green"), before=()) == pytest.approx(0.4)
    assert salience(said("I hate it, awful, so sad"), before={"hate", "aw", "sad"}) >= 0.4
    promised = said("I'll do it by Friday")
    assert salience(promised, before={"friday"}) == pytest.approx(0.2)
    left = [Said(text="the tent is green", at=NOW, was_asked_back=True)]
    assert is_open(left)
    assert salience(left, before=()) == pytest.approx(0.5)
    assert salience(said("I hate this!!! awful awful", "I promise, I will, I must"), before=()) <= 1
