"""A story of one family's memory, the same every time: remembered, set right, merged, taken back, forgotten."""

import random

from sqlalchemy import Connection

from kinkeeper.household.viewers import Viewer
from kinkeeper.memory.adjustments import Finding, decide
from kinkeeper.memory.corrections import edit_fact
from kinkeeper.memory.erasure import forget
from kinkeeper.memory.facts import list_facts
from kinkeeper.memory.journal import Cause, changing, list_changes, why_not_undoable
from kinkeeper.memory.model import Ruling
from kinkeeper.memory.undo import undo
from memory_chains import MANY, NOW, SINGLE, Said, say

JOHN = Viewer.of("h", "john")


def step(conn: Connection, number: int) -> None:
    """Do one change of a story that is the same every time."""
    dice = random.Random(number)  # noqa: S311 - repeatable
    dice.choice(_STEPS)(conn, number, dice)


def _say(conn: Connection, number: int, dice: random.Random) -> None:
    told, changed, ended, values, _ = SINGLE[dice.choice(sorted(SINGLE))]
    many, over, likes = MANY
    text = dice.choice([*told, *changed, *ended]).replace("{}", dice.choice(values))
    text = dice.choice([text, text, dice.choice([*many, *over]).format(dice.choice(likes))])
    say(conn, number, Said(text=text, day=dice.randint(0, 60)))


def _merge(conn: Connection, number: int, dice: random.Random) -> None:
    facts = sorted(list_facts(conn, JOHN, now=NOW), key=lambda fact: fact.id)
    if len(facts) < 2:
        return
    one, other = dice.sample(facts, 2)
    ruling = dice.choice([Ruling.SAME, Ruling.UPDATE, Ruling.CONTRADICTION])
    finding = Finding(older=one.id, newer=other.id, ruling=ruling)
    with changing(
        conn, "h", cause=Cause.CONSOLIDATE, summary="night", by="upkeep", at=NOW
    ) as night:
        decide(conn, night, [finding], by="upkeep", at=NOW)


def _edit(conn: Connection, number: int, dice: random.Random) -> None:
    facts = sorted(list_facts(conn, JOHN, now=NOW), key=lambda fact: fact.id)
    if facts:
        edit_fact(conn, JOHN, dice.choice(facts).id, f"I own {number} hens.", by="john", at=NOW)


def _undo(conn: Connection, number: int, dice: random.Random) -> None:
    for change in list_changes(conn, "h", limit=5):
        if why_not_undoable(conn, change) is None:
            undo(conn, "h", change.id, by="john", at=NOW)
            return


def _forget(conn: Connection, number: int, dice: random.Random) -> None:
    facts = sorted(list_facts(conn, JOHN, now=NOW), key=lambda fact: fact.id)
    if len(facts) > 3:
        forget(conn, JOHN, dice.choice(facts).id, by="john", at=NOW)


_STEPS = (_say, _say, _say, _say, _merge, _edit, _undo, _forget)
