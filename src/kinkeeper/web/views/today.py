"""The next 24 hours of a household: who is where, what nobody has, what collides, what waits. Pure."""

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from datetime import date, timedelta

from kinkeeper.actions.model import PendingAction
from kinkeeper.calendar.model import Occurrence
from kinkeeper.core.time import Interval, as_utc
from kinkeeper.web.views.changes import Standing
from kinkeeper.web.views.lanes import Clash, Look, lay_out
from kinkeeper.web.views.overlay import Found, collect, entry_of
from kinkeeper.web.views.people import NOBODY, People, Person
from kinkeeper.web.views.track import DrawnLane, DrawnTick, draw
from kinkeeper.web.views.wording import Wording

AHEAD = timedelta(hours=24)
_TICK_HOURS = 6


@dataclass(frozen=True, slots=True, kw_only=True)
class Item:
    """Something of the next hours, as a line.

    Attributes:
        key: As in the lanes.
        title: What it is.
        day: "today", "tomorrow".
        clock: "4:30pm – 5:30pm"; "all day".
        starts_at: ISO 8601, for machines.
        spoken: The same moment in full.
        people: Who takes part or does it.
        owners: Who is in charge, where that is said.
        look: How certain it is.
        place: Display name, if any.
        href: Page that tells more.
        note: What is to be decided about it, if anything.
    """

    key: str
    title: str
    day: str
    clock: str
    starts_at: str
    spoken: str
    people: tuple[Person, ...]
    owners: tuple[Person, ...]
    look: Look
    place: str
    href: str
    note: str


@dataclass(frozen=True, slots=True, kw_only=True)
class Collision:
    """Two things of one person at the same time, for the list.

    Attributes:
        person: Whose.
        first: Line of the earlier one.
        second: Line of the other.
        href: Where it can be decided, if something of it awaits a yes.
    """

    person: Person
    first: Item
    second: Item
    href: str


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
        rows: The lanes, drawn.
        ticks: Hours over the lanes.
        weaves: Everybody whose pattern is used.
        all_day: What has dates only.
        gaps: Jobs nobody has, in order of time.
        collisions: What collides.
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
    people: People,
    places: Mapping[str, str],
    wording: Wording,
) -> Today:
    """Return the page.

    Args:
        occurrences: Those that may share time with the next 24 hours.
        pending: All open actions.
        standing: What stands of what they would touch.
        people: The household's.
        places: Names by id.
        wording: For the household, now.
    """
    span = Interval(as_utc(wording.now), as_utc(wording.now) + AHEAD)
    found = [
        each
        for each in collect(occurrences, pending, standing, wording.phrasing)
        if each.piece.interval.overlaps(span)
    ]
    timed = [each for each in found if not each.piece.all_day]
    entries = {each.key: entry_of(each) for each in timed}
    lanes = lay_out(
        entries.values(), people=list(people.members), span=span, zone=wording.zone,
        every=_TICK_HOURS,
    )  # fmt: skip
    drawn = draw(lanes, people=people, wording=wording)
    line = _Lines(people, places, wording)
    items = {each.key: line.item(each) for each in found}
    ordered = sorted(timed, key=lambda each: (each.piece.interval.start, each.key))
    gaps = tuple(items[each.key] for each in ordered if each.look is Look.GAP)
    collisions = _collisions(lanes.clashes, items, people)
    return Today(
        title=wording.long_day(wording.today),
        sentence=_sentence(ordered, gaps, collisions, len(pending)),
        rows=drawn.lanes,
        ticks=drawn.ticks,
        weaves=drawn.weaves,
        all_day=tuple(items[each.key] for each in found if each.piece.all_day),
        gaps=gaps,
        collisions=collisions,
        groups=tuple(_grouped(ordered, items, wording)),
        pending=len(pending),
    )


@dataclass(frozen=True, slots=True)
class _Lines:
    """Makes lines."""

    people: People
    places: Mapping[str, str]
    wording: Wording

    def item(self, found: Found) -> Item:
        piece, wording = found.piece, self.wording
        start = piece.interval.start
        day = wording.local(start).date()
        clock = "all day" if piece.all_day else wording.span(piece.interval)
        owners = self.people.each(piece.responsible)
        return Item(
            key=found.key, title=piece.title, day=wording.day(day), clock=clock,
            starts_at=wording.local(start).isoformat(timespec="minutes"),
            spoken=wording.long_day(day) if piece.all_day else wording.long_moment(start),
            people=self.people.each(piece.who),
            owners=(NOBODY,) if found.look is Look.GAP else owners,
            look=found.look, place=self.places.get(piece.place or "", piece.place or ""),
            href=found.href, note=found.note,
        )  # fmt: skip


def _collisions(
    clashes: Iterable[Clash], items: Mapping[str, Item], people: People
) -> tuple[Collision, ...]:
    found = []
    for clash in clashes:
        first, second = items[clash.first.key], items[clash.second.key]
        waiting = next((each for each in (second, first) if each.look is Look.PROPOSED), None)
        found.append(
            Collision(
                person=people.of(clash.person), first=first, second=second,
                href=waiting.href if waiting else "",
            )
        )  # fmt: skip
    return tuple(found)


def _grouped(
    ordered: Sequence[Found], items: Mapping[str, Item], wording: Wording
) -> Iterator[DayGroup]:
    by_day: dict[date, list[Item]] = {}
    for each in ordered:
        day = max(wording.local(each.piece.interval.start).date(), wording.today)
        by_day.setdefault(day, []).append(items[each.key])
    for day, found in by_day.items():
        yield DayGroup(
            label=wording.day(day).capitalize(), long_label=wording.long_day(day),
            items=tuple(found),
        )  # fmt: skip


def _sentence(
    timed: Sequence[Found], gaps: Sequence[Item], collisions: Sequence[Collision], pending: int
) -> str:
    planned = sum(each.look is not Look.GAP for each in timed)
    parts = [
        _counted(planned, "thing", "things") + " in the next 24 hours" if planned else
        "Nothing planned in the next 24 hours",
    ]  # fmt: skip
    if gaps:
        parts.append(_counted(len(gaps), "job", "jobs") + " nobody has")
    if collisions:
        parts.append(_counted(len(collisions), "collision", "collisions"))
    if pending:
        parts.append(f"{pending} waiting for a yes")
    return ", ".join(parts) + "."


def _counted(number: int, one: str, many: str) -> str:
    return f"{number} {one if number == 1 else many}"
