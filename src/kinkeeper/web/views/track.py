"""Lanes as shapes: rows in pixels, places in percent, labels as long as there is room for. Pure."""

from collections.abc import Collection, Iterable, Sequence
from dataclasses import dataclass

from kinkeeper.language.text import shorten
from kinkeeper.web.views.day_text import Wording
from kinkeeper.web.views.lanes import HOUSEHOLD, Block, Lane, Lanes, Look, Tick
from kinkeeper.web.views.people import EVERYBODY, NOBODY, People, Person

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
        y: Upper edge, pixels.
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
        person: Whose.
        height: Pixels.
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
    drawn = tuple(_lane(lane, lanes, people, wording) for lane in lanes.lanes)
    used = [block.person for lane in drawn for block in lane.blocks]
    return Drawing(
        lanes=drawn,
        ticks=tuple(_tick(tick, wording) for tick in lanes.ticks),
        weaves=tuple(dict.fromkeys(used)),
    )


def _lane(lane: Lane, lanes: Lanes, people: People, wording: Wording) -> DrawnLane:
    person = EVERYBODY if lane.person == HOUSEHOLD else people.of(lane.person)
    return DrawnLane(
        person=person,
        height=2 * _EDGE + _ROW * lane.rows - (_ROW - 22),
        spoken=_spoken(person, lane.blocks, {each.rival for each in lanes.contests}, wording),
        blocks=tuple(_block(block, person, people) for block in lane.blocks),
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


def _block(block: Block, person: Person, people: People) -> DrawnBlock:
    entry = block.entry
    letters = int((block.room - _TEXT_INDENT) * _LETTERS_PER_PERCENT)
    owner = person if entry.owner is None else people.of(entry.owner)
    return DrawnBlock(
        x=block.x, y=_EDGE + _ROW * block.row, width=max(block.width, _LEAST_WIDTH),
        text_x=round(block.x + _TEXT_INDENT, 4),
        label=shorten(entry.title, letters) if letters >= _SHORTEST_LABEL else "",
        person=NOBODY if entry.look is Look.GAP else owner, look=entry.look,
    )  # fmt: skip


def _tick(tick: Tick, wording: Wording) -> DrawnTick:
    label = wording.weekday(tick.at.date())[:3] if tick.is_midnight else wording.clock(tick.at)
    return DrawnTick(x=tick.x, label=label, is_midnight=tick.is_midnight)


def _spoken(
    person: Person, blocks: Sequence[Block], contested: Collection[str], wording: Wording
) -> str:
    if not blocks:
        return f"{person.name}: nothing planned"
    looks = {
        Look.STANDS: "", Look.PROPOSED: " (needs approval)", Look.GAP: " (unassigned)",
        Look.LEAVING: " (may be dropped)",
    }  # fmt: skip
    parts = [
        f"{wording.moment(entry.span.start)} {entry.title}{looks[entry.look]}"
        f"{' (clash)' if entry.rival in contested else ''}"
        for entry in (block.entry for block in blocks)
    ]
    return f"{person.name}: {'; '.join(parts)}"
