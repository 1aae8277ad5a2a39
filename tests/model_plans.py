"""Plans as a model answers them."""

from collections.abc import Mapping
from typing import Any

from evals.confirmations import flat_params


def wants(request: str, asked_in: str = "", **params: Any) -> dict[str, Any]:
    """Return one request of a plan.

    Args:
        request: "domain.name".
        asked_in: Words of the message that ask for it.
        params: Their values as they are typed; parts of one in a mapping.
    """
    return {"request": request, "asked_in": asked_in, "params": [*flat_params(params)]}


def plan_answer(*requests: Mapping[str, Any], **more: Any) -> dict[str, Any]:
    """Return a whole plan, with a question where one is given."""
    empty = {"looks_first": False, "question": None, "missing": None}
    return {"actions": [*requests], **empty, **more}
