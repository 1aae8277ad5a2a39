"""Pages of the web: which are read, how much of them, how long; whatever a server answers."""

import asyncio
import gzip
import time
from collections.abc import Iterator
from typing import Any

import pytest

from kinkeeper.background.outside import Page
from kinkeeper.connectors.pages.page_fetch import MOST_BYTES, PageFetch
from kinkeeper.core.errors import DeniedError, InputError, KinkeeperError, UnavailableError
from web_peer import Reply, WebPeer, page, web_peer

HTML = {"Content-Type": "text/html"}


@pytest.fixture
def peer() -> Iterator[WebPeer]:
    with web_peer() as peer:
        yield peer


def fetch(peer: WebPeer, place: str, **options: Any) -> Page:
    address = place if "://" in place else peer.at(place)
    known = {"private_hosts": ("museum.example", "www.museum.example"), "resolve": peer.resolve}
    return asyncio.run(PageFetch(**(known | options)).read(address))


def failed(peer: WebPeer, place: str, **options: Any) -> KinkeeperError:
    with pytest.raises((DeniedError, InputError, UnavailableError)) as caught:
        fetch(peer, place, **options)
    return caught.value


def test_a_page_is_read_line_by_line_with_its_headings(peer: WebPeer) -> None:
    peer.pages["museum.example/hours"] = Reply(
        body=b"<title>City Museum</title><nav>Home</nav><h1>Opening hours</h1><table><tr><th>Monday<td>closed"
        b"<tr><th>Tuesday<td>10 to 5</table><dl><dt>Adults<dd>9 pounds</dl><script>var x</script>"
        b"<p>Last <b>entry</b> at&nbsp;4.<br>Free on Sunday &amp; holidays",
        headers=HTML,
    )
    found = fetch(peer, "museum.example/hours#top")
    assert found.title == "City Museum"
    assert [(each.heading, each.text) for each in found.lines] == [
        ("", "Home"),
        ("Opening hours", "Monday closed"),
        ("Opening hours", "Tuesday 10 to 5"),
        ("Opening hours", "Adults 9 pounds"),
        ("Opening hours", "Last entry at 4."),
        ("Opening hours", "Free on Sunday & holidays"),
    ]
    assert "cookie" not in peer.sent[0].lower()
    assert "#top" not in peer.asked[0]


@pytest.mark.parametrize(
    ("charset", "declared", "text"),
    [
        ("latin-1", "iso-8859-1", "Café für Kinder"),
        ("cp1252", "windows-1252", "“Café”"),
        ("shift_jis", "shift_jis", "東京の水泳"),
        ("utf-8", "nonsense", "Café"),
        ("utf-8", "zlib", "Café"),
        ("utf-8", "idna", "Café"),
    ],
)
def test_the_declared_charset_is_used_where_it_is_one(
    peer: WebPeer, charset: str, declared: str, text: str
) -> None:
    body = f"<p>{text}</p>".encode(charset)
    peer.pages["museum.example/a"] = Reply(
        body=body, headers={"Content-Type": f"text/html; charset={declared}"}
    )
    peer.pages["museum.example/b"] = Reply(
        body=f"<meta charset={declared}>".encode() + body, headers=HTML
    )
    for place in ("a", "b"):
        assert [each.text for each in fetch(peer, f"museum.example/{place}").lines] == [text]


def test_a_wrong_charset_gives_marks_and_no_error(peer: WebPeer) -> None:
    peer.pages["museum.example/a"] = Reply(
        body="<p>Café 10 to 5</p>".encode("latin-1"),
        headers={"Content-Type": "text/html; charset=utf-8"},
    )
    (line,) = fetch(peer, "museum.example/a").lines
    assert "10 to 5" in line.text


LOCAL = (
    *("127.0.0.1", "127.1.2.3", "0.0.0.1", "10.0.0.8", "172.16.9.9", "192.168.1.1"),
    *("169.254.169.254", "169.254.1.1", "100.64.0.1", "224.0.0.1", "255.255.255.255"),
    *("::1", "::", "fe80::1", "fc00::1", "fd00:ec2::254", "::ffff:127.0.0.1", "::ffff:10.0.0.1"),
    *("64:ff9b::7f00:1", "2002:7f00:1::", "ff02::1", "::127.0.0.1", "fec0::1"),
)


@pytest.mark.parametrize("address", LOCAL)
@pytest.mark.parametrize("is_name", [True, False])
def test_nothing_of_this_machine_or_network_is_asked(
    peer: WebPeer, address: str, is_name: bool
) -> None:
    async def resolve(_host: str, _port: int) -> list[str]:
        return [address]

    literal = f"[{address}]" if ":" in address else address
    host = "evil.example" if is_name else literal
    error = failed(peer, f"http://{host}:{peer.port}/x", resolve=resolve)
    assert isinstance(error, DeniedError)
    assert "leads into this machine or the home network" in str(error)
    assert not peer.asked


def test_one_private_address_among_public_ones_is_enough(peer: WebPeer) -> None:
    async def resolve(_host: str, _port: int) -> list[str]:
        return ["93.184.216.34", "127.0.0.1"]

    assert isinstance(failed(peer, "evil.example/x", resolve=resolve), DeniedError)


def test_the_address_that_was_checked_is_the_one_that_is_connected_to(peer: WebPeer) -> None:
    """DNS rebinding: the name is asked for once, and what it leads to a moment later is never used."""
    answers = iter((["127.0.0.1"], ["127.0.0.99"]))

    async def resolve(_host: str, _port: int) -> list[str]:
        return next(answers)

    peer.pages["museum.example/a"] = page("10 to 5")
    assert fetch(peer, "museum.example/a", resolve=resolve).lines
    assert next(answers) == ["127.0.0.99"]


@pytest.mark.parametrize(
    "address",
    [
        "ftp://museum.example/a",
        "file:///etc/passwd",
        "gopher://museum.example/",
        "javascript:alert(1)",
        "data:text/html,x",
        "http://user:word@museum.example/",
        "http:///a",
        "http://[::1/",
        "museum.example",
        "",
    ],
)
def test_other_addresses_are_refused_unseen(peer: WebPeer, address: str) -> None:
    with pytest.raises(DeniedError):
        asyncio.run(PageFetch(resolve=peer.resolve).read(address))
    assert not peer.asked
    assert not peer.looked_up


def sends_on(address: str) -> Reply:
    return Reply(status=302, headers={"Location": address})


def test_redirects_within_a_host_are_followed_three_times(peer: WebPeer) -> None:
    for number in range(4):
        peer.pages[f"museum.example/{number}"] = sends_on(f"/{number + 1}")
    peer.pages["museum.example/4"] = page("10 to 5")
    assert fetch(peer, "museum.example/1").address.endswith("/4")
    assert "more than 3 times" in str(failed(peer, "museum.example/0"))


@pytest.mark.parametrize(
    ("address", "why"),
    [
        ("http://other.example:{port}/a", "which nobody named"),
        ("http://127.0.0.1:{port}/a", "which nobody named"),
        ("http://169.254.169.254/latest/meta-data", "which nobody named"),
        ("http://museum.example.evil.example:{port}/a", "which nobody named"),
        ("file:///etc/passwd", "only pages at"),
        ("http://a:b@museum.example:{port}/a", "with a password"),
        ("//other.example/a", "which nobody named"),
        ("http://[", "which nobody named"),
    ],
)
def test_redirects_lead_nowhere_else(peer: WebPeer, address: str, why: str) -> None:
    peer.pages["museum.example/a"] = sends_on(address.format(port=peer.port))
    assert why in str(failed(peer, "museum.example/a"))
    assert peer.asked == ["museum.example/a"]


def test_a_redirect_to_a_listed_host_is_checked_for_its_address_too(peer: WebPeer) -> None:
    peer.pages["museum.example/a"] = sends_on(peer.at("evil.example/a"))
    error = failed(peer, "museum.example/a", hosts=("evil.example",))
    assert "leads into this machine" in str(error)
    peer.pages["evil.example/a"] = page("10 to 5")
    both = ("museum.example", "evil.example")
    assert fetch(peer, "museum.example/a", hosts=("evil.example",), private_hosts=both).lines


def test_what_is_listed_covers_the_hosts_below_it() -> None:
    fetcher = PageFetch(hosts=("museum.example",))
    assert fetcher.may_read("https://museum.example/a")
    assert fetcher.may_read("https://www.Museum.example/a")
    for each in (
        "https://notmuseum.example/",
        "ftp://museum.example/",
        "https://museum.example.evil/",
    ):
        assert not fetcher.may_read(each)


def _drip(file: Any) -> None:
    for _ in range(200):
        file.write(b"<p>a</p>")
        file.flush()
        time.sleep(0.05)


def _flood(file: Any) -> None:
    for _ in range(4_000):
        file.write(b"<p>a</p>" * 10_000)


BOMB = gzip.compress(b"<p>a</p>" * 20_000_000, compresslevel=1)


@pytest.mark.parametrize(
    ("reply", "why"),
    [
        (Reply(body=b"a" * (MOST_BYTES + 1), headers=HTML), "more than 2 MB"),
        (Reply(headers=HTML, write=_flood), "more than 2 MB"),
        (Reply(body=BOMB, headers={**HTML, "Content-Encoding": "gzip"}), "more than 2 MB"),
        (Reply(body=b"no", headers={**HTML, "Content-Encoding": "gzip"}), "damaged"),
        (Reply(body=b"no", headers={**HTML, "Content-Encoding": "br"}), "compresses"),
        (
            Reply(body=b"\x89PNG", headers={"Content-Type": "image/png"}),
            "does not answer with text",
        ),
        (
            Reply(body=b"\x00" * 9, headers={"Content-Type": "application/octet-stream"}),
            "does not answer with text",
        ),
        (
            Reply(body=b"{}", headers={"Content-Type": "application/json"}),
            "does not answer with text",
        ),
        (Reply(body=b"no type"), "does not answer with text"),
        (Reply(status=404), "has no such page"),
        (Reply(status=503), "status 503"),
        (Reply(status=302), "status 302"),
        (Reply(headers=HTML, write=_drip), "took longer than"),
        (Reply(body=b"", headers={**HTML, "X": "a" * 200_000}), "cannot be reached"),
    ],
    ids=range(14),
)
def test_what_cannot_be_read_is_told_and_ends_in_time(
    peer: WebPeer, reply: Reply, why: str
) -> None:
    peer.pages["museum.example/a"] = reply
    began = time.perf_counter()
    assert why in str(failed(peer, "museum.example/a", most_seconds=2))
    assert time.perf_counter() - began < 6


def test_a_binary_that_says_it_is_a_page_gives_text_or_nothing(peer: WebPeer) -> None:
    noise = bytes(range(256)) * 2_000
    peer.pages["museum.example/a"] = Reply(body=noise, headers=HTML)
    for line in fetch(peer, "museum.example/a").lines:
        assert line.text.isprintable()


@pytest.mark.parametrize(
    "part",
    [
        "<div>",
        "<a ",
        "<p>x",
        "<table>",
        "<b id=1>",
        "<!--",
        "&amp;",
        "<li><ul>",
        "<select>",
        "<h1>",
    ],
)
def test_pages_that_nest_or_repeat_without_end_are_read_in_time(peer: WebPeer, part: str) -> None:
    body = (part * MOST_BYTES)[: MOST_BYTES - 100].encode()
    peer.pages["museum.example/a"] = Reply(body=body, headers=HTML)
    began = time.perf_counter()
    found = fetch(peer, "museum.example/a")
    assert time.perf_counter() - began < 8
    assert len(found.lines) <= 5_000
