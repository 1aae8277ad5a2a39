"""The next 24 hours of a household, and a digest as its page shows it. Pure."""

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from datetime import date, time, timedelta

from kinkeeper.actions.model import PendingAction
from kinkeeper.calendar.model import Occurrence
from kinkeeper.core.time import Interval, as_utc
from kinkeeper.digest.content import DigestWords
from kinkeeper.digest.repository import Digest
from kinkeeper.web.views.calendar_diff import Standing
from kinkeeper.web.views.cards import ExpiredCard
from kinkeeper.web.views.day_text import Wording
from kinkeeper.web.views.items import Found, Item, Lines, collect, entry_of
from kinkeeper.web.views.lanes import Clash, DrawnLane, DrawnTick, Look, draw, lay_out
from kinkeeper.web.views.people import People, Person

AHEAD = timedelta(hours=24)
_TICK_HOURS = 6


@dataclass(frozen=True, slots=True, kw_only=True)
class Collision:
    """Things of which somebody has to choose, for the list.

    Attributes:
        heading: What is wrong, in words.
        sides: Their lines, at least two.
        href: Where it can be decided, if something of it awaits a yes.
    """

    heading: str
    sides: tuple[Item, ...]
    href: str

    @property
    def shared(self) -> Item | None:
        """A side whose day and time are those of all; None where they differ."""
        moments = {(side.day, side.clock) for side in self.sides}
        return self.sides[0] if len(moments) == 1 else None


@dataclass(frozen=True, slots=True, kw_only=True)
class DayGroup:
    """The lines of one local day.

    Attributes:
        label: "Today", "Tomorrow".
        long_label: The day in full.
        items: In order of time.
    """

    label: str
    long_label: str
    items: tuple[Item, ...]


@dataclass(frozen=True, slots=True, kw_only=True)
class Today:
    """The page.

    Attributes:
        title: The local day in full.
        sentence: The stretch in one line.
        ticks: Hours over the lanes.
        weaves: Everybody whose pattern is used.
        all_day: What has dates only.
        gaps: Jobs nobody has, in order of time.
        collisions: What collides, and what two have taken.
        groups: Everything with a time, by day.
        pending: How many proposals await a yes, whatever their day.
    """

    title: str
    sentence: str
    rows: tuple[DrawnLane, ...]
    ticks: tuple[DrawnTick, ...]
    weaves: tuple[Person, ...]
    all_day: tuple[Item, ...]
    gaps: tuple[Item, ...]
    collisions: tuple[Collision, ...]
    groups: tuple[DayGroup, ...]
    pending: int


def today(
    occurrences: Sequence[Occurrence],
    pending: Sequence[PendingAction],
    standing: Standing,
    *,
    lines: Lines,
) -> Today:
    """Return the page.

    Args:
        occurrences: Those that may share time with the next 24 hours.
    """
    people, wording = lines.people, lines.wording
    span = Interval(as_utc(wording.now), as_utc(wording.now) + AHEAD)
    found = [
        each
        for each in collect(occurrences, pending, standing, wording.phrasing)
        if each.piece.interval.overlaps(span)
    ]
    timed = [each for each in found if not each.piece.all_day]
    entries = {each.key: entry_of(each) for each in timed}
    lanes = lay_out(
        entries.values(),
        people=list(people.members),
        span=span,
        zone=wording.zone,
        every=_TICK_HOURS,
    )
    drawn = draw(lanes, people=people, wording=wording)
    items = {each.key: lines.item(each) for each in found}
    ordered = sorted(timed, key=lambda each: (each.piece.interval.start, each.key))
    gaps = tuple(items[each.key] for each in ordered if each.look is Look.GAP)
    clashes = _collisions(lanes.clashes, items, people)
    contests = _contests(found, lanes.clashes, items, people)
    collisions = sorted((*clashes, *contests), key=lambda each: each.sides[0].starts_at)
    return Today(
        title=wording.long_day(wording.today),
        sentence=_sentence(ordered, gaps, collisions, len(pending)),
        rows=drawn.lanes,
        ticks=drawn.ticks,
        weaves=drawn.weaves,
        all_day=tuple(items[each.key] for each in found if each.piece.all_day),
        gaps=gaps,
        collisions=tuple(collisions),
        groups=tuple(_grouped(ordered, items, wording)),
        pending=len(pending),
    )


def _collisions(
    clashes: Iterable[Clash], items: Mapping[str, Item], people: People
) -> tuple[Collision, ...]:
    found = []
    for clash in clashes:
        first, second = items[clash.first.key], items[clash.second.key]
        waiting = next((each for each in (second, first) if each.look is Look.PROPOSED), None)
        found.append(
            Collision(
                heading=f"{people.of(clash.person).name} in two places at once:",
                sides=(first, second),
                href=waiting.href if waiting else "",
            )
        )
    return tuple(found)


def _contests(
    found: Iterable[Found], clashes: Iterable[Clash], items: Mapping[str, Item], people: People
) -> Iterator[Collision]:
    """Yield what several have taken, or what else excludes each other without being at one time."""
    shown = {clash.first.rival for clash in clashes if clash.first.rival == clash.second.rival}
    by_rival: dict[str, list[Found]] = {}
    for each in found:
        if each.rival and each.rival not in shown:
            by_rival.setdefault(each.rival, []).append(each)
    for sides in by_rival.values():
        if len(sides) > 1:
            owners = list(dict.fromkeys(who for each in sides for who in each.piece.responsible))
            several = f"{people.names(owners)} both took this:"
            yield Collision(
                heading=several if len(owners) > 1 else "These clash:",
                sides=tuple(items[each.key] for each in sides),
                href=next((each.href for each in sides if each.look is Look.PROPOSED), ""),
            )


def _grouped(
    ordered: Sequence[Found], items: Mapping[str, Item], wording: Wording
) -> Iterator[DayGroup]:
    by_day: dict[date, list[Item]] = {}
    for each in ordered:
        day = max(wording.local(each.piece.interval.start).date(), wording.today)
        by_day.setdefault(day, []).append(items[each.key])
    for day, found in by_day.items():
        yield DayGroup(
            label=wording.heading(day), long_label=wording.long_day(day), items=tuple(found)
        )


def _sentence(
    timed: Sequence[Found], gaps: Sequence[Item], collisions: Sequence[Collision], pending: int
) -> str:
    planned = sum(each.look is not Look.GAP for each in timed)
    parts = [
        _counted(planned, "thing", "things") + " in the next 24 hours"
        if planned
        else "Nothing planned in the next 24 hours"
    ]
    if gaps:
        parts.append(_counted(len(gaps), "job", "jobs") + " nobody has")
    if collisions:
        parts.append(_counted(len(collisions), "conflict", "conflicts"))
    if pending:
        parts.append(f"{pending} waiting for approval")
    return ", ".join(parts) + "."


def _counted(number: int, one: str, many: str) -> str:
    return f"{number} {one if number == 1 else many}"


# A digest as its page shows it. Pure.


@dataclass(frozen=True, slots=True, kw_only=True)
class WaitingLine:
    """A plan that waits.

    Attributes:
        until: Until when it waits, in words.
    """

    href: str
    line: str
    until: str


@dataclass(frozen=True, slots=True, kw_only=True)
class DigestPage:
    """The page.

    Attributes:
        headline: How many plans wait; empty where none does.
        unassigned: What nobody has taken on for tomorrow, a sentence each.
        expired: What expired since the last digest.
        at: The chosen local time as HH:MM; empty where the digest is off.
        spoken_at: The same as the household's region writes it.
    """

    headline: str
    waiting: tuple[WaitingLine, ...]
    unassigned: tuple[str, ...]
    expired: tuple[ExpiredCard, ...]
    at: str
    spoken_at: str

    @property
    def is_empty(self) -> bool:
        """Whether there is nothing to tell."""
        return not (self.waiting or self.unassigned or self.expired)


def digest_page(
    digest: Digest, words: DigestWords, *, expired: Sequence[ExpiredCard], at: time | None
) -> DigestPage:
    """Return the page of a digest.

    Args:
        at: The chosen local time; None where the digest is off.
    """
    return DigestPage(
        headline=words.headline(len(digest.waiting)) if digest.waiting else "",
        waiting=tuple(
            WaitingLine(
                href=f"/pending#card-{each.id}",
                line=each.proposal.summary,
                until=f"Waits {words.expires(each.expires_at)}",
            )
            for each in digest.waiting
        ),
        unassigned=tuple(
            words.nobody(each) for each in digest.unassigned if each.action_id is None
        ),
        expired=tuple(expired),
        at="" if at is None else f"{at:%H:%M}",
        spoken_at="" if at is None else words.clock(at),
    )
