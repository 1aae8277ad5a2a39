"""What awaits a yes and is wanted different: the whole request again."""

from typing import Any

import pytest

from kinkeeper.actions.requests.model import ActionResult, ResultStatus
from planning import done, exchange, plan, planned

LETTER = {"to": ["Bob"], "subject": "Dinner", "body": "Dinner is at seven."}
MAIL = done("email.send_email", params=LETTER, status=ResultStatus.AWAITING)
MOVE = done(
    "calendar.update_event",
    params={"find_by": "soccer", "changes": {"start_time": "2026-03-12T17:00:00-05:00"}},
    status=ResultStatus.AWAITING,
)


@pytest.mark.parametrize(
    ("text", "changed"),
    [
        ("yes but send it to Anna", {"to": ["Anna"]}),
        ("no, to Anna instead", {"to": ["Anna"]}),
        ("and cc Anna", {"to": ["Bob", "Anna"]}),
        ("make the subject Friday", {"subject": "Friday"}),
        ("ok but say that dinner is at eight", {"body": "Dinner is at eight."}),
        ("also add that kids are welcome", {"body": "Dinner is at seven. Kids are welcome."}),
    ],
)
def test_a_mail_is_planned_again_with_what_is_wanted_different(
    text: str, changed: dict[str, Any]
) -> None:
    assert planned(text, open_edit=[MAIL]) == [("email.send_email", {**LETTER, **changed})]


@pytest.mark.parametrize(
    ("text", "start"),
    [
        ("no, at six", "2026-03-12T18:00:00-05:00"),
        ("yes but on friday", "2026-03-13T17:00:00"),
        ("make it half past five", "2026-03-12T17:30:00-05:00"),
    ],
)
def test_a_new_time_keeps_what_it_leaves_open(text: str, start: str) -> None:
    ((_, params),) = planned(text, open_edit=[MOVE])

    assert params == {"find_by": "soccer", "changes": {"start_time": start}}


def test_another_thing_may_be_meant() -> None:
    awaiting = done(
        "calendar.delete_event", params={"event_id": "e1"}, status=ResultStatus.AWAITING
    )

    assert planned("no, the soccer on thursday", open_edit=[awaiting]) == [
        ("calendar.delete_event", {"find_by": "soccer", "on": "2026-03-12"})
    ]


def test_what_is_not_understood_is_asked() -> None:
    found = plan("no, rather in the way we said", open_edit=[MOVE])

    assert found.actions == ()
    assert found.clarification == "What should I change?"


def waiting(name: str, start: str, **params: object) -> ActionResult:
    """Return a change of an event that awaits a yes."""
    return done(
        f"calendar.{name}",
        status=ResultStatus.AWAITING,
        params={"find_by": "kiln class", **params},
        id="k",
        title="kiln class",
        start=start,
        end="2026-03-16T19:00:00-05:00",
    )


@pytest.mark.parametrize(
    ("text", "changes"),
    [
        ("no, an hour later", {"start_time": "2026-03-16T19:00:00-05:00"}),
        ("yes but the day after", {"start_time": "2026-03-17T18:00:00-05:00"}),
        (
            "make it half an hour longer",
            {"start_time": "2026-03-16", "end_time": "2026-03-16T19:30:00-05:00"},
        ),
    ],
)
def test_what_waits_is_changed_by_what_was_proposed(text: str, changes: dict[str, str]) -> None:
    open_edit = [
        waiting("update_event", "2026-03-16T18:00:00-05:00", changes={"start_time": "2026-03-16"})
    ]

    (((_, params)),) = planned(text, open_edit=open_edit)
    assert params == {"find_by": "kiln class", "changes": changes}
    (((_, params)),) = planned(text, history=[exchange("move the kiln class", *open_edit)])
    assert params == {"find_by": "kiln class", "changes": changes}


def test_another_time_of_it_is_cancelled() -> None:
    open_edit = [waiting("delete_event", "2026-03-16T18:00:00-05:00")]

    (((_, params)),) = planned("no, the week after", open_edit=open_edit)
    assert params == {"find_by": "kiln class", "on": "2026-03-23T18:00:00-05:00"}
