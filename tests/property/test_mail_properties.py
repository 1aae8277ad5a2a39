"""No text, however hostile, adds a header or a recipient, and none makes reading fail."""

from datetime import UTC, datetime
from email import message_from_bytes
from email.policy import default

from hypothesis import example, given
from hypothesis import strategies as st

from kinkeeper.connectors.mail.adapters import mail_bytes
from kinkeeper.connectors.mail.mailbox import read_mail, text_of_html
from kinkeeper.mail.lookup import read_query
from kinkeeper.mail.model import Address, Mail, one_line

AT = datetime(2026, 5, 11, 9, 0, tzinfo=UTC)
HEADERS = {"From", "To", "Reply-To", "Subject", "Date", "Message-ID", "MIME-Version"} | {
    "Content-Type",
    "Content-Transfer-Encoding",
}
TEXT = st.text(st.characters(exclude_categories=["Cs"]), max_size=150)
HOSTILE = st.one_of(
    TEXT,
    st.lists(
        st.sampled_from(
            ["\r\n", "\n", "\r", "Bcc: evil@x.example", "\x00", "\u2028", "<", ">", '"', ",", " "]
        )
    ).map("".join),
)


@given(subject=HOSTILE, body=HOSTILE, name=HOSTILE, sender=HOSTILE)
@example(
    subject="\r\nBcc: e@x.example", body="\r\n.\r\nMAIL FROM:<e@x.example>", name='"', sender=","
)
def test_a_mail_says_what_was_confirmed_and_nothing_else(
    subject: str, body: str, name: str, sender: str
) -> None:
    mail = Mail(
        to=(Address(address="ana@a.example", name=one_line(name)),),
        subject=one_line(subject),
        body=body,
        from_name=one_line(sender),
        reply_to=Address(address="i@h.example"),
    )
    raw = mail_bytes(mail, sender="family@home.test", change_id="c1", at=AT)
    message = message_from_bytes(raw, policy=default)
    assert set(message.keys()) <= HEADERS
    assert [each.addr_spec for each in message["To"].addresses] == ["ana@a.example"]
    assert [each.addr_spec for each in message["From"].addresses] == ["family@home.test"]
    assert str(message["Message-ID"]) == "<act-c1@home.test>"
    assert all(len(line) < 998 for line in raw.split(b"\r\n"))
    assert raw.isascii()
    text = message.get_payload(decode=True)
    assert isinstance(text, bytes)
    assert text.decode().split() == body.split()


@given(st.binary(max_size=400))
@example(b"From: a@b.example\r\nSubject: =?utf-8?q?=FF?=\r\n\r\n")
def test_reading_a_mail_never_fails(raw: bytes) -> None:
    read_mail(raw, AT)
    read_mail(b"From: a@b.example\r\n" + raw, AT)
    read_mail(b"From: a@b.example\r\nContent-Type: text/html\r\n\r\n" + raw, AT)


@given(TEXT)
def test_reading_html_and_queries_never_fails(text: str) -> None:
    text_of_html(text)
    assert all("\n" not in word for word in read_query(text, AT, locale="en-US").words)
