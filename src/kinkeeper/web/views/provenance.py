"""One entry of the calendar, with why it is there. Pure."""

from dataclasses import dataclass

from kinkeeper.actions.announcing import can_be_undone
from kinkeeper.actions.model import PendingAction
from kinkeeper.calendar.model import Event, EventState, Occurrence, SourceType
from kinkeeper.web.views.changes import piece_of, piece_of_event
from kinkeeper.web.views.diff import DiffWords, PieceLine
from kinkeeper.web.views.people import People
from kinkeeper.web.views.quotes import Quote

_SOURCES = {
    SourceType.SEED: "It stands in the household file.",
    SourceType.OBSERVER: "It was heard in the chat.",
    SourceType.CHAT: "Somebody asked for it.",
    SourceType.EMAIL_MANUAL: "It came by mail.",
    SourceType.ICS: "It came with a calendar file.",
    SourceType.CLI: "It was entered on the command line.",
    SourceType.WEB: "It was entered here.",
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
    """

    line: PieceLine
    repeats: bool
    is_off: bool
    source: str
    confirmed: str
    quotes: tuple[Quote, ...]
    undo_id: str


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
    return EntryPage(
        line=words.piece(piece),
        repeats=event.rrule is not None,
        is_off=state is EventState.CANCELLED,
        source=_SOURCES[provenance.source_type],
        confirmed=f"{by} said yes{at}." if by else "",
        quotes=quotes,
        undo_id=action.id if action is not None and can_be_undone(action) else "",
    )
