"""Mails made to break their reader: each is read, and in bounded time."""

import encodings.aliases
from collections.abc import Iterator
from datetime import UTC, datetime
from functools import partial

import pytest

from growth import cpu_seconds, grows_too_fast, takes_too_long
from kinkeeper.connectors.mail.mailbox import read_mail, text_of_html

AT = datetime(2026, 5, 11, 9, 0, tzinfo=UTC)
SIZE = 65_536  # what is read of a mail
MOST_SECONDS = 3.0

REPEATED = (
    "(",
    "((a)",
    "\\",
    '"',
    "<",
    "<@",
    "[",
    "a,",
    "a;",
    ":",
    "a:b;",
    "=?",
    "=?utf-8?q?a?= ",
    "=?utf-8?b?A?=",
    "=?a\0b?q?a?=",
    "=?idna?q?=FF?=",
    "=?punycode?b?gA==?=",
    " ",
    "\r\n x",
)
MARKUP = (
    "<![",
    "<!--",
    "<!",
    "<?",
    "</",
    "<a ",
    "<a b='",
    '<a "',
    "&#",
    "&",
    "&#9",
    "<div>",
    "<script>",
    "<style>",
    "</p",
    "<![CDATA[",
    "</head><head>",
    "<template>",
    "a<",
    "<a/b ",
    "<head><b></head>",
)
CHARSETS = sorted(
    {*encodings.aliases.aliases.values(), "a\0b", "idna", "undefined", "punycode", "x" * 60_000}
)


def mail(kind: str = "text/plain", body: str = "hello", **headers: str) -> bytes:
    """Return the part of a mail that is read."""
    lines = {"From": "Ana <ana@a.example>", "Subject": "trip", "Content-Type": kind} | headers
    head = "".join(f"{name.replace('_', '-')}: {value}\r\n" for name, value in lines.items())
    return f"{head}\r\n{body}".encode("utf-8", "surrogateescape")[:SIZE]


def headers() -> Iterator[bytes]:
    for name in ("From", "Reply_To", "Subject", "References", "Message_ID", "Content_Disposition"):
        for text in REPEATED:
            yield mail(**{name: text})
            yield mail(**{name: text * (SIZE // len(text))})
            yield mail(**{name: f"x <x@y.example>, {text * 1500}"})


def charsets() -> Iterator[bytes]:
    for charset in CHARSETS:
        yield mail(f'text/plain; charset="{charset}"', "h\udcff\\N{xx")
        yield mail(f"text/plain; charset*={charset}''x%ff", "h\udcff")
        yield mail(Subject=f"=?{charset}?b?gP//?=")


def parts() -> Iterator[bytes]:
    nested = "--b{0}\r\nContent-Type: multipart/mixed; boundary=b{1}\r\n\r\n"
    body = "".join(nested.format(number, number + 1) for number in range(1200))
    yield mail("multipart/mixed; boundary=b0", body)
    yield mail("message/rfc822", "Content-Type: message/rfc822\r\n\r\n" * 2000)
    yield mail("multipart/mixed; boundary=a", "--a\r\n\r\n" * 9000)
    yield mail("text/plain; " + "a=b; " * 12_000)
    yield mail("text/plain; " + "; ".join(f"charset*{number}=a" for number in range(6000)))
    yield mail(Content_Transfer_Encoding="base64", body="A" * 60_000)
    yield mail(Content_Transfer_Encoding="x-uuencode", body="begin 6 a\r\n" + "M" * 60_000)


def documents() -> Iterator[bytes]:
    for markup in MARKUP:
        yield mail("text/html", markup * (SIZE // len(markup)))
    yield mail("text/html", "&#" + "9" * 60_000)


@pytest.mark.parametrize("kind", [headers, charsets, parts, documents])
def test_a_hostile_mail_is_read_in_bounded_time(kind: object) -> None:
    assert callable(kind)
    slow = []
    for raw in kind():
        cost = partial(cpu_seconds, partial(read_mail, raw, AT))
        if told := takes_too_long(cost, MOST_SECONDS):
            slow.append((told, raw[:120]))
    assert not slow


def test_a_mail_whose_parts_cannot_be_read_keeps_its_sender_and_subject() -> None:
    for raw in parts():
        found = read_mail(raw, AT)
        assert found is not None
        assert (found.sender.address, found.subject) == ("ana@a.example", "trip")


@pytest.mark.parametrize("markup", MARKUP)
def test_reading_html_takes_linear_time(markup: str) -> None:
    def cost(size: int) -> float:
        html = (markup * size)[:size]
        return cpu_seconds(lambda: text_of_html(html))

    assert not grows_too_fast(cost, 50_000)


@pytest.mark.parametrize(
    ("html", "text"),
    [
        ("<p title='a > b'>one</p><p>two", "one\ntwo"),
        ("1 < 2 &amp; 3 > 2", "1 < 2 & 3 > 2"),
        ("a<!-- <p>hidden</p> -->b", "ab"),
        ("<SCRIPT>if (a < b) '</p>'</SCRIPT >shown", "shown"),
        ("<!DOCTYPE html><?xml?><html><body>x</body></html>", "x"),
        ('a<a href="x>y">link</a>', "alink"),
        ("x &#9999999999; y", "x \ufffd y"),
        ("seen<!-- never closed <p>hidden</p>", "seen"),
    ],
)
def test_the_words_of_a_document(html: str, text: str) -> None:
    assert text_of_html(html) == text
