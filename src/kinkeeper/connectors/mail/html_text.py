"""The visible words of an HTML mail. Pure.

Anybody may send a mail, so every document is read in one pass: the standard library's parser raises on some
input, and takes quadratic time on tags and comments that never end.
"""

import re
from html import unescape

_HIDDEN = frozenset({"head", "script", "style", "template", "title"})
_BREAKS = frozenset({"br", "div", "li", "p", "tr", "h1", "h2", "h3", "h4", "table", "blockquote"})
_RAW = frozenset({"script", "style"})
"""Elements whose content is no HTML: only their own end tag ends them."""

_NAME = re.compile(r"/?[A-Za-z][A-Za-z0-9]*")
_REST_OF_TAG = re.compile(r"""[^>"']*+(?:"[^"]*+"[^>"']*+|'[^']*+'[^>"']*+)*+>""")
_LONG_REFERENCE = re.compile(r"&#[xX]?[0-9A-Fa-f]{8,};?")
"""A number that no character has; a very long one would be an error."""


class _Words:
    """Collects the words outside hidden elements."""

    def __init__(self) -> None:
        self.parts: list[str] = []
        self._hidden: list[str] = []

    def add(self, text: str) -> None:
        if not self._hidden:
            self.parts.append(unescape(_LONG_REFERENCE.sub("\ufffd", text)))

    def tag(self, name: str) -> None:
        is_end, plain = name.startswith("/"), name.removeprefix("/")
        if plain in _BREAKS:
            self.parts.append("\n")
        elif is_end and plain in self._hidden:
            del self._hidden[self._hidden.index(plain) :]
        elif not is_end and plain in _HIDDEN and plain not in self._hidden:
            self._hidden.append(plain)


def text_of_html(html: str) -> str:
    """Return the text of an HTML document as a reader would see it; a tag that never ends hides the rest."""
    words, at = _Words(), 0
    while (begin := html.find("<", at)) >= 0:
        words.add(html[at:begin])
        at = _read_markup(html, begin, words)
    words.add(html[at:])
    lines = (" ".join(line.split()) for line in "".join(words.parts).splitlines())
    return "\n".join(line for line in lines if line)


def _read_markup(html: str, begin: int, words: _Words) -> int:
    """Read what begins with "<" and return where it ends."""
    if html.startswith("<!--", begin):
        return _after(html, "-->", begin + 4)
    if html.startswith(("<!", "<?"), begin):
        return _after(html, ">", begin)
    name = _NAME.match(html, begin + 1)
    if name is None:
        words.add("<")
        return begin + 1
    found = name.group().lower()
    rest = _REST_OF_TAG.match(html, name.end())
    words.tag(found)
    if rest is None:
        return len(html)
    return _after_raw(html, found, rest.end()) if found in _RAW else rest.end()


def _after(html: str, end: str, at: int) -> int:
    found = html.find(end, at)
    return len(html) if found < 0 else found + len(end)


def _after_raw(html: str, name: str, at: int) -> int:
    """Return where the end tag of an element with raw content begins."""
    found = re.compile(f"</{name}", re.IGNORECASE).search(html, at)
    return len(html) if found is None else found.start()
