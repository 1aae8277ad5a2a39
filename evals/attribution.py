"""Which earlier message a short answer belongs to, against links that people set in public technical chats.

Comparable to a family chat are only short answers that as a whole take on, accept or refuse something, that
answer exactly one message, somebody else's, within reach. People there ask for facts, hardly ever for
somebody to do something. So the rule is measured twice: as it is, when only such requests are open; and with
every question open, which asks whether "the newest open question that fits" finds the one answered.
"""

import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any

from evals.coordination import read_lines
from evals.report import Table
from kinkeeper.language.text import TokenKind, tokenise
from kinkeeper.observer.answers.attribution import Reply, attribute
from kinkeeper.observer.config import ObserverConfig
from kinkeeper.observer.model import Extraction, OpenQuestion, Stance
from kinkeeper.reading.replies import ReplyKind, asks_for_owner, is_question, read_reply

_STANCES = {
    ReplyKind.CLAIM: Stance.CLAIMS,
    ReplyKind.ACCEPT: Stance.ACCEPTS,
    ReplyKind.DECLINE: Stance.DECLINES,
}
_LONGEST = 6
_ADDRESS = re.compile(r"\s*(\S+?)[:,]\s+(.*)", re.DOTALL)
_START = datetime(2026, 3, 4, tzinfo=UTC)


@dataclass(frozen=True, slots=True, kw_only=True)
class Answer:
    """A short answer with the message that a person says it answers.

    Attributes:
        row: The source's row.
        stance: What it does.
        parent: Index of the message answered, in the row's context.
        is_to_question: Whether that message is a question.
    """

    row: Mapping[str, Any]
    stance: Stance
    parent: int
    is_to_question: bool


@dataclass(frozen=True, slots=True, kw_only=True)
class Links:
    """How many answers were linked, and how many of the links are right."""

    answers: int
    linked: int
    right: int
    previous: int

    @property
    def precision(self) -> float:
        """Share of the links that are right; 1 without links."""
        return self.right / self.linked if self.linked else 1.0

    @property
    def recall(self) -> float:
        """Share of the answers that are linked rightly."""
        return self.right / self.answers if self.answers else 1.0


def comparable_answers(path: Path) -> list[Answer]:
    """Return the answers of technical chats that could stand in a family chat.

    Args:
        path: `irc_reply_attribution_*.jsonl`.

    Raises:
        InputError: The file is missing.
    """
    return [answer for row in read_lines(path) for answer in _answer(row)]


def _answer(row: Mapping[str, Any]) -> Iterator[Answer]:
    parents, context = row["parents"], row["context"]
    if len(parents) != 1 or row["parent_beyond_context"]:
        return
    parent = context[parents[0]]
    if parent["sender"] == row["sender"]:
        return
    _, text = _addressed(row["text"], {item["sender"] for item in context})
    tokens = tokenise(text)
    words = sum(token.kind is not TokenKind.PUNCTUATION for token in tokens)
    reply = read_reply(tokens)
    if reply is None or not reply.is_whole or reply.kind not in _STANCES or words > _LONGEST:
        return
    yield Answer(
        row=row,
        stance=_STANCES[reply.kind],
        parent=parents[0],
        is_to_question=is_question(tokenise(parent["text"]), parent["text"], ()),
    )


def link(answers: list[Answer], *, every_question: bool) -> Links:
    """Let the attribution rule find the message of each answer.

    Args:
        answers: From `comparable_answers`.
        every_question: Whether all questions are open, not only requests for somebody to do something.
    """
    config = ObserverConfig()
    linked = right = previous = 0
    for answer in answers:
        outcome = attribute(
            Extraction(is_coordination=False, stance=answer.stance),
            Reply(sender=answer.row["sender"], is_assignable=True, answers=None, is_reaction=False),
            list(_open(answer.row, config, every_question=every_question)),
            threshold=config.attribution_threshold,
        )
        linked += outcome.question is not None
        right += outcome.question is not None and outcome.question.id == answer.parent
        previous += answer.parent == len(answer.row["context"]) - 1
    return Links(answers=len(answers), linked=linked, right=right, previous=previous)


def _open(
    row: Mapping[str, Any], config: ObserverConfig, *, every_question: bool
) -> Iterator[OpenQuestion]:
    """Yield what is open when the answer comes, the newest first."""
    context = row["context"]
    names = {row["sender"], *(item["sender"] for item in context)}
    for index in reversed(range(len(context))):
        item = context[index]
        addressee, text = _addressed(item["text"], names)
        tokens = tokenise(text)
        asks = is_question(tokens, text, ()) if every_question else asks_for_owner(tokens, text)
        until = _at(item) + config.open_question_window
        if asks and until >= _at(row):
            yield OpenQuestion(
                id=index,
                chat_id="",
                message_id=str(index),
                thread_id="",
                asker=item["sender"],
                asked_at=_at(item),
                until=until,
                action_id=None,
                extraction=Extraction(
                    is_coordination=True, stance=Stance.ASKS, addressee=addressee
                ),
            )


def _addressed(text: str, names: set[str]) -> tuple[str | None, str]:
    """Split "name: text" into the person addressed and the text."""
    match = _ADDRESS.match(text)
    return (match[1], match[2]) if match and match[1] in names else (None, text)


def _at(item: Mapping[str, Any]) -> datetime:
    return _START + timedelta(minutes=item["minute"])


def attribution_table(answers: list[Answer]) -> Table:
    """Return how many short answers are linked to the message they answer."""
    to_questions = [answer for answer in answers if answer.is_to_question]
    rows = (
        ("requests open: short answers", link(answers, every_question=False)),
        ("questions open: short answers", link(answers, every_question=True)),
        ("questions open: short answers to questions", link(to_questions, every_question=True)),
    )
    return Table(
        title="Attribution: short answers in technical chats",
        columns=("set", "answers", "linked", "precision", "recall", "answers the message before"),
        rows=tuple(
            (
                name,
                each.answers,
                each.linked,
                each.precision,
                each.recall,
                each.previous / max(1, each.answers),
            )
            for name, each in rows
        ),
    )
