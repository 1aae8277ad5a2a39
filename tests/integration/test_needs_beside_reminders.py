"""What is missing, told beside a reminder, goes on the list and is no part of what one is reminded of."""

from itertools import product
from pathlib import Path

from kinkeeper.conversation.planning.planners import Planners
from talking import on_a_loop, talking

REMINDERS = (
    "remind me to bring the referral letter",
    "remind me to ring gran at 5",
    "don't let me forget to pay the window cleaner",
)
JOINTS = (", also ", " and also ", ", plus ", ". Also ", ". ", "; ")
NEEDS = ("we're out of {}", "we need {}", "we've run out of {}", "we're low on {}")
GOODS = ("oat milk", "bread", "eggs")
ONE = (
    "remind me to go to the shop, we're out of oat milk",
    "remind me to buy bread because we're out of it",
    "remind me to tell sarah we need bread",
    "remind me to buy eggs and milk",
    "remind me to wash and also iron my shirt",
    "remind me to ask mia if she needs new shoes",
    "remind me to say that the car needs petrol and also oil",
)


async def done_after(folder: Path, number: int, text: str) -> list[tuple[str, str]]:
    async with talking(f"{folder}/{number}.sqlite", Planners(None)) as talk:
        await talk.answer(text, thread_id="t")
        [turn] = await talk.conversation.history(talk.john, "t", last=1)
        return [
            (each.domain, str(each.params.get("body") or each.params.get("title")))
            for each in turn.results
        ]


@on_a_loop
async def test_a_need_beside_a_reminder_is_a_clause_of_its_own(tmp_path: Path) -> None:
    wrong = []
    for number, (reminder, joint, need) in enumerate(product(REMINDERS, JOINTS, NEEDS)):
        goods = GOODS[number % len(GOODS)]
        text = f"{reminder}{joint}{need.format(goods)}"
        done = await done_after(tmp_path, number, text)
        task = [title for domain, title in done if domain == "task"]
        if ("notes", goods) not in done or len(task) != 1 or goods in task[0]:
            wrong.append((text, done))
    assert wrong == []


@on_a_loop
async def test_what_belongs_to_a_reminder_stays_in_it(tmp_path: Path) -> None:
    wrong = [
        (text, done)
        for number, text in enumerate(ONE)
        for done in [await done_after(tmp_path, number, text)]
        if [domain for domain, _ in done] != ["task"]
    ]
    assert wrong == []
