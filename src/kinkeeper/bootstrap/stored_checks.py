"""Checks of what a database holds: memory, its upkeep, reminders, and keys that never end."""

from collections.abc import Sequence
from dataclasses import replace
from datetime import datetime

from sqlalchemy import URL

from kinkeeper.bootstrap.memory import memory_findings
from kinkeeper.bootstrap.nights import upkeep_findings
from kinkeeper.bootstrap.reminders import reminder_findings
from kinkeeper.household.model import Household
from kinkeeper.memory.invariants import check
from kinkeeper.observability.findings import Finding, Health, broken, ok
from kinkeeper.settings.model import Settings
from kinkeeper.store.checks import stored_findings
from kinkeeper.store.store import Store
from kinkeeper.web.access.model import KeyKind, is_alive
from kinkeeper.web.access.repository import list_keys

# Checks of what a database holds: whether memory is sound, found, and looked after; whether
# reminders are said.

_CHECK = "memory"
_SHOWN = 3


def stored_memory_findings(
    url: URL, settings: Settings, households: Sequence[Household], *, now: datetime
) -> Sequence[Finding]:
    """Check the memories in a database, as `stored_findings` does."""
    return stored_findings(
        url,
        _CHECK,
        lambda store: [
            *(_soundness(store, household.id) for household in households),
            *memory_findings(settings, households, store),
            *upkeep_findings(households, store, now=now),
            *reminder_findings(store, households, now=now),
        ],
    )


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


# Whether keys that open a household end at some time.

_KEYS_CHECK = "tokens"


def stored_key_findings(
    url: URL, households: Sequence[Household], *, now: datetime
) -> Sequence[Finding]:
    """Return which households have API tokens that never expire, as `stored_findings` does."""
    return stored_findings(
        url, _KEYS_CHECK, lambda store: [_tokens(store, each, now) for each in households]
    )


def _tokens(store: Store, household: Household, now: datetime) -> Finding:
    keys = store.read_now(lambda conn: list_keys(conn, household.id))
    alive = [each for each in keys if each.kind is KeyKind.TOKEN and is_alive(each, now)]
    endless = sum(each.expires_at is None for each in alive)
    if not endless:
        return ok(_KEYS_CHECK, f"{len(alive)} API tokens, all with an expiry date")
    return Finding(
        check=_KEYS_CHECK, health=Health.WARNING, found=f"{endless} of {len(alive)} API tokens never expire",
        remedy="see `kinkeeper token list`; revoke what is no longer used and create new ones, which last 365 days",
        household=household.id,
    )  # fmt: skip
