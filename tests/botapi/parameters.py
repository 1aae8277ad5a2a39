"""The arguments of a call, from a query, a form or JSON, and reading them as the API does."""

import json
import re
from dataclasses import dataclass, field
from typing import Any
from urllib.parse import parse_qsl

from starlette.datastructures import UploadFile
from starlette.requests import Request

from botapi.refusals import bad_request


@dataclass(frozen=True, slots=True)
class Upload:
    """A file that came with a call."""

    name: str
    content_type: str
    content: bytes


@dataclass(frozen=True, slots=True)
class Arguments:
    """What a call was given."""

    values: dict[str, Any]
    uploads: dict[str, Upload] = field(default_factory=dict)

    def __contains__(self, name: str) -> bool:
        value = self.values.get(name)
        return value is not None and value != ""

    def text(self, name: str) -> str:
        """Return the argument's text, empty where it was not given."""
        value = self.values.get(name)
        return "" if value is None else value if isinstance(value, str) else json.dumps(value)

    def integer(self, name: str, default: int = 0) -> int:
        """Return the number the argument begins with."""
        digits = re.match(r"-?\d+", self.text(name))
        return int(digits.group()) if digits else default

    def flag(self, name: str) -> bool:
        return self.text(name).lower() in {"true", "yes", "1"}

    def user_id(self, name: str = "user_id") -> int:
        """Return a person's id.

        Raises:
            Refusal: There is none.
        """
        number = self.integer(name)
        if number <= 0:
            raise bad_request(f"invalid {name} specified")
        return number

    def parsed(self, name: str, what: str) -> Any:
        """Return an argument that is JSON, or text of JSON; None where it was not given.

        Raises:
            Refusal: It is no JSON.
        """
        value = self.values.get(name)
        if not isinstance(value, str):
            return value
        if not value:
            return None
        try:
            return json.loads(value)
        except ValueError as error:
            raise bad_request(f"can't parse {what} JSON object") from error


async def read_arguments(request: Request) -> Arguments:
    """Return the arguments of a call, wherever they stand in it.

    Raises:
        Refusal: The body does not match its content type.
    """
    values: dict[str, Any] = dict(request.query_params)
    uploads: dict[str, Upload] = {}
    kind = request.headers.get("content-type", "").split(";")[0].strip().lower()
    if kind == "multipart/form-data":
        async with request.form() as form:
            for name, value in form.multi_items():
                if isinstance(value, UploadFile):
                    uploads[name] = Upload(
                        value.filename or name, value.content_type or "", await value.read()
                    )
                else:
                    values[name] = value
        return Arguments(values, uploads)
    body = await request.body()
    if kind == "application/json" and body:
        try:
            given = json.loads(body)
        except ValueError as error:
            raise bad_request("can't parse JSON encoded request") from error
        if not isinstance(given, dict):
            raise bad_request("can't parse JSON encoded request")
        values |= given
    elif kind == "application/x-www-form-urlencoded":
        values |= dict(parse_qsl(body.decode(), keep_blank_values=True))
    return Arguments(values, uploads)
