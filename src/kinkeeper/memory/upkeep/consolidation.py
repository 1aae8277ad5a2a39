"""One run of the upkeep, from what is new to the report: its plan done in one transaction, or not at all."""

from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from datetime import datetime, timedelta

from sqlalchemy import Connection

from kinkeeper.core.errors import ConflictError
from kinkeeper.core.ids import stable_id
from kinkeeper.core.time import to_text
from kinkeeper.memory.adjustments import BY_MODEL, BY_UPKEEP, Finding, decide, support
from kinkeeper.memory.confidence import confidence_now
from kinkeeper.memory.facts import FACTS, facts_by_id
from kinkeeper.memory.ingest import absorb
from kinkeeper.memory.journal import ARITHMETIC, Cause, Change, Image, changing, purge_images
from kinkeeper.memory.memory_rows import fact_from_row, fact_row, last_seq, row_of
from kinkeeper.memory.model import Category, Fact, FactStatus, Origin
from kinkeeper.memory.redaction import blocked
from kinkeeper.memory.tables import facts as facts_table
from kinkeeper.memory.upkeep import questions
from kinkeeper.memory.upkeep.batch import STAGE
from kinkeeper.memory.upkeep.decay import let_go, restore
from kinkeeper.memory.upkeep.pair_search import Judged
from kinkeeper.memory.upkeep.planner import Plan, Planner, Progress, Tools
from kinkeeper.memory.upkeep.questions import QuestionKind
from kinkeeper.memory.upkeep.recurrence import Propose, Theme
from kinkeeper.memory.upkeep.runs import (
    ChangeKind,
    Cost,
    Difference,
    Report,
    Run,
    RunState,
    insert_run,
    left_tonight,
    looked_up_to,
    open_question,
    purge_runs,
)
from kinkeeper.models.repository import prompt_cost
from kinkeeper.store.store import Store

# When a night would take too much out of memory to go on without asking. Pure.

LARGEST_SHARE = 0.05
"""Share of the active facts that may leave without a question."""

ALWAYS_ALLOWED = 3
"""Of a handful of facts each one is more than the share; so few may go anyway."""


def asks(leaving: int, active: int) -> bool:
    """Whether a person has to agree first.

    Args:
        leaving: Facts that would leave retrieval, with those of earlier runs of the same night, >= 0.
        active: Facts in retrieval before, >= 0.
    """
    return leaving > max(ALWAYS_ALLOWED, LARGEST_SHARE * active)


# What a run made different, told fact by fact out of the images of its change. Pure.

_LOST = {
    FactStatus.SUPERSEDED: ChangeKind.SUPERSEDED,
    FactStatus.MERGED_INTO: ChangeKind.MERGED,
    FactStatus.RETRACTED: ChangeKind.SUPERSEDED,
}
_EVIDENCE = frozenset({"derived_from", "evidence_count"})


def differences(
    images: Iterable[Image], facts: Mapping[str, Fact], *, now: datetime
) -> Sequence[Difference]:
    """Return what became different about facts; a confidence that only counts on is no difference.

    Args:
        images: Of a change, those of facts only.
        facts: As they are now, by id.
        now: Up to when the silence of both confidences is charged, aware.
    """
    found = []
    for image in images:
        fact = facts.get(image.row_id)
        kind = fact and _kind(image, fact)
        if fact and kind:
            found.append(
                Difference(
                    kind=kind,
                    fact=fact.id,
                    other=fact.merged_into_id or fact.superseded_by,
                    before=_confidence_before(image, fact, now),
                    after=confidence_now(fact, now),
                )
            )
    return tuple(found)


def _confidence_before(image: Image, fact: Fact, now: datetime) -> float | None:
    """Return how sure one was of a fact before, as if nothing had been changed up to now."""
    if image.before is None:
        return None
    before = fact_from_row({**fact_row(fact), **row_of(facts_table, image.before)})
    return confidence_now(before, now)


def _kind(image: Image, fact: Fact) -> ChangeKind | None:
    if image.before is None:
        return ChangeKind.LEARNED
    was_active = FactStatus(image.before.get("status", fact.status)).is_active
    if was_active and not fact.status.is_active:
        if fact.status is FactStatus.DEPRECATED:
            is_feeling = fact.category is Category.EMOTIONAL
            return ChangeKind.ENDED if is_feeling else ChangeKind.FADED
        return _LOST[fact.status]
    if image.after.get("is_contradicted") or image.after.get("doubted_by"):
        return ChangeKind.DOUBTED
    columns = image.before.keys() - ARITHMETIC
    if not was_active and fact.status.is_active:
        return ChangeKind.RESTORED
    if columns & _EVIDENCE:
        return ChangeKind.SUPPORTED
    return ChangeKind.CHANGED if columns else None


# Does what a plan says, in one transaction: all of it or nothing, and nothing to what was changed
# meanwhile.


class TooMuchError(Exception):
    """So much would leave that a person has to agree; nothing was done."""

    def __init__(self, run: Run) -> None:
        super().__init__(f"{run.report.leaving} of {run.report.active} facts would be archived")
        self.run = run


@dataclass(frozen=True, slots=True, kw_only=True)
class Doing:
    """How a plan is carried out.

    Attributes:
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
        plan: Made before, beside others' work.

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
        household=household,
        id=stable_id(household, "memory run", to_text(doing.now), window.from_seq),
        state=RunState.DONE,
        from_seq=window.from_seq,
        to_seq=last_seq(conn, household) if is_quiet and window.is_whole else window.to_seq,
        change_set=change.made.id if images else None,
        report=Report(
            counts={**plan.counts, "changed meanwhile": left_out},
            seconds=plan.seconds,
            cost=plan.cost,
            active=window.active,
            leaving=leaving,
            differences=found,
            remarks=plan.remarks,
            allowed=min(allowed, leaving),
            is_behind=not window.is_whole,
        ),
        started_at=doing.now,
        ended_at=doing.now,
    )
    tonight = left_tonight(conn, household, now=doing.now)
    if leaving > allowed and asks(leaving + tonight, window.active + tonight):
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


REVERSIBLE = timedelta(days=90)
"""How long a change of memory can be taken back."""


async def consolidate(
    store: Store,
    household: str,
    tools: Tools,
    *,
    now: datetime,
    progress: Progress,
    is_rehearsal: bool = False,
    is_agreed: bool = False,
    remarks: Sequence[str] = (),
) -> Run:
    """Bring memory in step with what is new since the last run.

    Args:
        is_rehearsal: Whether it only tells what it would do.
        is_agreed: Whether somebody has agreed to whatever leaves.
        remarks: What it has to do without, for the report.

    Returns:
        The run: done, or asking because too much would leave. Where more is new than one run looks at,
        its report tells so, and another one has to follow.

    Raises:
        ConflictError: Another run was finished meanwhile.
    """
    plan = await Planner(store, household, tools, now=now, progress=progress).plan()
    cost = await cost_since(store, household, now)
    plan = replace(plan, cost=cost, remarks=(*remarks, *plan.remarks))
    progress("apply the changes")
    doing = Doing(household=household, now=now, is_agreed=is_agreed, propose=tools.propose)
    try:
        if is_rehearsal:
            return await store.rehearse(lambda conn: carry_out(conn, plan, doing))
        run = await store.write(lambda conn: carry_out(conn, plan, doing))
    except TooMuchError as error:
        asking = replace(error.run, state=RunState.ASKS, change_set=None)
        if not is_rehearsal:
            await store.write(lambda conn: insert_run(conn, asking))
        return asking
    await store.write(lambda conn: _purge(conn, household, now))
    return run


async def cost_since(store: Store, household: str, since: datetime) -> Cost:
    """Return what models were asked by nights since an instant."""
    return await store.read(
        lambda conn: Cost(**prompt_cost(conn, household, prompts=STAGE, since=since))
    )


def _purge(conn: Connection, household: str, now: datetime) -> None:
    purge_images(conn, household, older_than=now - REVERSIBLE)
    purge_runs(conn, household, before=now - REVERSIBLE)
