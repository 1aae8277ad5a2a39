"""Activity: how much was heard, and how little of it was said. Pure."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from kinkeeper.observer.accounts.metrics import LedgerDay, NearMiss
from kinkeeper.web.views.day_text import Wording
from kinkeeper.web.views.quotes import Quote

_HUNDRED = 100


@dataclass(frozen=True, slots=True, kw_only=True)
class Step:
    """How many messages came so far.

    Attributes:
        label: "heard", "understood", ...
        count: How many.
        width: Percent of those heard; of something that is not zero at least one.
    """

    label: str
    count: int
    width: int


@dataclass(frozen=True, slots=True, kw_only=True)
class Miss:
    """A message that was left alone although it came close.

    Attributes:
        quote: What was said.
        score: Two digits.
        needed: Two digits.
    """

    quote: Quote
    score: str
    needed: str


@dataclass(frozen=True, slots=True, kw_only=True)
class Page:
    """One day.

    Attributes:
        iso: ISO date.
        label: In few words.
        long_label: In full.
        sentence: "213 messages, 9 understood, 7 saved, 1 spoken".
        steps: From heard to spoken.
        misses: Nearest first.
    """

    iso: str
    label: str
    long_label: str
    sentence: str
    steps: tuple[Step, ...]
    misses: tuple[Miss, ...]


def ledger(
    days: Sequence[LedgerDay],
    quotes: Mapping[NearMiss, tuple[Quote, float]],
    *,
    wording: Wording,
) -> tuple[Page, ...]:
    """Return the days, newest first.

    Args:
        days: In any order.
        quotes: The near misses as they are quoted, with what they would have needed; one that is
            gone is left out.
        wording: For the household, now.
    """
    newest_first = sorted(days, key=lambda day: day.day, reverse=True)
    return tuple(_page(day, quotes, wording) for day in newest_first)


def _page(day: LedgerDay, quotes: Mapping[NearMiss, tuple[Quote, float]], wording: Wording) -> Page:
    counts = {
        "heard": day.messages, "understood": day.understood, "saved": day.saved,
        "spoken": day.spoken,
    }  # fmt: skip
    return Page(
        iso=day.day.isoformat(),
        label=wording.heading(day.day),
        long_label=wording.long_day(day.day),
        sentence=day.sentence,
        steps=tuple(
            Step(label=label, count=count, width=_width(count, day.messages))
            for label, count in counts.items()
        ),
        misses=tuple(
            Miss(quote=quotes[miss][0], score=f"{miss.score:.2f}", needed=f"{quotes[miss][1]:.2f}")
            for miss in day.near_misses
            if miss in quotes
        ),
    )


def _width(count: int, heard: int) -> int:
    if count <= 0 or heard <= 0:
        return 0
    return max(1, min(_HUNDRED, round(count / heard * _HUNDRED)))
