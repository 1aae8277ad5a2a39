"""Mails of other people out of their bytes, what is looked for, and where servers are."""

from datetime import UTC, date, datetime
from zoneinfo import ZoneInfo

import pytest

from kinkeeper.connectors.mail.account import parse_account
from kinkeeper.connectors.mail.mailbox import read_mail, text_of_html
from kinkeeper.mail.lookup import read_query
from kinkeeper.mail.model import MailQuery, ReceivedMail

AT = datetime(2026, 5, 11, 9, 0, tzinfo=UTC)
NOW = datetime(2026, 5, 14, 12, 0, tzinfo=ZoneInfo("Europe/Vienna"))  # a Thursday


def mail(*lines: str | bytes) -> ReceivedMail | None:
    raw = b"\r\n".join(each if isinstance(each, bytes) else each.encode() for each in lines)
    return read_mail(raw, AT)


def test_a_plain_mail() -> None:
    assert mail(
        "From: =?utf-8?q?=C3=81na?= Ruiz <ana@a.example>",
        "Reply-To: Office <o@a.example>",
        "Subject: The",
        "\ttrip",
        "Message-ID: <1@a>",
        "References: <x@a> <y@a> junk",
        "",
        "We leave at nine.",
    ) == ReceivedMail(
        message_id="<1@a>",
        sender=_address("ana@a.example", "Ána Ruiz"),
        answer_to=_address("o@a.example", "Office"),
        subject="The trip",
        at=AT,
        text="We leave at nine.",
        references=("<x@a>", "<y@a>"),
    )


def _address(address: str, name: str) -> object:
    found = mail(f"From: {name} <{address}>", "", "")
    assert found is not None
    return found.sender


@pytest.mark.parametrize(
    ("lines", "text"),
    [
        (
            [
                "Content-Type: text/html",
                "",
                "<style>x</style><p>Hello <b>you</b></p><script>y</script>bye",
            ],
            "Hello you\nbye",
        ),
        (["Content-Type: text/plain; charset=latin-1", "", b"caf\xe9"], "café"),
        (["Content-Type: text/plain; charset=nonsense", "", "plain"], "plain"),
        (
            ["Content-Type: text/plain", "Content-Transfer-Encoding: base64", "", "aGVsbG8="],
            "hello",
        ),
        (["Content-Type: text/plain", "Content-Transfer-Encoding: base64", "", "%%%"], ""),
        (
            [
                "Content-Type: multipart/mixed; boundary=b",
                "",
                "--b",
                "Content-Type: text/html",
                "",
                "<p>html",
                "--b",
                "Content-Type: text/plain",
                "",
                "plain",
                "--b",
                "Content-Type: text/plain",
                "Content-Disposition: attachment",
                "",
                "attached",
                "--b--",
            ],
            "plain",
        ),
        (["", "left\u202eright\u200b"], "leftright"),
        (["", "word " * 500], None),
    ],
)
def test_the_text_of_a_mail(lines: list[str | bytes], text: str | None) -> None:
    found = mail("From: a@b.example", *lines)
    assert found is not None
    if text is None:
        assert len(found.text) <= 600
    else:
        assert found.text == text


@pytest.mark.parametrize(
    "lines",
    [
        [b"From: \xff\xfe <a@b.example>", b"Subject: \xff", b"", b"\xff\x00"],
        [
            "From: a@b.example",
            "Subject: =?bad?q?x?=",
            "Message-ID: <<<",
            "Content-Type: ;;;",
            "",
            "x",
        ],
        ["From: a@b.example", "Subject: =?utf-8?b?!!!?=", "", "x"],
        ["From: a@b.example", "Content-Type: multipart/mixed", "", "x"],
    ],
)
def test_whatever_stands_in_a_mail_it_is_read(lines: list[str | bytes]) -> None:
    assert mail(*lines) is not None


@pytest.mark.parametrize("sender", ["", "From: nobody", "From: @@", "From: a@b.example\u2028x@y"])
def test_a_mail_from_nobody_is_left_out(sender: str) -> None:
    assert mail(sender, "", "x") is None or "\u2028" in sender


def test_hidden_words_of_html_are_not_read() -> None:
    assert (
        text_of_html("<head><title>t</title></head>a<br>b &amp; c<template>z</template>")
        == "a\nb & c"
    )


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("invoice", MailQuery(words=("invoice",))),
        ("emails from Sarah about the invoice", MailQuery(sender="Sarah", words=("invoice",))),
        ("did I get any mail from the school office?", MailQuery(sender="the school office")),
        ("from: ana@a.example", MailQuery(sender="ana@a.example")),
        ('"field trip" form', MailQuery(words=("field trip", "form"))),
        ("unread mails", MailQuery(is_unread=True)),
        (
            "mail from Bob yesterday",
            MailQuery(sender="Bob", since=date(2026, 5, 13), before=date(2026, 5, 14)),
        ),
        ("mails since Monday about soccer", MailQuery(words=("soccer",), since=date(2026, 5, 11))),
        ("", MailQuery()),
    ],
)
def test_what_is_looked_for(text: str, expected: MailQuery) -> None:
    assert read_query(text, NOW, locale="en-GB") == expected


def test_a_login_out_of_an_address() -> None:
    account = parse_account("smtps://family%40home.test:p%2Fw%3A@mail.home.test", protocol="smtp")
    assert (account.host, account.port) == ("mail.home.test", 465)
    assert (account.username, account.password) == ("family@home.test", "p/w:")
    assert account.address == "family@home.test"
    assert account.is_tls_at_once
    assert "p/w" not in repr(account)
    other = parse_account("imap://me:secret@mail.home.test:1143", protocol="imap")
    assert (other.port, other.is_tls_later, other.address) == (1143, True, None)
    assert not parse_account("imap://me:secret@127.0.0.1", protocol="imap").is_tls_later


@pytest.mark.parametrize(
    "url",
    [
        "mail.home.test",
        "http://h",
        "smtps://",
        "smtps://me@h",
        "smtp://h:x",
        "smtp://u:p@h/path",
        "imap://h",
        "smtp://u:a%0Db@h",
        "smtp://u:p?x@h",
    ],
)
def test_an_address_that_is_none_is_not_quoted(url: str) -> None:
    with pytest.raises(ValueError, match=r"must|names") as caught:
        parse_account(url, protocol="smtp")
    assert "u:p" not in str(caught.value)
