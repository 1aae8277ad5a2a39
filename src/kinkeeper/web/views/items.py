"""Things of the calendar in a stretch of time, what is proposed over them, and each as a line. Pure."""

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, replace
from datetime import datetime

from kinkeeper.actions.model import PendingAction
from kinkeeper.calendar.model import EventKind, Occurrence
from kinkeeper.calendar.search import is_busy
from kinkeeper.observer.model import Task
from kinkeeper.observer.redline.phrase_templates import Phrasing
from kinkeeper.web.views.addresses import card_href, event_href
from kinkeeper.web.views.calendar_diff import Change, Piece, Standing, changes_of, piece_of
from kinkeeper.web.views.day_text import Wording
from kinkeeper.web.views.lanes import Entry, Look
from kinkeeper.web.views.people import EVERYBODY, NOBODY, People, Person

# What stands in a stretch of time, and over it what is proposed, asked for, or about to go. Pure.


@dataclass(frozen=True, slots=True, kw_only=True)
class Found:
    """A piece of the calendar or of a proposal.

    Attributes:
        key: Tells it from all others.
        look: How certain it is.
        href: Page that tells more; empty where there is nothing to tell.
        note: What is to be decided about it, if anything.
        rival: Open action that asks which of several things it shall be; empty where none does.
    """

    key: str
    piece: Piece
    look: Look
    href: str
    note: str = ""
    rival: str = ""


def collect(
    occurrences: Iterable[Occurrence],
    pending: Iterable[PendingAction],
    standing: Standing,
    phrasing: Phrasing,
) -> Iterator[Found]:
    """Yield what stands and, over it, what is proposed; what a proposal would take away stays, marked.

    Args:
        phrasing: Names the jobs that nobody has.
    """
    actions = list(pending)
    leaving = {
        (change.before.event_id, change.before.original_start): action
        for action in actions
        for change in _wanted(action, standing)
        if change.before is not None and _goes(change)
    }
    rivals = {key: action.id for action in actions for key in _rivals(action, standing)}
    for occurrence in occurrences:
        piece = piece_of(occurrence)
        one, whole = (piece.event_id, piece.original_start), (piece.event_id, None)
        found = _standing(piece, occurrence, leaving.get(one) or leaving.get(whole))
        yield replace(found, rival=rivals.get(one) or rivals.get(whole) or "")
    for action in actions:
        yield from _proposed(action, standing, phrasing)


def _wanted(action: PendingAction, standing: Standing) -> tuple[Change, ...]:
    """Return what would change if everything proposed were wanted: Confirm, or the choice for both sides."""
    proposal = action.proposal
    effects = proposal.effects
    if not effects and proposal.conflict_key is not None and proposal.choices:
        effects = proposal.choices[-1].effects
    return changes_of(proposal.household, effects, standing)


def _rivals(action: PendingAction, standing: Standing) -> Iterator[tuple[str, datetime | None]]:
    """Yield what stands in the calendar and would be touched by some way out of a conflict."""
    proposal = action.proposal
    if proposal.conflict_key is None:
        return
    for choice in proposal.choices:
        for change in changes_of(proposal.household, choice.effects, standing):
            if change.before is not None:
                yield change.before.event_id, change.before.original_start


def _goes(change: Change) -> bool:
    """Whether what stood there would be gone from its time."""
    if change.after is None or change.before is None:
        return True
    return change.after.interval != change.before.interval


def _standing(piece: Piece, occurrence: Occurrence, action: PendingAction | None) -> Found:
    key = f"{piece.event_id}@{occurrence.original_start.isoformat()}"
    if action is not None:
        note = f"Needs approval: {action.proposal.summary}"
        return Found(key=key, piece=piece, look=Look.LEAVING, href=card_href(action), note=note)
    is_gap = piece.kind is EventKind.CARE and not piece.responsible
    return Found(
        key=key,
        piece=piece,
        look=Look.GAP if is_gap else Look.STANDS,
        href="" if is_busy(occurrence.event) else event_href(piece.event_id, piece.interval.start),
    )


def _proposed(action: PendingAction, standing: Standing, phrasing: Phrasing) -> Iterator[Found]:
    rival = "" if action.proposal.conflict_key is None else action.id
    for number, change in enumerate(_wanted(action, standing)):
        if change.after is not None and (change.before is None or _goes(change)):
            yield Found(
                key=f"{action.id}/{number}",
                piece=change.after,
                look=Look.PROPOSED,
                href=card_href(action),
                note="Needs approval",
                rival=rival,
            )
    for number, piece in enumerate(unowned(action, standing, title=job_title(action, phrasing))):
        yield Found(
            key=f"{action.id}/gap{number}",
            piece=piece,
            look=Look.GAP,
            href=card_href(action),
            note="Unassigned",
        )


def unowned(action: PendingAction, standing: Standing, *, title: str) -> tuple[Piece, ...]:
    """Return the jobs that an open action asks an owner for: choices that differ in the owner alone."""
    proposal = action.proposal
    if proposal.effects or proposal.conflict_key is not None or not proposal.choices:
        return ()
    ways = [
        [
            replace(change.after, responsible=(), event_id="", title="")
            for change in changes_of(proposal.household, choice.effects, standing)
            if change.after is not None
        ]
        for choice in proposal.choices
    ]
    if not all(way == ways[0] for way in ways):
        return ()
    return tuple(replace(piece, title=title) for piece in ways[0])


def job_title(action: PendingAction, phrasing: Phrasing) -> str:
    """Return what a job without an owner is called: "Leo soccer pickup"."""
    said = action.proposal.extraction
    activity, task = said.get("activity"), said.get("task")
    parts = [
        phrasing.names(said.get("child") or ()),
        phrasing.label(activity) if activity else "",
        phrasing.label(None, task) if task and task != Task.OTHER else "",
    ]
    return " ".join(part for part in parts if part) or action.proposal.summary


def busy_people(piece: Piece) -> tuple[str, ...]:
    """Return whom a piece keeps busy, as the calendar counts it for what stands."""
    if piece.all_day:
        return ()
    match piece.kind:
        case EventKind.BOOKING:
            return piece.who
        case EventKind.CARE:
            return piece.responsible
        case EventKind.BREAK | EventKind.DEADLINE:
            return ()


def entry_of(found: Found) -> Entry:
    """Return it as it is laid out on lanes."""
    piece = found.piece
    is_care = piece.kind is EventKind.CARE and bool(piece.responsible)
    return Entry(
        key=found.key,
        title=piece.title,
        span=piece.interval,
        owner=piece.responsible[0] if is_care else None,
        people=tuple(dict.fromkeys((*piece.who, *piece.responsible))),
        busy=() if found.look is Look.LEAVING else busy_people(piece),
        look=found.look,
        rival=found.rival,
    )


@dataclass(frozen=True, slots=True, kw_only=True)
class Item:
    """Something of the next hours, as a line.

    Attributes:
        key: As in the lanes.
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
            key=found.key,
            title=piece.title,
            day=wording.day(day),
            clock=clock,
            starts_at=wording.local(start).isoformat(timespec="minutes"),
            spoken=wording.long_day(day) if piece.all_day else wording.long_moment(start),
            people=self.people.each(piece.who),
            owners=(NOBODY,) if found.look is Look.GAP else owners,
            face=_face(found, self.people),
            look=found.look,
            place=self.places.get(piece.place or "", piece.place or ""),
            href=found.href,
            note=found.note,
        )


def _face(found: Found, people: People) -> Person:
    piece = found.piece
    if found.look is Look.GAP:
        return NOBODY
    is_care = piece.kind is EventKind.CARE
    ordered = (*piece.responsible, *piece.who) if is_care else (*piece.who, *piece.responsible)
    return people.of(ordered[0]) if ordered else EVERYBODY
