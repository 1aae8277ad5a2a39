"""What goes where: answers on stdout, remarks and the progress of long work on stderr."""

import json
import re
import sys
from collections.abc import Mapping
from time import monotonic
from typing import Any

from kinkeeper.language.text import strip_controls

_COMMANDS = re.compile("[\x7f-\x9f]")
"""What JSON leaves as it is and some terminals obey."""


def shown(text: str) -> str:
    """Return words as a terminal may show them: what others wrote must not move its cursor or its colours."""
    return strip_controls(text)


def notice(text: str) -> None:
    """Say something beside the answers."""
    sys.stderr.write(f"{shown(text)}\n")
    sys.stderr.flush()


def answer(text: str) -> None:
    """Write one line of the answer, at once, so that a reader in a pipe gets it."""
    _write_line(shown(text))


def answer_json(record: Mapping[str, Any] | list[Any]) -> None:
    """Write one value as a line of JSON."""
    line = json.dumps(record, ensure_ascii=False)
    _write_line(_COMMANDS.sub(lambda found: f"\\u{ord(found[0]):04x}", line))


def _write_line(line: str) -> None:
    sys.stdout.write(f"{line}\n")
    sys.stdout.flush()


# Tells on stderr how far long work is, and how fast it goes.

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
