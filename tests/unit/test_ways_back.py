"""A login leads back to where somebody wanted to go, and never to another site."""

from urllib.parse import urljoin, urlsplit

import pytest
from hypothesis import given
from hypothesis import strategies as st

from kinkeeper.web.security.browser_protection import START, found, kept, own_page

HERE = "https://family.example"


@pytest.mark.parametrize("path", ["/pending", "/why/m1?chat=-100", "/calendar?day=2026-03-05#x"])
def test_a_page_of_ours_is_kept(path: str) -> None:
    assert own_page(path) == path
    assert found(kept(path)) == path


@pytest.mark.parametrize(
    "path",
    [
        "",
        "https://evil.example",
        "//evil.example",
        "/\\evil.example",
        "\\\\evil",
        "/\t/evil.example",
        "/\n//evil",
        "javascript:alert(1)",
        "evil",
        "/a\\b",
        "/é",
        "/" + "x" * 500,
        "/login?next=/",
        "/logout",
        "/invite/x",
        "/api/me",
        "/static/kin.css",
    ],
)
def test_anything_else_leads_to_the_first_page(path: str) -> None:
    assert own_page(path) == START


@given(st.text(alphabet="/\\.:@?#\t\n\r aev%2F", max_size=12) | st.text(max_size=30))
def test_no_text_leads_to_another_site(text: str) -> None:
    for way in (own_page(text), found(text)):
        assert way.startswith("/")
        assert urlsplit(urljoin(HERE, way.replace("\\", "/")))[:2] == ("https", "family.example")
        assert way.isprintable()
