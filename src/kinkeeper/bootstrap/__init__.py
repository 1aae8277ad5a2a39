"""Composition root: settings to a running system; nothing else wires."""

from kinkeeper.bootstrap.opening import (
    database_address as database_address,
)
from kinkeeper.bootstrap.opening import (
    observer_config as observer_config,
)
from kinkeeper.bootstrap.opening import (
    open_houses as open_houses,
)
from kinkeeper.bootstrap.opening import (
    open_system as open_system,
)
from kinkeeper.bootstrap.opening import (
    read_households as read_households,
)
from kinkeeper.bootstrap.system import Houses as Houses
from kinkeeper.bootstrap.system import System as System
