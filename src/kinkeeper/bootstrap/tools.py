"""What a check of the tool servers of the settings finds."""

from collections.abc import Sequence
from dataclasses import replace
from functools import partial
from pathlib import Path

from sqlalchemy import URL

from kinkeeper.connectors.tools.standing import CHECK, findings
from kinkeeper.core.errors import KinkeeperError
from kinkeeper.household.model import Household
from kinkeeper.observability.findings import Finding, broken, ok
from kinkeeper.settings.model import Settings
from kinkeeper.store.checks import is_up_to_date
from kinkeeper.store.engines import is_sqlite
from kinkeeper.store.store import Store


def tool_findings(
    settings: Settings, households: Sequence[Household], store: Store
) -> list[Finding]:
    """Return how the tool servers stood when they were last looked at. Blocks for the database.

    Args:
        settings: In force.
        households: For whom they are called.
        store: Their database.
    """
    servers = settings.tool_servers
    if not servers:
        return [ok(CHECK, "none; MCP_SERVERS names some")]
    return [
        replace(each, household=house.id)
        for house in households
        for each in store.read_now(partial(findings, household=house.id, servers=servers))
    ]


def stored_tool_findings(
    url: URL, settings: Settings, households: Sequence[Household]
) -> Sequence[Finding]:
    """Return how the tool servers stood by a database; one that is not there, or of another version, is left alone. Blocks.

    Args:
        url: Of the database.
        settings: In force.
        households: For whom they are called.
    """
    is_there = not is_sqlite(url) or Path(str(url.database)).exists()
    try:
        if not settings.tool_servers or not is_there or not is_up_to_date(url):
            return ()
        with Store.open(url.render_as_string(hide_password=False)) as store:
            return tool_findings(settings, households, store)
    except KinkeeperError as error:
        return [broken(CHECK, str(error), "see the message")]
