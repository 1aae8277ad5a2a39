"""Notes and memories asked for in conversation, on a real database."""

from collections.abc import Iterator
from pathlib import Path

import pytest

from asking import ABE, FAMILY, IVO, NIA, Desk
from kinkeeper.actions.receipts import Outcome
from kinkeeper.actions.requests.model import ActionResult, ResultStatus
from kinkeeper.actions.requests.request_runner import result_of
from kinkeeper.household.viewers import Viewer
from kinkeeper.notes.repository import list_notes
from kinkeeper.store.store import Store


@pytest.fixture
def desk(tmp_path: Path) -> Iterator[Desk]:
    with Store.open(str(tmp_path / "family.db")) as store:
        yield Desk(store)


def bodies(desk: Desk) -> dict[str, str]:
    notes = desk.store.read_now(lambda conn: list_notes(conn, Viewer.whole(FAMILY.id)))
    return {note.title: note.body for note in notes}


def add(desk: Desk, *lines: str) -> ActionResult:
    return desk.ask("notes.append", {"title": "shopping list", "body": "\n".join(lines)})


def test_a_list_begins_with_its_first_entry_and_grows(desk: Desk) -> None:
    assert add(desk, "milk", "eggs").status is ResultStatus.DONE
    added = desk.ask("notes.append", {"title": "the shopping", "body": "bread\nMilk"})
    assert added.result["entries"] == ["milk", "eggs", "bread"]
    assert bodies(desk) == {"shopping list": "- milk\n- eggs\n- bread"}


def test_what_stands_on_the_list_already_is_said(desk: Desk) -> None:
    add(desk, "milk")
    again = add(desk, "Milk")
    assert again.status is ResultStatus.FAILED
    assert "already" in (again.error or "")


def test_an_entry_is_taken_off_and_comes_back(desk: Desk) -> None:
    add(desk, "oat milk", "cow milk", "eggs")
    taken = desk.ask("notes.remove_line", {"title": "shopping list", "line": "the oat milk"})
    assert taken.result["removed"] == "oat milk"
    assert bodies(desk)["shopping list"] == "- cow milk\n- eggs"
    assert desk.undo(taken).outcome is Outcome.UNDONE
    assert bodies(desk)["shopping list"] == "- oat milk\n- cow milk\n- eggs"


def test_an_entry_becomes_another_where_it_stands(desk: Desk) -> None:
    add(desk, "oat milk", "eggs")
    changed = desk.ask(
        "notes.change_line", {"title": "shopping list", "line": "oat milk", "new": "4 oat milk"}
    )
    assert (changed.result["removed"], changed.result["added"]) == ("oat milk", "4 oat milk")
    assert bodies(desk)["shopping list"] == "- 4 oat milk\n- eggs"
    assert desk.undo(changed).outcome is Outcome.UNDONE
    assert bodies(desk)["shopping list"] == "- oat milk\n- eggs"


def test_a_list_is_emptied_of_what_was_seen_on_it_and_comes_back(desk: Desk) -> None:
    add(desk, "oat milk", "eggs")
    cleared = desk.ask("notes.clear", {"title": "shopping list"})
    assert cleared.result["removed"] == "oat milk, eggs"
    assert bodies(desk)["shopping list"] == ""
    assert desk.ask("notes.clear", {"title": "shopping list"}).status is ResultStatus.FAILED
    assert desk.undo(cleared).outcome is Outcome.UNDONE
    assert bodies(desk)["shopping list"] == "- oat milk\n- eggs"


def test_entries_that_could_be_meant_are_named(desk: Desk) -> None:
    add(desk, "oat milk", "cow milk")
    unclear = desk.ask("notes.remove_line", {"title": "shopping list", "line": "milk"})
    assert unclear.options == ("oat milk", "cow milk")
    missing = desk.ask("notes.remove_line", {"title": "shopping list", "line": "caviar"})
    assert missing.status is ResultStatus.FAILED
    assert "oat milk" in (missing.error or "")


def test_what_two_people_add_at_the_same_time_both_stands(desk: Desk) -> None:
    add(desk, "milk")
    waiting = desk.ask("notes.append", {"title": "shopping list", "body": "sweets"}, by=IVO)
    assert waiting.status is ResultStatus.AWAITING
    add(desk, "bread")
    assert desk.yes(waiting, by=ABE).outcome is Outcome.DONE
    assert bodies(desk)["shopping list"] == "- milk\n- bread\n- sweets"


def test_an_addition_is_not_taken_back_once_others_added_more(desk: Desk) -> None:
    first = add(desk, "milk")
    second = add(desk, "bread")
    assert desk.undo(first).outcome is Outcome.CHANGED
    assert desk.undo(second).outcome is Outcome.UNDONE
    assert desk.undo(first).outcome is Outcome.UNDONE
    assert bodies(desk) == {}


def test_a_note_in_prose_stays_prose(desk: Desk) -> None:
    desk.ask("notes.create", {"title": "Wifi", "body": "The code is 1234."})
    desk.ask("notes.append", {"title": "wifi", "body": "The guest code is 99."})
    assert bodies(desk) == {"Wifi": "The code is 1234.\nThe guest code is 99."}
    twice = desk.ask("notes.create", {"title": "WIFI"})
    assert twice.status is ResultStatus.FAILED


def test_notes_are_found_by_what_they_say(desk: Desk) -> None:
    desk.ask("notes.create", {"title": "Wifi", "body": "The code is 1234."})
    add(desk, "eggs")
    found = desk.ask("notes.search", {"query": "wifi code"})
    assert [each["title"] for each in found.result["notes"]] == ["Wifi"]
    assert desk.ask("notes.search", {"query": "opera"}).result["notes"] == []
    shown = desk.ask("notes.list", {"title": "shopping"})
    assert shown.card is not None
    assert [item["text"] for item in shown.card.items] == ["eggs"]
    assert len(desk.ask("notes.list").result["notes"]) == 2


def test_a_child_keeps_its_own_notes_alone(desk: Desk) -> None:
    assert desk.ask("notes.create", {"title": "Wishes"}, by=NIA).status is ResultStatus.DONE
    more = {"title": "wishes", "body": "a bike"}
    assert desk.ask("notes.append", more, by=NIA).status is ResultStatus.DONE
    assert (
        desk.ask("notes.append", more | {"body": "no bike"}, by=IVO).status is ResultStatus.AWAITING
    )


def test_a_statement_is_remembered_found_put_right_and_forgotten_after_a_yes(desk: Desk) -> None:
    stored = desk.ask("memory.store", {"value": "Nia is allergic to hazelnuts"})
    assert stored.status is ResultStatus.DONE, stored.error
    found = desk.ask("memory.search", {"query": "what is Nia allergic to"})
    assert "Nia is allergic to hazelnuts" in [each["text"] for each in found.result["facts"]]
    before = desk.ask("memory.search", {"query": "what is Nia allergic to", "as_of": "2020-01-01"})
    assert before.result["facts"] == []
    changed = desk.ask(
        "memory.update", {"key": "hazelnuts", "new_value": "Nia is allergic to walnuts"}
    )
    assert changed.status is ResultStatus.DONE, changed.error
    asked = desk.ask("memory.forget", {"find_by": "walnuts"})
    assert asked.status is ResultStatus.AWAITING
    receipt = desk.yes(asked)
    assert receipt.outcome is Outcome.DONE
    assert result_of(receipt.action).status is ResultStatus.DONE
    left = desk.ask("memory.search", {"query": "what is Nia allergic to"})
    assert not any("walnuts" in each["text"] for each in left.result["facts"])


def test_what_was_forgotten_leaves_no_word_in_what_was_asked(desk: Desk) -> None:
    desk.ask("memory.store", {"value": "Abe is afraid of spiders"}, turn="store")
    desk.yes(desk.ask("memory.forget", {"find_by": "spiders"}, turn="forget"))
    for turn, key in (("store", "memory.store"), ("forget", "memory.forget")):
        again = desk.ask(key, {"value": "x"} if turn == "store" else {"find_by": "x"}, turn=turn)
        assert again.status is ResultStatus.DONE
        assert "spiders" not in repr(again)


def test_a_child_does_not_change_what_the_family_remembers_alone(desk: Desk) -> None:
    asked = desk.ask("memory.store", {"value": "Nia may stay up until eleven"}, by=NIA)
    assert asked.status is ResultStatus.AWAITING


SAME_LIST = (
    "shopping list",
    "Shopping list",
    "the groceries",
    "grocery list",
    "our shopping",
    "the food list",
)
OTHER_LISTS = ("packing list", "Christmas list", "birthday presents")


@pytest.mark.parametrize(
    ("there", "said"),
    [(there, said) for there in SAME_LIST[:4] for said in (*SAME_LIST, *OTHER_LISTS)],
)
def test_what_is_to_be_bought_goes_on_the_list_there_is_whatever_it_is_called(
    desk: Desk, there: str, said: str
) -> None:
    desk.ask("notes.create", {"title": there, "body": "- milk"})
    desk.ask("notes.append", {"title": said, "body": "eggs"})

    assert len(bodies(desk)) == (2 if said in OTHER_LISTS else 1)


def test_of_two_lists_the_one_that_is_named_is_meant(desk: Desk) -> None:
    for title in ("Shopping list", "Grocery list"):
        desk.ask("notes.create", {"title": title, "body": "- milk"})
    desk.ask("notes.append", {"title": "grocery list", "body": "eggs"})

    assert bodies(desk) == {"Shopping list": "- milk", "Grocery list": "- milk\n- eggs"}
