"""Whether keys that open a household end at some time."""

from collections.abc import Sequence
from datetime import datetime
from pathlib import Path

from sqlalchemy import URL

from kinkeeper.core.errors import KinkeeperError
from kinkeeper.household.model import Household
from kinkeeper.observability.findings import Finding, Health, broken, ok
from kinkeeper.store.checks import is_up_to_date
from kinkeeper.store.engines import is_sqlite
from kinkeeper.store.store import Store
from kinkeeper.web.access.model import KeyKind, is_alive
from kinkeeper.web.access.repository import list_keys

_CHECK = "tokens"


def stored_key_findings(
    url: URL, households: Sequence[Household], *, now: datetime
) -> Sequence[Finding]:
    """Return which households have API tokens that never expire. Blocks.

    A database that is not there, or of another version, is left alone.

    Args:
        url: Of the database.
        households: Whose tokens.
        now: Aware.
    """
    is_there = not is_sqlite(url) or Path(str(url.database)).exists()
    try:
        if not is_there or not is_up_to_date(url):
            return ()
        with Store.open(url.render_as_string(hide_password=False)) as store:
            return [_tokens(store, each, now) for each in households]
    except KinkeeperError as error:
        return [broken(_CHECK, str(error), "see the message")]


def _tokens(store: Store, household: Household, now: datetime) -> Finding:
    keys = store.read_now(lambda conn: list_keys(conn, household.id))
    alive = [each for each in keys if each.kind is KeyKind.TOKEN and is_alive(each, now)]
    endless = sum(each.expires_at is None for each in alive)
    if not endless:
        return ok(_CHECK, f"{len(alive)} API tokens, all with an expiry date")
    return Finding(
        check=_CHECK, health=Health.WARNING, found=f"{endless} of {len(alive)} API tokens never expire",
        remedy="see `kinkeeper token list`; revoke what is no longer used and create new ones, which last 365 days",
        household=household.id,
    )  # fmt: skip
