"""The text of a page of HTML, line by line, as people see it. Pure.

The parser tells its events one by one and builds no tree: a page that nests or repeats without end costs no more than
its length.
"""

import codecs
import re
from collections.abc import Mapping, Sequence
from typing import Final

from kinkeeper.background.outside import PageLine
from kinkeeper.language.text import one_line, shorten, strip_controls

_HIDDEN: Final = frozenset(
    {"script", "style", "noscript", "template", "svg", "math", "iframe", "object", "select"}
)
_BLOCKS: Final = frozenset(
    {
        *("address", "article", "aside", "blockquote", "body", "br", "caption", "div", "dl", "dt"),
        *("fieldset", "figcaption", "figure", "footer", "form", "header", "hr", "li", "main"),
        *("nav", "ol", "p", "pre", "section", "table", "tbody", "thead", "tr", "ul"),
    }
)
_HEADINGS: Final = frozenset({"h1", "h2", "h3", "h4", "h5", "h6"})
_CELLS: Final = frozenset({"td", "th", "dd", "option"})
_MOST_LINES: Final = 5_000
_MOST_TEXT: Final = 300_000
"""How much of a page is kept, in characters."""

_LONGEST_LINE: Final = 1_000
_LONGEST_TITLE: Final = 120
_SLICE: Final = 65_536
_DECLARED: Final = re.compile(
    rb"""<meta[^>]{0,200}?charset\s*=\s*["']?\s*([A-Za-z0-9_.:-]{1,40})""", re.IGNORECASE
)
_CHARSETS: Final = re.compile(
    r"utf-8|utf-16(?:-[lb]e)?|ascii|iso8859-\d+|cp\d+|gbk|gb2312|gb18030|big5|shift_jis|euc_(?:jp|kr)|koi8-[ru]|mac-roman"
)


def text_of(data: bytes, charset: str | None) -> str:
    """Return the text of bytes; what cannot be read becomes marks of doubt.

    Args:
        charset: As the server says; None where it does not.
    """
    declared = _DECLARED.search(data[:2048])
    said = charset or (declared[1].decode("ascii") if declared else "utf-8")
    return data.decode(_known(said), errors="replace")


def _known(charset: str) -> str:
    """Return the name of a character set, or UTF-8: some names of Python's are no character sets, and slow."""
    try:
        name = codecs.lookup(charset).name
    except (LookupError, ValueError):
        return "utf-8"
    return name if _CHARSETS.fullmatch(name) else "utf-8"


def lines_of_html(html: str) -> tuple[str, Sequence[PageLine]]:
    """Return the title of a page and its lines. May take a second: call it outside the event loop."""
    # Of the extra `web`, which a household that reads no pages does not need.
    from lxml import etree  # noqa: PLC0415

    reader = _Lines()
    parser = etree.HTMLParser(target=reader, recover=True, huge_tree=False, no_network=True)
    try:
        for begin in range(0, len(html), _SLICE):
            parser.feed(html[begin : begin + _SLICE])
        parser.close()
    except etree.LxmlError:
        pass  # What was read before it stays.
    return reader.whole()


def lines_of_text(text: str) -> Sequence[PageLine]:
    """Return the lines of a page of plain text."""
    begin = text[:_MOST_TEXT].splitlines()[:_MOST_LINES]
    lines = (_cleaned(each, _LONGEST_LINE) for each in begin)
    return [PageLine(text=each) for each in lines if each]


class _Lines:
    """Takes the events of the parser down as lines."""

    def __init__(self) -> None:
        self._pieces: list[str] = []
        self._title: list[str] = []
        self._lines: list[PageLine] = []
        self._heading = ""
        self._hidden = 0
        self._left = _MOST_TEXT
        self._is_title = False

    def start(self, tag: str, _attributes: Mapping[str, str]) -> None:
        """Begin an element."""
        if tag == "title":
            self._is_title = True
        if tag in _HIDDEN:
            self._hidden += 1
        elif tag in _BLOCKS or tag in _HEADINGS:
            self._end_line()
        elif tag in _CELLS:
            self._pieces.append(" ")

    def end(self, tag: str) -> None:
        """End an element."""
        if tag == "title":
            self._is_title = False
        if tag in _HIDDEN:
            self._hidden -= 1
        elif tag in _HEADINGS:
            self._heading = _cleaned("".join(self._pieces), _LONGEST_TITLE)
            self._pieces.clear()
        elif tag in _BLOCKS and tag != "dt":
            self._end_line()

    def data(self, text: str) -> None:
        """Take text."""
        if self._is_title and not self._title:
            self._title.append(text)
        elif self._hidden <= 0 and self._left > 0:
            self._left -= len(text)
            self._pieces.append(text)

    def close(self) -> None:
        """End the last line."""
        self._end_line()

    def whole(self) -> tuple[str, Sequence[PageLine]]:
        """Return the title and the lines."""
        self._end_line()
        return _cleaned("".join(self._title), _LONGEST_TITLE), self._lines

    def _end_line(self) -> None:
        text = _cleaned("".join(self._pieces), _LONGEST_LINE) if self._pieces else ""
        self._pieces.clear()
        if text and len(self._lines) < _MOST_LINES:
            self._lines.append(PageLine(text=text, heading=self._heading))


def _cleaned(text: str, longest: int) -> str:
    return shorten(one_line(strip_controls(" ".join(text[: 4 * longest].split()))).strip(), longest)
