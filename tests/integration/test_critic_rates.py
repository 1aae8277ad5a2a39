"""What a second look catches and spoils, with a scripted model over HTTP that is right, agrees, nags, invents or breaks.

It shows what the rules around a critic let it do, for better and worse; how often a living model is right it cannot show.
"""

import json
from collections import Counter
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from test_critic import by_model, looked_at

from kinkeeper.actions.requests.model import ResultStatus
from kinkeeper.conversation.model import PlannedAction
from modelserver import fails, model_server, says
from modelserver.behaviours import Behaviour
from talking import Talking, on_a_loop, wants

pytestmark = pytest.mark.slow

THINGS = ("water the ferns", "return the library books", "call the plumber", "fix the garden gate")
OTHERS = ("feed the hamster", "sell the old sofa", "wash the curtains", "paint the shed")
GONE = ("polish the trophies", "mend the kite", "bottle the cider", "label the jam")
KEPT = ("oil the hinges", "frame the photos", "back up the phone", "book the boat")
FRIDAY, MONDAY = "2026-03-06T17:00:00-06:00", "2026-03-09T17:00:00-06:00"


@dataclass(frozen=True, slots=True, kw_only=True)
class Case:
    """A message, what is right, and what a model that is wrong plans instead.

    Attributes:
        kind: Of the mistake.
        text: What the person says.
        right: What they want.
        wrong: What is planned.
        set_right: The parameters that a critic that is right names, as it is shown times.
    """

    kind: str
    text: str
    right: PlannedAction
    wrong: PlannedAction
    set_right: Mapping[str, Any]


def cases() -> list[Case]:
    """Return every mistake with every thing."""
    return [case for number, thing in enumerate(THINGS) for case in _cases(thing, number)]


def _cases(thing: str, number: int) -> list[Case]:
    other, gone, kept = (each[number % len(each)] for each in (OTHERS, GONE, KEPT))
    create, line, fact = ("task", "create"), ("notes", "append"), ("memory", "store")
    return [
        Case(
            kind="another title",
            text=f"{thing} by friday 5pm",
            set_right={"title": thing},
            right=wants(*create, title=thing, deadline=FRIDAY),
            wrong=wants(*create, title=other, deadline=FRIDAY),
        ),
        Case(
            kind="another day",
            text=f"{thing} by friday 5pm",
            set_right={"deadline": "t1"},
            right=wants(*create, title=thing, deadline=FRIDAY),
            wrong=wants(*create, title=thing, deadline=MONDAY),
        ),
        Case(
            kind="something added",
            text=f"please {thing}",
            set_right={"deadline": None},
            right=wants(*create, title=thing),
            wrong=wants(*create, title=thing, deadline=MONDAY),
        ),
        Case(
            kind="another line",
            text=f"{thing} goes on the weekend list",
            set_right={"body": thing},
            right=wants(*line, title="weekend", body=thing),
            wrong=wants(*line, title="weekend", body=other),
        ),
        Case(
            kind="another memory",
            text=f"we always {thing} on sundays",
            set_right={"value": f"we always {thing} on sundays"},
            right=wants(*fact, value=f"we always {thing} on sundays"),
            wrong=wants(*fact, value=f"we never {other}"),
        ),
        Case(
            kind="a deletion",
            text=f"get rid of {gone}",
            set_right={"find_by": gone},
            right=wants("task", "delete", find_by=gone),
            wrong=wants("task", "delete", find_by=kept),
        ),
    ]


Critic = Callable[[Case, bool, np.random.Generator], Behaviour]


def _word(*, fits: bool, **params: Any) -> Behaviour:
    return says(json.dumps({"fits": fits, "params": params}))


def _names_words(case: Case, chance: np.random.Generator) -> dict[str, Any]:
    """Return some words of the message for a parameter that holds words."""
    said = case.text.split()
    name = next(each for each in ("title", "body", "value", "find_by") if each in case.right.params)
    return {name: " ".join(chance.choice(said, size=2, replace=False))}


CRITICS: Mapping[str, Critic] = {
    "right": lambda case, is_right, _: _word(fits=is_right, **({} if is_right else case.set_right)),
    "agrees": lambda *_: _word(fits=True),
    "nags": lambda case, _, chance: _word(fits=False, **_names_words(case, chance)),
    "invents": lambda case, *_: _word(
        fits=False, **dict.fromkeys(case.set_right, "sell it to Zorblatt")
    ),
    "breaks": lambda *_: fails(500),
}


async def rates(folder: Path, critic: str) -> Counter[str]:
    """Return what became of right and of wrong plans under a critic, and how often it was asked."""
    chance, counts = np.random.default_rng(20_261_122), Counter[str]()
    turns = [(case, is_right) for case in cases() for is_right in (True, False)]
    lines: dict[str, Any] = {
        each: (wants("task", "create", title=each),) for each in (*GONE, *KEPT)
    }
    with model_server() as models:
        async with looked_at(folder, models, lines) as held:
            for text in [*lines]:
                await held.answer(text, thread_id="before")
            for number, (case, is_right) in enumerate(turns):
                lines[case.text] = by_model(case.right if is_right else case.wrong)
                models.will(CRITICS[critic](case, is_right, chance))
                end = await _end(held, case, f"turn {number}")
                counts[f"{'right' if is_right else 'wrong'}, {end}"] += 1
                await held.answer("undo that", thread_id=f"turn {number}")
        counts["calls"] = len(models.calls)
    return counts


async def _end(held: Talking, case: Case, thread_id: str) -> str:
    """Return how a turn came out: right, wrong, or asked about."""
    answer = await held.answer(case.text, thread_id=thread_id)
    if "really what you meant" in answer:
        return "asked"
    (turn,) = await held.conversation.history(held.john, thread_id)
    (done,) = turn.results
    assert done.status in {ResultStatus.DONE, ResultStatus.AWAITING}, (case.text, done.error)
    return "as meant" if dict(done.params) == dict(case.right.params) else "not as meant"


EXPECTED: Mapping[str, Mapping[str, int]] = {
    # A line of a note is not set right: it cannot be taken back once the correction stands beside it.
    "right": {"right, as meant": 24, "wrong, as meant": 16, "wrong, asked": 4, "wrong, not as meant": 4, "calls": 48},
    "agrees": {"right, as meant": 24, "wrong, not as meant": 24, "calls": 48},
    "nags": {"right, as meant": 20, "right, asked": 4, "wrong, asked": 4, "wrong, not as meant": 20, "calls": 48},
    "invents": {"right, as meant": 20, "right, asked": 4, "wrong, asked": 4, "wrong, not as meant": 20, "calls": 48},
    "breaks": {"right, as meant": 24, "wrong, not as meant": 24, "calls": 5},
}  # fmt: skip
"""What became of 24 right and 24 wrong plans; a call a step, until a server that fails is let alone."""


@pytest.mark.parametrize("critic", CRITICS)
@on_a_loop
async def test_what_is_wrong_is_caught_and_nothing_that_is_right_is_spoilt(
    tmp_path: Path, critic: str
) -> None:
    assert await rates(tmp_path, critic) == EXPECTED[critic]
