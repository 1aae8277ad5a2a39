"""Whole chats of unlike households through the observer: what it kept of each message, and what it said aloud."""

from collections.abc import Mapping, Sequence
from datetime import datetime, timedelta
from functools import partial
from pathlib import Path
from typing import Any, Final

from sqlalchemy import Connection

from evals.chat_file import SLOTS, LabelledChat, load_chat
from evals.chat_scoring import Card, ChatScore
from evals.episode_scoring import Line
from evals.replayed import Stage, play
from evals.report import Table
from kinkeeper.actions import repository as action_rows
from kinkeeper.actions.payload import action_record
from kinkeeper.household.viewers import Viewer

_GRACE_PASSES: Final = timedelta(hours=2)


def play_chats(folder: Path, root: Path = Path()) -> Mapping[str, ChatScore]:
    """Play every chat of a folder, each in a household as new.

    Args:
        folder: Files that `load_chat` reads; those in folders below it are left alone.
        root: The repository, from which households are named.

    Returns:
        What came out, by name of the chat.

    Raises:
        InputError: A file cannot be read.
    """
    with Stage() as stage:
        return {
            path.stem: _played(stage, load_chat(path, root), root)
            for path in sorted(folder.glob("*.chat"))
        }


def chat_figures(scores: Sequence[ChatScore]) -> Mapping[str, float]:
    """Return the figures of all chats together, each a share in [0, 1]."""
    total = _together(scores)
    given = [count for (_, verdict), count in total.slots.items() if verdict != "missing"]
    right = [count for (_, verdict), count in total.slots.items() if verdict == "right"]
    answers = sum(total.answers.values())
    return {
        "messages without a false word aloud": 1 - total.false / max(1, total.messages),
        "cards found": _share(total.kept, total.lost),
        "cards wanted": _share(total.kept, total.needless),
        "values right of those given": sum(right) / max(1, sum(given)),
        "owners right of those given": _share(
            total.slots[SLOTS["who"], "right"], total.slots[SLOTS["who"], "wrong"]
        ),
        "answers linked rightly": total.answers["right"] / max(1, answers),
    }


def chat_tables(scores: Mapping[str, ChatScore], title: str) -> tuple[Table, ...]:
    """Return a table by chat and one by slot.

    Args:
        scores: By name of the chat.
        title: What the chats are.
    """
    total = _together(list(scores.values()))
    return (
        Table(
            title=f"{title}, by chat",
            columns=(
                "chat",
                "messages",
                "cards found",
                "lost",
                "needless",
                "said rightly",
                "unsaid",
                "false",
            ),
            rows=tuple(_row(name, score) for name, score in (*scores.items(), ("all", total))),
        ),
        Table(
            title=f"{title}, by value",
            columns=("value", "right", "wrong", "missing"),
            rows=tuple(
                (slot, *(total.slots[field, verdict] for verdict in ("right", "wrong", "missing")))
                for slot, field in SLOTS.items()
            ),
        ),
    )


def _played(stage: Stage, chat: LabelledChat, root: Path) -> ChatScore:
    score, lines = ChatScore(), list[Line]()
    messages = [each.message for each in chat.messages]
    system = stage.opened(root / chat.household, messages[0].sent_at)
    end = messages[-1].sent_at + _GRACE_PASSES
    before: Sequence[Card] = ()
    played = play(system, messages, until=end)
    for heard, wanted in zip(played, (*chat.messages, None), strict=True):
        lines += heard.lines
        if wanted is not None:
            reading = partial(
                _open_cards, household=system.household.id, now=wanted.message.sent_at
            )
            standing = system.store.read_now(reading)
            changed = [card for card in standing if card not in before]
            score.judge_message(wanted, heard.own, cards=changed, standing=standing)
            before = standing
    score.judge_speech(chat.messages, lines)
    return score


def _open_cards(conn: Connection, *, household: str, now: datetime) -> Sequence[Card]:
    """What a person could confirm just now, each by its fields alone: the same card anew is no other."""
    open_actions = action_rows.open_actions(conn, Viewer.of(household), now=now)
    records: list[Mapping[str, Any]] = [action_record(action) for action in open_actions]
    return [{field: record[field] for field in SLOTS.values()} for record in records]


def _together(scores: Sequence[ChatScore]) -> ChatScore:
    total = ChatScore()
    for score in scores:
        total.add(score)
    return total


def _row(name: str, score: ChatScore) -> tuple[str | int | float, ...]:
    return (
        name,
        score.messages,
        score.kept,
        score.lost,
        score.needless,
        score.spoken,
        score.unspoken,
        score.false,
    )


def _share(part: int, rest: int) -> float:
    return part / max(1, part + rest)
