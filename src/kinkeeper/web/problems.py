"""What becomes of errors: problem details (RFC 9457) for programs, a page for people."""

import math
from collections.abc import Mapping, Sequence
from http import HTTPStatus
from typing import Any

from fastapi import FastAPI
from fastapi.exceptions import RequestValidationError
from pydantic_core import to_json
from starlette.exceptions import HTTPException
from starlette.requests import Request
from starlette.responses import Response

from kinkeeper.core.errors import (
    ConflictError,
    DeniedError,
    FieldError,
    InputError,
    KinkeeperError,
    NotFoundError,
    OutdatedError,
    UnavailableError,
    UnclearError,
)
from kinkeeper.web.access.door import LoginNeededError
from kinkeeper.web.openai_protocol import PATHS, error_body, status_there
from kinkeeper.web.pages.responses import error_page, wants_page
from kinkeeper.web.security import browser_protection

MEDIA_TYPE = "application/problem+json"
RETRY_AFTER_SECONDS = 2
REQUEST_ID = "kinkeeper.request"
"""Where the scope of a request holds the id under which the log speaks of it."""

_STATUS: tuple[tuple[type[KinkeeperError], HTTPStatus], ...] = (
    (InputError, HTTPStatus.UNPROCESSABLE_ENTITY),
    (UnclearError, HTTPStatus.UNPROCESSABLE_ENTITY),
    (DeniedError, HTTPStatus.FORBIDDEN),
    (NotFoundError, HTTPStatus.NOT_FOUND),
    (OutdatedError, HTTPStatus.PRECONDITION_FAILED),
    (ConflictError, HTTPStatus.CONFLICT),
    (UnavailableError, HTTPStatus.SERVICE_UNAVAILABLE),
)


def problem(
    status: int,
    detail: str,
    *,
    errors: Sequence[Mapping[str, Any]] = (),
    headers: Mapping[str, str] | None = None,
    more: Mapping[str, Any] | None = None,
) -> Response:
    """Return a problem document.

    Args:
        detail: What is wrong and what to do; no message text.
        errors: Each wrong field: where it stands and what is wrong.
        more: Further members of the document.
    """
    phrase = HTTPStatus(status).phrase
    body: dict[str, Any] = {
        "type": f"urn:kinkeeper:problem:{phrase.lower().replace(' ', '-')}",
        "title": phrase,
        "status": status,
        "detail": detail,
        **(more or {}),
    }
    if errors:
        body["errors"] = errors
    return Response(to_json(body), status_code=status, media_type=MEDIA_TYPE, headers=headers)


def status_of(error: KinkeeperError) -> HTTPStatus:
    """Return the HTTP status of one of our errors; 500 for a bug."""
    found = (status for kind, status in _STATUS if isinstance(error, kind))
    return next(found, HTTPStatus.INTERNAL_SERVER_ERROR)


def refusal(
    request: Request, status: int, detail: str, headers: Mapping[str, str] | None = None
) -> Response:
    """Return an error as the one who asked can read it."""
    detail = _writable(detail)
    if wants_page(request):
        return error_page(status, detail, headers)
    return _document(request, status, detail, headers=headers)


def bug(request: Request) -> Response:
    """Return what a bug becomes: nothing of it but where the log tells more."""
    number = request.scope.get(REQUEST_ID, "")
    detail = f"something went wrong; see the log for request {number}"
    return refusal(request, HTTPStatus.INTERNAL_SERVER_ERROR, detail)


def retry_after(seconds: float = RETRY_AFTER_SECONDS) -> dict[str, str]:
    """Return the header that says when to try again, in whole seconds."""
    return {"Retry-After": str(max(1, math.ceil(seconds)))}


def install(app: FastAPI) -> None:
    """Answer every error of every route in these forms."""
    app.add_exception_handler(KinkeeperError, _handle)
    app.add_exception_handler(RequestValidationError, _handle)
    app.add_exception_handler(HTTPException, _handle)
    app.add_exception_handler(Exception, _tell_of_bug)


def answer(request: Request, error: Exception) -> Response:
    """Return what an expected error becomes.

    Raises:
        Exception: The error itself, where it is a bug.
    """
    match error:
        case LoginNeededError():
            return _login_needed(request, error)
        case FieldError() if not wants_page(request):
            found = {"where": ["body", error.field], "message": _writable(str(error))}
            status = HTTPStatus.UNPROCESSABLE_ENTITY
            return _document(request, status, _writable(str(error)), errors=[found])
        case KinkeeperError():
            status = status_of(error)
            if status is HTTPStatus.INTERNAL_SERVER_ERROR:
                raise error
            headers = retry_after() if status is HTTPStatus.SERVICE_UNAVAILABLE else None
            return refusal(request, status, str(error), headers)
        case RequestValidationError():
            return _bad_request(request, error)
        case HTTPException():
            return refusal(request, error.status_code, str(error.detail), error.headers)
        case _:
            raise error


async def _handle(request: Request, error: Exception) -> Response:
    return answer(request, error)


async def _tell_of_bug(request: Request, _error: Exception) -> Response:
    return bug(request)


def _login_needed(request: Request, error: LoginNeededError) -> Response:
    if wants_page(request):
        return Response(status_code=HTTPStatus.SEE_OTHER, headers={"Location": _login(request)})
    return _document(
        request, HTTPStatus.UNAUTHORIZED, str(error), headers={"WWW-Authenticate": "Bearer"}
    )


def _login(request: Request) -> str:
    """Return where to log in, and where that leads back to."""
    query = f"?{request.url.query}" if request.url.query else ""
    page = (
        browser_protection.own_page(f"{request.url.path}{query}")
        if request.method == "GET"
        else browser_protection.START
    )
    return (
        "/login"
        if page == browser_protection.START
        else f"/login?next={browser_protection.kept(page)}"
    )


def _writable(text: str) -> str:
    """Return a text without halves of characters: JSON can bring them in, and no answer can carry them out."""
    return text.encode("utf-8", "replace").decode("utf-8")


def _bad_request(request: Request, error: RequestValidationError) -> Response:
    errors = [
        {
            "where": [_writable(at) if isinstance(at, str) else at for at in each["loc"]],
            "message": _writable(each["msg"]),
        }
        for each in error.errors()
    ]
    detail = "; ".join(f"{'.'.join(map(str, each['where']))}: {each['message']}" for each in errors)
    if wants_page(request):
        return error_page(HTTPStatus.UNPROCESSABLE_ENTITY, detail)
    return _document(request, HTTPStatus.UNPROCESSABLE_ENTITY, detail, errors=errors)


def _document(
    request: Request,
    status: int,
    detail: str,
    *,
    errors: Sequence[Mapping[str, Any]] = (),
    headers: Mapping[str, str] | None = None,
) -> Response:
    """Return an error as the program that asked reads it; see `problem`."""
    if not request.url.path.startswith(PATHS):
        return problem(status, detail, errors=errors, headers=headers)
    there = status_there(status)
    where = ".".join(map(str, errors[0]["where"][1:])) if errors else None
    body = to_json(error_body(there, detail, param=where))
    return Response(body, status_code=there, media_type="application/json", headers=headers)
