"""What keeps it quiet: switches, the day's limit, the same conflict, floods; and texts of every shape."""

from collections.abc import Iterator

import pytest

from family_chat import Chat, chat, everything
from kinkeeper.core.errors import ConflictError
from kinkeeper.messaging.tables import messages

DENTIST = "Leo has the dentist Thursday at 4pm"


@pytest.fixture
def family() -> Iterator[Chat]:
    with chat() as opened:
        yield opened


# The same conflict


def test_a_conflict_is_announced_once_a_day(family: Chat) -> None:
    assert family.say("Mon 2026-03-02 09:00", "sarah", DENTIST)["redline_decision"] == "SPEAK"
    for when, who in [
        ("Mon 2026-03-02 09:05", "sarah"),
        ("Mon 2026-03-02 21:00", "john"),
        ("Tue 2026-03-03 08:59", "john"),
    ]:
        line = family.say(when, who, DENTIST)
        assert (line["redline_decision"], line["reason"]) == ("SILENT", "already_announced")
    assert len(family.spoken()) == 1
    assert family.say("Tue 2026-03-03 09:01", "sarah", DENTIST)["redline_decision"] == "SPEAK"


@pytest.mark.parametrize("choice", [0, 1, 2])
def test_an_answered_conflict_is_closed(family: Chat, choice: int) -> None:
    line = family.say("Mon 2026-03-02 09:00", "sarah", DENTIST)
    family.resolve("Mon 2026-03-02 09:10", "john", line["action"]["id"], line["buttons"][choice])
    family.say("Tue 2026-03-03 10:00", "john", "remember, Leo has the dentist Thursday at 4pm")
    assert len(family.spoken()) == 1


def test_another_conflict_of_the_day_is_announced(family: Chat) -> None:
    family.say("Mon 2026-03-02 09:00", "sarah", DENTIST)
    line = family.say("Mon 2026-03-02 09:05", "sarah", "Mia has the doctor Wednesday at 4pm")
    assert line["redline_decision"] == "SPEAK"


# The day's limit

CONFLICTS = [
    ("Mon 2026-03-02 09:00", "Leo has the dentist Thursday at 4pm"),
    ("Mon 2026-03-02 10:00", "Mia has the doctor Wednesday at 4pm"),
    ("Mon 2026-03-02 11:00", "Mia has the dentist Saturday at 10am"),
    ("Mon 2026-03-02 12:00", "Leo has the orthodontist Tuesday at 5pm"),
    ("Mon 2026-03-02 13:00", "Leo has the doctor Wednesday at 3:45pm"),
    ("Mon 2026-03-02 14:00", "Mia has the optician next Monday at 4pm"),
]


@pytest.mark.parametrize(
    ("settings", "most"), [({}, 4), ({"max_speak_per_day": 2}, 2), ({"max_speak_per_day": 0}, 0)]
)
def test_beyond_the_days_limit_conflicts_wait_in_the_list(
    settings: dict[str, int], most: int
) -> None:
    with chat(**settings) as family:
        lines = [family.say(at, "sarah", text) for at, text in CONFLICTS]
        assert [line["redline_decision"] for line in lines] == ["SPEAK"] * most + ["SILENT"] * (
            6 - most
        )
        assert {line["redline_trigger_rule"] for line in lines} == {"temporal_conflict"}
        assert {line["reason"] for line in lines[most:]} == {"daily_limit"}
        assert [line["reply"] for line in lines[most:]] == [None] * (6 - most)
        assert len(family.spoken()) == most
        assert len(family.pending("Mon 2026-03-02 14:00")) == 6


def test_the_day_ends_at_local_midnight() -> None:
    with chat(max_speak_per_day=1) as family:
        family.say("Mon 2026-03-02 23:50", "sarah", DENTIST)
        late = family.say("Mon 2026-03-02 23:59", "sarah", "Mia has the doctor Wednesday at 4pm")
        early = family.say("Tue 2026-03-03 00:01", "sarah", "Mia has the dentist Saturday at 10am")
        assert (late["reason"], early["redline_decision"]) == ("daily_limit", "SPEAK")


def test_late_questions_count_towards_the_days_limit() -> None:
    with chat(max_speak_per_day=1) as family:
        family.say("Mon 2026-03-02 09:00", "sarah", DENTIST)
        family.say("Mon 2026-03-02 09:05", "sarah", "Who's picking up Leo at 3pm?")
        assert family.until("Mon 2026-03-02 18:00") == []
        assert [row["reason"] for row in family.decisions()][-1] == "daily_limit"


# Switches

CASES = {
    "temporal_conflict": [("Mon 2026-03-02 09:00", "sarah", DENTIST)],
    "resource_conflict": [
        ("Mon 2026-03-02 09:00", "john", "I can cover Friday pickup"),
        ("Mon 2026-03-02 09:15", "sarah", "I'll get the kids Friday after work"),
    ],
    "missing_variable": [("Mon 2026-03-02 09:00", "sarah", "Who's picking up Leo at 9:45am?")],
    "time_mismatch": [("Mon 2026-03-02 09:00", "sarah", "I'll take Leo to soccer on Friday")],
}
SWITCHES = {
    "redline_temporal_conflict": {"temporal_conflict"},
    "redline_resource_conflict": {"resource_conflict"},
    "redline_missing_variable": {"missing_variable", "time_mismatch"},
    "speak_on_missing_critical": {"missing_variable", "time_mismatch"},
}


@pytest.mark.parametrize("rule", CASES)
@pytest.mark.parametrize("switch", SWITCHES)
def test_a_switch_turns_off_its_rule_and_no_other(switch: str, rule: str) -> None:
    with chat(**{switch: False}) as family:
        lines = [family.say(*said) for said in CASES[rule]]
        is_off = rule in SWITCHES[switch]
        assert lines[-1]["redline_decision"] == ("SILENT" if is_off else "SPEAK")
        kept = switch == "speak_on_missing_critical" or not is_off
        assert lines[-1]["redline_trigger_rule"] == (rule if kept else None)
        assert lines[-1]["action"]["status"] == "pending"
        assert len(family.spoken()) == (0 if is_off else 1)
        assert family.until("Mon 2026-03-02 23:00") == []


# Lengths


@pytest.mark.parametrize("rule", CASES)
def test_lines_keep_within_their_limits(rule: str) -> None:
    with chat(
        max_conflict_message_length=40, max_clarification_length=24, max_summary_length=20
    ) as family:
        lines = [family.say(*said) for said in CASES[rule]]
        limit = 40 if "conflict" in rule else 24
        assert 0 < len(lines[-1]["reply"]) <= limit
        assert all(len(action.proposal.summary) <= 20 for action in family.actions())


# Floods


def flood(family: Chat, count: int, *, chat_id: str = "family") -> list[str]:
    start = family.at("Wed 2026-03-04 10:00")
    return [
        family.say(
            start.replace(second=number * 59 // count),
            "john",
            f"I'll pick up Leo tomorrow at 5:{number:02d}pm",
            chat=chat_id,
        )["reason"]
        for number in range(count)
    ]


def test_above_sixty_a_minute_messages_are_stored_and_not_queued(family: Chat) -> None:
    reasons = flood(family, 64)
    assert "rate_limited" not in reasons[:60]
    assert reasons[60:] == ["rate_limited"] * 4
    assert len(family.rows(messages)) == 64
    late = family.decisions()[60:]
    assert [row["extraction"] for row in late] == [None] * 4
    assert {row["state"] for row in late} == {"dropped"}
    line = family.say("Wed 2026-03-04 10:02", "john", "I'll pick up Mia tomorrow at 5:30pm")
    assert line["action"] is not None


def test_the_limit_counts_each_chat_for_itself() -> None:
    with chat(max_messages_per_minute=3) as family:
        assert flood(family, 5).count("rate_limited") == 2
        assert flood(family, 5, chat_id="grandparents").count("rate_limited") == 2


# Ids and times


def test_the_same_message_again_answers_the_same_and_changes_nothing(family: Chat) -> None:
    first = family.say("Mon 2026-03-02 09:00", "sarah", DENTIST, id="m1")
    before = family.store.read_now(everything)
    for _ in range(3):
        assert family.say("Mon 2026-03-02 09:00", "sarah", DENTIST, id="m1") == first
    family.restart()
    assert family.say("Mon 2026-03-02 09:00", "sarah", DENTIST, id="m1") == first
    assert family.store.read_now(everything) == before


def test_a_known_id_with_another_text_is_refused_and_nothing_changes(family: Chat) -> None:
    family.say("Mon 2026-03-02 09:00", "sarah", DENTIST, id="m1")
    before = family.store.read_now(everything)
    with pytest.raises(ConflictError, match="another text"):
        family.say("Mon 2026-03-02 09:01", "sarah", "Who's picking up Leo at 3pm?", id="m1")
    assert family.store.read_now(everything) == before


def test_the_same_id_in_another_chat_is_another_message(family: Chat) -> None:
    family.say("Mon 2026-03-02 09:00", "sarah", "lol", id="m1")
    family.say("Mon 2026-03-02 09:00", "sarah", "haha", id="m1", chat="other")
    assert len(family.decisions()) == 2


def test_an_answer_is_not_looked_for_in_another_chat(family: Chat) -> None:
    family.say("Wed 2026-03-04 09:00", "sarah", "Who's picking up Leo tomorrow?")
    line = family.say("Wed 2026-03-04 09:02", "john", "I'll do it", chat="other")
    assert line["attribution_source"] is None


def test_a_message_that_comes_late_does_not_turn_time_back(family: Chat) -> None:
    family.say("Wed 2026-03-04 12:00", "john", "lol")
    line = family.say("Wed 2026-03-04 09:00", "sarah", "I'll pick up Leo tomorrow at 5:30pm")
    assert line["action"]["dates"] == ["2026-03-05"]
    assert [row["created_at"] for row in family.decisions()] == [
        family.at("Wed 2026-03-04 12:00")
    ] * 2


def test_a_message_from_the_future_is_read_by_its_own_time(family: Chat) -> None:
    family.say("Wed 2026-03-04 12:00", "john", "lol")
    line = family.say("Wed 2027-03-03 09:00", "sarah", "I'll pick up Leo tomorrow at 5:30pm")
    assert line["action"]["dates"] == ["2027-03-04"]


def test_an_answer_that_overtakes_its_question_is_no_answer(family: Chat) -> None:
    """What was sent before the question was asked cannot be meant for it."""
    family.say("Wed 2026-03-04 09:10", "sarah", "Who's picking up Leo tomorrow?")
    line = family.say("Wed 2026-03-04 09:05", "john", "I'll do it")
    assert line["attribution_source"] is None


# Texts of every shape

SHAPES = {
    "empty": "",
    "blank": " \n\t ",
    "zero width": "\u200b\u200d\ufeff",
    "only emoji": "😀🎉👩‍👩‍👧‍👦",
    "right to left": "מי אוסף את לאו מחר?",
    "bidi controls": "\u202eI'll pick up Leo tomorrow\u202c",
    "nul": "a\x00b",
    "long": "I'll pick up Leo tomorrow at 5pm. " * 3000,
    "one long word": "a" * 100_000,
    "many digits": "1" * 5000,
    "combining": "Z" + "\u0301" * 500,
    "lone surrogate escaped": "\\ud800",
    "template": "{names} %s {0.__class__}",
    "sql": "'; DROP TABLE events; --",
    "lines": "Leo\n\nsoccer\r\nThursday",
    "tabs": "Leo\tsoccer\tThursday",
    "math letters": "𝐈'𝐥𝐥 𝐩𝐢𝐜𝐤 𝐮𝐩 𝐋𝐞𝐨",
    "full width": "Ｌｅｏ　ｓｏｃｃｅｒ　Ｔｈｕ",
}


@pytest.mark.parametrize("shape", SHAPES)
def test_any_text_is_stored_verbatim_with_one_decision(family: Chat, shape: str) -> None:
    line = family.say("Wed 2026-03-04 09:00", "sarah", SHAPES[shape])
    [row] = family.decisions()
    assert row["state"] in {"done", "dropped"}, row["error"]
    [stored] = family.rows(messages)
    assert stored["text"] == SHAPES[shape]
    if line["action"]:
        assert len(line["action"]["summary"]) <= 140
        assert line["action"]["summary"].isprintable()


def test_invisible_characters_inside_words_do_not_hide_them(family: Chat) -> None:
    line = family.say(
        "Wed 2026-03-04 09:00", "sarah", "I'll pick\u200b up L\u200deo tomorrow at 5:30pm"
    )
    assert line["action"]["child"] == ["leo"]
