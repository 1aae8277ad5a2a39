"""What the status of an HTTP answer means for a call to a model. Pure but for the clock of a given date."""

from collections.abc import Mapping
from datetime import timedelta
from email.utils import parsedate_to_datetime
from http import HTTPStatus

import msgspec

from kinkeeper.core.time import SystemClock, as_utc
from kinkeeper.models.errors import StatusError
from kinkeeper.models.model import Outcome

_OUTCOMES: Mapping[int, Outcome] = {
    HTTPStatus.REQUEST_TIMEOUT: Outcome.TIMEOUT,
    HTTPStatus.CONFLICT: Outcome.OVERLOADED,
    HTTPStatus.TOO_EARLY: Outcome.OVERLOADED,
    HTTPStatus.TOO_MANY_REQUESTS: Outcome.OVERLOADED,
    HTTPStatus.SERVICE_UNAVAILABLE: Outcome.OVERLOADED,
}
_REMEDIES: Mapping[int, str] = {
    HTTPStatus.UNAUTHORIZED: "it rejected the API key; correct MODEL_API_KEY",
    HTTPStatus.FORBIDDEN: "it rejected the API key; correct MODEL_API_KEY",
    HTTPStatus.NOT_FOUND: "it has no such model or path; correct MODEL_NAME or MODEL_URL",
}


class _Error(msgspec.Struct):
    param: str | None = None


class _Refusal(msgspec.Struct):
    error: _Error


def is_success(status: int) -> bool:
    """Whether the answer is one to the call."""
    return HTTPStatus.OK <= status < HTTPStatus.MULTIPLE_CHOICES


def status_error(status: int, headers: Mapping[str, str], body: bytes, *, host: str) -> StatusError:
    """Return what a status that is no success means, and whether the same call may succeed soon.

    Args:
        status: Of HTTP.
        headers: Of the answer, with names of any case.
        body: Of the answer, or its beginning; only the name of a parameter is taken from it.
        host: Who answered.
    """
    is_server_fault = status >= HTTPStatus.INTERNAL_SERVER_ERROR
    usual = Outcome.SERVER_ERROR if is_server_fault else Outcome.REJECTED
    outcome = _OUTCOMES.get(status, usual)
    remedy = _remedy(status, outcome)
    return StatusError(
        f"the model server at {host} answered {status}: {remedy}",
        status=status, outcome=outcome, may_retry=outcome is not Outcome.REJECTED,
        retry_after=_retry_after(headers.get("Retry-After")), parameter=_parameter(body),
    )  # fmt: skip


def _parameter(body: bytes) -> str | None:
    try:
        return msgspec.json.decode(body, type=_Refusal).error.param
    except (msgspec.DecodeError, RecursionError, UnicodeDecodeError):
        return None


def _remedy(status: int, outcome: Outcome) -> str:
    if HTTPStatus.MULTIPLE_CHOICES <= status < HTTPStatus.BAD_REQUEST:
        return "it redirects to another address, and redirects are not followed; set MODEL_URL to that address"
    if outcome is Outcome.REJECTED:
        return _REMEDIES.get(status, "it did not accept the request; see its log")
    return "it is busy" if outcome is Outcome.OVERLOADED else "see its log"


def _retry_after(value: str | None) -> timedelta | None:
    """Return how long a server asks to wait: it says seconds, or until when."""
    if value is None:
        return None
    if value.strip().isdecimal():
        return timedelta(seconds=min(int(value), 86_400))
    try:
        until = parsedate_to_datetime(value)
    except ValueError:
        return None
    if until.tzinfo is None:
        return None
    return max(as_utc(until) - SystemClock().now(), timedelta())
