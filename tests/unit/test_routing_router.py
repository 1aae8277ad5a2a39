"""Messages go where they belong, with what was said before."""

import asyncio
from collections.abc import Sequence
from datetime import UTC, datetime
from typing import Any

import pytest

from kinkeeper.actions.consent import Stakes
from kinkeeper.actions.requests.model import ActionResult, Parameters, RequestKind, ResultStatus
from kinkeeper.conversation.model import Branch, Confirmation, Exchange, Mode, Social, TurnType
from kinkeeper.conversation.routing.router import Routed, Router

AT = datetime(2026, 3, 2, 9, tzinfo=UTC)


def request(domain: str, name: str, description: str) -> RequestKind:
    return RequestKind(
        domain=domain,
        name=name,
        description=description,
        parameters=Parameters,
        stakes=Stakes.LOW,
        progress="",
    )


REQUESTS = [
    request("calendar", "list_events", "List what is on the calendar."),
    request("task", "create", "Put something to be done on the list."),
    request("boiler", "set_temperature", "Set the temperature of the heating in a room."),
]


def routed(text: str, *history: Exchange, **known: Any) -> Routed:
    return asyncio.run(Router(None).route(text, history=history, **known))


def said(text: str, answer: str, *domains: str, **more: Any) -> Exchange:
    results = tuple(
        ActionResult(domain=domain, action="create", status=ResultStatus.DONE, params={})
        for domain in domains
    )
    return Exchange(text=text, answer=answer, at=AT, mode=Mode.ACT, results=results, **more)


@pytest.mark.parametrize(
    ("text", "domains"),
    [
        ("Remind me to call grandma tomorrow at 5pm", ["task"]),
        (
            "check my calendar for tomorrow and email Ade that I'm running late",
            ["calendar", "email"],
        ),
        ("Am I free for lunch tomorrow?", ["calendar"]),
    ],
)
def test_requests_are_acted_on(text: str, domains: Sequence[str]) -> None:
    triage = routed(text).triage

    assert set(triage.domains) == set(domains)
    assert (triage.type, triage.branch, triage.mode) == (TurnType.ACTION, Branch.ACT, Mode.ACT)


def test_talk_is_answered_and_courtesy_leaves():
    talk, hello = routed("it was such a long day at work"), routed("Hey, how's it going?")

    assert (talk.triage.branch, talk.triage.domains) == (Branch.RESPOND, ())
    assert (hello.triage.branch, hello.triage.social) == (Branch.SOCIAL, Social.ACKNOWLEDGE)
    assert hello.decided_by == "social"


@pytest.mark.parametrize(
    ("text", "kind", "mode"),
    [
        ("yes, send it", Confirmation.YES, Mode.ACT),
        ("yes but send it to Anna", Confirmation.EDIT, Mode.ACT),
        ("no", Confirmation.NO, Mode.RESPOND),
    ],
)
def test_an_open_question_comes_first(text: str, kind: Confirmation, mode: Mode) -> None:
    found = routed(text, open_question=True)

    assert found.confirmation is not None
    assert (found.triage.confirmation, found.triage.mode) == (kind, mode)
    assert found.decided_by == "confirmation"


def test_what_decides_nothing_is_routed_as_usual_while_the_question_stays_open():
    assert routed("thanks", open_question=True).triage.social is Social.ACKNOWLEDGE
    assert routed("what's on my calendar on Sunday?", open_question=True).triage.domains == (
        "calendar",
    )


def test_cancelling_it_is_about_what_was_just_done():
    triage = routed("Actually, cancel it", said("lunch with Ade at 1", "Added.", "calendar")).triage

    assert (triage.type, triage.branch, triage.domains) == (
        TurnType.FOLLOWUP,
        Branch.ACT,
        ("calendar",),
    )


def test_an_elliptic_question_is_about_what_was_asked_before():
    before = said("what's on my calendar on Thursday", "Nothing.")
    triage = routed("and Friday?", before).triage

    assert triage.is_followup
    assert triage.domains == ("calendar",)


def test_the_answer_to_a_question_completes_what_was_asked_for():
    before = said("book lunch", "When?", clarification="When?", partial={"domain": "calendar"})

    assert routed("on Friday at one", before).triage.domains == ("calendar",)


def test_a_yes_to_an_offer_is_no_courtesy():
    assert routed("yes please", said("dentist on Monday", "Shall I add it?")).triage.social is None
    assert routed("yes please", said("bye", "Anything else?")).triage.social is not None


def test_a_wish_about_nobody_knows_what_is_asked_back():
    assert routed("move it").triage.branch is Branch.CLARIFY


def test_requests_of_tool_servers_are_found_by_their_own_words():
    triage = routed("set the heating temperature in the bath room", requests=REQUESTS).triage

    assert triage.domains == ("boiler",)
    assert triage.tools == ("boiler.set_temperature",)
