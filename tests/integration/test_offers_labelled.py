"""What is said after an offer tells whether it was wanted; what is said after nothing was offered tells whether it was missed."""

from dataclasses import replace
from pathlib import Path

import pytest

from kinkeeper.actions.bars import Bar, Cause, Evidence, Label, Version, add_version
from kinkeeper.conversation.model import Plan, PlannedAction
from kinkeeper.conversation.offer_labels import offer_labels
from talking import Script, Talking, on_a_loop, talking, wants

OFFERS = {
    "kiln workshop saturday at three": "2026-03-07T15:00",
    "canoe test on thursday, half past nine": "2026-03-05T09:30",
    "they want us at the nursery for the fair on friday at two": "2026-03-06T14:00",
}
AGAIN = {text: f"please note: {text}" for text in OFFERS}
OTHER = "what a day, honestly"
NEXT = {
    "confirmed": ["yes"],
    "dismissed": ["no"],
    "undone": ["yes", "undo that"],
    "rephrased": ["again"],
    "": [],
    "said nothing of it": [OTHER],
}


def offered(text: str, sureness: float) -> PlannedAction:
    step = wants(
        "calendar", "create_event", summary=text.split(maxsplit=1)[0], start_time=OFFERS[text]
    )
    return replace(step, is_offer=sureness < 1, confidence=sureness)


def labels(talk: Talking) -> list[Label]:
    at = talk.clock.now().replace(year=2020)
    return talk.system.store.read_now(
        lambda conn: [*offer_labels(conn, talk.system.household.id, at)]
    )


@pytest.mark.parametrize("text", OFFERS)
@pytest.mark.parametrize("signal", NEXT)
def test_an_offer_is_labelled_by_what_is_said_next(tmp_path: Path, text: str, signal: str) -> None:
    again = AGAIN[text]
    second = replace(offered(text, 1.0), params={**offered(text, 1.0).params, "summary": "other"})

    @on_a_loop
    async def talked() -> None:
        script = Script({text: (offered(text, 0.55),), again: (second,)})
        async with talking(tmp_path, script) as talk:
            await talk.answer(text)
            for each in NEXT[signal]:
                talk.later(minutes=1)
                await talk.answer(again if each == "again" else each)
            found = [(each.bar, each.score, each.is_wanted, each.signal) for each in labels(talk)]
            wanted = [(Bar.OFFERS, 0.05, signal == "confirmed", signal)]
            assert found == (
                wanted if signal in {"confirmed", "dismissed", "undone", "rephrased"} else []
            )

    talked()


@pytest.mark.parametrize("text", OFFERS)
@pytest.mark.parametrize(
    ("minutes", "then", "is_missed"),
    [(1, "again", True), (1, OTHER, False), (30, "again", False), (1, None, False)],
)
def test_what_was_held_back_was_missed_where_it_is_said_again(
    tmp_path: Path, text: str, minutes: int, then: str | None, is_missed: bool
) -> None:
    again = AGAIN[text]

    @on_a_loop
    async def talked() -> None:
        script = Script({text: lambda _: Plan(held=0.46), again: (offered(text, 1.0),)})
        async with talking(tmp_path, script) as talk:
            await talk.answer(text)
            talk.later(minutes=minutes)
            if then is not None:
                await talk.answer(again if then == "again" else then)
            found = [(each.score, each.is_wanted, each.signal) for each in labels(talk)]
            assert found == [(-0.04, is_missed, "rephrased" if is_missed else "let go")]

    talked()


@on_a_loop
async def test_the_next_message_is_read_by_the_new_bar(tmp_path: Path) -> None:
    script = Script({})
    async with talking(tmp_path, script) as talk:
        for number, offset in enumerate((0.02, 0.04, -0.02), start=1):
            talk.later(minutes=1)
            version = Version(
                id=number,
                bar=Bar.OFFERS,
                cause=Cause.STEP,
                offset=offset,
                back_to=0.0,
                why=Evidence(decisions=50, pressure=0.2),
                at=talk.clock.now(),
            )
            for household in ("neighbour", talk.system.household.id):
                other = replace(version, offset=0.2) if household == "neighbour" else version
                await talk.system.store.write(
                    lambda conn, to=household, made=other: add_version(conn, to, made)
                )
            await talk.answer(f"the kettle hums, number {number}")
            assert script.asked[-1].offset == offset
