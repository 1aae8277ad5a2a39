"""Changes of the calendar as lines a person reads before saying yes. Pure."""

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, replace

from kinkeeper.calendar.model import EventKind
from kinkeeper.web.views.calendar_diff import Change, Piece, Verb
from kinkeeper.web.views.day_text import Wording
from kinkeeper.web.views.people import NOBODY, People, Person

_HEADINGS = {
    Verb.ADD: "New event",
    Verb.MOVE: "Moves",
    Verb.CANCEL: "Removed",
    Verb.CANCEL_SERIES: "Removed",
    Verb.ASSIGN: "New person in charge",
    Verb.UPDATE: "Changes",
}
_SERIES_HEADINGS = {
    Verb.CANCEL_SERIES: "Whole series removed",
    Verb.UPDATE: "Whole series changed",
}


@dataclass(frozen=True, slots=True, kw_only=True)
class PieceLine:
    """One side of a change.

    Attributes:
        title: What it is.
        when: Day and time, in few words.
        spoken: The same in full.
        people: Who takes part.
        owners: Who is in charge.
        place: Display name, if any.
    """

    title: str
    when: str
    spoken: str
    people: tuple[Person, ...]
    owners: tuple[Person, ...]
    place: str


@dataclass(frozen=True, slots=True, kw_only=True)
class ChangeLine:
    """One change, before and after.

    Attributes:
        heading: What happens, in words.
        before: What is there; None of something new.
        after: What would be there; None where it is taken out.
        is_gone: Whether what it would change is no longer there.
    """

    heading: str
    before: PieceLine | None
    after: PieceLine | None
    is_gone: bool


@dataclass(frozen=True, slots=True)
class DiffWords:
    """Puts changes into words.

    Attributes:
        people: The household's.
        places: Names by id.
        wording: For the household, now.
    """

    people: People
    places: Mapping[str, str]
    wording: Wording

    def lines(self, changes: Iterable[Change]) -> tuple[ChangeLine, ...]:
        """Return a line for each change."""
        return tuple(self._line(change) for change in changes)

    def jobs(self, pieces: Iterable[Piece]) -> tuple[ChangeLine, ...]:
        """Return a line for each new entry that still lacks its owner."""
        return tuple(
            ChangeLine(
                heading="New event, assigned to the person you choose", before=None,
                after=replace(self.piece(piece), owners=(NOBODY,)), is_gone=False,
            )
            for piece in pieces
        )  # fmt: skip

    def piece(self, piece: Piece) -> PieceLine:
        """Return one piece of the calendar in words."""
        wording = self.wording
        day = piece.day(wording.zone)
        each_week = " (repeats)" if piece.repeats and piece.original_start is None else ""
        clock = "all day" if piece.all_day else wording.span(piece.interval)
        is_due = piece.kind is EventKind.DEADLINE
        return PieceLine(
            title=piece.title,
            when=f"{'due ' if is_due else ''}{wording.day(day)}, {clock}{each_week}",
            spoken=f"{wording.long_day(day)}, {clock}",
            people=self.people.each(piece.who),
            owners=self.people.each(piece.responsible),
            place=self.places.get(piece.place or "", piece.place or ""),
        )

    def _line(self, change: Change) -> ChangeLine:
        before = None if change.before is None else self.piece(change.before)
        after = None if change.after is None else self.piece(change.after)
        return ChangeLine(
            heading=_heading(change), before=before, after=after,
            is_gone=before is None and change.verb is not Verb.ADD,
        )  # fmt: skip


def _heading(change: Change) -> str:
    """Return what happens; a whole series is named only where there is one."""
    of_series = any(piece is not None and piece.repeats for piece in (change.before, change.after))
    series = _SERIES_HEADINGS if of_series else {}
    return series.get(change.verb, _HEADINGS[change.verb])
