"""The words of an HTML mail, as somebody would read them. Pure."""

from html.parser import HTMLParser

_UNREAD = frozenset({"head", "script", "style", "template", "title"})
_BREAKS = frozenset({"br", "div", "li", "p", "tr", "h1", "h2", "h3", "h4", "table", "blockquote"})


class _Words(HTMLParser):
    def __init__(self) -> None:
        super().__init__(convert_charrefs=True)
        self.parts: list[str] = []
        self._unread: list[str] = []

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        if tag in _UNREAD:
            self._unread.append(tag)
        elif tag in _BREAKS:
            self.parts.append("\n")

    def handle_endtag(self, tag: str) -> None:
        if tag in self._unread:
            del self._unread[self._unread.index(tag) :]
        elif tag in _BREAKS:
            self.parts.append("\n")

    def handle_data(self, data: str) -> None:
        if not self._unread:
            self.parts.append(data)


def text_of_html(html: str) -> str:
    """Return the text of an HTML document, without what nobody sees."""
    words = _Words()
    words.feed(html)
    words.close()
    lines = (" ".join(line.split()) for line in "".join(words.parts).splitlines())
    return "\n".join(line for line in lines if line)
