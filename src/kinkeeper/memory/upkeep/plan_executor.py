"""Does what a plan says, in one transaction: all of it or nothing, and nothing to what was changed meanwhile."""

from collections.abc import Collection, Iterable, Sequence
from dataclasses import dataclass
from datetime import datetime

from sqlalchemy import Connection

from kinkeeper.core.errors import ConflictError
from kinkeeper.core.ids import stable_id
from kinkeeper.core.time import to_text
from kinkeeper.memory.change_numbers import last_seq
from kinkeeper.memory.fact_rows import FACTS
from kinkeeper.memory.facts import facts_by_id
from kinkeeper.memory.intake import absorb
from kinkeeper.memory.journal import Cause, Change, changing
from kinkeeper.memory.model import Origin
from kinkeeper.memory.pair_verdicts import BY_MODEL, BY_UPKEEP, Finding, decide, support
from kinkeeper.memory.tombstones import blocked
from kinkeeper.memory.upkeep import guard, questions
from kinkeeper.memory.upkeep.decay import let_go, restore
from kinkeeper.memory.upkeep.differences import differences
from kinkeeper.memory.upkeep.pairs import Judged
from kinkeeper.memory.upkeep.questions import QuestionKind
from kinkeeper.memory.upkeep.report import Report, RunState
from kinkeeper.memory.upkeep.runs import Run, insert_run, left_tonight, looked_up_to, open_question
from kinkeeper.memory.upkeep.themes import Propose, Theme
from kinkeeper.memory.upkeep.upkeep_plan import Plan


class TooMuchError(Exception):
    """So much would leave that a person has to agree; nothing was done.

    Args:
        run: What the run wants.
    """

    def __init__(self, run: Run) -> None:
        super().__init__(f"{run.report.leaving} of {run.report.active} facts would be archived")
        self.run = run


@dataclass(frozen=True, slots=True, kw_only=True)
class Doing:
    """How a plan is carried out.

    Attributes:
        household: Tenant key.
        now: Aware.
        is_agreed: Whether somebody has agreed to whatever leaves.
        propose: Asks about what was only overheard; None leaves it.
    """

    household: str
    now: datetime
    is_agreed: bool = False
    propose: Propose | None = None


def carry_out(conn: Connection, plan: Plan, doing: Doing) -> Run:
    """Do what a plan says and store the run.

    Args:
        conn: In a write transaction.
        plan: Made before, beside others' work.
        doing: How.

    Raises:
        ConflictError: Another run was finished since the plan was made.
        TooMuchError: More would leave than may without asking.
    """
    household, window = doing.household, plan.window
    if looked_up_to(conn, household) != window.from_seq:
        raise ConflictError("another nightly run has just finished; there is nothing to do")
    is_quiet = last_seq(conn, household) == window.last_seq
    allowed = _allowed(conn, doing)
    with changing(
        conn,
        household,
        cause=Cause.CONSOLIDATE,
        summary="nightly upkeep",
        by=BY_UPKEEP,
        at=doing.now,
    ) as change:
        left_out = _change(conn, change, plan, doing)
        images = change.images()
    of_facts = [image for image in images if image.table == FACTS]
    now = facts_by_id(conn, household, (image.row_id for image in of_facts))
    found = differences(of_facts, now, now=doing.now)
    leaving = sum(each.kind.is_loss for each in found)
    run = Run(
        household=household, id=stable_id(household, "memory run", to_text(doing.now), window.from_seq),
        state=RunState.DONE, from_seq=window.from_seq,
        to_seq=last_seq(conn, household) if is_quiet and window.is_whole else window.to_seq,
        change_set=change.made.id if images else None,
        report=Report(
            counts={**plan.counts, "changed meanwhile": left_out}, seconds=plan.seconds, cost=plan.cost,
            active=window.active, leaving=leaving, differences=found, remarks=plan.remarks,
            allowed=min(allowed, leaving), is_behind=not window.is_whole,
        ),
        started_at=doing.now, ended_at=doing.now,
    )  # fmt: skip
    tonight = left_tonight(conn, household, now=doing.now)
    if leaving > allowed and guard.asks(leaving + tonight, window.active + tonight):
        raise TooMuchError(run)
    insert_run(conn, run)
    return run


def _allowed(conn: Connection, doing: Doing) -> int:
    """Return how many facts may leave because somebody has agreed to it."""
    asked = open_question(conn, doing.household)
    if asked is not None and asked.state is RunState.APPROVED:
        return asked.report.leaving
    return 1 << 62 if doing.is_agreed else 0


def _change(conn: Connection, change: Change, plan: Plan, doing: Doing) -> int:
    """Make all changes; returns how many were left out because their facts were changed meanwhile."""
    household, at = doing.household, doing.now
    rulings = [*plan.findings, *plan.verdicts]
    named = {*plan.support, *(each for ruling in rulings for each in ruling.ids)}
    known = facts_by_id(conn, household, named)
    fresh = {key for key, fact in known.items() if fact.seq <= plan.window.last_seq}
    pairs = [(key, each) for key, ids in plan.support.items() if key in fresh for each in ids]
    support(conn, change, pairs, by=BY_UPKEEP, at=at)
    decide(conn, change, _findings(plan.findings, fresh), by=BY_UPKEEP, at=at)
    decide(conn, change, _findings(plan.verdicts, fresh), by=BY_MODEL, at=at)
    _learn(conn, change, plan.themes, doing)
    restore(conn, change, now=at)
    let_go(conn, change, now=at)
    questions.insert_questions(conn, household, plan.questions, at=at)
    for key, answer in plan.answers.items():
        questions.settle(conn, household, key, answer, at=at)
    questions.retire(conn, household, plan.moot, at=at)
    return len(named - fresh)


def _findings(found: Iterable[Judged], fresh: Collection[str]) -> Sequence[Finding]:
    return [
        Finding(older=each.older.id, newer=each.newer.id, ruling=each.ruling)
        for each in found
        if each.older.id in fresh and each.newer.id in fresh
    ]


def _learn(conn: Connection, change: Change, themes: Sequence[Theme], doing: Doing) -> None:
    said = [each.statement for each in themes]
    forgotten = blocked(conn, said) if said else ()
    for theme in themes:
        if theme.statement.id in forgotten:
            continue
        if theme.origin is Origin.OBSERVED:
            _propose(conn, theme, doing)
            continue
        learnt = absorb(conn, change, [theme.statement], at=doing.now)
        supported = [
            (fact.id, each)
            for fact in learnt
            if theme.statement.episode_id in fact.derived_from
            for each in theme.evidence
        ]
        support(conn, change, supported, by=BY_UPKEEP, at=doing.now)


def _propose(conn: Connection, theme: Theme, doing: Doing) -> None:
    """Ask about what was only overheard, and about no episode of it twice."""
    if doing.propose is None:
        return
    doing.propose(conn, theme)
    asked = [
        questions.Question(kind=QuestionKind.LEARN, facts=(each,), why="a person was asked")
        for each in theme.episodes
    ]
    questions.insert_questions(conn, doing.household, asked, at=doing.now)
