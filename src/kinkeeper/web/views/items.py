"""Things of the calendar as lines: time, title, people, how certain. Pure."""

from collections.abc import Mapping
from dataclasses import dataclass

from kinkeeper.calendar.model import EventKind
from kinkeeper.web.views.day_text import Wording
from kinkeeper.web.views.lanes import Look
from kinkeeper.web.views.overlay import Found
from kinkeeper.web.views.people import EVERYBODY, NOBODY, People, Person


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
        face: Whose colours it has: the one who does it, else the first who takes part.
        look: How certain it is.
        place: Display name, if any.
        href: Page that tells more; empty where there is nothing to tell.
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
    face: Person
    look: Look
    place: str
    href: str
    note: str


@dataclass(frozen=True, slots=True)
class Lines:
    """Makes lines for one household.

    Attributes:
        people: The household's.
        places: Names by id.
        wording: For the household, now.
    """

    people: People
    places: Mapping[str, str]
    wording: Wording

    def item(self, found: Found) -> Item:
        """Return the line of something."""
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
            face=_face(found, self.people), look=found.look, place=self.places.get(piece.place or "", piece.place or ""),
            href=found.href, note=found.note,
        )  # fmt: skip


def _face(found: Found, people: People) -> Person:
    piece = found.piece
    if found.look is Look.GAP:
        return NOBODY
    is_care = piece.kind is EventKind.CARE
    ordered = (*piece.responsible, *piece.who) if is_care else (*piece.who, *piece.responsible)
    return people.of(ordered[0]) if ordered else EVERYBODY
