"""Accuracy of routing on whole turns: social exits, what they lose, and what goes on with what was said before."""

import asyncio
from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

from evals.report import Table, share
from evals.routing_gold import (
    FOLLOW_UP_SETS,
    FREE_SOURCES,
    FollowUp,
    Line,
    SocialText,
    follow_ups,
    requests_in_context,
    social_texts,
)
from evals.sorting_gold import CALENDAR_SET, COMPOSED_SET, SINGLE_SETS
from kinkeeper.conversation.model import Exchange, Social
from kinkeeper.conversation.routing.clause_words import clauses_of
from kinkeeper.conversation.routing.intent import goes_on, read_social
from kinkeeper.conversation.routing.router import Router, exchanges_of
from kinkeeper.models.embedding.embedder import Embedder

FLOORS = {
    "social: right": 0.9,
    "social: goes on rightly": 0.98,
    "social: requests not lost": 0.999,
    **{
        f"follow-ups, {name}: recall": floor
        for name, floor in zip(FOLLOW_UP_SETS, (0.8, 0.85), strict=True)
    },
}
_NONE = "none"
_EXIT_OF = {
    "greeting": Social.ACKNOWLEDGE,
    "thanks": Social.ACKNOWLEDGE,
    "ack": Social.ACKNOWLEDGE,
    "goodbye": Social.ACKNOWLEDGE,
    "cancel": Social.CANCEL,
    "negate": Social.CANCEL,
}
_IN_CONTEXT = 300


@dataclass(frozen=True, slots=True, kw_only=True)
class Turns:
    """What was measured on whole turns.

    Attributes:
        tables: Results.
        values: Of the floors, by name.
        worst: The most telling mistakes, a line each.
    """

    tables: tuple[Table, ...]
    values: Mapping[str, float]
    worst: tuple[str, ...]


def measure_turns(data: Path, embedder: Embedder | None) -> Turns:
    """Measure what whole turns come to; sets of dialogues are only measured on, never fitted.

    Args:
        data: Folder with the public sets.
        embedder: Compares meaning where domains are taken over from earlier turns.

    Raises:
        InputError: A set is missing.
    """
    read = [(each, read_social(each.text)) for each in social_texts(data) if each.is_held_out]
    social, lost = _social(read), _lost(data)
    follows = [_follow_ups(data, name, embedder) for name in FOLLOW_UP_SETS]
    return Turns(
        tables=(
            social,
            _confusion(read),
            lost.table,
            Table(
                title="Follow-ups",
                rows=tuple(follows),
                columns=("dialogues", "turns", "recall", "false", "domain kept"),
            ),
        ),
        values={
            "social: right": float(social.rows[-1][2]),
            "social: goes on rightly": 1 - float(social.rows[-1][5]),
            "social: requests not lost": 1 - lost.share,
            **{f"follow-ups, {row[0]}: recall": float(row[2]) for row in follows},
        },
        worst=lost.worst,
    )


def _social(read: Sequence[tuple[SocialText, Social | None]]) -> Table:
    groups: Mapping[str, Callable[[SocialText], bool]] = {
        "like those fitted on": lambda each: each.source in FREE_SOURCES,
        "sgd": lambda each: each.source == "sgd",
        "smcalflow": lambda each: each.source == "smcalflow",
        "all, sure labels": lambda each: each.is_sure,
        "all": lambda _: True,
    }
    return Table(
        title="The social filter, on what it was not fitted on",
        columns=("messages", "number", "right", "right kind", "recall", "false exit"),
        rows=tuple(
            (name, *_exits([pair for pair in read if belongs(pair[0])]))
            for name, belongs in groups.items()
        ),
    )


def _exits(
    read: Sequence[tuple[SocialText, Social | None]],
) -> tuple[int, float, float, float, float]:
    left = [(each.label != _NONE, social is not None) for each, social in read]
    kinds = [_EXIT_OF.get(each.label) is social for each, social in read]
    return (
        len(read),
        share(gold is found for gold, found in left),
        share(kinds),
        share(found for gold, found in left if gold),
        share(found for gold, found in left if not gold),
    )


def _confusion(read: Sequence[tuple[SocialText, Social | None]]) -> Table:
    exits = (*Social, None)
    counts = Counter((each.label, social) for each, social in read)
    return Table(
        title="What social messages were taken for",
        columns=("label", *(str(each.value).lower() if each else "goes on" for each in exits)),
        rows=tuple(
            (label, *(counts[label, each] for each in exits)) for label in (*_EXIT_OF, _NONE)
        ),
    )


@dataclass(frozen=True, slots=True, kw_only=True)
class _Lost:
    table: Table
    share: float
    worst: tuple[str, ...]


def _lost(data: Path) -> _Lost:
    """Return how many requests would leave by the social exit."""
    rows: list[tuple[str | int | float, ...]] = []
    worst: list[str] = []
    total = 0
    for name in (*SINGLE_SETS, CALENDAR_SET, COMPOSED_SET):
        requests = [*requests_in_context(data, name)]
        lost = [
            text for text, has_context in requests if read_social(text, has_referent=has_context)
        ]
        rows.append((name, len(requests), len(lost)))
        worst += [f"{name}: lost to a social exit: {text!r}" for text in lost]
        total += len(requests)
    table = Table(
        title="Requests lost to a social exit",
        columns=("requests", "number", "lost"),
        rows=tuple(rows),
    )
    return _Lost(table=table, share=len(worst) / total, worst=tuple(worst))


def _follow_ups(
    data: Path, name: str, embedder: Embedder | None
) -> tuple[str, int, float, float, float | str]:
    turns = [*follow_ups(data, name)]
    found = [
        (each.is_followup, goes_on(clauses_of(each.text), _history(each.before))) for each in turns
    ]
    has_domains = any(each.domains for each in turns)
    return (
        name,
        len(turns),
        share(seen for gold, seen in found if gold),
        share(seen for gold, seen in found if not gold),
        asyncio.run(_kept(turns, embedder)) if has_domains else "-",
    )


async def _kept(turns: Sequence[FollowUp], embedder: Embedder | None) -> float:
    """Return the share of follow-ups with a domain of which it is found, on a sample."""
    own = [each for each in turns if each.is_followup and each.domains]
    router = Router(embedder)
    kept: list[bool] = []
    for each in own[:: len(own) // _IN_CONTEXT + 1]:
        routed = await router.route(each.text, history=_history(each.before))
        kept.append(each.domains <= set(routed.triage.domains))
    return share(kept)


def _history(lines: Sequence[Line]) -> list[Exchange]:
    return exchanges_of((line.is_assistant, line.text) for line in lines)
