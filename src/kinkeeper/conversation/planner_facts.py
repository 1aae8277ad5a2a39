"""What a planner may want to know before it plans: what is open, and what takes place soon."""

from collections.abc import Mapping
from datetime import timedelta
from typing import Any, Final

from sqlalchemy import Connection

from kinkeeper.actions.expected import expected_between
from kinkeeper.actions.requests.event_views import occurrence_json
from kinkeeper.actions.requests.model import Asked
from kinkeeper.core.time import Interval
from kinkeeper.tasks.repository import open_tasks

IN_VIEW: Final = timedelta(days=14)
"""How far ahead the events are known before a request is planned."""

_MOST = 100


def fetch(conn: Connection, asked: Asked) -> Mapping[str, Any]:
    """Return open tasks and the events of the next two weeks, as JSON by name.

    Args:
        conn: Any transaction.
        asked: Who asks, when.
    """
    ahead = Interval(asked.now, asked.now + IN_VIEW)
    return {
        "tasks": open_tasks(conn, asked.viewer)[:_MOST],
        "events": [
            occurrence_json(each, asked)
            for each in expected_between(conn, asked.viewer, ahead, now=asked.now)[:_MOST]
        ],
    }  # fmt: skip
