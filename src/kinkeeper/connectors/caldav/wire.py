"""What is asked of a CalDAV server and what it answers, as XML (RFC 4791, 6578) and as values. Pure."""

import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from xml.etree.ElementTree import Element, ParseError
from xml.sax.saxutils import escape

from kinkeeper.core.errors import UnavailableError

_DAV = "{DAV:}"
_CAL = "{urn:ietf:params:xml:ns:caldav}"
_CS = "{http://calendarserver.org/ns/}"
_NAMESPACES = (
    'xmlns="DAV:" xmlns:C="urn:ietf:params:xml:ns:caldav" xmlns:S="http://calendarserver.org/ns/"'
)

COLLECTION_PROPERTIES = (
    "resourcetype",
    "displayname",
    "current-user-principal",
    "sync-token",
    "S:getctag",
    "C:calendar-home-set",
    "C:supported-calendar-component-set",
)
_SLICE_BYTES = 65_536
_STATUS = re.compile(r"\S+\s+([1-5][0-9]{2})(?:\s|$)")
OBJECT_PROPERTIES = ("getetag", "resourcetype")


@dataclass(frozen=True, slots=True, kw_only=True)
class Answer:
    """What a server says of one resource.

    Attributes:
        is_gone: Whether it says that there is none.
        is_cut: Whether it says that its list was too long to be told at once.
        etag: Of this version, if told.
        data: The object, if asked for.
        is_collection: Whether it holds others.
        is_calendar: Whether it holds a calendar.
        components: Kinds of objects it takes ("VEVENT"); empty where it does not say.
        principal: Where the user's own resource is.
        home: Where the user's calendars are.
        sync_token: Names its state, for later questions.
        ctag: Changes whenever anything in it does.
    """

    href: str
    is_gone: bool = False
    is_cut: bool = False
    etag: str | None = None
    data: str | None = None
    is_collection: bool = False
    is_calendar: bool = False
    name: str = ""
    components: frozenset[str] = frozenset()
    principal: str | None = None
    home: str | None = None
    sync_token: str | None = None
    ctag: str | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class Answers:
    """A server's answer.

    Attributes:
        sync_token: Names the state it tells, where asked for.
    """

    all: tuple[Answer, ...]
    sync_token: str | None = None


def propfind(names: Iterable[str]) -> bytes:
    """Return the question for these properties."""
    wanted = "".join(f"<{name}/>" for name in names)
    return _document("propfind", f"<prop>{wanted}</prop>")


def sync_report(token: str) -> bytes:
    """Return the question for what changed since a token; an empty one asks for everything."""
    return _document(
        "sync-collection",
        f"<sync-token>{escape(token)}</sync-token><sync-level>1</sync-level><prop><getetag/></prop>",
    )


def multiget(hrefs: Sequence[str]) -> bytes:
    """Return the question for objects."""
    wanted = "".join(f"<href>{escape(href)}</href>" for href in hrefs)
    return _document("C:calendar-multiget", f"<prop><getetag/><C:calendar-data/></prop>{wanted}")


def read_answers(data: bytes) -> Answers:
    """Return what a server answered.

    Raises:
        UnavailableError: It is no such answer; a later one may be.
    """
    # Of the extra `caldav`, which a household without a calendar server does not need.
    from defusedxml import DefusedXmlException  # noqa: PLC0415
    from defusedxml.ElementTree import DefusedXMLParser  # noqa: PLC0415

    parser = DefusedXMLParser(forbid_dtd=True)
    try:
        # In slices: other threads can run only between two of them.
        for begin in range(0, len(data), _SLICE_BYTES):
            parser.feed(data[begin : begin + _SLICE_BYTES])
        root = parser.close()
    except (ParseError, DefusedXmlException, LookupError, ValueError) as error:
        raise UnavailableError(
            f"the calendar server's answer is not XML ({type(error).__name__})"
        ) from error
    token = root.findtext(f"{_DAV}sync-token")
    answers = tuple(_answer(each) for each in root.iter(f"{_DAV}response"))
    return Answers(all=answers, sync_token=token or None)


def _document(name: str, content: str) -> bytes:
    return (
        f'<?xml version="1.0" encoding="utf-8"?><{name} {_NAMESPACES}>{content}</{name}>'.encode()
    )


def _answer(response: Element) -> Answer:
    status = _code(response.findtext(f"{_DAV}status"))
    known = {each.tag: each for each in _properties(response)}
    kinds = {each.tag for each in known.get(f"{_DAV}resourcetype", ())}
    components = known.get(f"{_CAL}supported-calendar-component-set", ())
    return Answer(
        href=(response.findtext(f"{_DAV}href") or "").strip(),
        is_gone=status in {404, 410},
        is_cut=status == 507,  # noqa: PLR2004 - Insufficient Storage
        etag=_text(known.get(f"{_DAV}getetag")),
        data=_text(known.get(f"{_CAL}calendar-data")),
        is_collection=f"{_DAV}collection" in kinds,
        is_calendar=f"{_CAL}calendar" in kinds,
        name=_text(known.get(f"{_DAV}displayname")) or "",
        components=frozenset(each.get("name", "").upper() for each in components),
        principal=_href(known.get(f"{_DAV}current-user-principal")),
        home=_href(known.get(f"{_CAL}calendar-home-set")),
        sync_token=_text(known.get(f"{_DAV}sync-token")),
        ctag=_text(known.get(f"{_CS}getctag")),
    )


def _properties(response: Element) -> Iterator[Element]:
    """Yield the properties that it has; those it says it lacks stand under another status."""
    for part in response.iter(f"{_DAV}propstat"):
        if _code(part.findtext(f"{_DAV}status")) in {200, None}:
            for prop in part.iter(f"{_DAV}prop"):
                yield from prop


def _code(status: str | None) -> int | None:
    found = _STATUS.match((status or "").strip())
    return int(found.group(1)) if found else None


def _text(element: Element | None) -> str | None:
    return None if element is None else (element.text or "").strip() or None


def _href(element: Element | None) -> str | None:
    return None if element is None else _text(element.find(f"{_DAV}href"))


# What a calendar server tells: values.


@dataclass(frozen=True, slots=True, kw_only=True)
class Collection:
    """A calendar on the server.

    Attributes:
        url: Its address, with a slash at its end.
        components: Kinds of objects it takes; empty where it does not say.
    """

    url: str
    name: str = ""
    components: frozenset[str] = frozenset()

    def takes(self, component: str) -> bool:
        """Whether objects of a kind can be put there."""
        return not self.components or component in self.components


@dataclass(frozen=True, slots=True, kw_only=True)
class Mark:
    """The state of a collection up to which all is known.

    Attributes:
        token: To ask for what changed since; None where the server has none.
        ctag: Equal as long as nothing changes; None where the server has none.
    """

    token: str | None = None
    ctag: str | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class Delta:
    """What a collection tells of its objects.

    Attributes:
        etags: By path; None where the object is gone.
        is_complete: Whether all its objects are there, so that others are gone.
        mark: The state told of.
    """

    etags: Mapping[str, str | None]
    is_complete: bool
    mark: Mark


@dataclass(frozen=True, slots=True, kw_only=True)
class Version:
    """An object as it stands on the server.

    Attributes:
        etag: Of exactly this version.
    """

    etag: str
    data: bytes
