"""Each number of the weights file changes what becomes of some message; what is known counts as it should."""

import random
from collections.abc import Iterator
from dataclasses import replace
from functools import cache

import pytest

from kinkeeper.conversation.model import Branch, Mode, Triage, TurnType
from kinkeeper.conversation.routing.intent import Intent, IntentType, read_intent
from kinkeeper.conversation.routing.router import mode_after_acting, score_modes
from kinkeeper.conversation.routing.signals import Signals, Weights, shipped_weights
from kinkeeper.conversation.routing.triage import MODE_OF

Situation = tuple[Intent, Signals, Triage]


@cache
def situations() -> tuple[Situation, ...]:
    chance = random.Random(11)  # noqa: S311 - a sample, no secret
    return tuple(one_of(chance) for _ in range(3_000))


def one_of(chance: random.Random) -> Situation:
    branch = chance.choice([Branch.RESPOND, Branch.CLARIFY, Branch.ACT])
    intent = replace(
        read_intent("so", Signals()),
        type=chance.choice([*IntentType]),
        has_question_mark=chance.random() < 0.5,
        is_interrogative=chance.random() < 0.5,
        refers=chance.random() < 0.5,
    )
    signals = Signals(
        turns=chance.randrange(6),
        gists=chance.randrange(7),
        facts=chance.randrange(13),
        has_world=chance.random() < 0.5,
        fok=chance.choice([0.0, 1.0, 3.0, 5.0]),
        is_new_topic=chance.random() < 0.5,
        previous_mode=chance.choice([None, Mode.ACT, Mode.CLARIFY, Mode.RESPOND]),
        recent_margins=[chance.choice([0.05, 0.5])] * 3,
    )
    triage = Triage(
        type=TurnType.CHAT,
        branch=branch,
        mode=MODE_OF[branch],
        confidence_tool_need=chance.choice([0.0, 0.2, 0.4, 0.6, 0.9]),
    )
    return intent, signals, triage


def outcomes(weights: Weights) -> Iterator[tuple[Mode, bool]]:
    for intent, signals, triage in situations():
        scored = score_modes(intent, signals, triage, weights)
        yield scored.ranked[0], scored.is_tie


def without(group: str, name: str) -> Weights:
    """The shipped weights with one of them taken away."""
    shipped = shipped_weights()
    if group in [*Mode]:
        own = {**shipped.modes[Mode(group)], name: 0.0}
        return shipped.model_copy(update={"modes": {**shipped.modes, Mode(group): own}})
    table = getattr(shipped, group)
    return shipped.model_copy(update={group: table.model_copy(update={name: 0})})


OF_MODES = [(mode.value, name) for mode, own in shipped_weights().modes.items() for name in own]
OF_TABLES = [
    (group, name)
    for group in ("features", "margin")
    for name in type(getattr(shipped_weights(), group)).model_fields
]


@pytest.mark.parametrize(("group", "name"), [*OF_MODES, *OF_TABLES])
def test_every_weight_decides_something(group: str, name: str) -> None:
    changed = outcomes(without(group, name))

    assert any(now != then for now, then in zip(outcomes(shipped_weights()), changed, strict=True))


def test_every_feature_that_is_weighed_is_computed():
    scored = score_modes(*situations()[0])
    weighed = {name for own in shipped_weights().modes.values() for name in own} - {"base"}

    assert weighed == set(scored.features)


def intent(text: str, signals: Signals | None = None) -> Intent:
    return read_intent(text, signals or Signals())


@pytest.mark.parametrize(
    ("text", "kind"),
    [
        ("", IntentType.EMPTY),
        ("good morning", IntentType.GREETING),
        ("well done, that was great", IntentType.FEEDBACK),
        ("please put eggs on the list", IntentType.COMMAND),
        ("who takes Ida to judo", IntentType.QUESTION),
        ("on the green sofa", IntentType.CONTINUATION),
        ("the boiler made a strange noise last night", IntentType.STATEMENT),
    ],
)
def test_intents(text: str, kind: IntentType) -> None:
    assert intent(text).type is kind


def test_confidence_of_an_intent():
    warm = Signals(turns=4, gists=5, has_world=True)

    assert intent("").confidence == pytest.approx(0.7)
    assert intent("good morning everyone").confidence == pytest.approx(0.8)
    assert intent("where did the cat go?").confidence == pytest.approx(0.6)
    assert intent("where did the cat go?", warm).confidence == pytest.approx(0.7)
    assert intent("the sofa").confidence == pytest.approx(0.4)
    assert intent("word " * 60).confidence == pytest.approx(0.4)


def test_what_is_known():
    signals = Signals(turns=2, gists=5, facts=4, has_world=True, fok=2.5)

    assert signals.warmth == pytest.approx((0.5 + 1 + 1) / 3)
    assert signals.fact_density == pytest.approx(0.4)
    assert signals.density == 1.0
    known = 0.4 * 0.5 + 0.4 * signals.warmth + 0.2
    assert signals.memory_confidence == pytest.approx(known)
    assert replace(signals, is_new_topic=True).memory_confidence == pytest.approx(0.7 * known)


def test_after_acting_an_answer_follows():
    scored = score_modes(intent("what about Friday?"), Signals(), situations()[0][2])

    assert mode_after_acting(scored.features) is Mode.RESPOND
