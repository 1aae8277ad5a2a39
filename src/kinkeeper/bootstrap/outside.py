"""What carries out, for each household, what its actions do outside the database."""

from collections.abc import Mapping, Sequence
from datetime import timedelta

from kinkeeper.actions.outside.adapter import Adapter
from kinkeeper.actions.outside.worker import OutsidePace, OutsideWorker
from kinkeeper.bootstrap.household_work import LongTask
from kinkeeper.bootstrap.mail import mail_adapters
from kinkeeper.core.time import Clock
from kinkeeper.household.model import Household
from kinkeeper.jobs.job import Pace
from kinkeeper.settings.model import Settings
from kinkeeper.store.store import Store

_CALL, _SPARE = timedelta(seconds=60), timedelta(seconds=30)


def outside_tasks(
    settings: Settings,
    households: Sequence[Household],
    store: Store,
    *,
    clock: Clock,
    pace: Pace,
    further: Mapping[str, Mapping[str, Adapter]],
) -> list[LongTask]:
    """Return one task a household that does what is queued to be done outside.

    Args:
        settings: In force.
        households: All of this installation.
        store: Their database.
        clock: Tells what is due.
        pace: How often to look for it.
        further: By household id, carry out what is not mail, by the name of the effect.
    """
    adapters = mail_adapters(settings, is_only_household=len(households) == 1)
    call = max([_CALL, *(each.longest_call for each in settings.tool_servers)])
    # Whoever takes a row calls, and may have to look what became of it.
    own_pace = OutsidePace(poll_every=pace.upkeep_every, call=call, lease=2 * call + _SPARE)
    return [
        OutsideWorker(
            store.locking(each.id),
            each.id,
            {**adapters, **further.get(each.id, {})},
            clock=clock,
            pace=own_pace,
        ).run
        for each in households
    ]
