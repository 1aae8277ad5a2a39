"""What fired and what that changed, counted from the records of decisions."""

from datetime import timedelta
from pathlib import Path
from typing import Any

from sqlalchemy import Connection, insert

from kinkeeper.conversation.model import Mode
from kinkeeper.conversation.tables import critic_verdicts, interaction_log, routing_decisions
from kinkeeper.conversation.turn_records import effects
from live_household import MONDAY, live_system

HOUSE = "miller"


def decided(number: int, mode: str, *, tie: bool = False, best: str = "RESPOND") -> dict[str, Any]:
    return {
        "household": HOUSE,
        "turn": f"t{number}",
        "mode": mode,
        "decided_by": "router",
        "scores": {"RESPOND": 0.4, "CLARIFY": 0.1, "ACT": 0.3, best: 0.5},
        "tie_break": int(tie),
        "margin": 0.1,
        "signals": {},
        "weights_version": "1",
        "at": MONDAY,
    }


def test_second_looks_and_memories_count_only_where_they_changed_something(tmp_path: Path) -> None:
    rows = [decided(number, "RESPOND") for number in range(30)]
    rows += [decided(30 + number, "ACT") for number in range(27)]
    rows += [decided(57, "ACT", tie=True), decided(58, "RESPOND", tie=True)]
    rows += [decided(59, "IGNORE") | {"at": MONDAY - timedelta(days=40)}]
    looks = [
        {
            "household": HOUSE,
            "turn": "t1",
            "number": number,
            "request": "task.create",
            "verdict": "wrong",
            "effect": effect,
            "ms": 1.0,
            "at": MONDAY,
        }
        for number, effect in enumerate(("none", "corrected", "paused"))
    ]
    answers = [
        {
            "household": HOUSE,
            "turn": f"t{number}",
            "event": "system_response",
            "mode": "RESPOND",
            "confidence": 1.0,
            "source": source,
            "ms": 1.0,
            "brought": brought,
            "relevance": {"memories": mattered},
            "at": MONDAY,
        }
        for number, (source, brought, mattered) in enumerate(
            [("model", 3, 0.9), ("model", 3, 0.1), ("rules", 3, 0.9), ("model", 0, 0.9)]
        )
    ]

    def write(conn: Connection) -> None:
        for table, values in (
            (routing_decisions, rows),
            (critic_verdicts, looks),
            (interaction_log, answers),
        ):
            conn.execute(insert(table), values)

    with live_system(tmp_path / "family.sqlite") as system:
        system.store.write_now(write)
        since = MONDAY - timedelta(days=30)
        found = system.store.read_now(lambda conn: effects(conn, HOUSE, since=since))
        others = system.store.read_now(lambda conn: effects(conn, "others", since=since))
    assert [(each.fired, each.had_effect) for each in found.parts] == [
        (3, 2),
        (3, 1),
        (0, 0),
        (0, 0),
        (0, 0),
    ]
    healthy = {each.mode: each.is_healthy for each in found.shares}
    assert found.decisions == 59
    assert (healthy[Mode.RESPOND], healthy[Mode.ACT], healthy[Mode.IGNORE]) == (True, False, True)
    assert others.decisions == 0
    assert {each.is_healthy for each in others.shares} == {None}
