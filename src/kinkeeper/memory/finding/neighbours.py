"""Which text came before and after which in its session, whatever the order in which they arrive."""

from bisect import bisect_left
from collections.abc import Hashable

import numpy as np

from kinkeeper.memory.finding.columns import grown
from kinkeeper.memory.finding.postings import Slots

NOWHERE = 0
"""The place that no text has: what comes before the first of a session, and after the last."""
_ALONE = -1


class Neighbours:
    """Texts of sessions, chained in the order in which they were said."""

    def __init__(self) -> None:
        self._before = np.zeros(1, np.int32)
        self._after = np.zeros(1, np.int32)
        self._said_at = np.zeros(1)
        self._arrival = np.zeros(1, np.int64)
        self._session = np.full(1, _ALONE, np.int32)
        self._numbers: dict[Hashable, int] = {}
        self._sessions: list[list[int]] = []

    def grow(self, size: int) -> None:
        """Make room for places below `size`; none of the new ones has neighbours.

        Args:
            size: > 0.
        """
        self._before, self._after = grown(self._before, size), grown(self._after, size)
        self._said_at, self._arrival = grown(self._said_at, size), grown(self._arrival, size)
        self._session = grown(self._session, size, fill=_ALONE)

    def insert(self, slot: int, session: Hashable, *, said_at: float, arrival: int) -> None:
        """Put a text between its neighbours.

        Args:
            slot: Its place, below what there is room for.
            session: Whose texts are each other's neighbours.
            said_at: When, in seconds.
            arrival: Orders what was said at the same time.
        """
        number = self._numbers.setdefault(session, len(self._sessions))
        if number == len(self._sessions):
            self._sessions.append([])
        self._said_at[slot], self._arrival[slot], self._session[slot] = said_at, arrival, number
        slots, key = self._sessions[number], (said_at, arrival)
        index = len(slots)
        # Most come in order, or, read back, in the opposite one.
        if slots and self._key(slots[-1]) > key:
            index = 0 if self._key(slots[0]) > key else bisect_left(slots, key, key=self._key)
        before = slots[index - 1] if index else NOWHERE
        after = slots[index] if index < len(slots) else NOWHERE
        slots.insert(index, slot)
        self._chain(before, slot)
        self._chain(slot, after)

    def remove(self, slot: int) -> None:
        """Take a text out, if it is in a session; its neighbours become each other's.

        Args:
            slot: Its place.
        """
        number = int(self._session[slot])
        if number == _ALONE:
            return
        slots = self._sessions[number]
        del slots[slots.index(slot, bisect_left(slots, self._key(slot), key=self._key))]
        self._chain(int(self._before[slot]), int(self._after[slot]))
        self._before[slot] = self._after[slot] = NOWHERE
        self._session[slot] = _ALONE

    def before(self, slots: Slots) -> Slots:
        """Return the place before each, NOWHERE where there is none."""
        return self._before[slots].astype(np.int64)

    def after(self, slots: Slots) -> Slots:
        """Return the place after each, NOWHERE where there is none."""
        return self._after[slots].astype(np.int64)

    def around(self, slots: Slots) -> Slots:
        """Return the places whose surroundings change with these: themselves, one before, two after."""
        after = self.after(slots)
        found: Slots = np.unique(
            np.concatenate([slots, self.before(slots), after, self.after(after)])
        )
        around: Slots = found[found != NOWHERE]
        return around

    def _key(self, slot: int) -> tuple[float, int]:
        return float(self._said_at[slot]), int(self._arrival[slot])

    def _chain(self, before: int, after: int) -> None:
        if before != NOWHERE:
            self._after[before] = after
        if after != NOWHERE:
            self._before[after] = before
