"""Measure the shipped reader, as the program uses it, on the writers who are held out for good.

python -m training.measure_reader
python -m training.measure_reader --surface assistant --writers w26  of one kind of talk, of others
"""

import argparse
import json
from collections import Counter, defaultdict
from collections.abc import Collection, Iterator, Sequence
from dataclasses import dataclass, field
from datetime import datetime
from pathlib import Path
from time import thread_time
from typing import Any, Final
from zoneinfo import ZoneInfo

import numpy as np
from sklearn.metrics import average_precision_score, f1_score

from kinkeeper.reading.model import Clause, Context, Frame, Said, Slot, Surface, Utterance
from kinkeeper.reading.trained import TrainedReader
from training.corpus import HELD_OUT, Talk, read_corpus
from training.corpus import Clause as Labelled
from training.fit_reader import ASSISTANT, DATA, NO_PREDICATE, is_plan, people_of

_BINS: Final = 10


@dataclass(slots=True)
class _Counts:
    """What was found beside what is labelled, clause by clause."""

    acts: list[tuple[str, str]] = field(default_factory=list)
    predicates: list[tuple[str, str]] = field(default_factory=list)
    plans: list[tuple[bool, float]] = field(default_factory=list)
    sure: list[tuple[float, bool]] = field(default_factory=list)
    links: Counter[str] = field(default_factory=Counter)
    slots: defaultdict[str, Counter[str]] = field(default_factory=lambda: defaultdict(Counter))
    seconds: list[float] = field(default_factory=list)


def main() -> None:
    """Print the figures."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--surface", type=Surface, choices=[*Surface], help="only such talks")
    parser.add_argument("--writers", nargs="+", default=sorted(HELD_OUT))
    arguments = parser.parse_args()
    found = figures(
        TrainedReader(), writers=frozenset(arguments.writers), surface=arguments.surface
    )
    print(json.dumps(found, indent=1))


def figures(
    reader: TrainedReader,
    folder: Path = DATA,
    *,
    writers: Collection[str] = HELD_OUT,
    surface: Surface | None = None,
) -> dict[str, Any]:
    """Return how right the reader is on labelled clauses.

    Args:
        reader: Reads each message after the messages of its talk.
        folder: Labelled text.
        writers: Whose text is read; by default that of those held out.
        surface: Which talks are read; None reads all.
    """
    counts = _Counts()
    for writer, talk in read_corpus(folder):
        if writer in writers and surface in {None, talk.surface}:
            _read(reader, talk, counts)
    milliseconds = np.array(counts.seconds) * 1000
    return {
        "clauses": len(counts.acts),
        "act": _classes(counts.acts),
        "predicate": _classes(counts.predicates),
        "plans in groups": _plans(counts.plans) if counts.plans else {},
        "calibration error of p": _calibration(counts.sure),
        "links": {
            name: round(counts.links[f"{name} right"] / max(1, counts.links[name]), 3)
            for name in ("found", "wanted")
        },
        "slots": {name: _spans(own) for name, own in sorted(counts.slots.items())},
        "milliseconds": {
            "median": round(float(np.median(milliseconds)), 1),
            "p95": round(float(np.quantile(milliseconds, 0.95)), 1),
        },
    }


def _read(reader: TrainedReader, talk: Talk, counts: _Counts) -> None:
    at = datetime.fromisoformat(talk.at).replace(tzinfo=ZoneInfo("UTC"))
    items = tuple(f"{kind}: {text}" for kind, text in talk.items.values())
    before: list[Said] = []
    for message in talk.messages:
        if message.speaker != ASSISTANT:
            utterance = Utterance(
                text=message.text,
                speaker=message.speaker,
                sent_at=at,
                surface=Surface(talk.surface),
            )
            context = Context(before=tuple(before), items=items, people=people_of(talk))
            begun = thread_time()
            frames = reader.read(utterance, context).frames
            counts.seconds.append(thread_time() - begun)
            for clause in message.clauses:
                _count(counts, clause, _nearest(frames, clause), talk)
            if talk.surface == "group":
                counts.plans += [
                    (is_plan(each), _nearest(frames, each).plan) for each in message.clauses
                ]
            _count_slots(counts, message.clauses, frames)
        before.append(Said(message.speaker, message.text))


def _nearest(frames: Sequence[Frame], clause: Labelled) -> Frame:
    """Return the frame that shares most of a labelled clause."""

    def shared(own: Clause) -> int:
        return min(own.end, clause.end) - max(own.start, clause.start)

    return max(frames, key=lambda each: shared(each.clause))


def _count(counts: _Counts, clause: Labelled, frame: Frame, talk: Talk) -> None:
    wanted, found = clause.predicate or NO_PREDICATE, frame.predicate or NO_PREDICATE
    counts.acts.append((clause.act, frame.act.value))
    counts.predicates.append((wanted, str(found)))
    counts.sure.append((frame.p, (clause.act, wanted) == (frame.act.value, str(found))))
    is_item = clause.link is None and clause.item is not None
    aim = (
        None
        if clause.link is None and not is_item
        else ("item", [*talk.items].index(clause.item or 0))
        if is_item
        else ("said", (clause.link or 0) - 1)
    )
    target = frame.target
    got = (
        None
        if target is None
        else ("item", target.item)
        if target.said is None
        else ("said", target.said)
    )
    counts.links["wanted"] += aim is not None
    counts.links["found"] += got is not None
    for name in ("wanted", "found"):
        counts.links[f"{name} right"] += aim is not None and aim == got


def _count_slots(counts: _Counts, clauses: Sequence[Labelled], frames: Sequence[Frame]) -> None:
    wanted = {(slot.name, slot.start, slot.end) for each in clauses for slot in each.slots}
    found = {(*_key(slot),) for each in frames for slot in each.slots}
    for one, other, name in ((wanted, found, "wanted"), (found, wanted, "found")):
        for each in one:
            own = counts.slots[each[0]]
            own[name] += 1
            own[f"{name} exact"] += each in other
            own[f"{name} overlap"] += any(_overlap(each, theirs) for theirs in other)


def _key(slot: Slot) -> tuple[str, int, int]:
    return slot.name.value, slot.start, slot.end


def _overlap(one: tuple[str, int, int], other: tuple[str, int, int]) -> bool:
    return one[0] == other[0] and one[1] < other[2] and other[1] < one[2]


def _spans(own: Counter[str]) -> dict[str, float]:
    """Return the F of spans that are found to the letter, and of those that overlap."""
    total = own["wanted"] + own["found"]
    return {
        "wanted": own["wanted"],
        **{
            name: round((own[f"wanted {name}"] + own[f"found {name}"]) / total, 3)
            for name in ("exact", "overlap")
        },
    }


def _classes(pairs: Sequence[tuple[str, str]]) -> dict[str, Any]:
    wanted, found = (np.array(each) for each in zip(*pairs, strict=True))
    labels = sorted({*wanted, *found})
    by_label = f1_score(wanted, found, average=None, labels=labels, zero_division=0)
    return {
        "right": round(float((wanted == found).mean()), 3),
        "macro F": round(float(f1_score(wanted, found, average="macro", zero_division=0)), 3),
        "F by label": dict(zip(labels, (round(float(each), 2) for each in by_label), strict=True)),
    }


def _plans(pairs: Sequence[tuple[bool, float]]) -> dict[str, float]:
    wanted, score = (np.array(each) for each in zip(*pairs, strict=True))
    order = np.argsort(-score)
    precision = np.cumsum(wanted[order]) / np.arange(1, len(order) + 1)
    recall = np.cumsum(wanted[order]) / wanted.sum()
    return {
        "average precision": round(float(average_precision_score(wanted, score)), 3),
        **{
            f"recall at precision {least}": round(
                float(recall[precision >= least].max(initial=0)), 3
            )
            for least in (0.8, 0.9, 0.95)
        },
    }


def _calibration(pairs: Sequence[tuple[float, bool]]) -> float:
    """Return the expected calibration error over ten bins."""

    def gaps() -> Iterator[float]:
        for number in range(_BINS):
            own = [pair for pair in pairs if number == min(int(pair[0] * _BINS), _BINS - 1)]
            if own:
                chances, right = zip(*own, strict=True)
                yield abs(sum(chances) - sum(right))

    return round(sum(gaps()) / len(pairs), 3)


if __name__ == "__main__":
    main()
