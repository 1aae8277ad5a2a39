"""One entry of the calendar, with why it is there. Pure."""

from dataclasses import dataclass

from kinkeeper.actions.button_removal import can_be_undone
from kinkeeper.actions.calendar_import import SOURCE
from kinkeeper.actions.model import PendingAction
from kinkeeper.calendar.model import Event, EventState, Occurrence, SourceType
from kinkeeper.web.views.calendar_diff import piece_of, piece_of_event
from kinkeeper.web.views.diff import DiffWords, PieceLine
from kinkeeper.web.views.people import People
from kinkeeper.web.views.quotes import Quote

_SOURCES = {
    SourceType.SEED: "From the household file.",
    SourceType.OBSERVER: "Mentioned in the group chat.",
    SourceType.CHAT: "Someone asked for it in a chat.",
    SourceType.EMAIL_MANUAL: "From an email.",
    SourceType.ICS: "From a calendar file.",
    SourceType.CLI: "Added on the command line.",
    SourceType.WEB: "Added on these pages.",
}


@dataclass(frozen=True, slots=True, kw_only=True)
class EntryPage:
    """The page.

    Attributes:
        line: What it is.
        repeats: Whether it is one of a series.
        is_off: Whether it does not take place.
        source: Where it came from, in words.
        confirmed: Who said yes, in words; empty where nobody had to.
        quotes: Messages it rests on.
        undo_id: Action that can be taken back; empty where there is none.
        import_href: Where the import that brought it can be undone as a whole; empty where there is none.
    """

    line: PieceLine
    repeats: bool
    is_off: bool
    source: str
    confirmed: str
    quotes: tuple[Quote, ...]
    undo_id: str
    import_href: str


def entry_page(
    event: Event,
    occurrence: Occurrence | None,
    action: PendingAction | None,
    quotes: tuple[Quote, ...],
    *,
    words: DiffWords,
    people: People,
) -> EntryPage:
    """Return the page.

    Args:
        event: The entry.
        occurrence: The one that is looked at, where it is known.
        action: The confirmed action that wrote it, if any.
        quotes: Messages that action rests on.
        words: For the household, now.
        people: The household's.
    """
    provenance = event.provenance
    by = people.of(provenance.confirmed_by).name if provenance.confirmed_by else ""
    at = (
        f", {words.wording.moment(action.decided_at)}"
        if action is not None and action.decided_at is not None
        else ""
    )
    state = event.state if occurrence is None else occurrence.state
    piece = piece_of_event(event) if occurrence is None else piece_of(occurrence)
    undoable = action if action is not None and can_be_undone(action) else None
    is_imported = undoable is not None and undoable.proposal.source_type == SOURCE
    return EntryPage(
        line=words.piece(piece),
        repeats=event.rrule is not None,
        is_off=state is EventState.CANCELLED,
        source=_SOURCES[provenance.source_type],
        confirmed=f"Approved by {by}{at}." if by else "",
        quotes=quotes,
        undo_id=undoable.id if undoable and not is_imported else "",
        import_href=import_href(undoable) if undoable and is_imported else "",
    )


def import_href(action: PendingAction) -> str:
    """Return where an import can be undone as a whole.

    Args:
        action: One of its steps. The import's own id stays unsaid: ids of its events are made from it.
    """
    return f"/calendar/imports/{action.id}"
