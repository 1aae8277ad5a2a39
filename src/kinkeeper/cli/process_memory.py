"""Memory and threads of a process that runs for months: it leaves out what it never uses, and gives back what it used."""

import ctypes
import gc
import os
import sys
from typing import NoReturn

_TRIM_THRESHOLD, _ARENA_MAX = -1, -8  # of the C library's `mallopt`
_KEPT_BYTES = 128 * 1024
_YOUNG = 10_000


def leave_out_unused() -> None:
    """Keep libraries from loading what a server never uses wherever it is installed; call it before anything logs.

    The log would take along what paints tracebacks for terminals (5 MB), where a server writes JSON; FastAPI an
    interface of models that it only refuses (2 MB).
    """
    sys.modules.setdefault("pydantic.v1", None)  # type: ignore[arg-type]  # how Python is told that there is none
    if "structlog" in sys.modules or "rich" in sys.modules:
        return
    sys.modules["rich"] = None  # type: ignore[assignment]
    try:
        import structlog  # noqa: F401, PLC0415 - here and nowhere else without paint
    finally:
        del sys.modules["rich"]


def compute_on_one_thread() -> None:
    """Keep numpy's library to one thread unless the environment says otherwise; call it before numpy is loaded.

    The products of one sentence are too small to share: threads that wait for each other took a quarter of a turn's time.
    """
    for name in ("OPENBLAS_NUM_THREADS", "OMP_NUM_THREADS"):
        os.environ.setdefault(name, "1")  # noqa: TID251 - a library's, not ours


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
    """Spare the collector what stays until the end: going over it was a tenth of what a message costs.

    What is made for a moment seldom forms circles: it is looked over after some thousands, not some hundreds.
    """
    gc.collect()
    gc.freeze()
    gc.set_threshold(_YOUNG)


def end_at_once() -> NoReturn:
    """End the process once everything is closed, without taking apart what is loaded: that takes up to a second."""
    sys.stdout.flush()
    sys.stderr.flush()
    os._exit(0)
