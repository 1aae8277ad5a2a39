"""How well time expressions are read, on public test suites and real messages."""

import json
from collections.abc import Iterator, Mapping
from datetime import UTC, datetime
from pathlib import Path
from typing import Any, Final

from evals.report import Floor, Report, Table
from evals.when_gold import SCORERS, Verdict
from kinkeeper.core.errors import InputError
from kinkeeper.reading.times import read

# A little under what was reached; a floor is raised when the figure has risen, never lowered in silence.
FLOORS: Final[Mapping[str, float]] = {
    "recognizers_datetime_en exact": 0.70,
    "recognizers_datetime_en agreed": 0.82,
    "recognizers_datetime_en negatives silent": 0.90,
    "ctparse_timeparse_en exact": 0.78,
    "ctparse_timeparse_en en-GB exact": 0.80,
    "duckling_time_en exact": 0.66,
    "duckling_time_en agreed": 0.76,
    "timefhuman_tests agreed": 0.79,
    "chrono_en_tests agreed": 0.93,
    "chrono_en_tests negatives silent": 0.92,
    "hwu_slots recall": 0.97,
    "hwu_slots precision": 0.80,
    "coordination_real recall": 0.82,
}
_TIME_ENTITIES: Final = frozenset({"date", "time", "timeofday"})
_NO_REFERENCE: Final = datetime(2026, 3, 3, 9, 0, tzinfo=UTC)
# ctparse's travellers write the day first; it is measured in both orders.
_LOCALES: Final = (*((name, "en-US") for name in SCORERS), ("ctparse_timeparse_en", "en-GB"))


def measure(data: Path) -> Report:
    """Read every row of the public suites and compare.

    Args:
        data: Folder with the `*_dev.jsonl` files.

    Returns:
        Tables a suite, floors, and the mistakes.

    Raises:
        InputError: A file is missing.
    """
    resolved: list[tuple[str | int | float, ...]] = []
    negatives: list[tuple[str | int | float, ...]] = []
    figures: dict[str, float] = {}
    worst: list[str] = []
    for suite, locale in _LOCALES:
        verdicts, silent, mistakes = _suite(data, suite, locale)
        name = suite if locale == "en-US" else f"{suite} {locale}"
        count = len(verdicts)
        exact = sum(verdict is Verdict.EXACT for verdict in verdicts) / max(count, 1)
        agreed = sum(verdict is not Verdict.WRONG for verdict in verdicts) / max(count, 1)
        resolved.append((name, count, exact, agreed))
        figures[f"{name} exact"] = exact
        figures[f"{name} agreed"] = agreed
        if silent:
            share = sum(silent) / len(silent)
            negatives.append((name, len(silent), share))
            figures[f"{name} negatives silent"] = share
        worst.extend(mistakes)
    spans = _span_rows(data)
    figures.update(spans)
    floors = tuple(
        Floor(name=name, value=figures[name], minimum=minimum) for name, minimum in FLOORS.items()
    )
    tables = (
        Table(
            title="resolved to the suite's value",
            columns=("suite", "rows", "exact", "exact or other convention"),
            rows=tuple(resolved),
        ),
        Table(
            title="texts without a time kept silent",
            columns=("suite", "rows", "silent"),
            rows=tuple(negatives),
        ),
        Table(title="spans found", columns=("figure", "value"), rows=tuple(spans)),
    )
    return Report(suite="when", tables=tables, floors=floors, worst=tuple(worst))


def rows_of(data: Path, name: str) -> Iterator[Mapping[str, Any]]:
    """Yield the rows of a data set's development half.

    Raises:
        InputError: The file is missing.
    """
    path = data / f"{name}_dev.jsonl"
    if not path.exists():
        raise InputError(
            f"{path} is missing; name the folder that holds the public data with --data"
        )
    with path.open(encoding="utf-8") as lines:
        for line in lines:
            row: Mapping[str, Any] = json.loads(line)
            if row.get("mode", "default") == "default":
                yield row


def _suite(data: Path, name: str, locale: str) -> tuple[list[Verdict], list[bool], list[str]]:
    scorer = SCORERS[name]
    verdicts: list[Verdict] = []
    silent: list[bool] = []
    mistakes: list[str] = []
    for row in rows_of(data, name):
        if row["ref"] is None:
            continue
        reference = datetime.fromisoformat(row["ref"]).replace(tzinfo=UTC)
        spans = read(row["text"], reference, locale=locale)
        said = "; ".join(
            f"{span.surface!r} {span.kind} {span.begin:%Y-%m-%dT%H:%M}/{span.until:%Y-%m-%dT%H:%M}"
            for span in spans
        )
        if not row["items"]:
            silent.append(not spans)
            if spans:
                mistakes.append(f"{name}: {row['text'][:80]!r} should be silent, read {said}")
            continue
        verdict = scorer(spans, row)
        verdicts.append(verdict)
        if verdict is Verdict.WRONG:
            mistakes.append(
                f"{name}: {row['text'][:80]!r} read {said or 'nothing'}, gold {_gold(row)}"
            )
    return verdicts, silent, mistakes


def _gold(row: Mapping[str, Any]) -> str:
    return json.dumps(row["items"], ensure_ascii=False)[:160]


def _span_rows(data: Path) -> list[tuple[str, float]]:
    found = wanted = right = said = 0
    for row in rows_of(data, "hwu_slots"):
        gold = [
            (item["start"], item["end"])
            for item in row["entities"]
            if item["type"] in _TIME_ENTITIES
        ]
        mine = [(span.start_char, span.end_char) for span in read(row["text"], _NO_REFERENCE)]
        wanted += len(gold)
        said += len(mine)
        found += sum(any(_overlap(span, item) for span in mine) for item in gold)
        right += sum(any(_overlap(span, item) for item in gold) for span in mine)
    heard = asked = 0
    for row in rows_of(data, "coordination_real"):
        text = row["text"]
        mine = [(span.start_char, span.end_char) for span in read(text, _NO_REFERENCE)]
        for surface in row["labels"]["datetime_text"]:
            start = text.find(surface)
            if "<" in surface or start < 0:
                continue
            asked += 1
            heard += any(_overlap(span, (start, start + len(surface))) for span in mine)
    return [
        ("hwu_slots recall", found / max(wanted, 1)),
        ("hwu_slots precision", right / max(said, 1)),
        ("coordination_real recall", heard / max(asked, 1)),
    ]


def _overlap(left: tuple[int, int], right: tuple[int, int]) -> bool:
    return left[0] < right[1] and right[0] < left[1]
