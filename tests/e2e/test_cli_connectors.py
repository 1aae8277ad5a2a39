"""`kinkeeper calendar` and `kinkeeper tools`: from the settings' files to the other side and back."""

import json
import sys
from pathlib import Path

from calendar_server import calendar_server
from cli_program import Program

SERVER = Path(__file__).parents[1] / "foreign_tools.py"


def test_the_calendar_server_of_the_settings_is_kept_in_step_and_checked(program: Program) -> None:
    none = program.run("calendar", "sync")
    assert (none.code, "CALDAV_URL" in none.err) == (2, True)
    with calendar_server(program.home / "radicale") as server:
        (program.home / "secret").write_text(server.setting)
        (program.home / ".env").write_text("CALDAV_URL_FILE=secret\n")
        tally = program.run("calendar", "sync", "--json").value
        assert tally["written"] == len(server.objects()) > 0
        assert tally["waiting"] == 0
        server.put("x.ics", "UID:x", "SUMMARY:Choir", "DTSTART:20990306T100000Z")
        assert program.run("calendar", "sync", "--json").value["asked"] == 1
        listed = program.run("pending", "--json").value
        action = (listed["actions"] if isinstance(listed, dict) else listed)[0]
        assert "Choir" in action["summary"]
        assert program.run("pending", "confirm", action["id"]).code == 0
        assert program.run("calendar", "sync").code == 0
        status = program.run("calendar", "status", "--json").value
        assert (status["failure"], status["waiting"], status["objects"]) == (None, 0, [])
        checks = program.run("doctor", "--json").value["checks"]
        mine = [each for each in checks if each["check"] == "calendar server"]
        assert {each["health"] for each in mine} == {"ok"}
        assert "p@ss" not in json.dumps(checks)
    away = program.run("calendar", "sync")
    assert (away.code, "cannot be reached" in away.err) == (1, True)
    status = program.run("calendar", "status", "--json").value
    assert "cannot be reached" in status["failure"]


def test_tools_of_the_settings_are_listed_called_and_asked_about(program: Program) -> None:
    none = program.run("tools", "list")
    assert (none.code, "MCP_SERVERS" in none.err) == (2, True)
    words = json.dumps([str(SERVER), str(program.home)])
    (program.home / "kinkeeper.toml").write_text(
        f'[mcp_servers.weather]\ncommand = "{sys.executable}"\nargs = {words}\nsafe = ["lookup"]\n'
    )
    listed = program.run("tools", "list", "--json").value
    assert {each["name"]: each["is_safe"] for each in listed["tools"]}["lookup"]
    told = program.run("tools", "call", "weather", "lookup", '{"place": "Ulm"}', "--json").value
    assert (told["status"], "sunny" in told["result"]["text"]) == ("done", True)
    asked = program.run("tools", "call", "weather", "book", '{"table": "a", "people": 2}', "--json")
    assert asked.value["status"] == "awaiting"
    assert (program.home / "calls").read_text() == "lookup Ulm 1\n"
    wrong = program.run("tools", "call", "weather", "book", '{"people": "two"}')
    assert wrong.code in {1, 2}
    (program.home / "kinkeeper.toml").write_text('[mcp_servers.task]\ncommand = "x"\n')
    clash = program.run("tools", "list")
    assert (clash.code, "name this program uses" in clash.err) == (2, True)
