"""What keeps a household's calendar in step with the calendar server of the settings."""

from functools import partial

from kinkeeper.connectors.caldav.address import Address
from kinkeeper.connectors.caldav.client import CalDavClient
from kinkeeper.connectors.caldav.kinds import Events, Todos
from kinkeeper.connectors.caldav.rounds import CalendarSync
from kinkeeper.core.errors import InputError
from kinkeeper.core.time import Clock
from kinkeeper.household.model import Household
from kinkeeper.settings.model import Settings
from kinkeeper.store.store import Store


def calendar_sync(
    settings: Settings, household: Household, store: Store, clock: Clock
) -> CalendarSync:
    """Return what keeps a household's calendar in step.

    Raises:
        InputError: No server is set up.
    """
    if settings.caldav_url is None:
        raise InputError("no calendar server is set up; set CALDAV_URL to use one")
    address = Address.parse(settings.caldav_url.get_secret_value())
    return CalendarSync(
        store=store.locking(household.id),
        household=household,
        kinds=(Events(household), Todos(household)),
        connect=partial(CalDavClient, address),
        clock=clock,
    )
