"""All that can be asked of the assistant in one household."""

from collections.abc import Iterable
from datetime import timedelta

from kinkeeper.actions.requests.calendar import calendar_requests
from kinkeeper.actions.requests.memory import memory_requests
from kinkeeper.actions.requests.model import Catalogue, RequestKind
from kinkeeper.actions.requests.notes import note_requests
from kinkeeper.actions.requests.own_record import record_requests
from kinkeeper.actions.requests.tasks import task_requests
from kinkeeper.memory.finding.search import Finder
from kinkeeper.settings.model import Settings
from kinkeeper.store.store import Store


def catalogue_of(
    settings: Settings, store: Store, finder: Finder, *, further: Iterable[RequestKind] = ()
) -> Catalogue:
    """Return the table of requests of one household.

    Args:
        further: Rows that come from elsewhere: mail.
    """
    usual_length = timedelta(minutes=settings.default_event_minutes)
    return Catalogue(
        (
            *task_requests(store),
            *calendar_requests(store, usual_length=usual_length),
            *note_requests(store),
            *memory_requests(store, finder),
            *record_requests(store),
            *further,
        )
    )
