"""Family-chat episodes through the observer: what it found, said and kept, against what it should."""

from collections import defaultdict
from collections.abc import Iterable, Mapping, Sequence

from evals.episode_scoring import Check, Score
from evals.report import Floor, Report, Table

MINIMUMS: Mapping[str, float] = {
    "unprompted messages found": 0.97,
    "unprompted messages right": 0.97,
    "messages without a false one": 0.9995,
    "attributions right": 0.96,
    "cancellations and edits honoured": 0.97,
    "messages given to no wrong person": 1.0,
}

_WORST = 60


def report_scores(scores: Sequence[Score], *, minimums: Mapping[str, float] = MINIMUMS) -> Report:
    """Return the tables, floors and worst mistakes of judged episodes."""
    figures = _figures(scores)
    return Report(
        suite="episodes",
        tables=(_slice_table(scores), _field_table(scores), _speak_table(scores)),
        floors=tuple(
            Floor(name=name, value=figures[name], minimum=minimum)
            for name, minimum in minimums.items()
        ),
        worst=tuple(_mistakes(scores))[:_WORST],
    )


def _figures(scores: Sequence[Score]) -> dict[str, float]:
    found = sum(len(score.found) for score in scores)
    missed = sum(len(score.missed) for score in scores)
    extra = sum(len(score.extra) for score in scores)
    quiet = _quiet_messages(scores)
    false = sum(len(score.false_speaks) for score in scores)
    wrong = sum(len(score.wrong_people) for score in scores)
    messages = sum(len(score.episode.messages) for score in scores)
    return {
        "unprompted messages found": _ratio(found, found + missed),
        "unprompted messages right": _ratio(found, found + extra),
        "messages without a false one": 1 - false / max(quiet, 1),
        "attributions right": _mean(_attributions(scores)),
        "cancellations and edits honoured": _mean(_changes_honoured(scores)),
        "messages given to no wrong person": 1 - wrong / max(messages, 1),
    }


def _quiet_messages(scores: Sequence[Score]) -> int:
    return sum(
        len(score.episode.messages) - len({speak.about for speak in score.episode.speaks})
        for score in scores
    )


def _attributions(scores: Sequence[Score]) -> Iterable[bool]:
    """Yield, for each message that answers another, whether source and person are right."""
    for score in scores:
        by_message: dict[str | None, dict[str, bool]] = defaultdict(dict)
        for check in score.checks:
            by_message[check.message_id][check.field] = check.right
        for fields in by_message.values():
            if "attribution_source" in fields:
                yield fields["attribution_source"] and fields.get("assigned_to", True)


def _changes_honoured(scores: Sequence[Score]) -> Iterable[bool]:
    """Yield, for each episode with a change of mind, whether nothing stale is left or said."""
    for score in scores:
        checks = [check for check in score.checks if check.field in {"withdrawn", "pending"}]
        if score.episode.slice == "cancel_move_edit":
            yield score.spoke_right and all(check.right for check in checks)


def _slice_table(scores: Sequence[Score]) -> Table:
    by_slice: dict[str, list[Score]] = defaultdict(list)
    for score in scores:
        by_slice[score.episode.slice].append(score)
    rows = [_slice_row(name, group) for name, group in sorted(by_slice.items())]
    return Table(
        title="Episodes by situation",
        columns=(
            "situation",
            "episodes",
            "messages",
            "all right",
            "expectations met",
            "to be said",
            "said",
            "right",
            "false",
        ),
        rows=(*rows, _slice_row("all", scores)),
    )


def _slice_row(name: str, scores: Sequence[Score]) -> tuple[str | int | float, ...]:
    return (
        name,
        len(scores),
        sum(len(score.episode.messages) for score in scores),
        _mean(score.all_right for score in scores),
        _mean(check.right for score in scores for check in score.checks),
        sum(len(score.episode.speaks) for score in scores),
        sum(len(score.found) + len(score.extra) for score in scores),
        sum(len(score.found) for score in scores),
        sum(len(score.false_speaks) for score in scores),
    )


def _field_table(scores: Sequence[Score]) -> Table:
    by_field: dict[str, list[bool]] = defaultdict(list)
    for check in (check for score in scores for check in score.checks):
        by_field[_field_name(check)].append(check.right)
    return Table(
        title="Expectations by field",
        columns=("field", "expected", "right", "share"),
        rows=tuple(
            (field, len(rights), sum(rights), _mean(rights))
            for field, rights in sorted(by_field.items())
        ),
    )


def _field_name(check: Check) -> str:
    """Return the field; the two verdicts of tier 1 fail in opposite ways and count apart."""
    return f"tier 1 {check.expected}" if check.field == "tier1_decision" else check.field


def _speak_table(scores: Sequence[Score]) -> Table:
    rules = sorted(
        {speak.rule for score in scores for speak in (*score.episode.speaks, *score.extra)}
    )
    false = sum(len(score.false_speaks) for score in scores)
    totals: list[tuple[str | int | float, ...]] = [
        (
            "false ones per 1,000 messages that deserve none",
            1000 * false / max(_quiet_messages(scores), 1),
            "",
            "",
            "",
        ),
        ("given to a wrong person", sum(len(score.wrong_people) for score in scores), "", "", ""),
    ]
    return Table(
        title="Unprompted messages by rule",
        columns=("rule", "found", "missed", "unexpected", "at the wrong time"),
        rows=(*(_rule_row(rule, scores) for rule in rules), *totals),
    )


def _rule_row(rule: str, scores: Sequence[Score]) -> tuple[str | int | float, ...]:
    return (
        rule,
        *(
            sum(speak.rule == rule for score in scores for speak in getattr(score, kind))
            for kind in ("found", "missed", "extra", "mistimed")
        ),
    )


def _mistakes(scores: Sequence[Score]) -> Iterable[str]:
    """Yield what went wrong, the gravest kind first."""
    for score in scores:
        yield from (f"{score.episode.id} wrong person: {text}" for text in score.wrong_people)
    for score in scores:
        for speak in score.extra:
            yield f"{_about(score, speak.about)} unexpected {speak.rule}"
    for score in scores:
        for speak in score.missed:
            yield f"{_about(score, speak.about)} expected {speak.rule}, silent"
    for score in scores:
        for check in score.checks:
            if not check.right:
                place = _about(score, check.message_id)
                yield f"{place} {check.field}: expected {check.expected}, got {check.got}"


def _about(score: Score, message_id: str | None) -> str:
    texts = {message["message_id"]: message["text"] for message in score.episode.messages}
    return score.episode.id if message_id is None else f"{message_id} {texts[message_id]!r}"


def _mean(rights: Iterable[bool]) -> float:
    values = list(rights)
    return _ratio(sum(values), len(values))


def _ratio(part: int, whole: int) -> float:
    return part / whole if whole else 1.0
