"""The brain by the settings: the household's own calendar and memory, or another program's brain over HTTP."""

import asyncio
from collections.abc import Sequence
from time import perf_counter

from kinkeeper.brain.household_brain import HouseholdBrain
from kinkeeper.brain.model import Brain, BrainQuery
from kinkeeper.core.errors import UnavailableError
from kinkeeper.core.time import Clock
from kinkeeper.household.model import Household
from kinkeeper.household.viewers import Viewer
from kinkeeper.memory.finding.search import Finder
from kinkeeper.observability.findings import Finding, ok, warning
from kinkeeper.settings.model import Settings
from kinkeeper.store.store import Store

_CHECK = "brain"
_PROBE = BrainQuery(text="events Monday")


def brain_of(
    settings: Settings, household: Household, store: Store, finder: Finder, *, clock: Clock
) -> Brain:
    """Return who answers the observer's questions about a household."""
    remote = _remote(settings, household.id)
    return remote or HouseholdBrain(store, household, finder, clock)


def brain_findings(settings: Settings, households: Sequence[Household]) -> Sequence[Finding]:
    """Ask the brain something about each household, and say how to mend what is wrong. Blocks."""
    if settings.brain_base_url is None:
        return (ok(_CHECK, "built in; set BRAIN_BASE_URL to use another program's memory"),)
    return tuple(asyncio.run(_probe(settings, household)) for household in households)


async def _probe(settings: Settings, household: Household) -> Finding:
    remote, begun = _remote(settings, household.id), perf_counter()
    remedy = "until it answers, the observer decides without it"
    try:
        async with asyncio.timeout(settings.brain_timeout_ms / 1000):
            if remote is not None:
                await remote.ask(_PROBE, Viewer.of(household.id))
    except TimeoutError:
        found = f"it gave no answer for {household.id!r} within {settings.brain_timeout_ms} ms"
        return warning(_CHECK, found, remedy)
    except UnavailableError as error:
        return warning(_CHECK, f"{error} (household {household.id!r})", remedy)
    took = (perf_counter() - begun) * 1000
    found = f"{settings.brain_base_url} answers for {household.id!r} in {took:.0f} ms"
    return ok(_CHECK, found)


def _remote(settings: Settings, household: str) -> Brain | None:
    if settings.brain_base_url is None:
        return None
    # Slow to load, and often not needed.
    from kinkeeper.bootstrap.brain_http import BrainServer  # noqa: PLC0415
    from kinkeeper.brain.remote import RemoteBrain  # noqa: PLC0415

    server = BrainServer(
        settings.brain_base_url + settings.brain_query_endpoint,
        token=settings.brain_token,
        seconds=settings.brain_timeout_ms / 1000,
    )
    return RemoteBrain(server.fetch, household)
