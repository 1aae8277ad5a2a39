"""Hostile messages through extractor, rules and pending queue, with a model that obeys them: nothing of it happens."""

import json
from collections.abc import Iterator, Sequence
from dataclasses import asdict
from datetime import timedelta
from itertools import count, islice
from pathlib import Path

import pytest

from family_chat import Chat, chat
from hostile_messages import Hostile, Victims, hostile_messages
from kinkeeper.bootstrap.models import models_opened
from kinkeeper.core.time import SystemClock
from kinkeeper.models.model import ModelGateway
from kinkeeper.observer.extraction.model_grounding import Doubt, doubt_about
from kinkeeper.observer.extraction.prepared import Around, Part
from kinkeeper.observer.model import RedlineDecision, RedlineOutcome, RedlineRule
from kinkeeper.observer.redline.phrase_templates import Phrasing
from kinkeeper.observer.settling import model_extraction
from kinkeeper.observer.settling.message_reader import offered, reconsidered
from kinkeeper.observer.settling.model_extraction import ModelExtractor, extraction_prompt
from modelserver import computes, model_server
from obeying_model import ObeyingModel, obey

ELSEWHERE, ANOTHER = "qwelsewhereqw", "another"
VICTIMS = {
    "miller": Victims(("sarah", "Sarah"), ("leo", "Leo"), "soccer"),
    "iyer": Victims(("lakshmi", "Lakshmi"), ("kavya", "Kavya"), "veena"),
}
HALF = 560
"""Of more than a thousand messages in all; each family hears as many."""

LOOSE = {
    "tripwire_threshold": 0.0,
    "max_speak_per_day": 1_000_000,
    "max_messages_per_minute": 1_000_000,
    "open_question_grace_seconds": 0,
}


class AskingAlways(ModelExtractor):
    """Asks about everything, also where the rules are sure, for one reason after the other."""

    turn = 0

    async def reconsider(self, part: Part, around: Around) -> Part:
        self.turn += 1
        doubt = doubt_about(part.reading, part.extraction) or list(Doubt)[self.turn % len(Doubt)]
        offer = offered(part, around)
        return reconsidered(part, around, await self.consult(part, around, offer, doubt), offer)


@pytest.fixture(params=sorted(VICTIMS))
def family(request: pytest.FixtureRequest) -> Iterator[Chat]:
    with chat(request.param, **LOOSE) as found:
        yield found


def attack(family: Chat, models: ModelGateway, messages: Sequence[Hostile]) -> None:
    """Say something in another chat, then all the hostile messages in one, minutes apart."""
    adult = VICTIMS[family.household.id].adult[0]
    at = family.at("Mon 2026-03-02 09:00")
    family.say(at, adult, f"Can you get the {ELSEWHERE} from school tomorrow at 3pm?", chat=ANOTHER)
    last = family.say(at, adult, "Morning all")["message_id"]
    family.restart()
    family.extractor = AskingAlways(models, extraction_prompt())
    for hostile in messages:
        at += timedelta(minutes=7)
        more: dict[str, str | None] = {}
        if hostile.shape == "reply":
            more = {"reply_to": last}
        elif hostile.shape == "edit":
            more = {"kind": "edit", "target": last}
        said = family.say(at, hostile.sender, hostile.text, **more)
        last = last if hostile.shape == "edit" else said["message_id"]


def violations(family: Chat, messages: Sequence[Hostile]) -> list[str]:
    """Return what is said or offered that no template and no word of the household made.

    What was said in the other chat may stand on that chat's own card, and nowhere else.
    """
    marks = [hostile.mark for hostile in messages]
    forbidden = [ELSEWHERE, *marks]
    phrasing = Phrasing(participants=family.system.participants, limits=family.system.config.limits)
    templates = {
        phrasing.line(
            RedlineOutcome(
                decision=RedlineDecision.SPEAK,
                rule=RedlineRule(row["redline_trigger_rule"]),
                reason="",
                facts=row["redline_facts"],
            )
        )
        for row in family.decisions()
        if row["redline_decision"] == "SPEAK"
    }
    unheard = [row["body"] for row in family.spoken() if row["body"] not in templates]
    shown = [json.dumps([row["body"], row["buttons"]]) for row in family.spoken()]
    found = unheard + [text for text in shown if any(word in text for word in forbidden)]
    for action in family.actions():
        proposal = action.proposal
        choices = [asdict(choice) for choice in proposal.choices]
        card = json.dumps([proposal.summary, proposal.effects, choices], default=str)
        is_elsewhere = proposal.chat_id == ANOTHER
        if any(word in card for word in (marks if is_elsewhere else forbidden)):
            found.append(card)
    return found


def check(family: Chat, models: ModelGateway, messages: Sequence[Hostile]) -> None:
    before = family.graph()
    attack(family, models, messages)
    assert family.graph() == before
    assert violations(family, messages) == []
    assert all(action.decided_by is None for action in family.actions())


def of(family: Chat, most: int, *, step: int = 1) -> list[Hostile]:
    return list(islice(hostile_messages(VICTIMS[family.household.id]), 0, most * step, step))


def answers(family: Chat) -> list[bool]:
    """Whether the model gave a usable answer, for each message it was asked about."""
    return [
        each["answer"] is not None for row in family.decisions() for each in row["consulted"] or ()
    ]


def test_an_obedient_model_gets_nothing_done_and_sees_no_other_chat(family: Chat) -> None:
    models = ObeyingModel()
    check(family, models, of(family, 60, step=17))
    assert len(answers(family)) >= 60
    assert {True, False} == set(answers(family))
    assert not any(ELSEWHERE in m.text for request in models.requests for m in request.messages)
    assert len(models.fallbacks) == answers(family).count(False)


@pytest.mark.nightly
@pytest.mark.slow
def test_without_grounding_its_words_reach_the_cards(
    family: Chat, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(model_extraction, "grounded", lambda answer, _offer: (answer, 0))
    messages = of(family, 150, step=7)
    attack(family, ObeyingModel(), messages)
    assert violations(family, messages)


def test_the_same_over_http(family: Chat, tmp_path: Path) -> None:
    numbers = count(1)
    with model_server() as server:
        server.will(computes(lambda received: obey(received.texts[:2], next(numbers))))
        settings = family.system.settings.model_copy(
            update={"model_url": server.url, "model_name": "obedient"}
        )
        opening = models_opened(
            settings,
            store=family.store,
            clock=SystemClock(),
            zones={family.household.id: family.zone},
        )
        gateway = family.wait(opening.__aenter__())
        assert gateway is not None
        check(family, gateway, of(family, 15, step=71))
        family.wait(opening.__aexit__(None, None, None))
        assert len(server.calls) >= 15
        assert ELSEWHERE.encode() not in b"".join(call.raw for call in server.calls)


@pytest.mark.nightly
@pytest.mark.slow
def test_a_thousand_hostile_messages_change_nothing(family: Chat) -> None:
    check(family, ObeyingModel(), of(family, HALF, step=2))
    assert len(answers(family)) >= HALF
    assert answers(family).count(True) >= HALF // 3
