"""Memory as people live with it: three months of talk, nights and questions, through the server's application."""

from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Final

from evals.months_gold import FOLDER, Came, Keep, Message, Want, load_months
from evals.months_lived import Asked, Lived, live
from evals.report import Floor, Report, Table
from kinkeeper.memory.model import FactStatus, Statement
from kinkeeper.settings.models import EmbedderChoice

SEEN: Final = ("mkhize",)
UNSEEN: Final = ("quispe",)
"""Households of which only figures are looked at: their texts are in no report."""

# In mkhize children tell four things in sessions; these now wait for an adult's confirmation and are not known before.
FLOORS: Final = {
    "mkhize, found": 0.79,
    "mkhize, nothing kept of others": 0.87,
    "mkhize, subject": 0.94,
    "mkhize, answers right": 0.61,
    "mkhize, answers not wrong": 0.8,
    "mkhize, no leak": 1.0,
    "quispe, found": 0.83,
    "quispe, nothing kept of others": 0.95,
    "quispe, subject": 0.75,
    "quispe, answers right": 0.59,
    "quispe, answers not wrong": 0.75,
    "quispe, no leak": 1.0,
}
_ME: Final = "me"


@dataclass(slots=True)
class Kept:
    """What was kept of all that was said.

    Attributes:
        expected: Number of things worth keeping.
        found: Those that were kept.
        empty: Number of messages without anything worth keeping.
        left_alone: Those of which nothing was kept.
        of_category: Of those found, how many have a category that is right.
        of_subject: Of those found, how many are put under whom they are about.
        outdated: Of those found, how many hold no more at the end.
        stale: Of these, how many are still told.
        lost: Of those that hold, how many are told no more.
        worst: Mistakes, a line each.
    """

    expected: int = 0
    found: int = 0
    empty: int = 0
    left_alone: int = 0
    of_category: int = 0
    of_subject: int = 0
    outdated: int = 0
    stale: int = 0
    lost: int = 0
    worst: list[str] = field(default_factory=list)


def measure(*, root: Path, embedder: EmbedderChoice = EmbedderChoice.NONE) -> Report:
    """Live through the months of every household.

    Args:
        root: The repository.
        embedder: What compares texts.
    """
    lived = {
        name: live(load_months(root / FOLDER / f"{name}.jsonl"), root, embedder)
        for name in (*SEEN, *UNSEEN)
    }
    kept = {name: _kept(each) for name, each in lived.items()}
    values = {name: _figures(kept[name], each) for name, each in lived.items()}
    return Report(
        suite="months",
        tables=(_kept_table(kept), _answers_table(lived)),
        floors=tuple(
            Floor(name=name, value=values[household][figure], minimum=minimum)
            for name, minimum in FLOORS.items()
            for household, _, figure in (name.partition(", "),)
            if household in values
        ),
        worst=tuple(line for name in SEEN for line in (*kept[name].worst, *_mistakes(lived[name]))),
    )


def _kept(lived: Lived) -> Kept:
    kept = Kept()
    for message, statements in lived.read:
        _count_message(kept, message, statements, lived)
    return kept


def _count_message(kept: Kept, message: Message, left: Sequence[Statement], lived: Lived) -> None:
    for keep in message.keeps:
        kept.expected += 1
        match = next((each for each in left if _holds(each, keep.words)), None)
        if match is None:
            kept.worst.append(f"not kept: {keep.words} of {message.text!r}")
            continue
        kept.found += 1
        kept.of_category += match.category.value in keep.categories
        if match.category.value not in keep.categories:
            kept.worst.append(f"{match.category.value}, not {keep.categories}: {match.narrative!r}")
        kept.of_subject += _is_about(match, keep, message)
        if not _is_about(match, keep, message):
            kept.worst.append(f"{match.subject!r}, not {keep.about}: {match.narrative!r}")
        _count_end(kept, keep, match, lived)
    if not message.keeps and not message.may_keep:
        kept.empty += 1
        kept.left_alone += not left
        kept.worst += [f"not worth keeping: {each.narrative!r}" for each in left]


def _holds(statement: Statement, words: Sequence[str]) -> bool:
    text = f"{statement.text} {statement.narrative}".lower()
    return all(word in text for word in words)


def _is_about(statement: Statement, keep: Keep, message: Message) -> bool:
    """Whether a statement is put under whom it is about; what is of the household may be of whoever says it."""
    if keep.about == "household":
        return True
    if keep.about == message.by:
        return statement.subject in {_ME, message.by} or keep.about in statement.subject
    return keep.about in f"{statement.subject} {statement.title}".lower()


def _count_end(kept: Kept, keep: Keep, statement: Statement, lived: Lived) -> None:
    """Count whether something is still told at the end, and should be."""
    is_told = _is_told(lived, statement.fact_id)
    if keep.is_outdated:
        kept.outdated += 1
        kept.stale += is_told
        if is_told:
            kept.worst.append(f"outdated and still told: {statement.narrative!r}")
    elif not is_told and not statement.is_retraction:
        kept.lost += 1
        kept.worst.append(f"told no more: {statement.narrative!r}")


def _is_told(lived: Lived, fact_id: str | None) -> bool:
    fact = lived.facts.get(fact_id or "")
    while fact is not None and fact.status is FactStatus.MERGED_INTO:
        fact = lived.facts.get(fact.merged_into_id or "")
    return fact is not None and fact.is_current(lived.ended)


def _kept_table(kept: dict[str, Kept]) -> Table:
    return Table(
        title="What is kept of three months",
        columns=(
            "household",
            "worth keeping",
            "found",
            "nothing kept of others",
            "category",
            "subject",
            "outdated",
            "still told",
            "lost",
        ),
        rows=tuple(
            (
                name,
                each.expected,
                _share(each.found, each.expected),
                _share(each.left_alone, each.empty),
                _share(each.of_category, each.found),
                _share(each.of_subject, each.found),
                each.outdated,
                each.stale,
                each.lost,
            )
            for name, each in kept.items()
        ),
    )


def _answers_table(lived: dict[str, Lived]) -> Table:
    rows: list[tuple[str | int | float, ...]] = []
    for name, each in lived.items():
        for way in ("chat", "brain"):
            counted = Counter(
                (asked.question.want, asked.question.came_to(_answer(asked, way)))
                for asked in each.asked
            )
            for want in Want:
                of = {came: counted[want, came] for came in Came}
                number = sum(of.values())
                rows.append((f"{name}, {way}: {want.value}", number, *(of[came] for came in Came)))
        known = [asked for asked in each.asked if asked.question.want is Want.KNOWN]
        hits = sum(_is_found(asked) for asked in known)
        rows.append((f"{name}, search: known", len(known), hits, len(known) - hits, 0, 0))
    return Table(
        title="Questions asked in between",
        columns=("questions", "number", *(came.value for came in Came)),
        rows=tuple(rows),
    )


def _answer(asked: Asked, way: str) -> str:
    return asked.told if way == "chat" else asked.known


def _is_found(asked: Asked) -> bool:
    return asked.question.came_to("\n".join(asked.found)) is Came.RIGHT


def _figures(kept: Kept, lived: Lived) -> dict[str, float]:
    known = [each for each in lived.asked if each.question.want in {Want.KNOWN, Want.OLD}]
    came = [each.question.came_to(each.told) for each in known]
    leaks = [
        each.question.came_to(_answer(each, way)) is Came.LEAKED
        for each in lived.asked
        for way in ("chat", "brain")
    ]
    return {
        "found": _share(kept.found, kept.expected),
        "nothing kept of others": _share(kept.left_alone, kept.empty),
        "subject": _share(kept.of_subject, kept.found),
        "answers right": _share(came.count(Came.RIGHT), len(came)),
        "answers not wrong": 1 - _share(came.count(Came.WRONG), len(came)),
        "no leak": 1 - _share(sum(leaks), len(leaks)),
    }


def _mistakes(lived: Lived) -> Iterator[str]:
    for asked in lived.asked:
        for way in ("chat", "brain"):
            answer = _answer(asked, way)
            came = asked.question.came_to(answer)
            if came is not Came.RIGHT:
                yield f"{way}, {came.value}: {asked.question.text} -> {answer!r}"
        if asked.question.want is Want.KNOWN and not _is_found(asked):
            yield f"search: {asked.question.text} -> {asked.found!r}"


def _share(part: int, whole: int) -> float:
    return part / whole if whole else 0.0
