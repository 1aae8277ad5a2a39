"""Opens memory for commands that need no household file."""

from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from zoneinfo import ZoneInfo

from kinkeeper.bootstrap import database_address
from kinkeeper.cli.located import Where
from kinkeeper.cli.opener import log_to_stderr, opened, settings_of
from kinkeeper.household.model import Household
from kinkeeper.settings.model import Settings
from kinkeeper.store.store import Store

_NOBODYS = "household"


@dataclass(frozen=True, slots=True, kw_only=True)
class Memory:
    """Whose memory, and where it is.

    Attributes:
        zone: Of times without an offset.
        locale: Decides the order of numeric dates.
        people: The household, where it has a file.
    """

    settings: Settings
    store: Store
    household: str
    zone: ZoneInfo
    locale: str
    people: Household | None = None


@contextmanager
def memory_opened(where: Where) -> Iterator[Memory]:
    """Open the memory of the household; where there is no household file, one of nobody in particular."""
    settings = settings_of(where)
    if where.household or settings.family_context or Path("household.toml").is_file():
        with opened(where) as system:
            yield Memory(
                settings=system.settings,
                store=system.store,
                household=system.household.id,
                zone=system.household.zone,
                locale=system.household.locale,
                people=system.household,
            )
        return
    log_to_stderr()
    with Store.open(where.db or database_address(settings)) as store:
        yield Memory(
            settings=settings,
            store=store.locking(_NOBODYS),
            household=_NOBODYS,
            zone=ZoneInfo("UTC"),
            locale="en-US",
        )
