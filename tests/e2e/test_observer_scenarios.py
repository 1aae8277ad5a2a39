"""What a family says and what has to come of it: told by one family, and told again by five others.

The others have other names, activities, zones and first days of the week, and say it in other words.
"""

from datetime import date, datetime

import pytest

from family_chat import FILES, Chat, chat, day, iso
from family_tellings import (
    ADULTS,
    ALONE,
    ASKED_AND_TAKEN_LATER,
    ASKED_TAKEN_THANKED,
    CLAIMED_TWICE,
    EVERY_TELLING,
    HANDS,
    IN_A_THREAD,
    ONE_CHILD_TWO_PLACES,
    SHARED_OUT,
    STATED_TAKEN_ACKNOWLEDGED,
    TALK_OF_UPKEEP,
    TIED_TO_ANOTHER_TIME,
    WHO_THEN_ME,
    Told,
)
from kinkeeper.actions.model import ActionStatus
from kinkeeper.calendar.tables import occurrences


def tell(family: Chat, telling: Told) -> list[dict[str, object]]:
    return [family.say(*said) for said in telling.said]


def each(tellings: list[Told]) -> pytest.MarkDecorator:
    return pytest.mark.parametrize("telling", tellings, ids=lambda telling: telling.family)


# The days the scenarios name


def test_every_weekday_that_a_telling_names_is_the_real_one() -> None:
    named = [when for telling in EVERY_TELLING for when, _, _ in telling.said]
    named += [each for telling in EVERY_TELLING for each in telling.days]
    assert len(named) > 80
    for text in named:
        weekday, found = text.split()[:2]
        assert date.fromisoformat(found).strftime("%a") == weekday, text


def test_a_weekday_that_is_not_the_real_one_is_refused() -> None:
    with pytest.raises(ValueError, match="2026-03-05 is a Thu"):
        day("Wed 2026-03-05")


@pytest.mark.parametrize(
    ("family", "activity", "local"),
    [
        ("miller", "soccer", "Thu 2026-03-05 16:30"),
        ("miller", "ballet", "Mon 2026-03-09 16:00"),
        ("nguyen-sato", "water-polo", "Mon 2026-03-02 17:30"),
        ("nguyen-sato", "robotics", "Wed 2026-03-04 16:00"),
        ("iyer", "bharatanatyam", "Fri 2026-03-06 17:15"),
        ("clarke", "gymnastics", "Fri 2026-03-06 17:00"),
        ("okafor-bennett", "netball", "Wed 2026-03-04 17:30"),
        ("tremblay", "ringette", "Sun 2026-03-08 07:15"),
    ],
)
def test_the_calendar_has_what_the_tellings_collide_with(
    family: str, activity: str, local: str
) -> None:
    with chat(family) as told_in:
        wanted = told_in.at(local)
        series = {row["id"]: row["activity"] for row in told_in.events("SEED")}
        starts = {
            row["start_at"]
            for row in told_in.rows(occurrences)
            if series[row["event_id"]] == activity
        }
        assert wanted in starts


# Whole scenarios


@each(TIED_TO_ANOTHER_TIME)
def test_001_a_pickup_for_an_activity_that_starts_much_later_is_asked_about(telling: Told) -> None:
    with chat(telling.family) as family:
        [line] = tell(family, telling)
        assert line["tier1_decision"] == "QUEUE"
        assert line["tripwire_confidence"] >= 0.7
        extraction = line["extraction"]
        assert line["extraction_confidence"] >= 0.6
        assert extraction["dates"] == iso(*telling.days)
        assert extraction["times"] == list(telling.times)
        assert extraction["child"] == list(telling.children)
        assert extraction["activity"] == telling.activity
        assert extraction["assigned_to"] == list(telling.owners)
        assert (line["redline_decision"], line["redline_trigger_rule"]) == (
            "SPEAK",
            "time_mismatch",
        )
        assert_one_line(line["reply"], telling.shown, limit=200)


@each(TALK_OF_UPKEEP)
def test_002_talk_of_upkeep_is_dropped(telling: Told) -> None:
    with chat(telling.family) as family:
        [line] = tell(family, telling)
        assert line["tripwire_confidence"] < 0.7
        assert line["tier1_decision"] == "DROP"
        assert line["extraction"] is None


@each(ASKED_AND_TAKEN_LATER)
def test_003_an_answer_a_quarter_of_an_hour_later_takes_what_was_asked(telling: Told) -> None:
    with chat(telling.family) as family:
        question, answer = tell(family, telling)
        assert [question["tier1_decision"], answer["tier1_decision"]] == ["QUEUE", "QUEUE"]
        extraction = answer["extraction"]
        assert answer["attribution_source"] == question["message_id"]
        assert extraction["attribution"] == {
            "source_message_id": question["message_id"],
            "attribution_confidence": 0.85,
        }
        assert extraction["assigned_to"] == list(telling.owners)
        assert [question["redline_decision"], answer["redline_decision"]] == ["SILENT", "SILENT"]
        [action] = family.pending(telling.said[-1][0])
        assert action.proposal.type == "care_assignment"
        shown = answer["action"]
        assert shown["id"] == action.id
        assert shown["assigned_to"] == list(telling.owners)
        assert shown["child"] == list(telling.children)
        assert shown["activity"] == telling.activity
        assert shown["dates"] == iso(*telling.days)
        assert family.spoken() == []


@each(CLAIMED_TWICE)
def test_004_two_people_on_one_job_are_asked_who_goes(telling: Told) -> None:
    with chat(telling.family) as family:
        first, second = tell(family, telling)
        assert first["redline_decision"] == "SILENT"
        assert second["redline_decision"] == "SPEAK"
        assert second["redline_trigger_rule"] == "resource_conflict"
        assert second["buttons"] == list(telling.buttons)
        assert second["extraction"]["dates"] == iso(*telling.days)
        assert second["extraction"]["child"] == list(telling.children)
        assert [first["extraction"]["assigned_to"], second["extraction"]["assigned_to"]] == [
            [owner] for owner in telling.owners
        ]
        assert_one_line(second["reply"], telling.shown, limit=280)
        [action] = family.pending(telling.said[-1][0])
        assert action.id == second["action"]["id"]


@each(ONE_CHILD_TWO_PLACES)
def test_005_a_child_in_two_places_is_announced(telling: Told) -> None:
    with chat(telling.family) as family:
        [line] = tell(family, telling)
        assert line["extraction"]["dates"] == iso(*telling.days)
        assert line["extraction"]["times"] == list(telling.times)
        assert line["extraction"]["child"] == list(telling.children)
        assert line["extraction"]["activity"] == telling.activity
        assert line["redline_decision"] == "SPEAK"
        assert line["redline_trigger_rule"] == "temporal_conflict"
        assert len(line["buttons"]) == 3
        assert line["buttons"][-1] == "Both"
        assert_one_line(line["reply"], telling.shown, limit=280)


@each(WHO_THEN_ME)
def test_021_one_word_takes_what_was_asked(telling: Told) -> None:
    with chat(telling.family) as family:
        question, answer = tell(family, telling)
        assert answer["tier1_decision"] == "QUEUE"
        assert answer["attribution_source"] == question["message_id"]
        assert answer["extraction"]["assigned_to"] == list(telling.owners)
        assert answer["extraction"]["child"] == list(telling.children)
        assert answer["extraction_confidence"] >= 0.75


@each(ASKED_TAKEN_THANKED)
def test_022_thanks_after_an_answer_change_nothing(telling: Told) -> None:
    with chat(telling.family) as family:
        question, answer, thanks = tell(family, telling)
        assert answer["attribution_source"] == question["message_id"]
        assert answer["extraction"]["assigned_to"] == list(telling.owners)
        assert answer["extraction"]["dates"] == iso(*telling.days)
        assert answer["extraction"]["activity"] == telling.activity
        assert thanks["tier1_decision"] == "DROP"
        assert len(family.pending(telling.said[-1][0])) == 1
        assert family.spoken() == []


@each(STATED_TAKEN_ACKNOWLEDGED)
def test_023_an_acknowledgement_is_no_new_action(telling: Told) -> None:
    with chat(telling.family) as family:
        statement, answer, nod = tell(family, telling)
        assert answer["attribution_source"] == statement["message_id"]
        assert answer["extraction"]["assigned_to"] == list(telling.owners)
        assert answer["extraction"]["child"] == list(telling.children)
        assert answer["extraction"]["activity"] == telling.activity
        assert nod["action"] is None
        [action] = family.pending(telling.said[-1][0])
        assert action.id == answer["action"]["id"]
        assert family.spoken() == []


@each(SHARED_OUT)
def test_024_two_children_shared_out_are_two_assignments(telling: Told) -> None:
    with chat(telling.family) as family:
        question, *answers = tell(family, telling)
        for answer, child, owner in zip(answers, telling.children, telling.owners, strict=True):
            assert answer["attribution_source"] == question["message_id"]
            assert answer["extraction"]["child"] == [child]
            assert answer["extraction"]["assigned_to"] == [owner]
            assert answer["extraction"]["dates"] == iso(*telling.days)
            assert answer["redline_decision"] == "SILENT"
        pending = family.pending(telling.said[-1][0])
        assert {action.id for action in pending} == {answer["action"]["id"] for answer in answers}
        assert len(pending) == 2


# Fragments: what tier 1 makes of a few words. Each stands alone unless it is said in a thread.


def hours_apart(family: Chat, number: int) -> datetime:
    """Return a moment after which neither window nor question of the one before is alive."""
    return family.at("Wed 2026-03-04 07:00").replace(day=4 + number // 6, hour=7 + 2 * (number % 6))


@pytest.mark.parametrize("name", list(FILES))
def test_006_to_020_a_few_words_alone(name: str) -> None:
    """006, 010, 011, 012, 013, 014, 017, 018, 019, 020."""
    with chat(name) as family:
        sender = ADULTS[name][0]
        found = {
            text: family.say(hours_apart(family, number), sender, text)["tier1_decision"]
            for number, text in enumerate(ALONE[name])
        }
        assert found == ALONE[name]


@pytest.mark.parametrize("name", list(FILES))
def test_008_to_017_a_few_words_in_a_thread(name: str) -> None:
    """008, 009, 015 and, where it accepts a request, 017."""
    with chat(name) as family:
        asker, other = ADULTS[name]
        found = {}
        for number, (request, reply) in enumerate(IN_A_THREAD[name]):
            at = hours_apart(family, number)
            assert family.say(at, asker, request)["tier1_decision"] == "QUEUE"
            found[reply] = family.say(at.replace(minute=2), other, reply)["tier1_decision"]
        assert found == dict.fromkeys(found, "QUEUE")


@pytest.mark.parametrize("name", list(FILES))
def test_007_a_thumb_up_to_a_request_is_queued_and_assigns_who_gives_it(name: str) -> None:
    with chat(name) as family:
        asker, other = ADULTS[name]
        request = family.say(hours_apart(family, 0), asker, IN_A_THREAD[name][3][0])
        thumb = family.say(
            hours_apart(family, 0).replace(minute=9), other, "👍", reply_to=request["message_id"]
        )
        assert thumb["tier1_decision"] == "QUEUE"
        assert thumb["attribution_source"] == request["message_id"]
        assert thumb["extraction"]["assigned_to"] == [other]


@pytest.mark.parametrize(("name", "hand"), list(zip(FILES, HANDS, strict=True)))
def test_016_a_raised_hand_takes_an_open_question(name: str, hand: str) -> None:
    with chat(name) as family:
        asker, other = ADULTS[name]
        question = family.say(hours_apart(family, 0), asker, IN_A_THREAD[name][1][0])
        raised = family.say(hours_apart(family, 0).replace(minute=12), other, hand)
        assert (raised["tier1_decision"], raised["override"]) == ("QUEUE", "attribution")
        assert raised["attribution_source"] == question["message_id"]
        assert raised["extraction"]["assigned_to"] == [other]


@pytest.mark.parametrize("name", list(FILES))
def test_019_never_mind_withdraws_what_the_asker_asked(name: str) -> None:
    never_mind = list(ALONE[name])[8]
    with chat(name) as family:
        asker, other = ADULTS[name]
        question = family.say(hours_apart(family, 0), asker, IN_A_THREAD[name][1][0])
        someone_elses = family.say(hours_apart(family, 0).replace(minute=1), other, never_mind)
        assert someone_elses["withdrawn_action"] is None
        line = family.say(hours_apart(family, 0).replace(minute=3), asker, never_mind)
        assert line["tier1_decision"] == "DROP"
        assert line["withdrawn_action"] == question["action"]["id"]
        assert family.action(question["action"]["id"]).status is ActionStatus.WITHDRAWN
        assert [row["status"] for row in family.questions()] == ["withdrawn"]
        assert family.until("Fri 2026-03-06 12:00") == []


def assert_one_line(reply: object, shown: tuple[str, ...], *, limit: int) -> None:
    """One line within its limit that names what matters and ends with a question."""
    assert isinstance(reply, str)
    assert len(reply) <= limit
    assert reply.splitlines() == [reply]
    assert reply.endswith("?")
    missing = [word for word in shown if word.casefold() not in reply.casefold()]
    assert not missing, reply
