"""The log: one JSON object a line, and never what people wrote."""

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
