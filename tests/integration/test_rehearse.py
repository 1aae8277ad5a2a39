"""`kinkeeper rehearse`: a script is lived through the real program, and each line tells what came of it."""

import json
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import pytest

from kinkeeper.cli.located import Where
from kinkeeper.cli.rehearse import rehearse_file

Record = dict[str, Any]

HOUSEHOLD = """
[household]
id = "moss"
timezone = "Europe/London"
locale = "en-GB"
owner = "ann"

[[members]]
id = "ann"
name = "Ann"
role = "parent"

[[members]]
id = "ben"
name = "Ben"
role = "parent"

[[members]]
id = "ida"
name = "Ida"
role = "child"
"""


def line(at: str, do: str, **details: Any) -> Record:
    return {"at": f"2026-03-{at}", "do": do, **details}


def chat(at: str, text: str, who: str = "ann", **details: Any) -> Record:
    return line(at, "chat", **{"as": who, "text": text}, **details)


class Theatre:
    def __init__(self, folder: Path, capsys: pytest.CaptureFixture[str]) -> None:
        self.folder = folder
        self._capsys = capsys
        (folder / "household.toml").write_text(HOUSEHOLD, encoding="utf-8")

    def script(self, name: str, lines: Sequence[Record | str]) -> Path:
        path = self.folder / name
        texts = [each if isinstance(each, str) else json.dumps(each) for each in lines]
        path.write_text("\n".join(texts), encoding="utf-8")
        return path

    def play(
        self, *lines: Record | str, seed: Sequence[Record] = (), jobs: int = 1, bad: int = 0
    ) -> list[Record]:
        script = self.script("script.jsonl", lines)
        before = self.script("seed.jsonl", seed) if seed else None
        where = Where(household=self.folder / "household.toml")
        assert rehearse_file(where, script, seed=before, jobs=jobs) == bad
        return [json.loads(each) for each in self._capsys.readouterr().out.splitlines()]


@pytest.fixture
def theatre(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> Theatre:
    return Theatre(tmp_path, capsys)


def answers(records: Sequence[Record]) -> list[str]:
    return [each["answer"] for each in records if each.get("do") == "chat"]


def told(records: Sequence[Record], event: str) -> list[Record]:
    return [each for each in records if each.get("event") == event]


def test_each_line_tells_what_it_changed(theatre: Theatre) -> None:
    (added, asked) = theatre.play(
        chat("02T09:00", "add oats to the shopping list", id="a"),
        chat("02T09:01", "what is on the shopping list?", id="b"),
    )
    assert (added["id"], asked["id"]) == ("a", "b")
    (entry,) = added["changes"]["lists"]["added"]
    assert entry["entries"] == ["oats"]
    assert added["asked"] is False
    assert asked["changes"] == {}
    assert "oats" in asked["answer"].lower()


def test_reminders_come_at_their_time(theatre: Theatre) -> None:
    records = theatre.play(
        chat("02T09:00", "remind me to ring the plumber tomorrow at 8am"),
        line("04T09:00", "advance"),
    )
    (reminder,) = told(records, "reminder")
    assert reminder["at"] == "2026-03-03T08:00:00+00:00"
    assert reminder["to"] == "ann"
    assert "plumber" in reminder["text"]
    assert [each.get("do", each.get("event")) for each in records] == [
        "chat",
        "reminder",
        "advance",
    ]


def test_a_card_from_the_group_is_confirmed_with_a_press(theatre: Theatre) -> None:
    records = theatre.play(
        line(
            "02T09:00", "group", **{"as": "ann", "text": "Ida has the dentist on Thursday at 3pm"}
        ),
        line("02T09:30", "press", **{"as": "ben", "target": "dentist", "choice": "yes"}),
    )
    (card,) = told(records, "card")
    assert card["card"]["status"] == "pending"
    pressed = next(each for each in records if each.get("do") == "press")
    assert pressed["card"]["status"] == "done"
    assert [each["summary"] for each in pressed["changes"]["events"]["added"]]


def test_undecided_cards_expire_when_their_day_is_over(theatre: Theatre) -> None:
    records = theatre.play(
        line(
            "02T09:00", "group", **{"as": "ann", "text": "Ida has the dentist on Thursday at 3pm"}
        ),
        line("09T09:00", "advance"),
    )
    (expired,) = told(records, "expired")
    assert expired["at"] > "2026-03-05T15"
    assert expired["card"]["status"] == "expired"


@pytest.mark.parametrize("jobs", [1, 2])
def test_a_reset_returns_to_the_seed(theatre: Theatre, jobs: int) -> None:
    ask = chat("02T10:00", "what is on the shopping list?")
    records = theatre.play(
        chat("02T09:59", "add rice to the shopping list"),
        ask,
        {"do": "reset"},
        ask,
        seed=[chat("02T09:00", "add oats to the shopping list")],
        jobs=jobs,
    )
    _, first, second = answers(records)
    assert "rice" in first.lower()
    assert "oats" in first.lower()
    assert "oats" in second.lower()
    assert "rice" not in second.lower()


def test_what_is_said_in_sessions_is_found(theatre: Theatre) -> None:
    records = theatre.play(
        line("02T09:00", "session", **{"as": "ann", "text": "My shoe size is 39."}),
        line("03T09:00", "search", **{"as": "ann", "query": "shoe size"}),
    )
    assert "39" in records[-1]["hits"][0]["text"]


def test_bad_lines_stand_in_their_place_and_the_rest_is_played(theatre: Theatre) -> None:
    records = theatre.play(
        "no json",
        {"at": "2026-03-02T09:00", "do": "sing"},
        {"do": "chat"},
        chat("02T09:00", "hello", who="nobody"),
        chat("02T09:01", "add oats to the shopping list"),
        bad=4,
    )
    assert [each.get("line") for each in records] == [1, 2, 3, 4, None]
    assert all(each["error"] for each in records[:4])
    assert records[4]["changes"]["lists"]["added"]


def test_another_household_file_takes_over(theatre: Theatre) -> None:
    more = HOUSEHOLD + '\n[[members]]\nid = "gran"\nname = "Gran"\nrole = "helper"\n'
    (theatre.folder / "more.toml").write_text(more, encoding="utf-8")
    records = theatre.play(
        chat("02T09:00", "add oats to the shopping list"),
        line("02T10:00", "household", text="more.toml"),
        chat("02T10:01", "what is on the shopping list?", who="gran"),
    )
    assert "oats" in answers(records)[-1].lower()


def test_a_plan_that_waits_from_a_conversation_does_not_break_the_group(theatre: Theatre) -> None:
    """A message of the group that joins a card of a conversation: that card does not say what the message arranged."""
    plan = "Ida has the dentist on Thursday at 3pm"
    records = theatre.play(
        chat("02T08:59", f"{plan}, please put it in the calendar", who="ida"),
        line(
            "02T09:00",
            "group",
            **{
                "as": "ann",
                "text": f"{plan} and Ben has the optician on Friday at 10am",
                "message_id": "m1",
            },
        ),
        line("02T09:02", "group", **{"as": "ann", "text": "4pm sorry", "message_id": "m2"}),
    )
    heard = [each for each in records if each.get("do") == "group"]
    assert len(heard) == 2
    assert all(each["reason"] != "manual_review" for each in heard)
    assert [each["spoken"] for each in heard] == [None, None], "it is one appointment"


@pytest.mark.parametrize("thing", ["dentist", "recital", "swimming lesson"])
def test_what_was_asked_for_in_a_conversation_does_not_clash_with_its_mention(
    theatre: Theatre, thing: str
) -> None:
    records = theatre.play(
        chat("02T08:59", f"add {thing} for Ida on Thursday at 3pm to the calendar"),
        line(
            "02T09:00", "group", **{"as": "ben", "text": f"Ida has her {thing} on Thursday at 3pm"}
        ),
    )
    assert records[0]["changes"]["events"]["added"]
    assert records[-1].get("spoken") is None
