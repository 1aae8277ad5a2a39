"""Plans as a model answers them."""

from collections.abc import Iterator, Mapping
from typing import Any


def wants(request: str, asked_in: str = "", **params: Any) -> dict[str, Any]:
    """Return one request of a plan.

    Args:
        request: "domain.name".
        asked_in: Words of the message that ask for it.
        params: Their values as they are typed; parts of one in a mapping.
    """
    flat = [{"name": name, "value": value} for name, value in _flat(params)]
    return {"request": request, "asked_in": asked_in, "params": flat}


def plan_answer(*requests: Mapping[str, Any], **more: Any) -> dict[str, Any]:
    """Return a whole plan, with a question where one is given."""
    empty = {"looks_first": False, "question": None, "missing": None}
    return {"actions": [*requests], **empty, **more}


def _flat(params: Mapping[str, Any], before: str = "") -> Iterator[tuple[str, str | list[str]]]:
    for name, value in params.items():
        if isinstance(value, Mapping):
            yield from _flat(value, f"{before}{name}.")
        else:
            yield f"{before}{name}", [*map(str, value)] if isinstance(value, list) else str(value)
