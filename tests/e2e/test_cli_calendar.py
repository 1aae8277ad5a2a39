"""Calendars go in and out without loss, and an import can be taken back."""

import json

import pytest

from cli_program import Program

pytestmark = pytest.mark.slow

EVENTS = [
    {"summary": "Piano", "start": "2026-03-06T17:00", "rrule": "FREQ=WEEKLY;BYDAY=FR",
     "who": ["Mia"], "responsible": ["mom"], "location": "Main Street 5"},
    {"summary": "Grandma visits", "start": "2026-03-14", "end": "2026-03-16"},
]  # fmt: skip
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
