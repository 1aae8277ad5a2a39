"""The table of requests."""

import json
from typing import Any

import pytest

from kinkeeper.actions.consent import Stakes
from kinkeeper.actions.requests.model import Asked, Catalogue, Found, Parameters, RequestKind
from kinkeeper.core.errors import InputError, NotFoundError


class Nothing(Parameters):
    """No parameters."""


async def look(_parameters: Any, _asked: Asked) -> Found:
    return Found(result={})


def kind(domain: str, name: str, stakes: Stakes = Stakes.LOW) -> RequestKind:
    return RequestKind(
        domain=domain,
        name=name,
        description="Looks.",
        parameters=Nothing,
        stakes=stakes,
        progress="Looking…",
        read=look,
    )


TABLE = Catalogue(
    [kind("task", "list"), kind("task", "delete", Stakes.HIGH), kind("notes", "list")]
)


def test_rows_are_found_by_domain_and_name() -> None:
    assert TABLE.get("task", "list").key == "task.list"
    assert TABLE.find("task", "paint") is None
    assert TABLE.domains == ("task", "notes")
    assert [each.key for each in TABLE.of(["notes"])] == ["notes.list"]
    with pytest.raises(NotFoundError, match="list, delete"):
        TABLE.get("task", "paint")
    with pytest.raises(NotFoundError, match="task, notes"):
        TABLE.get("house", "paint")


def test_planners_are_told_names_stakes_and_schemas() -> None:
    told = TABLE.schemas(["task"])
    assert [(each["action"], each["is_high_stakes"]) for each in told] == [
        ("list", False),
        ("delete", True),
    ]
    assert json.loads(json.dumps(told)) == told
    assert len(TABLE.schemas()) == 3


def test_nothing_passes_for_a_request_of_our_own() -> None:
    wider = TABLE.extended([kind("weather", "list")])
    assert wider.domains == ("task", "notes", "weather")
    assert TABLE.domains == ("task", "notes")
    with pytest.raises(InputError, match="task"):
        TABLE.extended([kind("task", "send")])
    with pytest.raises(InputError, match=r"moon\.a"):
        wider.extended([kind("moon", "a"), kind("moon", "a")])
    with pytest.raises(InputError, match=r"task\.list"):
        Catalogue([kind("task", "list"), kind("task", "list")])
