"""Composition root: settings to a running system; nothing else wires."""

from kinkeeper.bootstrap.houses import (
    Houses,
    database_address,
    household_path,
    live_intake,
    observer_config,
    open_houses,
    open_system,
    read_households,
)
from kinkeeper.bootstrap.system import System

__all__ = [
    "Houses",
    "System",
    "database_address",
    "household_path",
    "live_intake",
    "observer_config",
    "open_houses",
    "open_system",
    "read_households",
]
