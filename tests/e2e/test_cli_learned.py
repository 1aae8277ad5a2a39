"""`kinkeeper learned` as people run it."""

from datetime import UTC, datetime, timedelta

import pytest
from sqlalchemy import Connection, insert

from cli_program import Program
from kinkeeper.actions.bars import (
    Bar,
    Cause,
    Evidence,
    Outcome,
    Version,
    add_version,
    judge_version,
)
from kinkeeper.conversation.review.model import Route
from kinkeeper.conversation.review.repository import add_review
from kinkeeper.conversation.tables import routing_decisions
from kinkeeper.store.store import Store

pytestmark = pytest.mark.slow


def test_what_was_learned_is_shown_and_reset(program: Program) -> None:
    assert "Nothing has been changed." in program.run("learned").out
    assert program.run("learned", "--json").value == []
    evidence = Evidence(decisions=60, pressure=0.3, signals={"dismissed": 18, "confirmed": 42})
    step = Version(
        id=1,
        bar=Bar.OFFERS,
        cause=Cause.STEP,
        offset=0.02,
        back_to=0.0,
        why=evidence,
        at=datetime.now(UTC) - timedelta(days=3),
    )
    with Store.open(str(program.database)) as store:
        store.write_now(lambda conn: add_version(conn, "miller", step))
        on = Evidence(decisions=55, pressure=0.1)
        now = datetime.now(UTC)
        store.write_now(lambda conn: judge_version(conn, "miller", 1, Outcome.KEPT, on=on, now=now))
    shown = program.run("learned").out
    assert "step to +0.02" in shown
    assert "60 decisions, 30% wrong" in shown
    assert "+0.02 for offers in conversation" in program.run("jobs").out
    assert program.run("jobs", "--json").value["bars"] == {"offers": 0.02}
    assert "Reset." in program.run("learned", "--reset", "offers").err
    assert "default already" in program.run("learned", "--reset", "offers").err
    found = program.run("learned", "--json").value
    assert [(each["cause"], each["offset"]) for each in found] == [("person", 0.0), ("step", 0.02)]
    assert "learned thresholds" in program.run("jobs").out


def test_what_a_model_said_of_past_answers_is_shown(program: Program) -> None:
    assert "reviewed" not in program.run("learned").out
    now = datetime.now(UTC)

    def write(conn: Connection) -> None:
        for number in range(5):
            turn = f"t{number}"
            conn.execute(
                insert(routing_decisions).values(
                    household="miller",
                    turn=turn,
                    mode="ACT",
                    decided_by="router",
                    scores={},
                    tie_break=0,
                    signals={},
                    at=now,
                )
            )
            route = Route.ACT if number else Route.RESPOND
            agrees = route is Route.ACT
            add_review(
                conn, "miller", turn, route=route, agrees=agrees, model="big-1", prompt=1, at=now
            )

    with Store.open(str(program.database)) as store:
        store.write_now(write)
    shown = " ".join(program.run("learned").out.split())
    assert "reviewed 5 answers of the last 30 days and disagreed with 1" in shown
    assert "big-1, prompt 1 5" in shown
    assert "decided as act, reviewed as respond: 1" in shown
    assert program.run("jobs", "--json").value["reviews"] == {"agreed": 4, "disagreed": 1}
