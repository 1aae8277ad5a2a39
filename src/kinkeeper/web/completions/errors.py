"""Errors as OpenAI's protocol has them. Pure."""

from http import HTTPStatus
from typing import Any

PATHS = "/v1/"
"""What the addresses of this protocol begin with."""

# What is wrong with a value is 400 there, whatever it is.
_STATUS = {HTTPStatus.UNPROCESSABLE_ENTITY: HTTPStatus.BAD_REQUEST}
_KINDS: dict[int, tuple[str, str | None]] = {
    HTTPStatus.UNAUTHORIZED: ("authentication_error", "invalid_api_key"),
    HTTPStatus.FORBIDDEN: ("permission_error", None),
    HTTPStatus.NOT_FOUND: ("invalid_request_error", "not_found"),
    HTTPStatus.TOO_MANY_REQUESTS: ("rate_limit_error", "rate_limit_exceeded"),
}


def status_there(status: int) -> int:
    """Return the status that an error has in that protocol."""
    return _STATUS.get(HTTPStatus(status), status)


def error_body(status: int, message: str, *, param: str | None = None) -> dict[str, Any]:
    """Return an error.

    Args:
        status: Of HTTP.
        message: What is wrong and what to do.
        param: The value that is wrong, where it is one.
    """
    usual = ("invalid_request_error", None) if status < 500 else ("server_error", None)  # noqa: PLR2004 - HTTP's own line
    kind, code = _KINDS.get(status, usual)
    return {"error": {"message": message, "type": kind, "param": param, "code": code}}
