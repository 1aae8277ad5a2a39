"""What the server holds requests against: hosts, origins, rates, form tokens. Pure."""

from datetime import timedelta

import pytest
from hypothesis import given
from hypothesis import strategies as st

from kinkeeper.web.pages.sign_ins import browser_name
from kinkeeper.web.security.browser_protection import csrf_token, is_csrf_token
from kinkeeper.web.security.hosts import is_loopback, is_our_host, is_same_origin
from kinkeeper.web.security.request_limits import Buckets, Rate, RouteClass, client_of, route_class
from live_household import MONDAY

NAMES = frozenset({"family.example"})


@pytest.mark.parametrize(
    "host",
    [
        "localhost",
        "localhost:8765",
        "LOCALHOST",
        "127.0.0.1:8765",
        "[::1]:8765",
        "192.168.1.7:80",
        "family.example",
        "Family.Example:443",
    ],
)
def test_own_names_and_plain_addresses_are_ours(host: str) -> None:
    assert is_our_host(host, NAMES)


@pytest.mark.parametrize(
    "host",
    [
        "",
        "evil.example",
        "family.example.evil.example",
        "localhost.evil.example",
        "127.0.0.1.nip.io",
        "evil.example:127.0.0.1",
        "[evil.example]",
        "127.1",
        "0x7f000001",
    ],
)
def test_a_rebound_name_is_not_ours(host: str) -> None:
    assert not is_our_host(host, NAMES)


@pytest.mark.parametrize("host", ["127.0.0.1", "127.9.9.9", "::1", "localhost", "LocalHost"])
def test_loopback_is_this_machine(host: str) -> None:
    assert is_loopback(host)


@pytest.mark.parametrize("host", ["0.0.0.0", "::", "192.168.0.2", "family.example", ""])  # noqa: S104
def test_everything_else_can_be_reached(host: str) -> None:
    assert not is_loopback(host)


@pytest.mark.parametrize(
    ("origin", "is_own"),
    [
        ("http://127.0.0.1:8765", True),
        ("HTTP://127.0.0.1:8765", True),
        ("null", False),
        ("", False),
        ("https://127.0.0.1:8765", False),
        ("http://127.0.0.1", False),
        ("http://127.0.0.1:8765.evil.example", False),
        ("http://evil.example", False),
        ("http://127.0.0.1:8765@evil.example", False),
        ("http://[127.0.0.1:8765", False),
    ],
)
def test_an_origin_is_scheme_name_and_port(origin: str, is_own: bool) -> None:
    assert is_same_origin(origin, "http", "127.0.0.1:8765") is is_own


@given(st.binary(min_size=16, max_size=40).map(bytes.hex), st.text(max_size=80))
def test_only_the_session_s_own_token_opens_its_forms(secret: str, guess: str) -> None:
    token = csrf_token(secret)
    assert is_csrf_token(token, secret)
    assert secret not in token
    assert is_csrf_token(guess, secret) is (guess == token)
    assert not is_csrf_token(token, f"{secret}0")


@given(st.floats(0.1, 50), st.integers(1, 30), st.lists(st.floats(0, 20), min_size=1, max_size=60))
def test_no_client_gets_more_than_burst_and_refill(
    per_second: float, burst: int, pauses: list[float]
) -> None:
    buckets, now, passed = Buckets(Rate(per_second, burst)), MONDAY, 0
    for pause in pauses:
        now += timedelta(seconds=pause)
        passed += buckets.take("a", now) == 0
    assert passed <= burst + per_second * (now - MONDAY).total_seconds() + 1e-6


@given(st.floats(0.1, 50), st.integers(1, 30))
def test_who_waits_as_told_gets_in(per_second: float, burst: int) -> None:
    buckets, now = Buckets(Rate(per_second, burst)), MONDAY
    while not (waits := buckets.take("a", now)):
        pass
    assert buckets.take("a", now + timedelta(seconds=waits + 0.001)) == 0


def test_clients_are_counted_apart_and_a_clock_set_back_gives_nothing() -> None:
    buckets = Buckets(Rate(1, 1))
    assert buckets.take("a", MONDAY) == 0
    assert buckets.take("b", MONDAY) == 0
    assert buckets.take("a", MONDAY - timedelta(hours=1)) > 0


def test_memory_for_clients_is_bounded() -> None:
    buckets = Buckets(Rate(1, 1), most_clients=10)
    for number in range(100):
        buckets.take(str(number), MONDAY)
    assert len(buckets._left) == 10


@pytest.mark.parametrize(
    ("address", "client"),
    [
        ("192.0.2.7", "192.0.2.7"),
        ("2001:db8:1:2:3:4:5:6", "2001:db8:1:2::/64"),
        ("::ffff:192.0.2.7", "192.0.2.7"),
        ("fe80::1%eth0", "fe80::/64"),
        ("", ""),
        ("a:b", "a:b"),
    ],
)
def test_a_client_is_an_address_or_a_home_s_network(address: str, client: str) -> None:
    assert client_of(address) == client


@pytest.mark.parametrize(
    ("method", "path", "kind"),
    [
        ("POST", "/observe", RouteClass.INGEST),
        ("POST", "/telegram/webhook", RouteClass.INGEST),
        ("GET", "/healthz", RouteClass.PROBE),
        ("GET", "/invite/x", RouteClass.LOGIN),
        ("POST", "/invite/x", RouteClass.LOGIN),
        ("GET", "/", RouteClass.READ),
        ("DELETE", "/api/keys/x", RouteClass.WRITE),
    ],
)
def test_requests_are_counted_by_kind(method: str, path: str, kind: RouteClass) -> None:
    assert route_class(method, path) is kind


def test_sessions_are_named_after_their_browser() -> None:
    firefox = "Mozilla/5.0 (X11; Linux x86_64; rv:130.0) Gecko/20100101 Firefox/130.0"
    assert browser_name(firefox) == "Firefox on Linux"
    assert browser_name("curl/8") == "a browser"
