"""Who brings or fetches them, said by a child in their own chat: a card for an adult, whoever the family calls it."""

from itertools import product
from pathlib import Path

import pytest

from kinkeeper.actions.repository import open_actions
from kinkeeper.actions.requests.model import ResultStatus
from kinkeeper.conversation.planning.planners import Planners
from kinkeeper.household.viewers import Viewer
from talking import on_a_loop, talking

DOERS = {
    "dad": "john",
    "my dad": "john",
    "John": "john",
    "mom": "sarah",
    "Sarah": "sarah",
    "grandma": None,
    "my uncle": None,
}
PLANS = (
    "{who} is picking me up on Thursday",
    "{who} picks me up from Zorban's on Friday at 4",
    "{who} will drop me off at school tomorrow",
    "{who} is taking me to the dentist on Friday at 4",
    "{who}'s driving me to Zorban's on Saturday at 2",
    "{who} is fetching me from soccer on Thursday",
)
NO_PLANS = (
    "{who} never picks me up",
    "{who} picked me up on Monday",
    "did {who} pick me up on Thursday?",
)


@pytest.mark.parametrize("child", ["leo", "mia"])
@on_a_loop
async def test_a_plan_becomes_a_card_for_an_adult(tmp_path: Path, child: str) -> None:
    lost = []
    for number, (plan, who) in enumerate(product(PLANS, DOERS)):
        text = plan.format(who=who)
        async with talking(f"{tmp_path}/{number}.sqlite", Planners(None)) as talk:
            await talk.answer(text, by=child, thread_id="t")
            [turn] = await talk.conversation.history(talk.member(child), "t", last=1)
        [result] = turn.results or [None]
        change = result.params.get("changes", result.params) if result is not None else {}
        in_charge = [DOERS[who]] if DOERS[who] else []
        is_asked = result is not None and result.status is ResultStatus.AWAITING
        if not is_asked or change.get("responsible", []) != in_charge:
            lost.append((text, change))
    assert not lost


@on_a_loop
async def test_what_is_no_plan_becomes_none(tmp_path: Path) -> None:
    async with talking(tmp_path, Planners(None)) as talk:
        for text in (plan.format(who=who) for plan, who in product(NO_PLANS, DOERS)):
            await talk.answer(text, by="leo")
        everything = Viewer.whole(talk.system.household.id)
        found = await talk.system.store.read(
            lambda conn: open_actions(conn, everything, now=talk.clock.now())
        )
        assert [
            each.proposal.summary for each in found if each.proposal.type.is_about_calendar
        ] == []
