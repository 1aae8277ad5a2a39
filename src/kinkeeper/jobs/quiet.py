"""Keeps the job engine from working while there is nothing to do.

It looks once a second into a queue for features that are not used here, and once a second for delayed
dispatches whose time has come; together that is more than half of what an idle process costs.
"""

from datetime import timedelta

from dbos import DBOS, _workflow_commands

_UNUSED_QUEUE_SECONDS = 3600.0


def make_quiet(engine: DBOS, *, delayed_every: timedelta) -> None:
    """Set the engine's fixed intervals, for which it has no setting; call it before the launch.

    Args:
        engine: Not launched yet.
        delayed_every: How often it looks for delayed dispatches whose time has come.
    """
    unused = engine._registry.get_internal_queue()  # noqa: SLF001 - no setting for it
    unused._polling_interval_sec = _UNUSED_QUEUE_SECONDS  # noqa: SLF001 - no setting for it
    _workflow_commands._BACKGROUND_JOBS_INTERVAL_SEC = delayed_every.total_seconds()  # noqa: SLF001 - no setting for it
