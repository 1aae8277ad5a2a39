"""Addresses of pages about one thing. Pure."""

from datetime import date, datetime
from urllib.parse import quote, urlencode

from kinkeeper.actions.model import PendingAction
from kinkeeper.calendar.model import Occurrence
from kinkeeper.core.time import as_utc


def card_href(action: PendingAction) -> str:
    """Return where an open action is decided."""
    return f"/pending#card-{action.id}"


def event_href(event_id: str, start: datetime) -> str:
    """Return where one occurrence is shown with where it comes from."""
    return f"/calendar/event/{quote(event_id, safe='')}?at={as_utc(start):%Y-%m-%dT%H:%M:%SZ}"


def edit_href(event_id: str, occurrence: Occurrence | None, what: str) -> str:
    """Return where an event is edited or deleted.

    Args:
        occurrence: The one that is meant; None for the next.
        what: "edit" or "delete".
    """
    at = "" if occurrence is None else f"?at={as_utc(occurrence.original_start):%Y-%m-%dT%H:%M:%SZ}"
    return f"/calendar/event/{quote(event_id, safe='')}/{what}{at}"


def new_href(day: date, span: str) -> str:
    """Return where an event is added on a day, and from which view of the calendar."""
    return f"/calendar/new?on={day.isoformat()}&span={span}"


def why_href(message_id: str, chat_id: str) -> str:
    """Return where it is told how a message was decided."""
    return f"/why/{quote(message_id, safe='')}?{urlencode({'chat': chat_id})}"


def replay_href(message_id: str, chat_id: str) -> str:
    """Return where a message is decided again."""
    return f"/replay/{quote(message_id, safe='')}?{urlencode({'chat': chat_id})}"


def invite_address(server: str, secret: str) -> str:
    """Return the link that logs its holder in once.

    Args:
        server: Where people reach the server.
    """
    return f"{server}/invite/{secret}"


def feed_address(server: str, secret: str) -> str:
    """Return where a calendar program finds the calendar.

    Args:
        server: Where people reach the server.
    """
    return f"{server}/calendar.ics?secret={secret}"
