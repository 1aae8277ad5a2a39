"""The shape of a model's plan: one flat schema for all requests, each checked against its own parameters.

A schema with every request's parameters in it took five sixths of a prompt. Here a parameter is a name and a value, and
`signature` tells a model which names a request has.
"""

import json
from collections.abc import Iterable, Iterator, Mapping
from typing import Any

from pydantic import BaseModel, ConfigDict, Field, ValidationError, create_model, model_validator

from kinkeeper.actions.requests.model import RequestKind

_MOST_ACTIONS = 8
_MOST_ERRORS = 3
_EXPLAINED = frozenset(
    {
        "private",
        "kept_from",
        "find_by",
        "who",
        "rrule",
        "start_time",
        "end_time",
        "deadline",
        "remind_at",
    }
)
"""Parameters that the prompt explains once for all requests."""

_TELLS_EACH = frozenset({"wanted"})
"""Parameters whose description names every value and what it means."""

_PEOPLE = frozenset({"who", "responsible", "kept_from"})
_THINGS = frozenset({"find_by", "event_id"})
"""Parameters that name a thing: an id may look like the key of a time."""


class Parameter(BaseModel):
    """One parameter of a request: its name, with a dot before a part ("changes.title"), and its value."""

    model_config = ConfigDict(frozen=True, extra="forbid")

    name: str
    value: str | list[str]


class PlannedRequest(BaseModel):
    """One request of a model's plan, and the words of the message that ask for it."""

    model_config = ConfigDict(frozen=True, extra="forbid")

    request: str
    asked_in: str
    params: list[Parameter]

    @property
    def given(self) -> dict[str, Any]:
        """The parameters by name; those of one part in a mapping of their own."""
        found: dict[str, Any] = {}
        for each in self.params:
            whole, _, part = each.name.partition(".")
            if part:
                found.setdefault(whole, {})[part] = each.value
            else:
                found[whole] = each.value
        return found


class PlanAnswer(BaseModel):
    """What a model answers; `answer_type` has requests checked."""

    model_config = ConfigDict(frozen=True, extra="forbid")

    actions: list[PlannedRequest] = Field(max_length=_MOST_ACTIONS)
    looks_first: bool = False
    question: str | None = None
    missing: str | None = None


def answer_type(kinds: Iterable[RequestKind], times: Mapping[str, str]) -> type[PlanAnswer]:
    """Return the answer's type in which only requests of these kinds, with their own parameters, fit.

    Args:
        kinds: At least one.
        times: The times that may be named, ISO 8601 by key.
    """
    known = {kind.key: kind for kind in kinds}

    def checked(answer: PlanAnswer) -> PlanAnswer:
        for each in answer.actions:
            if each.request not in known:
                raise ValueError(f"there is no request {each.request!r}")
            typed(each, known[each.request], times)
        return answer

    return create_model(
        "PlanAnswer",
        __base__=PlanAnswer,
        __validators__={"known": model_validator(mode="after")(checked)},  # type: ignore[dict-item]
    )


def typed(
    planned: PlannedRequest, kind: RequestKind, times: Mapping[str, str]
) -> Mapping[str, Any]:
    """Return the parameters of a request as its kind wants them, without those that were not said.

    Args:
        planned: Of a model's answer.
        times: The times that may be named, ISO 8601 by key.

    Raises:
        ValueError: They do not fit; the message names them.
    """
    given = _with_times(planned.given, times)
    if kind.is_foreign:
        given = {name: _unquoted(value) for name, value in given.items()}
    try:
        value = kind.parameters.model_validate(given)
    except ValidationError as error:
        wrong = [f"{'.'.join(map(str, each['loc']))}: {each['msg']}" for each in error.errors()]
        raise ValueError(f"{kind.key}: {'; '.join(wrong[:_MOST_ERRORS])}") from None
    return value.model_dump(mode="json", by_alias=True, exclude_unset=True, exclude_none=True)


def _unquoted(value: object) -> object:
    """Return a number, a truth value or a structure of a tool's argument that was written as text."""
    try:
        found = json.loads(value) if isinstance(value, str) else value
    except ValueError:
        return value
    return value if found is None else found


def _with_times(given: Mapping[str, Any], times: Mapping[str, str]) -> dict[str, Any]:
    """Return parameters with times for their keys, people as lists and texts of several lines as one."""
    found: dict[str, Any] = {}
    for name, value in given.items():
        if isinstance(value, Mapping):
            found[name] = _with_times(value, times)
        elif name in _PEOPLE:
            found[name] = value if isinstance(value, list) else [value]
        elif isinstance(value, list):
            found[name] = value if name == "to" else "\n".join(value)
        elif value not in ("", "null"):
            found[name] = value if name in _THINGS else times.get(value, value)
    return found


def signature(kind: RequestKind) -> str:
    """Return which parameters a request has, for a prompt: "title, status? (open|done|all)"."""
    return ", ".join(_parameters(kind.parameters.model_json_schema()))


def _parameters(schema: Mapping[str, Any]) -> Iterator[str]:
    definitions = schema.get("$defs", {})
    required = schema.get("required", ())
    for name, about in schema.get("properties", {}).items():
        shape = definitions.get(about.get("$ref", "").rpartition("/")[2], about)
        mark = "" if name in required else "?"
        if "properties" in shape:
            parts = _parameters({"$defs": definitions, **shape})
            yield ", ".join(f"{name}.{part}" for part in parts)
            continue
        told = "|".join(str(each) for each in shape.get("enum", ()))
        description = "" if name in _EXPLAINED else about.get("description", "")
        what = description if not told or name in _TELLS_EACH else told
        yield f"{name}{mark} ({what})" if what else f"{name}{mark}"
