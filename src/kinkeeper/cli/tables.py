"""Tables for people."""

import sys

from rich.console import Console

_PIPE_WIDTH = 120


def console() -> Console:
    """Return the console for tables on stdout; a pipe gets plain text of a readable width."""
    width = None if sys.stdout.isatty() else _PIPE_WIDTH
    return Console(width=width, highlight=False, emoji=False, markup=False)
