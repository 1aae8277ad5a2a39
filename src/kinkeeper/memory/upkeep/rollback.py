"""A person's word on a night: taken back, or not wanted. Either way the next night does not do it again."""

from collections.abc import Sequence
from datetime import datetime

from sqlalchemy import Connection

from kinkeeper.core.errors import ConflictError
from kinkeeper.memory.facts import facts_by_id
from kinkeeper.memory.journal import Cause, ChangeSet, changing
from kinkeeper.memory.undo import undo
from kinkeeper.memory.upkeep.decay import keep
from kinkeeper.memory.upkeep.questions import (
    Answer,
    Question,
    QuestionKind,
    QuestionState,
    insert_questions,
    known_ids,
    settle,
)
from kinkeeper.memory.upkeep.runs import ChangeKind, Difference, Run, decline, find_run

TAKEN_BACK = "a person undid it"

_OF_TWO = frozenset({ChangeKind.MERGED, ChangeKind.SUPERSEDED})


def revert(conn: Connection, household: str, run_id: str, *, by: str, at: datetime) -> ChangeSet:
    """Take back what a night changed, row for row, and remember not to do it again.

    Args:
        run_id: Of a run that changed something.

    Returns:
        The change that was taken back.

    Raises:
        ConflictError: It changed nothing, is too old, or something later rests on it.
    """
    run = find_run(conn, household, run_id)
    if run.change_set is None:
        raise ConflictError(
            "this nightly run changed nothing, so there is nothing to undo", run=run_id
        )
    learnt = [each.fact for each in run.report.differences if each.kind is ChangeKind.LEARNED]
    known = facts_by_id(conn, household, learnt).values()
    themes = [each for fact in known for each in fact.derived_from]
    restored = [each.fact for each in run.report.differences if each.kind is ChangeKind.RESTORED]
    undone = undo(conn, household, run.change_set, by=by, at=at)
    _remember(conn, run, [*themes, *restored], at=at)
    _keep_faded(conn, household, run.report.differences, by=by, at=at)
    return undone


def keep_all(conn: Connection, household: str, run_id: str, *, by: str, at: datetime) -> Run:
    """Say no to a run that asks: what it found too silent is kept, the rest stays as it is.

    Raises:
        ConflictError: It does not ask any more.
    """
    run = decline(conn, household, run_id)
    _remember(conn, run, (), at=at)
    _keep_faded(conn, household, run.report.differences, by=by, at=at)
    return run


def _remember(conn: Connection, run: Run, unwanted: Sequence[str], *, at: datetime) -> None:
    """Answer the questions that would come up again, as the person has."""
    pairs = [
        (each.fact, each.other)
        for each in run.report.differences
        if each.kind in _OF_TWO and each.other
    ]
    taken_back = [
        *(_answered(QuestionKind.MERGE, pair) for pair in pairs),
        *(_answered(QuestionKind.LEARN, [theme]) for theme in unwanted),
    ]
    known = known_ids(conn, run.household, [each.id for each in taken_back])
    for each in known:
        settle(conn, run.household, each, Answer.KEEP_BOTH, at=at)
    new = {each.id: each for each in taken_back if each.id not in known}
    insert_questions(conn, run.household, list(new.values()), at=at)


def _answered(kind: QuestionKind, ids: Sequence[str]) -> Question:
    return Question(
        kind=kind,
        facts=tuple(sorted(ids)),
        why=TAKEN_BACK,
        state=QuestionState.ANSWERED,
        answer=Answer.KEEP_BOTH,
    )


def _keep_faded(
    conn: Connection, household: str, found: Sequence[Difference], *, by: str, at: datetime
) -> None:
    faded = [each.fact for each in found if each.kind is ChangeKind.FADED]
    with changing(
        conn, household, cause=Cause.DECIDE, summary="kept by a person", by=by, at=at
    ) as change:
        keep(conn, change, faded, now=at)
