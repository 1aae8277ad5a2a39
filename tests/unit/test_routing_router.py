"""Messages go where they belong, with what was said before; a light model is asked in doubt and may be late."""

import asyncio
import json
from collections.abc import Sequence
from datetime import UTC, datetime
from typing import Any

import pytest

from kinkeeper.actions.consent import Stakes
from kinkeeper.actions.requests.model import ActionResult, Parameters, RequestKind, ResultStatus
from kinkeeper.conversation.model import (
    Branch,
    Confirmation,
    Exchange,
    Mode,
    Social,
    Source,
    TurnType,
)
from kinkeeper.conversation.routing.router import Routed, Router
from kinkeeper.models.model import ChatReply, ChatRequest, Finish, ModelError, Outcome, Usage

HOUSE = "okafor"
AT = datetime(2026, 3, 2, 9, tzinfo=UTC)


class Light:
    """Answers with one text, fails with one outcome, or takes too long."""

    def __init__(self, *answers: dict[str, Any], outcome: Outcome | None = None) -> None:
        self.answers, self.outcome = [*answers], outcome
        self.asked: list[ChatRequest] = []
        self.fallbacks: list[tuple[str, Outcome]] = []

    async def complete(self, request: ChatRequest) -> ChatReply:
        self.asked.append(request)
        if self.outcome is Outcome.TIMEOUT:
            await asyncio.Event().wait()
        if self.outcome is not None:
            raise ModelError("no", outcome=self.outcome)
        return ChatReply(
            text=json.dumps(self.answers.pop(0)), model="light", finish=Finish.STOP,
            usage=Usage(input_tokens=1, output_tokens=1),
        )  # fmt: skip

    def stream(self, request: ChatRequest) -> Any:
        raise NotImplementedError

    async def note_fallback(self, household: str, *, stage: str, outcome: Outcome) -> None:
        assert household == HOUSE
        self.fallbacks.append((stage, outcome))


def request(domain: str, name: str, description: str) -> RequestKind:
    return RequestKind(
        domain=domain, name=name, description=description, parameters=Parameters,
        stakes=Stakes.LOW, progress="",
    )  # fmt: skip


REQUESTS = [
    request("calendar", "list_events", "List what is on the calendar."),
    request("task", "create", "Put something to be done on the list."),
    request("boiler", "set_temperature", "Set the temperature of the heating in a room."),
]


def routed(text: str, *history: Exchange, models: Light | None = None, **known: Any) -> Routed:
    router = Router(None, models=models)
    return asyncio.run(router.route(text, household=HOUSE, history=history, **known))


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


TRIAGE = {
    "branch": "act", "domains": ["calendar", "moon"], "tools": ["calendar.list_events", "moon.land"],
    "is_followup": False, "confidence": 0.9,
}  # fmt: skip


def test_in_doubt_a_light_model_is_asked_and_unknown_names_are_dropped():
    light = Light(TRIAGE)
    triage = routed("who is driving the little ones", models=light, requests=REQUESTS).triage

    assert (triage.domains, triage.tools) == (("calendar",), ("calendar.list_events",))
    assert (triage.source, triage.branch) == (Source.MODEL, Branch.ACT)
    assert not light.asked[0].is_ambient


def test_a_model_that_would_act_with_nothing_does_not():
    light = Light({**TRIAGE, "domains": ["moon"], "tools": []}, {"mode": "RESPOND"})

    assert (
        routed("who is on the moon", models=light, requests=REQUESTS).triage.branch
        is Branch.RESPOND
    )


def test_courtesy_and_plain_requests_cost_no_call():
    light = Light()
    for text in ("hello there", "thanks!", "put milk on the shopping list", "yes"):
        routed(text, models=light, requests=REQUESTS)

    assert light.asked == []


@pytest.mark.parametrize("outcome", [Outcome.TIMEOUT, Outcome.UNREACHABLE])
def test_without_an_answer_the_rules_stand_and_that_is_counted(outcome: Outcome) -> None:
    light = Light(outcome=outcome)
    found = routed("who is driving the little ones", models=light, requests=REQUESTS)

    assert found.triage.source is Source.RULES
    assert found.fallback is outcome
    assert ("conversation.triage", outcome) in light.fallbacks


TIE = "what was the lesson like?"


def test_a_tie_is_broken_by_the_light_model():
    plain = routed(TIE)
    assert plain.margin < plain.effective_margin
    best, second = sorted(plain.scores, key=lambda mode: -plain.scores[mode])[:2]
    light = Light({"mode": second.value})
    broken = routed(TIE, models=light)

    assert plain.triage.mode is best
    assert (broken.triage.mode, broken.tie_break, broken.decided_by) == (
        second,
        second,
        "tie_break",
    )


def test_a_mode_that_does_not_tie_is_no_answer():
    light = Light({"mode": "CANCEL"})
    found = routed(TIE, models=light)

    assert (found.tie_break, found.fallback) == (None, Outcome.INVALID_OUTPUT)
