"""Where somebody goes on after the login: only to a page of ours. Pure."""

import re
from urllib.parse import quote, unquote

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
