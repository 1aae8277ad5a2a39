"""Tells on stderr how far long work is, and how fast it goes."""

import sys
from time import monotonic

from kinkeeper.cli.terminal import notice

_EVERY_ON_TERMINAL, _EVERY_ELSEWHERE = 0.5, 10.0


class Progress:
    """Counts what is done and says so now and then: in one line on a terminal, else in a line each.

    Args:
        what: What is counted, in the plural, with what happens to it: "facts imported".
        total: How many there will be, if known.
    """

    def __init__(self, what: str, *, total: int | None = None) -> None:
        self._what = what
        self._total = total
        self._done = 0
        self._begun = self._told = monotonic()
        self._in_place = sys.stderr.isatty()

    def add(self, count: int) -> None:
        """Count more.

        Args:
            count: >= 0.
        """
        self._done += count
        every = _EVERY_ON_TERMINAL if self._in_place else _EVERY_ELSEWHERE
        if monotonic() - self._told >= every:
            self._told = monotonic()
            self._tell(end="")

    def finish(self) -> None:
        """Say what was done in all."""
        self._tell(end="\n")

    def _tell(self, *, end: str) -> None:
        seconds = max(monotonic() - self._begun, 1e-3)
        of = "" if self._total is None else f" of {self._total:,}"
        line = f"{self._done:,}{of} {self._what}, {self._done / seconds:,.0f} per second"
        if self._in_place:
            sys.stderr.write(f"\r\x1b[K{line}{end}")
            sys.stderr.flush()
        else:
            notice(line)
