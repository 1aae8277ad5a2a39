"""What a phone keeps for the time without a connection: the service worker, and who may keep which page how long."""

import hashlib
import json
from datetime import timedelta
from functools import cache

from starlette.requests import Request
from starlette.responses import HTMLResponse, Response
from starlette.routing import Route

from kinkeeper.web.access.door import anyone
from kinkeeper.web.access.model import KeyKind
from kinkeeper.web.pages.desk import Desk
from kinkeeper.web.pages.responses import asset, page, render, static_files
from kinkeeper.web.route_parts import plain_route

_WORKER = "worker.js"
_NOT_KEPT = frozenset({_WORKER, "welcome.js", "manifest.webmanifest"})
_KEPT_KINDS = (".css", ".js", ".svg")
_LONGEST = timedelta(days=2)
_PAGE = "/offline"


def may_be_kept(shown: HTMLResponse, desk: Desk) -> HTMLResponse:
    """Return a page with the permission to keep a copy of it on the device, for this sign-in only.

    A copy lasts two days, and no longer than the sign-in. A program's token gets no permission.
    """
    key = desk.person.key
    if key.kind is not KeyKind.SESSION:
        return shown
    left = _LONGEST if key.expires_at is None else min(_LONGEST, key.expires_at - desk.now)
    owner = hashlib.sha256(f"{key.household}\n{key.id}".encode()).hexdigest()[:16]
    shown.headers["Kinkeeper-Sign-In"] = owner
    shown.headers["Kinkeeper-Offline-Seconds"] = str(max(0, int(left.total_seconds())))
    return shown


@cache
def worker_text() -> bytes:
    """Return the service worker of this release: it names its files, so each release has its own."""
    names = sorted(static_files())
    kept = [asset(name) for name in names if name.endswith(_KEPT_KINDS) and name not in _NOT_KEPT]
    content = hashlib.sha256(render("offline.html").encode())
    for name in names:
        content.update(static_files()[name])
    head = f"const RELEASE = {json.dumps(content.hexdigest()[:12])};\nconst FILES = {json.dumps([_PAGE, *kept])};\n"
    return head.encode() + static_files()[_WORKER]


async def service_worker(_request: Request) -> Response:
    """Answer the service worker; browsers ask for it anew at each visit."""
    headers = {"Cache-Control": "no-cache"}
    return Response(worker_text(), media_type="text/javascript", headers=headers)


async def offline_page(_request: Request) -> HTMLResponse:
    """Answer the page that stands for all others without a connection; it names nobody."""
    return page("offline.html", None)


routes: list[Route] = [
    plain_route("/service-worker.js", service_worker, rule=anyone),
    plain_route(_PAGE, offline_page, rule=anyone),
]
