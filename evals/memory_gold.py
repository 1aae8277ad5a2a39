"""Conversations of many sessions with questions about them, and the turns that answer each."""

import json
import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime
from itertools import count
from pathlib import Path
from typing import Any

from kinkeeper.core.errors import InputError

LOCOMO = "locomo_dev.json"
LONGMEMEVAL = "longmemeval_s_sample.json"
OWN = Path("memory") / "conversations"

ADVERSARIAL = "adversarial"
"""Asks for what nobody said; its evidence is what it twists."""

_LOCOMO_CATEGORIES = {1: "multi-hop", 2: "temporal", 3: "open", 4: "single-hop", 5: ADVERSARIAL}
_OWN_TURN = re.compile(r"(?P<speaker>[^\W\d_]+)(?: \[(?P<label>\w+)\])?: (?P<text>.+)")
_OWN_QUESTION = re.compile(r"\? (?P<category>[\w-]+) (?P<labels>[\w,]+) \| (?P<text>.+)")
_LOCOMO_TURN = re.compile(r"D:?(\d+):(\d+)")


@dataclass(frozen=True, slots=True, kw_only=True)
class Turn:
    """One thing somebody said.

    Attributes:
        key: Unique within its conversation.
        session: Which meeting of theirs it belongs to; sessions follow each other in time.
        speaker: Name.
        said_at: When the session began; turns of one session share it.
        text: Verbatim, with the caption of a picture shown.
    """

    key: str
    session: str
    speaker: str
    said_at: datetime
    text: str


@dataclass(frozen=True, slots=True, kw_only=True)
class Question:
    """A question about a conversation.

    Attributes:
        text: The question.
        evidence: Keys of the turns (or, for sessions as a whole, of the sessions) that answer it.
        category: What kind of question.
    """

    text: str
    evidence: frozenset[str]
    category: str


@dataclass(frozen=True, slots=True, kw_only=True)
class Conversation:
    """What some people told each other over months.

    Attributes:
        name: Of the conversation.
        turns: In the order they were said.
        questions: About it.
    """

    name: str
    turns: tuple[Turn, ...]
    questions: tuple[Question, ...]

    @property
    def speakers(self) -> tuple[str, ...]:
        """Who speaks, in the order of their first turns."""
        return tuple(dict.fromkeys(turn.speaker for turn in self.turns))


def locomo(data: Path) -> Sequence[Conversation]:
    """Return the five development conversations of LoCoMo, questions with evidence only.

    Args:
        data: Folder with the public sets.

    Raises:
        InputError: The set is missing.
    """
    return [_locomo_conversation(row) for row in _json(data / LOCOMO)]


def longmemeval(data: Path) -> Sequence[Conversation]:
    """Return the sample of LongMemEval; evidence names sessions, not turns.

    Args:
        data: Folder with the public sets.

    Raises:
        InputError: The set is missing.
    """
    return [_longmemeval_conversation(row) for row in _json(data / LONGMEMEVAL)]


def own(evals: Path) -> Sequence[Conversation]:
    """Return the conversations of our own writing.

    Args:
        evals: The repository's folder of labelled data.
    """
    return [_own_conversation(path) for path in sorted((evals / OWN).glob("*.txt"))]


def _json(path: Path) -> Any:
    if not path.is_file():
        raise InputError(f"{path} is missing; name the folder that holds it with --data DIR")
    return json.loads(path.read_text(encoding="utf-8"))


def _locomo_conversation(row: Mapping[str, Any]) -> Conversation:
    turns = tuple(_locomo_turns(row["conversation"]))
    known = {turn.key for turn in turns}
    questions = [
        Question(
            text=each["question"],
            evidence=frozenset(_locomo_evidence(each.get("evidence", ()))) & known,
            category=_LOCOMO_CATEGORIES[each["category"]],
        )
        for each in row["qa"]
    ]
    held = tuple(question for question in questions if question.evidence)
    return Conversation(name=row["sample_id"], turns=turns, questions=held)


def _locomo_turns(held: Mapping[str, Any]) -> Iterator[Turn]:
    for number in count(1):
        if f"session_{number}_date_time" not in held and f"session_{number}" not in held:
            return
        when = held.get(f"session_{number}_date_time", "")
        for turn in held.get(f"session_{number}", ()):
            caption = turn.get("blip_caption")
            yield Turn(
                key=turn["dia_id"],
                session=f"D{number}",
                speaker=turn["speaker"],
                said_at=datetime.strptime(when, "%I:%M %p on %d %B, %Y").replace(tzinfo=UTC),
                text=f"{turn['text']} [image: {caption}]" if caption else turn["text"],
            )


def _locomo_evidence(named: Sequence[str]) -> Iterator[str]:
    for each in named:
        for session, number in _LOCOMO_TURN.findall(each):
            yield f"D{int(session)}:{int(number)}"


def _longmemeval_conversation(row: Mapping[str, Any]) -> Conversation:
    turns = tuple(
        Turn(
            key=f"{session}:{number}",
            session=session,
            speaker=turn["role"],
            said_at=datetime.strptime(when, "%Y/%m/%d (%a) %H:%M").replace(tzinfo=UTC),
            text=turn["content"],
        )
        for when, session, said in zip(
            row["haystack_dates"],
            row["haystack_session_ids"],
            row["haystack_sessions"],
            strict=True,
        )
        for number, turn in enumerate(said, start=1)
    )
    questions = tuple(
        Question(text=text, evidence=frozenset(sessions), category=row["question_type"])
        for text, sessions in zip(row["questions"], row["answer_session_ids"], strict=True)
    )
    return Conversation(name=row["question_id"], turns=turns, questions=questions)


def _own_conversation(path: Path) -> Conversation:
    turns: list[Turn] = []
    questions: list[Question] = []
    key_of: dict[str, str] = {}
    session, said_at = 0, datetime.min.replace(tzinfo=UTC)
    for line in path.read_text(encoding="utf-8").splitlines():
        if line.startswith("= "):
            session += 1
            said_at = datetime.fromisoformat(line[2:]).replace(tzinfo=UTC)
        elif asked := _OWN_QUESTION.fullmatch(line):
            evidence = frozenset(key_of[label] for label in asked["labels"].split(","))
            questions.append(
                Question(text=asked["text"], evidence=evidence, category=asked["category"])
            )
        elif said := _OWN_TURN.fullmatch(line):
            key = f"{session}:{len(turns) + 1}"
            if said["label"]:
                key_of[said["label"]] = key
            turns.append(
                Turn(
                    key=key,
                    session=str(session),
                    speaker=said["speaker"],
                    said_at=said_at,
                    text=said["text"],
                )
            )
        else:
            raise InputError(f"{path}: neither a session, a turn nor a question: {line!r}")
    return Conversation(name=path.stem, turns=tuple(turns), questions=tuple(questions))
