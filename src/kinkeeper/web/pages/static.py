"""Style sheets, scripts and icons: files of the program itself, which anyone may have."""

import mimetypes
from functools import cache
from http import HTTPStatus
from importlib.resources import files

from starlette.exceptions import HTTPException
from starlette.requests import Request
from starlette.responses import Response
from starlette.routing import Route

from kinkeeper.web.access.door import anyone
from kinkeeper.web.plain import plain_route

_TYPES = {"js": "text/javascript", "webmanifest": "application/manifest+json"}
_FOR_GOOD = "public, max-age=31536000, immutable"


@cache
def _files() -> dict[str, bytes]:
    folder = files("kinkeeper.web").joinpath("static")
    return {each.name: each.read_bytes() for each in folder.iterdir() if each.is_file()}


async def static_file(request: Request) -> Response:
    """Answer one file; the address carries a hash of its content, so it is kept for good."""
    name = request.path_params["name"]
    content = _files().get(name)
    if content is None:
        raise HTTPException(HTTPStatus.NOT_FOUND, f"there is no file {name!r}")
    kind = _TYPES.get(name.rsplit(".", 1)[-1]) or mimetypes.guess_type(name)[0]
    headers = {"Cache-Control": _FOR_GOOD if "v" in request.query_params else "no-cache"}
    return Response(content, media_type=kind, headers=headers)


routes: list[Route] = [plain_route("/static/{name}", static_file, rule=anyone)]
