"""Pages as answers, and who gets one instead of JSON."""

from collections.abc import Mapping
from http import HTTPStatus
from typing import Any

from starlette.requests import Request
from starlette.responses import HTMLResponse

from kinkeeper.web.access.model import Person
from kinkeeper.web.pages.html_templates import render

_FOR_PROGRAMS = ("/api/", "/v1/", "/mcp")
_TITLES = {
    HTTPStatus.FORBIDDEN: "Not allowed",
    HTTPStatus.NOT_FOUND: "Page not found",
    HTTPStatus.CONFLICT: "This has changed",
    HTTPStatus.UNPROCESSABLE_ENTITY: "That didn't work",
    HTTPStatus.TOO_MANY_REQUESTS: "Too many requests",
    HTTPStatus.INTERNAL_SERVER_ERROR: "Something went wrong",
    HTTPStatus.SERVICE_UNAVAILABLE: "Not available right now",
}
"""What people read instead of the phrases of HTTP."""
_NOT_KEPT = {"Cache-Control": "no-store"}


def wants_page(request: Request) -> bool:
    """Whether a person's browser asks, not a program."""
    is_api = request.url.path.startswith(_FOR_PROGRAMS)
    return not is_api and "text/html" in request.headers.get("accept", "")


def page(
    template: str,
    person: Person | None,
    *,
    status: int = HTTPStatus.OK,
    headers: Mapping[str, str] | None = None,
    **values: Any,
) -> HTMLResponse:
    """Return a page that no cache keeps.

    Args:
        template: Name of its file. It finds `person` (None before the login), `csrf` (the token that
            its forms carry in a hidden field of that name) and `values`.
        person: Who looks.
        status: Of HTTP.
        headers: Beside the usual ones.
        values: What it shows.
    """
    text = render(template, person=person, csrf=person.csrf if person else "", **values)
    return HTMLResponse(text, status_code=status, headers={**_NOT_KEPT, **(headers or {})})


def error_page(status: int, detail: str, headers: Mapping[str, str] | None = None) -> HTMLResponse:
    """Return a page that says what went wrong and what to do."""
    phrase = HTTPStatus(status).phrase
    title = _TITLES.get(HTTPStatus(status), phrase)
    if detail == phrase:
        detail = "There is no page at this address."
    detail = detail[:1].upper() + detail[1:]
    return page("error.html", None, status=status, headers=headers, title=title, detail=detail)
