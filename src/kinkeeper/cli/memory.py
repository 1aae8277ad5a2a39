"""Memory of a process that runs for months: what was used for a moment is given back."""

import ctypes
import gc

_TRIM_THRESHOLD, _ARENA_MAX = -1, -8  # of the C library's `mallopt`
_KEPT_BYTES = 128 * 1024


def give_back_unused() -> None:
    """Let the C library keep one heap and return what is free at its end; call it before threads begin.

    On its own it gives every thread a heap, none of which shrinks below its busiest moment. Does nothing
    where the C library has no such setting.
    """
    try:
        set_option = ctypes.CDLL(None).mallopt
    except (OSError, TypeError, AttributeError):
        return
    set_option(_ARENA_MAX, 1)
    set_option(_TRIM_THRESHOLD, _KEPT_BYTES)


def keep_what_is_loaded() -> None:
    """Spare the collector what stays until the end: going over it was a tenth of what a message costs."""
    gc.collect()
    gc.freeze()
