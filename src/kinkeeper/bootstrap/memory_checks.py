"""Checks of what a database holds: whether memory is sound, found, and looked after; whether reminders are said."""

from collections.abc import Sequence
from dataclasses import replace
from datetime import datetime
from pathlib import Path

from sqlalchemy import URL

from kinkeeper.bootstrap.memory import memory_findings
from kinkeeper.bootstrap.nights import upkeep_findings
from kinkeeper.bootstrap.reminders import reminder_findings
from kinkeeper.core.errors import KinkeeperError
from kinkeeper.household.model import Household
from kinkeeper.memory.invariants import check
from kinkeeper.observability.findings import Finding, broken, ok
from kinkeeper.settings.model import Settings
from kinkeeper.store.checks import is_up_to_date
from kinkeeper.store.engines import is_sqlite
from kinkeeper.store.store import Store

_CHECK = "memory"
_SHOWN = 3


def stored_memory_findings(
    url: URL, settings: Settings, households: Sequence[Household], *, now: datetime
) -> Sequence[Finding]:
    """Check the memories in a database; one that is not there, or of another version, is left alone. Blocks.

    Args:
        url: Where it is.
        settings: In force.
        households: Whose memories.
        now: Aware.
    """
    if is_sqlite(url) and not Path(str(url.database)).exists():
        return ()
    try:
        if not is_up_to_date(url):
            return ()
        with Store.open(url.render_as_string(hide_password=False)) as store:
            return [
                *(_soundness(store, household.id) for household in households),
                *memory_findings(settings, households, store),
                *upkeep_findings(households, store, now=now),
                *reminder_findings(store, households, now=now),
            ]
    except KinkeeperError as error:
        return [broken(_CHECK, str(error), "see the message")]


def _soundness(store: Store, household: str) -> Finding:
    breaches = store.read_now(lambda conn: check(conn, household))
    if not breaches:
        found = ok(_CHECK, "every memory has a source")
        return replace(found, household=household)
    told = "; ".join(f"{len(each.ids)} × {each.what}" for each in breaches[:_SHOWN])
    if any(each.is_mendable for each in breaches):
        remedy = "run `kinkeeper doctor --mend`; you can undo it on the Memory page"
    else:
        remedy = "restore an earlier backup with `kinkeeper restore FILE`"
    return replace(broken(_CHECK, told, remedy), household=household)
