"""Calendars go in and out without loss, and an import can be taken back."""

import json

import pytest

from cli_program import Program

pytestmark = pytest.mark.slow

EVENTS = [
    {
        "summary": "Piano",
        "start": "2026-03-06T17:00",
        "rrule": "FREQ=WEEKLY;BYDAY=FR",
        "who": ["Mia"],
        "responsible": ["mom"],
        "location": "Main Street 5",
    },
    {"summary": "Grandma visits", "start": "2026-03-14", "end": "2026-03-16"},
]
BAD = [{"summary": "x"}, {"summary": "x", "start": "2026-13-01"}, {"start": "2026-03-01T10:00"},
       {"summary": "x", "start": "2026-03-01T10:00", "who": ["zoe"]},
       {"summary": "x", "start": "2026-03-01T10:00", "end": "2026-03-01T09:00"},
       {"summary": "x", "start": "2026-03-01T10:00", "rrule": "FREQ=SOMETIMES"},
       {"summary": "x", "start": "2026-03-01T10:00", "colour": "red"}]  # fmt: skip
SPAN = ("--from", "2026-03-01", "--to", "2026-03-20", "--json")


def as_lines(records: list[dict[str, object]]) -> bytes:
    return "".join(json.dumps(record) + "\n" for record in records).encode()


def test_events_of_json_lines_are_added_once_and_taken_back_together(program: Program) -> None:
    ran = program.run("import", "-", "--as", "events", "--by", "mom", stdin=as_lines(EVENTS))
    assert ran.code == 0, ran.err
    assert [line["status"] for line in ran.lines] == ["added", "added"]
    found = [each for each in program.run("events", *SPAN).value if each["source_type"] == "CLI"]
    pianos = [each for each in found if each["summary"] == "Piano"]
    assert [each["start"][:16] for each in pianos][:2] == ["2026-03-06T17:00", "2026-03-13T17:00"]
    assert len(found) == len(pianos) + 1
    assert {each["confirmed_by"] for each in found} == {"sarah"}
    again = program.run("import", "-", stdin=as_lines(EVENTS))
    assert [line["status"] for line in again.lines] == ["unchanged", "unchanged"]
    undone = program.run("undo", found[0]["action_id"])
    assert undone.code == 0
    assert [
        each for each in program.run("events", *SPAN).value if each["source_type"] == "CLI"
    ] == []


def test_a_large_import_is_taken_back_in_one_step(program: Program) -> None:
    many = [
        {
            "summary": f"Lesson {number}",
            "start": f"2026-03-{1 + number % 19:02}T{8 + number % 9:02}:00",
        }
        for number in range(230)
    ]
    own = (
        "BEGIN:VCALENDAR\r\nBEGIN:VEVENT\r\nUID:u\r\nSUMMARY:Biopsy\r\nDTSTART:20260306T100000Z\r\n"
        "X-KINKEEPER-PRIVATE-TO:leo\r\nEND:VEVENT\r\nEND:VCALENDAR\r\n"
    )
    before = program.run("events", *SPAN).value
    ran = program.run("import", "-", "--as", "events", stdin=as_lines(many))
    (told,) = [line for line in ran.err.splitlines() if "undoes all of it" in line]
    assert "in 3 steps" in told
    import_id = told.split("kinkeeper undo ")[1].split()[0]
    assert len(program.run("events", *SPAN).value) == len(before) + len(many)
    assert program.run("import", "-", stdin=own.encode()).code == 0
    undone = program.run("undo", import_id)
    assert (undone.code, undone.out) == (0, "The import has been undone (3 steps).\n")
    left = {each["summary"] for each in program.run("events", *SPAN).value}
    assert left == {each["summary"] for each in before}
    own_left = {each["summary"] for each in program.run("events", *SPAN, "--as", "leo").value}
    assert "Biopsy" in own_left
    assert program.run("undo", import_id).out == "This import has already been undone.\n"


def test_what_changed_since_an_import_stays_and_is_named(program: Program) -> None:
    many = [{"summary": f"Lesson {at}", "start": "2026-03-06T08:00"} for at in range(120)]
    ran = program.run("import", "-", "--as", "events", stdin=as_lines(many))
    import_id = ran.err.split("kinkeeper undo ")[1].split()[0]
    found = program.run("events", *SPAN).value
    (first,) = {each["action_id"] for each in found if each["summary"] == "Lesson 0"}
    assert program.run("undo", first).code == 0
    assert program.run("undo", import_id).out == "The import has been undone (1 step).\n"
    left = {each["summary"] for each in program.run("events", *SPAN).value}
    assert not [each for each in left if each.startswith("Lesson")]


def test_bad_events_are_named_and_good_ones_added(program: Program) -> None:
    ran = program.run("import", "-", stdin=as_lines([*BAD, EVENTS[0]]))
    assert ran.code == 2
    assert [line.get("line") for line in ran.lines] == [*range(1, len(BAD) + 1), None]
    assert ran.lines[-1]["status"] == "added"


def test_a_child_cannot_import(program: Program) -> None:
    ran = program.run("import", "-", "--by", "leo", stdin=as_lines(EVENTS))
    assert ran.code == 1
    assert "adult" in ran.err
    assert ran.out == ""


def test_an_exported_calendar_comes_back_as_it_was(program: Program) -> None:
    program.run("import", "-", stdin=as_lines(EVENTS))
    before = program.run("events", *SPAN).value
    exported = program.run("export").out.encode()
    assert exported.startswith(b"BEGIN:VCALENDAR")
    back = program.run("import", "-", stdin=exported)
    assert {line["status"] for line in back.lines} == {"unchanged"}
    assert program.run("events", *SPAN).value == before


def test_a_broken_calendar_file_costs_only_what_is_broken(program: Program) -> None:
    good = "BEGIN:VEVENT\r\nUID:1\r\nDTSTART:20260306T170000\r\nSUMMARY:Good\r\nEND:VEVENT\r\n"
    bad = "BEGIN:VEVENT\r\nUID:2\r\nDTSTART:never\r\nSUMMARY:Bad\r\nEND:VEVENT\r\n"
    file = f"BEGIN:VCALENDAR\r\nVERSION:2.0\r\n{good}{bad}END:VCALENDAR\r\n".encode()
    ran = program.run("import", "-", stdin=file)
    assert ran.code == 2
    assert [line.get("status", "error") for line in ran.lines] == ["added", "error"]


def test_a_span_that_ends_before_it_begins_is_refused(program: Program) -> None:
    ran = program.run("events", "--from", "2026-03-02", "--to", "2026-03-01")
    assert ran.code == 2
