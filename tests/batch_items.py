"""An item of a model's answer about group talk, as tests vary it."""

from typing import Any, Final

NEW_EVENT: Final[dict[str, Any]] = {
    "message": "m1",
    "does": "new",
    "act": "state",
    "kind": "event",
    "ref": None,
    "title": None,
    "day": None,
    "hour": None,
    "at": None,
    "who": [],
    "by": [],
    "certain": True,
    "secret": False,
}
