"""Warnings of libraries, sent where our own log goes, so that nothing is printed past it; tracebacks stay out, which may quote people."""

import logging

import structlog


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
