"""Where things stand on the lanes of a stretch of time, one lane a person, and as shapes. Pure.

Places are percent of the stretch, measured in real time, so a day with a clock change is as long as it is.
"""

from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime, time, timedelta
from enum import StrEnum
from itertools import combinations
from zoneinfo import ZoneInfo

from kinkeeper.core.time import Interval, as_utc
from kinkeeper.language.text import shorten
from kinkeeper.web.views.day_text import Wording
from kinkeeper.web.views.people import EVERYBODY, NOBODY, People, Person

HOUSEHOLD = "*"  # lane of what concerns no single person
_HUNDRED = 100.0
_EXACT = 4
_INSTANT = timedelta(minutes=15)  # how long something without length is drawn


class Look(StrEnum):
    """How certain something is."""

    STANDS = "stands"  # in the calendar
    PROPOSED = "proposed"  # awaits a yes
    LEAVING = "leaving"  # in the calendar; a proposal would take it away
    GAP = "gap"  # a job that nobody has


@dataclass(frozen=True, slots=True, kw_only=True)
class Entry:
    """Something that takes place in a stretch of time.

    Attributes:
        key: Tells it from all others.
        people: Member ids in whose lanes it stands; nobody's stands in the household's lane.
        busy: Those of them who cannot be elsewhere meanwhile.
        owner: Member id of the one who does it, whose colours it takes; None where it is a booking.
        look: How certain it is.
        rival: Key that all things share of which only one shall be; empty where it has no rival.
    """

    key: str
    title: str
    span: Interval
    people: tuple[str, ...] = ()
    owner: str | None = None
    busy: tuple[str, ...] = ()
    look: Look = Look.STANDS
    rival: str = ""


@dataclass(frozen=True, slots=True, kw_only=True)
class Block:
    """One entry in one lane.

    Attributes:
        row: Row within the lane, from 0; overlapping entries are in different rows.
        x: Left edge, percent.
        width: Percent.
        room: Percent from its left edge to the next block of its row, or to the end.
    """

    entry: Entry
    row: int
    x: float
    width: float
    room: float


@dataclass(frozen=True, slots=True, kw_only=True)
class Lane:
    """One person's stretch of time.

    Attributes:
        person: Member id, or `HOUSEHOLD`.
        rows: How many rows it has, >= 1.
    """

    person: str
    rows: int
    blocks: tuple[Block, ...]


@dataclass(frozen=True, slots=True, kw_only=True)
class Clash:
    """Two entries that keep one person busy at the same time.

    Attributes:
        person: Member id.
        first: The one that begins earlier.
        x: Where their common time begins, percent.
        width: Length of their common time, percent.
    """

    person: str
    first: Entry
    second: Entry
    x: float
    width: float


@dataclass(frozen=True, slots=True, kw_only=True)
class Contest:
    """What one person has of several things of which only one shall be.

    Attributes:
        person: Member id.
        rival: Key that the rivals share.
        x: Where the first of theirs begins, percent.
        width: Until the last of theirs ends, percent.
    """

    person: str
    rival: str
    x: float
    width: float


@dataclass(frozen=True, slots=True, kw_only=True)
class Tick:
    """A local hour.

    Attributes:
        x: Percent.
        at: The instant, aware, local.
        is_midnight: Whether a new day begins.
    """

    x: float
    at: datetime
    is_midnight: bool


@dataclass(frozen=True, slots=True, kw_only=True)
class Lanes:
    """A stretch of time, laid out.

    Attributes:
        lanes: One a person, in the order asked for; the household's last, where it has something.
        ticks: Local hours within the stretch.
    """

    span: Interval
    lanes: tuple[Lane, ...]
    clashes: tuple[Clash, ...]
    contests: tuple[Contest, ...]
    ticks: tuple[Tick, ...]


def lay_out(
    entries: Iterable[Entry], *, people: Sequence[str], span: Interval, zone: ZoneInfo, every: int
) -> Lanes:
    """Lay entries out.

    Every entry that shares time with the stretch stands exactly once in the lane of each of its people.

    Args:
        people: Member ids whose lanes are always drawn, in order; others follow as they come.
        span: The stretch, longer than nothing.
        every: Hours between ticks, a divisor of 24.
    """
    scale = _Scale(span)
    shown = sorted(
        (entry for entry in entries if scale.touches(entry)),
        key=lambda entry: (as_utc(entry.span.start), as_utc(entry.span.end), entry.key),
    )
    by_person: dict[str, list[Entry]] = {person: [] for person in people}
    for entry in shown:
        for person in dict.fromkeys(entry.people or (HOUSEHOLD,)):
            by_person.setdefault(person, []).append(entry)
    if HOUSEHOLD in by_person:
        by_person[HOUSEHOLD] = by_person.pop(HOUSEHOLD)
    return Lanes(
        span=span,
        lanes=tuple(_lane(person, found, scale) for person, found in by_person.items()),
        clashes=tuple(_clashes(by_person, scale)),
        contests=tuple(_contests(by_person, scale)),
        ticks=tuple(_ticks(scale, zone, every)),
    )


class _Scale:
    """Instants to percent of a stretch."""

    def __init__(self, span: Interval) -> None:
        self.start, self.end = as_utc(span.start), as_utc(span.end)
        self._length = (self.end - self.start).total_seconds()

    def touches(self, entry: Entry) -> bool:
        start, end = self.ends(entry)
        return start < self.end and end > self.start

    def ends(self, entry: Entry) -> tuple[datetime, datetime]:
        """Return when an entry is drawn to begin and end; nothing is drawn without length."""
        start, end = as_utc(entry.span.start), as_utc(entry.span.end)
        return start, end if end > start else start + _INSTANT

    def at(self, instant: datetime) -> float:
        """Return the place of an instant, clipped to the stretch."""
        seconds = (min(max(instant, self.start), self.end) - self.start).total_seconds()
        return round(seconds / self._length * _HUNDRED, _EXACT)


def _lane(person: str, entries: Sequence[Entry], scale: _Scale) -> Lane:
    """Put each entry into the first row that is free again when it begins."""
    rows: list[list[Entry]] = []
    for entry in entries:
        start, _ = scale.ends(entry)
        free = next((row for row in rows if scale.ends(row[-1])[1] <= start), None)
        if free is None:
            rows.append([entry])
        else:
            free.append(entry)
    blocks = [
        _block(entry, number, row[place + 1 :], scale)
        for number, row in enumerate(rows)
        for place, entry in enumerate(row)
    ]
    ordered = sorted(blocks, key=lambda block: (block.x, block.row))
    return Lane(person=person, rows=max(1, len(rows)), blocks=tuple(ordered))


def _block(entry: Entry, row: int, later: Sequence[Entry], scale: _Scale) -> Block:
    start, end = scale.ends(entry)
    x = scale.at(start)
    until = scale.at(scale.ends(later[0])[0]) if later else _HUNDRED
    return Block(
        entry=entry,
        row=row,
        x=x,
        width=round(scale.at(end) - x, _EXACT),
        room=round(until - x, _EXACT),
    )


def _clashes(by_person: Mapping[str, Collection[Entry]], scale: _Scale) -> Iterator[Clash]:
    found = [
        _clash(person, first, second, scale)
        for person, entries in by_person.items()
        for first, second in combinations(
            [entry for entry in entries if person in entry.busy and entry.look is not Look.GAP], 2
        )
        if first.span.overlaps(second.span)
    ]
    yield from sorted(found, key=lambda clash: (clash.x, clash.person, clash.second.key))


def _clash(person: str, first: Entry, second: Entry, scale: _Scale) -> Clash:
    begin = max(as_utc(first.span.start), as_utc(second.span.start))
    end = min(as_utc(first.span.end), as_utc(second.span.end))
    x = scale.at(begin)
    return Clash(
        person=person, first=first, second=second, x=x, width=round(scale.at(end) - x, _EXACT)
    )


def _contests(by_person: Mapping[str, Collection[Entry]], scale: _Scale) -> Iterator[Contest]:
    sides: dict[str, set[str]] = {}
    places: dict[tuple[str, str], list[float]] = {}
    for person, entries in by_person.items():
        for entry in (each for each in entries if each.rival):
            sides.setdefault(entry.rival, set()).add(entry.key)
            places.setdefault((person, entry.rival), []).extend(map(scale.at, scale.ends(entry)))
    for (person, rival), ends in sorted(places.items(), key=lambda each: (min(each[1]), each[0])):
        if len(sides[rival]) > 1:
            width = round(max(ends) - min(ends), _EXACT)
            yield Contest(person=person, rival=rival, x=min(ends), width=width)


def _ticks(scale: _Scale, zone: ZoneInfo, every: int) -> Iterator[Tick]:
    """Yield the local hours; one that a clock change skips has no tick, one that comes twice has one."""
    seen: set[datetime] = set()
    day = scale.start.astimezone(zone).date()
    while (midnight := datetime.combine(day, time(), tzinfo=zone)).astimezone(UTC) < scale.end:
        for hour in range(0, 24, every):
            local = datetime.combine(day, time(hour), tzinfo=zone)
            instant = local.astimezone(UTC)
            is_real = instant.astimezone(zone).replace(tzinfo=None) == local.replace(tzinfo=None)
            if scale.start < instant < scale.end and is_real and instant not in seen:
                seen.add(instant)
                yield Tick(x=scale.at(instant), at=local, is_midnight=hour == 0)
        day = midnight.date() + timedelta(days=1)


# Lanes as shapes: rows in pixels, places in percent, labels as long as there is room for. Pure.

_ROW = 28  # pixels from one row of a lane to the next
_EDGE = 11  # above the first row: a lane of one row is 44 pixels high, so that a thumb can hit it
_LEAST_WIDTH = 1.6  # percent: what is shorter would not be seen
_LETTERS_PER_PERCENT = 0.95  # of a track on a wide screen
_SHORTEST_LABEL = 6
_TEXT_INDENT = 0.4


@dataclass(frozen=True, slots=True, kw_only=True)
class DrawnBlock:
    """One block.

    Attributes:
        x: Left edge, percent.
        width: Percent.
        text_x: Where its label begins, percent.
        label: As much of the title as there is room for; empty where there is none.
        person: Whose colours it has.
        look: How certain it is.
    """

    x: float
    y: int
    width: float
    text_x: float
    label: str
    person: Person
    look: Look


@dataclass(frozen=True, slots=True, kw_only=True)
class Bracket:
    """A bracket over what collides or is claimed twice, percent."""

    x: float
    width: float
    end: float


@dataclass(frozen=True, slots=True, kw_only=True)
class DrawnLane:
    """One person's lane.

    Attributes:
        spoken: The lane in words.
        blocks: In order of time.
        brackets: Over what collides or is claimed twice.
    """

    person: Person
    height: int
    spoken: str
    blocks: tuple[DrawnBlock, ...]
    brackets: tuple[Bracket, ...]


@dataclass(frozen=True, slots=True, kw_only=True)
class DrawnTick:
    """An hour over the lanes, percent; at midnight the label is the new day."""

    x: float
    label: str
    is_midnight: bool


@dataclass(frozen=True, slots=True, kw_only=True)
class Drawing:
    """Lanes, drawn.

    Attributes:
        lanes: In order.
        ticks: Hours.
        weaves: Everybody whose pattern is used, each once.
    """

    lanes: tuple[DrawnLane, ...]
    ticks: tuple[DrawnTick, ...]
    weaves: tuple[Person, ...]


def draw(lanes: Lanes, *, people: People, wording: Wording) -> Drawing:
    """Return lanes as shapes."""
    drawn = tuple(_drawn_lane(lane, lanes, people, wording) for lane in lanes.lanes)
    used = [block.person for lane in drawn for block in lane.blocks]
    return Drawing(
        lanes=drawn,
        ticks=tuple(_tick(tick, wording) for tick in lanes.ticks),
        weaves=tuple(dict.fromkeys(used)),
    )


def _drawn_lane(lane: Lane, lanes: Lanes, people: People, wording: Wording) -> DrawnLane:
    person = EVERYBODY if lane.person == HOUSEHOLD else people.of(lane.person)
    return DrawnLane(
        person=person,
        height=2 * _EDGE + _ROW * lane.rows - (_ROW - 22),
        spoken=_spoken(person, lane.blocks, {each.rival for each in lanes.contests}, wording),
        blocks=tuple(_drawn_block(block, person, people) for block in lane.blocks),
        brackets=tuple(_brackets(lane, lanes)),
    )


def _brackets(lane: Lane, lanes: Lanes) -> Iterable[Bracket]:
    clashes = [each for each in lanes.clashes if each.person == lane.person]
    shown = {each.first.rival for each in clashes if each.first.rival == each.second.rival}
    contests = [
        each for each in lanes.contests if each.person == lane.person and each.rival not in shown
    ]
    places = [
        *((each.x, each.width) for each in clashes),
        *((each.x, each.width) for each in contests),
    ]
    for x, width in dict.fromkeys(places):
        yield Bracket(x=x, width=width, end=round(x + width, 4))


def _drawn_block(block: Block, person: Person, people: People) -> DrawnBlock:
    entry = block.entry
    letters = int((block.room - _TEXT_INDENT) * _LETTERS_PER_PERCENT)
    owner = person if entry.owner is None else people.of(entry.owner)
    return DrawnBlock(
        x=block.x,
        y=_EDGE + _ROW * block.row,
        width=max(block.width, _LEAST_WIDTH),
        text_x=round(block.x + _TEXT_INDENT, 4),
        label=shorten(entry.title, letters) if letters >= _SHORTEST_LABEL else "",
        person=NOBODY if entry.look is Look.GAP else owner,
        look=entry.look,
    )


def _tick(tick: Tick, wording: Wording) -> DrawnTick:
    label = wording.weekday(tick.at.date())[:3] if tick.is_midnight else wording.clock(tick.at)
    return DrawnTick(x=tick.x, label=label, is_midnight=tick.is_midnight)


def _spoken(
    person: Person, blocks: Sequence[Block], contested: Collection[str], wording: Wording
) -> str:
    if not blocks:
        return f"{person.name}: nothing planned"
    looks = {
        Look.STANDS: "",
        Look.PROPOSED: " (needs approval)",
        Look.GAP: " (unassigned)",
        Look.LEAVING: " (may be dropped)",
    }
    parts = [
        f"{wording.moment(entry.span.start)} {entry.title}{looks[entry.look]}"
        f"{' (clash)' if entry.rival in contested else ''}"
        for entry in (block.entry for block in blocks)
    ]
    return f"{person.name}: {'; '.join(parts)}"
