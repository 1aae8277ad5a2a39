"""Tables, figures and mistakes of extraction, out of messages that were replayed."""

from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from functools import partial

from evals.extraction import Understood
from evals.report import Table, share
from kinkeeper.observer.model import Tier1Decision

Cells = tuple[str | int | float, ...]

_WORST = 25
_share = partial(share, of_none=1.0)


def real_tables(understood: Sequence[Understood]) -> tuple[Table, ...]:
    """Return the tables of real messages: what was found, by source and by kind."""
    return (
        Table(
            title="Extraction: real messages that arrange something, tripwire open",
            columns=(
                "part",
                "messages",
                "found",
                "kind right of found",
                "person right",
                "wrong person",
                "times named",
                "times read",
            ),
            rows=tuple(_real_row(name, part) for name, part in _parts(understood)),
        ),
        Table(
            title="Extraction: real messages by kind",
            columns=("kind", "messages", "found", "kind right of found"),
            rows=tuple(_kind_rows(understood)),
        ),
    )


def _parts(understood: Sequence[Understood]) -> Iterator[tuple[str, list[Understood]]]:
    yield "sure", [each for each in understood if each.is_sure]
    yield "all", list(understood)
    for source in sorted({each.source for each in understood}):
        yield f"sure: {source}", [e for e in understood if e.is_sure and e.source == source]


def real_figures(understood: Sequence[Understood]) -> dict[str, float]:
    """Return the figures of real messages by name, of those judged without doubt."""
    sure = [each for each in understood if each.is_sure]
    found = [each for each in sure if each.is_found]
    return {
        "found": _share(each.is_found for each in sure),
        "kind right": _share(each.kind == each.wanted_kind for each in found),
        "person right": _share(each.is_right_person for each in sure),
        "given to no wrong person": _share(not each.is_wrong_person for each in sure),
        "times read": _share(right for each in sure for right in each.times_found()),
    }


def _real_row(name: str, part: Sequence[Understood]) -> Cells:
    found = [each for each in part if each.is_found]
    times = [right for each in part for right in each.times_found()]
    return (
        name,
        len(part),
        _share(each.is_found for each in part),
        _share(each.kind == each.wanted_kind for each in found),
        _share(each.is_right_person for each in part),
        _share(each.is_wrong_person for each in part),
        len(times),
        _share(times),
    )


def _kind_rows(understood: Sequence[Understood]) -> Iterator[Cells]:
    for kind in sorted({kind for each in understood if (kind := each.wanted_kind)}):
        part = [each for each in understood if each.wanted_kind == kind]
        right = _share(each.kind == each.wanted_kind for each in part if each.is_found)
        yield kind, len(part), _share(each.is_found for each in part), right


def family_tables(understood: Sequence[Understood]) -> tuple[Table, ...]:
    """Return the tables of our own chats: gates, kinds, and whether answers find their question."""
    splits = {name: [e for e in understood if e.source == name] for name in ("dev", "heldout")}
    return (
        Table(
            title="Extraction: our own chats, both tiers",
            columns=(
                "part",
                "messages",
                "dropped",
                "coordination",
                "precision",
                "recall",
                "kind right of found",
                "answers",
                "answers attributed",
                "attributed wrongly",
                "spoken about small talk",
            ),
            rows=tuple(_family_row(name, part) for name, part in splits.items()),
        ),
        Table(
            title="Extraction: our own chats by kind",
            columns=("kind", "messages", "found", "kind right of found"),
            rows=tuple(_kind_rows([e for e in understood if e.labels["is_coordination"]])),
        ),
    )


def _family_row(name: str, part: Sequence[Understood]) -> Cells:
    figures = family_figures(part)
    answers = [each for each in part if each.labels["attribution_required"]]
    others = [each for each in part if not each.labels["attribution_required"]]
    return (
        name,
        len(part),
        _share(each.line["tier1_decision"] == Tier1Decision.DROP for each in part),
        sum(each.labels["is_coordination"] for each in part),
        figures["precision"],
        figures["recall"],
        figures["kind right"],
        len(answers),
        figures["answers attributed"],
        sum(each.line["attribution_source"] is not None for each in others),
        sum(each.is_false_speak for each in part),
    )


def family_figures(part: Sequence[Understood]) -> dict[str, float]:
    """Return the figures of our own chats by name."""
    wanted = [each for each in part if each.labels["is_coordination"]]
    found = [each for each in part if each.is_found]
    right = [each for each in found if each.labels["is_coordination"]]
    return {
        "precision": _share(each.labels["is_coordination"] for each in found),
        "recall": _share(each.is_found for each in wanted),
        "kind right": _share(e.kind == e.wanted_kind for e in right if e.wanted_kind),
        "answers attributed": _share(
            each.line["attribution_source"] is not None
            for each in part
            if each.labels["attribution_required"]
        ),
    }


def mistakes(understood: Sequence[Understood]) -> Iterator[str]:
    """Yield what was misunderstood, wrong persons first, as many of each class at most."""
    classes: dict[str, list[str]] = {
        "false message": [],
        "wrong person": [],
        "wrong kind": [],
        "not found": [],
    }
    for each in understood:
        head = f"[{each.source}] {each.text[:110]!r}"
        if each.source == "heldout" or not each.is_sure:
            continue
        if each.is_false_speak:
            classes["false message"].append(f"{head} {each.line['redline_trigger_rule']}")
        if not each.labels["is_coordination"]:
            continue
        if "assignee" in each.labels and each.is_wrong_person:
            who = f"{sorted(each.wanted_people)} got {sorted(each.people)}"
            classes["wrong person"].append(f"{head} expected {who}")
        if each.is_found and each.wanted_kind and each.kind != each.wanted_kind:
            classes["wrong kind"].append(f"{head} expected {each.wanted_kind} got {each.kind}")
        if not each.is_found:
            classes["not found"].append(f"{head} {each.line['reason']}")
    for name, lines in classes.items():
        yield from (f"{name} {line}" for line in lines[:_WORST])


def confused(name: str, understood: Iterable[Understood]) -> Table:
    """Return which kinds were taken for which, under the name of what was measured."""
    pairs = Counter(
        (str(each.wanted_kind), str(each.kind))
        for each in understood
        if each.is_found and each.wanted_kind and each.kind != each.wanted_kind
    )
    return Table(
        title=f"Extraction: {name}, kinds taken for others",
        columns=("is", "taken for", "messages"),
        rows=tuple((*pair, count) for pair, count in pairs.most_common(8)),
    )
