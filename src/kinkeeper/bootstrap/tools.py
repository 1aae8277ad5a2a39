"""The tool servers of the settings: what calls them for each household, and what a check of them finds."""

from collections.abc import AsyncIterator, Callable, Mapping, Sequence
from contextlib import AsyncExitStack, asynccontextmanager
from dataclasses import dataclass, replace
from functools import partial
from pathlib import Path

from sqlalchemy import URL

from kinkeeper.actions.effects.tools import CallTool
from kinkeeper.actions.outside.adapter import Adapter
from kinkeeper.actions.requests.model import RequestKind
from kinkeeper.connectors.tools.tool_status import CHECK, findings
from kinkeeper.core.errors import KinkeeperError
from kinkeeper.core.time import Clock
from kinkeeper.household.model import Household
from kinkeeper.observability.findings import Finding, broken, ok
from kinkeeper.settings.model import Settings
from kinkeeper.store.checks import is_up_to_date
from kinkeeper.store.engines import is_sqlite
from kinkeeper.store.store import Store


@dataclass(frozen=True, slots=True, kw_only=True)
class Tools:
    """What one household can ask of others' tools.

    Attributes:
        requests: A row for each tool that was offered last, as of the moment it is called.
        adapters: Carry out what a person said yes to, by the name of the effect.
    """

    requests: Callable[[], tuple[RequestKind, ...]]
    adapters: Mapping[str, Adapter]


@asynccontextmanager
async def tools_opened(
    settings: Settings,
    households: Sequence[Household],
    store: Store,
    clock: Clock,
    *,
    looks: bool = True,
) -> AsyncIterator[Mapping[str, Tools]]:
    """Yield what each household can ask for, by its id, for the length of the block; nothing without servers.

    Args:
        settings: In force.
        households: For whom they are called.
        store: Their database.
        clock: Tells the time.
        looks: Whether servers are asked now and then what they offer; else what they offered last counts.

    Raises:
        UnavailableError: The database cannot be reached.
    """
    if not settings.tool_servers:
        yield {}
        return
    # Loads the protocol's library, which takes seconds of a processor.
    from kinkeeper.connectors.tools.adapter import ToolAdapter  # noqa: PLC0415
    from kinkeeper.connectors.tools.servers import ToolServers  # noqa: PLC0415

    async with AsyncExitStack() as stack:
        opened = {}
        for house in households:
            servers = ToolServers(store.locking(house.id), house.id, settings.tool_servers, clock)
            await stack.enter_async_context(servers.looking() if looks else servers.running())
            adapters = {CallTool.model_fields["effect"].default: ToolAdapter(servers)}
            opened[house.id] = Tools(requests=servers.requests, adapters=adapters)
        yield opened


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
        return [ok(CHECK, "none; set MCP_SERVERS to use some")]
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
