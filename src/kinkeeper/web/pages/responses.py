"""Pages as answers: their templates, who gets one instead of JSON, and the files they use."""

import hashlib
import mimetypes
from collections.abc import Mapping
from functools import cache
from http import HTTPStatus
from importlib.resources import files
from typing import Any

from jinja2 import Environment, PackageLoader, StrictUndefined
from starlette.exceptions import HTTPException
from starlette.requests import Request
from starlette.responses import HTMLResponse, Response
from starlette.routing import Route

from kinkeeper.web.access.door import anyone
from kinkeeper.web.access.model import Person
from kinkeeper.web.route_parts import plain_route

# Templates to HTML: everything is escaped, and a name that is missing is an error.


@cache
def environment() -> Environment:
    """Return the one template environment."""
    made = Environment(
        loader=PackageLoader("kinkeeper.web", "templates"),
        autoescape=True,
        undefined=StrictUndefined,
        trim_blocks=True,
        lstrip_blocks=True,
    )
    made.globals["asset"] = asset
    return made


def render(template: str, **values: Any) -> str:
    """Return a page.

    Args:
        values: What it shows; all escaped.
    """
    return environment().get_template(template).render(**values)


@cache
def asset(name: str) -> str:
    """Return the address of a static file; it changes with the content, so that it may be cached for good."""
    digest = hashlib.sha256(static_files()[name]).hexdigest()
    return f"/static/{name}?v={digest[:12]}"


_FOR_PROGRAMS = ("/api/", "/v1/", "/mcp")
_TITLES = {
    HTTPStatus.FORBIDDEN: "Not allowed",
    HTTPStatus.NOT_FOUND: "Page not found",
    HTTPStatus.CONFLICT: "This has changed",
    HTTPStatus.PRECONDITION_FAILED: "This has changed",
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


# Style sheets, scripts and icons: files of the program itself, which anyone may have.

_TYPES = {"js": "text/javascript", "webmanifest": "application/manifest+json"}
_FOR_GOOD = "public, max-age=31536000, immutable"


@cache
def static_files() -> dict[str, bytes]:
    """Return the content of each static file by its name."""
    folder = files("kinkeeper.web").joinpath("static")
    return {each.name: each.read_bytes() for each in folder.iterdir() if each.is_file()}


async def static_file(request: Request) -> Response:
    """Answer one file; the address carries a hash of its content, so it is kept for good."""
    name = request.path_params["name"]
    content = static_files().get(name)
    if content is None:
        raise HTTPException(HTTPStatus.NOT_FOUND, f"there is no file {name!r}")
    kind = _TYPES.get(name.rsplit(".", 1)[-1]) or mimetypes.guess_type(name)[0]
    headers = {"Cache-Control": _FOR_GOOD if "v" in request.query_params else "no-cache"}
    return Response(content, media_type=kind, headers=headers)


routes: list[Route] = [plain_route("/static/{name}", static_file, rule=anyone)]
