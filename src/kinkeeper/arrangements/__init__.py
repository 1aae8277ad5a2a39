"""The plans of a household as its talk makes them: each frame opens, amends or closes one."""

from kinkeeper.arrangements.machine import fold
from kinkeeper.arrangements.model import (
    Absence,
    Arrangement,
    Change,
    ChangeKind,
    Folded,
    Heard,
    State,
    Status,
    When,
)

__all__ = [
    "Absence",
    "Arrangement",
    "Change",
    "ChangeKind",
    "Folded",
    "Heard",
    "State",
    "Status",
    "When",
    "fold",
]
