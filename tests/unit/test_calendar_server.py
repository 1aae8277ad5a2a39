"""Calendar servers: where they may send us, what their answers say, and what is to be done about a difference."""

from dataclasses import dataclass
from datetime import UTC, datetime

import pytest

from kinkeeper.connectors.caldav.address import Address, followed, path_of
from kinkeeper.connectors.caldav.kinds import Verdict, decide
from kinkeeper.connectors.caldav.sync_records import ObjectRow, ObjectState
from kinkeeper.connectors.caldav.wire import read_answers
from kinkeeper.core.errors import InputError, UnavailableError

NOW = datetime(2026, 3, 2, tzinfo=UTC)


def test_an_address_gives_up_user_and_password_and_keeps_the_place():
    address = Address.parse("https://ana:p%40ss%2F@cal.example:8443/dav/home/")
    assert (address.user, address.password) == ("ana", "p@ss/")
    assert address.url == "https://cal.example:8443/dav/home/"


@pytest.mark.parametrize("text", ["ftp://cal.example/", "cal.example/secret", "https://:pw@/", ""])
def test_what_is_no_address_of_a_web_server_is_refused(text: str):
    with pytest.raises(InputError) as caught:
        Address.parse(text)
    assert not text or text not in str(caught.value)


@pytest.mark.parametrize(
    ("reference", "where"),
    [
        ("/dav/home/", "https://cal.example/dav/home/"),
        ("https://cal.example:443/x/", "https://cal.example:443/x/"),
        ("https://p12.cal.example/x/", None),
        ("https://evil.example/", "https://evil.example/"),
        ("http://cal.example/x/", None),
        ("https://cal.example.evil.com/", None),
    ],
)
def test_a_server_leads_to_itself_or_an_encrypted_sibling(reference: str, where: str | None):
    base = "https://cal.example/dav/"
    if where is None or "evil.example" in reference:
        with pytest.raises(InputError):
            followed(base, reference)
    else:
        assert followed(base, reference) == where


def test_another_host_is_followed_only_within_a_known_provider():
    assert followed("https://caldav.icloud.com/", "https://p7-caldav.icloud.com/1/")
    for base, other in (
        ("192.168.1.2", "192.168.1.3"),
        ("mine.co.uk", "other.co.uk"),
        ("caldav.icloud.com", "icloud.com.evil.example"),
        ("me.dynamic-dns.example", "you.dynamic-dns.example"),
        ("a.github.io", "b.github.io"),
        ("caldav.icloud.com", "evilicloud.com"),
        ("a.duckdns.org", "b.duckdns.org"),
        ("dav.mine.example", "cal.mine.example"),
        ("caldav.icloud.com", "p7.icloud.com:8443"),
    ):
        with pytest.raises(InputError):
            followed(f"https://{base}/", f"https://{other}/")
    with pytest.raises(InputError):
        followed("https://caldav.icloud.com/", "http://p7.icloud.com/1/")


def test_a_server_may_insist_on_encryption_but_not_give_it_up():
    assert followed("http://cal.example/", "https://cal.example/x/") == "https://cal.example/x/"
    with pytest.raises(InputError):
        followed("https://cal.example/", "http://cal.example/x/")


def test_a_path_has_one_spelling():
    base = "https://cal.example/dav/"
    spellings = ("/dav/a%20b.ics", "/dav/a b.ics", "https://cal.example/dav/a%20b.ics", "a b.ics")
    assert {path_of(base, each) for each in spellings} == {"/dav/a%20b.ics"}


ANSWER = b"""<?xml version="1.0"?><multistatus xmlns="DAV:" xmlns:C="urn:ietf:params:xml:ns:caldav">
<response><href>/c/a.ics</href><propstat><prop><getetag>"1"</getetag></prop><status>HTTP/1.1 200 OK</status></propstat>
<propstat><prop><C:calendar-data/></prop><status>HTTP/1.1 404 Not Found</status></propstat></response>
<response><href>/c/b.ics</href><status>HTTP/1.1 404 Not Found</status></response>
<sync-token>t2</sync-token></multistatus>"""


def test_an_answer_tells_versions_and_what_is_gone():
    answers = read_answers(ANSWER)
    assert [(each.href, each.etag, each.is_gone) for each in answers.all] == [
        ("/c/a.ics", '"1"', False),
        ("/c/b.ics", None, True),
    ]
    assert answers.sync_token == "t2"  # noqa: S105 - names a state


@pytest.mark.parametrize(
    "hostile",
    [
        b'<!DOCTYPE a [<!ENTITY b "ha"><!ENTITY c "&b;&b;&b;">]><a>&c;</a>',
        b'<!DOCTYPE a [<!ENTITY b SYSTEM "file:///etc/passwd">]><a>&b;</a>',
        b"<a><b></a>",
        b"\xff\xfe\x00",
        b"",
    ],
)
def test_an_answer_that_is_no_plain_xml_is_refused(hostile: bytes):
    with pytest.raises(UnavailableError):
        read_answers(hostile)


@dataclass(frozen=True, slots=True)
class Thing:
    content: str
    over: bool = False
    is_cancelled: bool = False
    id: str = "x"
    title: str = "x"

    def shared(self) -> str:
        return self.content

    def fingerprint(self) -> str:
        return self.content

    def is_over(self, now: datetime) -> bool:
        return self.over

    def completed(self, ours: "Thing") -> "Thing":
        return self


def known(
    agreed: str = "a", trying: str = "", state: ObjectState = ObjectState.SYNCED
) -> ObjectRow:
    return ObjectRow(path="/p", agreed=agreed, trying=trying, state=state, local_id="x")


@pytest.mark.parametrize(
    ("row", "theirs", "ours", "verdict"),
    [
        (known(), Thing("b"), Thing("a"), Verdict.ASK_CHANGE),
        (known(), Thing("b"), Thing("c"), Verdict.CLASH),
        (known(), Thing("b"), Thing("b"), Verdict.AGREE),
        (known(), Thing("a"), Thing("c"), Verdict.WRITE),
        (known(trying="b"), Thing("b"), Thing("c"), Verdict.WRITE),
        (known(agreed=""), Thing("b"), Thing("c"), Verdict.CLASH),
        (known(), None, Thing("a"), Verdict.ASK_CANCEL),
        (known(), None, Thing("c"), Verdict.CLASH_GONE),
        (known(), None, Thing("c", is_cancelled=True), Verdict.FORGET),
        (known(), None, None, Verdict.FORGET),
        (known(state=ObjectState.NEW), Thing("b"), None, Verdict.ASK_ADD),
        (known(state=ObjectState.NEW), Thing("b", over=True), None, Verdict.LEAVE_OUT),
        (known(state=ObjectState.NEW), Thing("b", is_cancelled=True), None, Verdict.LEAVE_OUT),
    ],
)
def test_what_is_done_follows_from_how_both_sides_changed(
    row: ObjectRow, theirs: Thing | None, ours: Thing | None, verdict: Verdict
):
    assert decide(row, theirs, ours, now=NOW) is verdict
