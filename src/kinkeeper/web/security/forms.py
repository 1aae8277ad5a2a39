"""Proof that a write which a browser sends came from our own pages."""

import hashlib
import hmac

from starlette.requests import Request

from kinkeeper.core.errors import DeniedError
from kinkeeper.web.security.hosts import is_same_origin

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
        secret: Of the session.

    Raises:
        DeniedError: The token is missing or another session's.
    """
    token: object = request.headers.get(CSRF_HEADER)
    if token is None and request.headers.get("content-type", "").startswith(_FORMS):
        token = (await request.form()).get(CSRF_FIELD)
    if not isinstance(token, str) or not is_csrf_token(token, secret):
        await request.close()  # or an uploaded file would stay open
        raise DeniedError("this page belongs to another sign-in; reload it and try again")
