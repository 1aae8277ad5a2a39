"""Sending, drafts and reading against real servers: aiosmtpd and Dovecot."""

import asyncio
import gc
import warnings
from collections.abc import Iterator
from contextlib import contextmanager
from datetime import timedelta
from email.message import EmailMessage
from pathlib import Path

import pytest
from aiosmtplib import SMTPException

from kinkeeper.actions.effects.outside import Verb
from kinkeeper.actions.outside.adapter import NotDoneError, RefusedError, Trace, Work
from kinkeeper.connectors.mail.account import NotSetUp, parse_account
from kinkeeper.connectors.mail.adapters import DraftAdapter, MailServer, SendAdapter, message_id
from kinkeeper.connectors.mail.mailbox import Mailbox, MailboxRefusedError
from kinkeeper.core.errors import UnavailableError
from kinkeeper.mail.model import Address, Mail, MailQuery
from mailpeers.imap import Postbox, certificate_of, postbox, server_context
from mailpeers.samples import AT, MAIL, drafting, sending
from mailpeers.smtp import Post, post_office

SENDER = "family@home.test"


@pytest.fixture(scope="module")
def dovecot() -> Iterator[Postbox]:
    with postbox() as running:
        yield running


@pytest.fixture
def box(dovecot: Postbox) -> Postbox:
    with dovecot.opened() as client:
        for folder in ("INBOX", "Entwürfe", "Gesendet"):
            client.select_folder(folder)
            if found := client.search():
                client.delete_messages(found)
                client.expunge()
    return dovecot


@pytest.fixture
def post() -> Iterator[Post]:
    with post_office() as running:
        yield running


def server(post: Post) -> MailServer:
    return MailServer(parse_account(post.url, protocol="smtp"), sender=SENDER)


def mailbox(box: Postbox) -> Mailbox:
    return Mailbox(parse_account(box.url, protocol="imap"))


class Marks:
    """Counts how often the point of no return was passed."""

    def __init__(self) -> None:
        self.passed = 0

    async def __call__(self) -> None:
        self.passed += 1


def send(post: Post, work: Work, box: Postbox | None = None) -> tuple[dict[str, object], Marks]:
    marks = Marks()
    adapter = SendAdapter(server(post), mailbox(box) if box else None)
    return dict(asyncio.run(adapter.call(work, marks))), marks


def letter(sender: str, subject: str, text: str, **headers: str) -> bytes:
    message = EmailMessage()
    message["From"], message["To"], message["Subject"] = sender, SENDER, subject
    message["Message-ID"] = headers.pop("message_id", f"<{subject.replace(' ', '.')}@test>")
    for name, value in headers.items():
        message[name.replace("_", "-")] = value
    message.set_content(text)
    return message.as_bytes()


def test_a_mail_arrives_as_it_was_confirmed(post: Post) -> None:
    said, marks = send(post, sending())
    (recipients, _), message = post.taken[0], post.messages[0]
    assert recipients == ("ana@school.example", "li@work.example")
    assert str(message["Subject"]) == MAIL.subject
    assert str(message["From"]) == "Ines <family@home.test>"
    assert str(message["To"]) == "Ána Ruiz <ana@school.example>, li@work.example"
    assert str(message["Reply-To"]) == "ines@home.example"
    assert message.get_payload(decode=True) == MAIL.body.replace("\n", "\r\n").encode() + b"\r\n"
    assert str(message["Message-ID"]) == message_id(sending().id, SENDER)
    assert said["server"] == "taken as 7Q1"
    assert said["is_copied"] is False
    assert marks.passed == 1


def test_the_same_work_gives_the_same_bytes(post: Post) -> None:
    for _ in range(2):
        send(post, sending())
    assert len({raw for _, raw in post.taken}) == 1
    send(post, sending(name="second"))
    assert len({str(message["Message-ID"]) for message in post.messages}) == 2


@pytest.mark.parametrize(
    ("said", "error"), [("550 no such user", RefusedError), ("451 later", NotDoneError)]
)
def test_if_one_recipient_is_refused_nobody_gets_it(
    post: Post, said: str, error: type[Exception]
) -> None:
    post.said_to_recipients["li@work.example"] = said
    with pytest.raises(error, match=r"li@work\.example: "):
        send(post, sending())
    assert post.taken == []


@pytest.mark.parametrize(
    ("said", "error"), [("554 spam", RefusedError), ("452 full", NotDoneError)]
)
def test_a_text_that_is_refused_was_not_sent(post: Post, said: str, error: type[Exception]) -> None:
    post.said_to_text.append(said)
    with pytest.raises(error, match=said[4:]):
        send(post, sending())
    assert post.taken == []


def test_no_server_there(post: Post) -> None:
    elsewhere = Post(url="smtp://127.0.0.1:9")
    with pytest.raises(NotDoneError, match="cannot be reached"):
        send(elsewhere, sending())
    with pytest.raises(RefusedError, match="SMTP_URL"):
        asyncio.run(NotSetUp("SMTP_URL is not set").call(sending(), Marks()))


def test_a_connection_that_breaks_behind_the_text_leaves_it_unknown(
    post: Post, box: Postbox
) -> None:
    post.breaks_off = True
    adapter, marks = SendAdapter(server(post), mailbox(box)), Marks()
    with pytest.raises(SMTPException):
        asyncio.run(adapter.call(sending(), marks))
    assert (len(post.taken), marks.passed) == (1, 1)
    assert asyncio.run(adapter.was_done(sending())) is Trace.UNKNOWN
    assert asyncio.run(SendAdapter(server(post), None).was_done(sending())) is Trace.UNKNOWN


def test_a_copy_is_kept_once_and_tells_that_it_was_sent(post: Post, box: Postbox) -> None:
    adapter = SendAdapter(server(post), mailbox(box))
    assert asyncio.run(adapter.was_done(sending())) is Trace.UNKNOWN
    for _ in range(2):
        said, _ = send(post, sending(), box)
        assert said["is_copied"] is True
    assert box.ids("Gesendet") == [message_id(sending().id, SENDER)]
    assert asyncio.run(adapter.was_done(sending())) is Trace.DONE


def test_that_no_copy_can_be_kept_is_no_reason_to_fail(post: Post) -> None:
    away = Mailbox(parse_account("imap://a:b@127.0.0.1:9", protocol="imap"))
    said = asyncio.run(SendAdapter(server(post), away).call(sending(), Marks()))
    assert (said["is_copied"], len(post.taken)) == (False, 1)
    with pytest.raises(NotDoneError):
        asyncio.run(SendAdapter(server(post), away).was_done(sending()))


def test_a_login_is_made_and_a_wrong_one_is_told() -> None:
    with post_office(wants_login=True) as post:
        send(post, sending())
        assert post.logins == ["family@home.test"]
        assert len(post.taken) == 1
        post.url = post.url.replace("pass%3A", "no%3A")
        with pytest.raises(RefusedError, match="login"):
            send(post, sending())
        with pytest.raises(RefusedError, match="login"):
            asyncio.run(server(post).greet())


def test_a_server_that_never_answers_is_given_up_before_anything_is_sent(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr("kinkeeper.connectors.mail.adapters._TIMEOUT_SECONDS", 0.2)

    async def say_nothing(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        try:
            await reader.read()
        finally:
            writer.close()

    async def run() -> None:
        silent = await asyncio.start_server(say_nothing, "127.0.0.1", 0)
        port = silent.sockets[0].getsockname()[1]
        account = parse_account(f"smtp://127.0.0.1:{port}", protocol="smtp")
        adapter = SendAdapter(MailServer(account, sender=SENDER), None)
        with pytest.raises(NotDoneError):
            await adapter.call(sending(), Marks())
        silent.close()

    asyncio.run(run())


@contextmanager
def trusting(certificate: Path) -> Iterator[None]:
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("SSL_CERT_FILE", str(certificate))
        yield


def test_certificates_are_checked(tmp_path: Path) -> None:
    files = certificate_of(tmp_path)
    with post_office(tls=server_context(files)) as post, postbox(certificate=files) as box:
        with pytest.raises(NotDoneError, match="cannot be reached"):
            send(post, sending())
        with pytest.raises(UnavailableError):
            asyncio.run(mailbox(box).folders())
        with trusting(files[0]):
            send(post, sending())
            assert len(asyncio.run(mailbox(box).folders())) == 2
        assert len(post.taken) == 1
    # A handshake that fails leaves asyncio's own transport to the garbage collector.
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", ResourceWarning)
        gc.collect()


def test_without_tls_nothing_is_said_to_a_server_elsewhere() -> None:
    account = parse_account("smtp://u:p@mail.example.org", protocol="smtp")
    assert account.is_tls_later
    assert not account.is_tls_at_once
    # The same against a server that offers no TLS: it refuses before the login.
    with post_office(wants_login=True) as post:
        plain = parse_account(post.url, protocol="smtp")
        strict = type(plain)(
            host=plain.host,
            port=plain.port,
            username=plain.username,
            password=plain.password,
            is_tls_at_once=False,
            is_tls_later=True,
        )
        with pytest.raises((NotDoneError, RefusedError)):
            asyncio.run(MailServer(strict, sender=SENDER).greet())
        assert post.logins == []


def test_a_draft_is_put_in_once_and_can_be_taken_back(box: Postbox) -> None:
    adapter = DraftAdapter(mailbox(box), sender=SENDER)
    for _ in range(2):
        asyncio.run(adapter.call(drafting(), Marks()))
    asyncio.run(adapter.call(drafting(name="other"), Marks()))
    mine, other = (message_id(drafting(name=each).id, SENDER) for each in ("first", "other"))
    assert sorted(box.ids("Entwürfe")) == sorted([mine, other])
    assert all(b"\\Draft" in flags for flags in box.flags("Entwürfe"))
    assert asyncio.run(adapter.was_done(drafting())) is Trace.DONE
    undo = drafting(verb=Verb.UNDO)
    assert asyncio.run(adapter.was_done(undo)) is Trace.NOT_DONE
    for _ in range(2):
        asyncio.run(adapter.call(undo, Marks()))
    assert box.ids("Entwürfe") == [other]
    assert asyncio.run(adapter.was_done(undo)) is Trace.DONE
    assert asyncio.run(adapter.was_done(drafting())) is Trace.NOT_DONE


def test_a_draft_may_have_no_address_yet(box: Postbox) -> None:
    mail = Mail(unaddressed=("Bob",), subject="Late", body="I'm running late.")
    asyncio.run(DraftAdapter(mailbox(box), sender=SENDER).call(drafting(mail), Marks()))
    assert len(box.ids("Entwürfe")) == 1


def test_folders_are_made_where_there_are_none() -> None:
    with postbox(has_folders=False) as plain:
        adapter = DraftAdapter(mailbox(plain), sender=SENDER)
        asyncio.run(adapter.call(drafting(), Marks()))
        assert plain.ids("Drafts") == [message_id(drafting().id, SENDER)]


def test_no_mailbox_there(box: Postbox) -> None:
    wrong = parse_account(box.url.replace("pass%3A", "no%3A"), protocol="imap")
    with pytest.raises(MailboxRefusedError, match="IMAP_URL"):
        asyncio.run(Mailbox(wrong).folders())
    with pytest.raises(RefusedError):
        asyncio.run(DraftAdapter(Mailbox(wrong), sender=SENDER).call(drafting(), Marks()))
    away = DraftAdapter(
        Mailbox(parse_account("imap://127.0.0.1:9", protocol="imap")), sender=SENDER
    )
    with pytest.raises(NotDoneError):
        asyncio.run(away.was_done(drafting()))


def test_searching_finds_the_latest_first_and_leaves_no_trace(box: Postbox) -> None:
    box.put("INBOX", letter("Sarah <sarah@a.example>", "Invoice 1", "for the boat"))
    box.put("INBOX", letter("Sarah <sarah@a.example>", "Invoice 2", "for the höuse"))
    box.put("INBOX", letter("Max <max@b.example>", "Holiday", "no invoice here"))
    reader = mailbox(box)

    def subjects(query: MailQuery, limit: int = 9) -> list[str]:
        return [mail.subject for mail in asyncio.run(reader.search(query, limit=limit))]

    assert subjects(MailQuery(sender="sarah")) == ["Invoice 2", "Invoice 1"]
    assert subjects(MailQuery(words=("invoice",))) == ["Holiday", "Invoice 2", "Invoice 1"]
    assert subjects(MailQuery(words=("invoice", "boat"))) == ["Invoice 1"]
    assert subjects(MailQuery(words=("höuse",))) == ["Invoice 2"]
    assert subjects(MailQuery(), limit=2) == ["Holiday", "Invoice 2"]
    assert subjects(MailQuery(words=('x" OR ALL',))) == []
    assert subjects(MailQuery(is_unread=True)) == ["Holiday", "Invoice 2", "Invoice 1"]
    today = asyncio.run(reader.search(MailQuery(), limit=1))[0].at.date()
    assert subjects(MailQuery(since=today + timedelta(days=2))) == []
    assert subjects(MailQuery(before=today - timedelta(days=2))) == []
    assert all(b"\\Seen" not in flags for flags in box.flags("INBOX"))


def test_people_are_known_by_those_written_to_and_those_who_wrote(box: Postbox, post: Post) -> None:
    known = Mail(to=(Address(address="bob@work.example", name="Bob Smith"),), subject="s", body="b")
    send(post, sending(known), box)
    box.put("INBOX", letter("Bob Stone <bob@stone.example>", "hello", "x"))
    box.put("INBOX", letter("Bob Smith <BOB@work.example>", "again", "x"))
    box.put("INBOX", letter("Ann <bobsled@ice.example>", "race", "x"))

    def found(name: str) -> list[str]:
        return [each.shown for each in asyncio.run(mailbox(box).correspondents(name))]

    assert found("bob smith") == ["Bob Smith <bob@work.example>"]
    assert found("Bob")[0] == "Bob Smith <bob@work.example>"
    assert "Bob Stone <bob@stone.example>" in found("Bob")
    assert found("nobody") == []
    assert found("") == []


def test_a_reply_continues_the_conversation(post: Post) -> None:
    mail = MAIL.model_copy(
        update={"in_reply_to": "<b@x>", "references": ("<a@x>", "<" + "y" * 200 + "@x>", "<b@x>")}
    )
    send(post, sending(mail))
    message = post.messages[0]
    assert message["In-Reply-To"] == "<b@x>"
    assert str(message["References"]).split() == list(mail.references)


def test_the_time_of_a_mail_is_that_of_the_yes(post: Post) -> None:
    send(post, sending())
    assert post.messages[0]["Date"].datetime == AT
