"""The log, ours and that of libraries: one JSON object a line, and never what people wrote."""

import logging
import sys
import traceback
from pathlib import Path
from typing import TextIO

import structlog

from kinkeeper.core.errors import KinkeeperError

INFO = 20
WARNING = 30
ERROR = 40


def log_as_json(stream: TextIO | None = None, *, level: int = INFO) -> None:
    """Write the log as JSON lines.

    Args:
        stream: Where to; stderr where None.
        level: Of logging; what is below is left out.
    """
    structlog.configure(
        processors=[
            structlog.contextvars.merge_contextvars,
            structlog.processors.add_log_level,
            structlog.processors.TimeStamper(fmt="iso", utc=True),
            structlog.processors.JSONRenderer(),
        ],
        wrapper_class=structlog.make_filtering_bound_logger(level),
        logger_factory=structlog.PrintLoggerFactory(stream or sys.stderr),
        cache_logger_on_first_use=False,
    )


def without_message_text(error: BaseException) -> str:
    """Say what failed and where. Our own errors quote no message; of others only the kind is known."""
    if isinstance(error, KinkeeperError):
        return f"{type(error).__name__}: {error}"
    frames = traceback.extract_tb(error.__traceback__)
    where = f" at {Path(frames[-1].filename).name}:{frames[-1].lineno}" if frames else ""
    return f"{type(error).__name__}{where}"


# Warnings of libraries, sent where our own log goes, so that nothing is printed past it; tracebacks
# stay out, which may quote people.


class _ToStructlog(logging.Handler):
    """Passes a library's warnings on.

    Args:
        event: Under which name the log tells them.
    """

    def __init__(self, event: str) -> None:
        super().__init__(level=logging.WARNING)
        self._event = event

    def emit(self, record: logging.LogRecord) -> None:
        """Log one record of the library."""
        structlog.get_logger().log(record.levelno, self._event, detail=record.getMessage())


def route_library_log(library: str, event: str) -> None:
    """Send a library's warnings and errors to the program's own log, and drop the rest.

    Args:
        library: Name of its logger.
        event: Under which name the log tells them.
    """
    logger = logging.getLogger(library)  # noqa: TID251 - the library's logger, taken off the console
    if not any(isinstance(handler, _ToStructlog) for handler in logger.handlers):
        # With a handler of ours in place no library adds one for the console.
        logger.handlers[:] = [_ToStructlog(event)]
    logger.propagate = False
    logger.setLevel(logging.WARNING)
