"""What protects people in their browsers: proof of our own forms, headers, and only own pages after a login."""

import hashlib
import hmac
import re
from urllib.parse import quote, unquote

from starlette.requests import Request

from kinkeeper.core.errors import DeniedError
from kinkeeper.web.security.hosts import is_same_origin

# Proof that a write which a browser sends came from our own pages.

CSRF_FIELD = "csrf"
CSRF_HEADER = "x-csrf-token"
_SAFE = frozenset({"GET", "HEAD", "OPTIONS"})
_FORMS = ("application/x-www-form-urlencoded", "multipart/form-data")
_OWN_SITES = frozenset({"same-origin", "none"})


def csrf_token(secret: str) -> str:
    """Return the token that forms of a session carry; only who has the session's secret can make it."""
    return hmac.new(secret.encode(), b"form", hashlib.sha256).hexdigest()


def is_csrf_token(token: str, secret: str) -> bool:
    """Whether a form's token belongs to the session; takes the same time whatever the token is."""
    return hmac.compare_digest(token.encode(), csrf_token(secret).encode())


def is_write(request: Request) -> bool:
    """Whether a request may change something."""
    return request.method not in _SAFE


def require_own_origin(request: Request) -> None:
    """Refuse a write that another site made the browser send.

    Raises:
        DeniedError: Its Origin or Sec-Fetch-Site is another site's.
    """
    origin = request.headers.get("origin")
    site = request.headers.get("sec-fetch-site")
    host = request.headers.get("host", "")
    is_foreign = site is not None and site not in _OWN_SITES
    if is_foreign or (origin is not None and not is_same_origin(origin, request.url.scheme, host)):
        raise DeniedError(
            "this form was sent by another site; open the page here and send it again"
        )


async def require_token(request: Request, secret: str) -> None:
    """Refuse a write without the token that only our own pages know.

    Args:
        request: With the token in the header X-CSRF-Token or the form field `csrf`.

    Raises:
        DeniedError: The token is missing or another session's.
    """
    token: object = request.headers.get(CSRF_HEADER)
    if token is None and request.headers.get("content-type", "").startswith(_FORMS):
        token = (await request.form()).get(CSRF_FIELD)
    if not isinstance(token, str) or not is_csrf_token(token, secret):
        await request.close()  # or an uploaded file would stay open
        raise DeniedError("this page belongs to another sign-in; reload it and try again")


# The headers every answer carries.

_POLICY = (
    "default-src 'self'; script-src 'self'; style-src 'self'; img-src 'self' data:; "
    "connect-src 'self'; object-src 'none'; base-uri 'none'; form-action 'self'; "
    "frame-ancestors 'none'"
)

# With "no-referrer" browsers send "Origin: null" with our own forms, which then cannot be told from
# forged ones; "same-origin" tells other hosts just as little.
ALWAYS: tuple[tuple[bytes, bytes], ...] = (
    (b"content-security-policy", _POLICY.encode()),
    (b"x-content-type-options", b"nosniff"),
    (b"x-frame-options", b"DENY"),
    (b"referrer-policy", b"same-origin"),
    (b"cross-origin-opener-policy", b"same-origin"),
    (b"cross-origin-resource-policy", b"same-origin"),
    (b"permissions-policy", b"camera=(), geolocation=(), microphone=(), payment=(), usb=()"),
)
OVER_TLS = (b"strict-transport-security", b"max-age=31536000")


# Where somebody goes on after the login: only to a page of ours. Pure.

START = "/"
_LONGEST = 500
# One slash, then nothing that browsers read as another host ("//", "/\\") or drop (tabs, line ends).
_OWN_PATH = re.compile(r"/(?![/\\])[!-\[\]-~]*")
_NOT_PAGES = ("/login", "/logout", "/invite/", "/api/", "/static/", "/live", "/calendar.ics")


def own_page(path: str) -> str:
    """Return a path where it names a page of this server, else the first page.

    Args:
        path: With query, as somebody sent it.
    """
    is_page = not path.startswith(_NOT_PAGES)
    if len(path) <= _LONGEST and _OWN_PATH.fullmatch(path) and is_page:
        return path
    return START


def kept(path: str) -> str:
    """Return a path as a cookie or an address may hold it."""
    return quote(path, safe="")


def found(text: str) -> str:
    """Return the page that `kept` put away; the first page where it is none of ours."""
    return own_page(unquote(text))
