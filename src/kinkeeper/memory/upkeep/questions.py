"""Pairs and clusters of facts that rules cannot decide, and what was answered about them; each is asked once."""

from collections.abc import Collection, Iterable, Sequence
from dataclasses import dataclass
from datetime import datetime
from enum import StrEnum

from sqlalchemy import Connection, func, insert, select, true, update

from kinkeeper.core.ids import stable_id
from kinkeeper.memory.tables import memory_questions

_questions = memory_questions.c
_AT_ONCE = 500


class QuestionKind(StrEnum):
    """What is asked."""

    CONTRADICTION = "contradiction"
    UPDATE = "update"
    MERGE = "merge"
    LEARN = "learn"

    @property
    def answers(self) -> frozenset["Answer"]:
        """What a model may answer."""
        decided = {Answer.MERGE, Answer.KEEP_BOTH}
        is_update = self is QuestionKind.UPDATE
        return frozenset({*decided, Answer.NEWER if is_update else Answer.CONTRADICTION})


class Answer(StrEnum):
    """What was answered."""

    MERGE = "MERGE"
    KEEP_BOTH = "KEEP_BOTH"
    CONTRADICTION = "CONTRADICTION"
    NEWER = "NEWER"
    OLDER = "OLDER"


class QuestionState(StrEnum):
    """Where a question stands."""

    WAITING = "waiting"
    ANSWERED = "answered"
    MOOT = "moot"


@dataclass(frozen=True, slots=True, kw_only=True)
class Question:
    """One question about facts.

    Attributes:
        facts: Ids of the facts it is about, in alphabetical order; of `LEARN` of one episode.
        why: What made it doubtful, in plain words.
    """

    kind: QuestionKind
    facts: tuple[str, ...]
    why: str
    state: QuestionState = QuestionState.WAITING
    answer: Answer | None = None

    @property
    def id(self) -> str:
        """Made from what it is about, so that it is the same one whenever it comes up."""
        return question_id(self.kind, self.facts)


def question_id(kind: QuestionKind, facts: Iterable[str]) -> str:
    """Return the id of a question.

    Args:
        facts: About which, in any order.
    """
    return stable_id("memory question", kind.value, *sorted(facts))


def known_ids(conn: Connection, household: str, ids: Collection[str]) -> frozenset[str]:
    """Return those of the ids that were asked before, whether answered or not."""
    found: set[str] = set()
    wanted = sorted(ids)
    for start in range(0, len(wanted), _AT_ONCE):
        query = select(_questions.id).where(
            _questions.household == household, _questions.id.in_(wanted[start : start + _AT_ONCE])
        )
        found.update(conn.execute(query).scalars())
    return frozenset(found)


def waiting(
    conn: Connection,
    household: str,
    *kinds: QuestionKind,
    limit: int,
    asked_by: datetime | None = None,
) -> Sequence[Question]:
    """Return questions that wait for an answer, the oldest first.

    Args:
        asked_by: Only those asked by then; None for all.
    """
    query = (
        select(memory_questions)
        .where(
            _questions.household == household,
            _questions.kind.in_([each.value for each in kinds]),
            _questions.state == QuestionState.WAITING.value,
            true() if asked_by is None else _questions.asked_at <= asked_by,
        )
        .order_by(_questions.asked_at, _questions.id)
        .limit(limit)
    )
    return [
        Question(kind=QuestionKind(row.kind), facts=tuple(row.facts), why=row.why)
        for row in conn.execute(query)
    ]


def insert_questions(
    conn: Connection, household: str, questions: Sequence[Question], *, at: datetime
) -> None:
    """Store questions that were not asked before, answered or not.

    Args:
        questions: None of them known.
    """
    rows = [
        {
            "household": household,
            "id": each.id,
            "kind": each.kind.value,
            "facts": list(each.facts),
            "why": each.why,
            "state": each.state.value,
            "answer": each.answer and each.answer.value,
            "asked_at": at,
            "answered_at": at if each.state is QuestionState.ANSWERED else None,
        }
        for each in questions
    ]
    if rows:
        conn.execute(insert(memory_questions), rows)


def settle(
    conn: Connection, household: str, question_id: str, answer: Answer, *, at: datetime
) -> None:
    """Note the answer to a question.

    Args:
        question_id: Of a question; one that was answered meanwhile keeps its answer.
    """
    conn.execute(
        update(memory_questions)
        .where(
            _questions.household == household,
            _questions.id == question_id,
            _questions.state == QuestionState.WAITING.value,
        )
        .values(state=QuestionState.ANSWERED.value, answer=answer.value, answered_at=at)
    )


def retire(conn: Connection, household: str, ids: Collection[str], *, at: datetime) -> None:
    """Let go of questions about facts of which one holds no more.

    Args:
        ids: Of questions; those that were answered meanwhile keep their answer.
    """
    if ids:
        conn.execute(
            update(memory_questions)
            .where(
                _questions.household == household,
                _questions.id.in_(sorted(ids)),
                _questions.state == QuestionState.WAITING.value,
            )
            .values(state=QuestionState.MOOT.value, answered_at=at)
        )


def count_waiting(conn: Connection, household: str) -> int:
    """Return how many questions about facts wait for an answer."""
    query = select(func.count()).where(
        _questions.household == household,
        _questions.kind != QuestionKind.LEARN.value,
        _questions.state == QuestionState.WAITING.value,
    )
    return conn.execute(query).scalar_one()
