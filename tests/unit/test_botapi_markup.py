"""Marked-up text as the Bot API emulator reads it, and the entities it finds by itself."""

from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from botapi.entities import find
from botapi.formatting import read_text
from botapi.parameters import Arguments
from botapi.privacy import entity_text
from botapi.refusals import Refusal


def read(text: str, mode: str = "") -> tuple[str, list[tuple[str, str]]]:
    plain, entities = read_text(Arguments({"text": text, "parse_mode": mode}))
    return plain, [(entity["type"], entity_text(plain, entity)) for entity in entities]


@pytest.mark.parametrize(
    ("marked", "plain", "entities"),
    [
        ("<b>Leo</b> at 5", "Leo at 5", [("bold", "Leo")]),
        ("🦊 <i>a<b>b</b></i>", "🦊 ab", [("italic", "ab"), ("bold", "b")]),
        ("1 &lt; 2 &amp;&#33;", "1 < 2 &!", []),
        ('<a href="https://a.example/?x=1&amp;y=2">here</a>', "here", [("text_link", "here")]),
        ("<blockquote expandable>said</blockquote>", "said", [("expandable_blockquote", "said")]),
        ('<span class="tg-spoiler">x</span>', "x", [("spoiler", "x")]),
        ('<pre><code class="language-py">a</code></pre>', "a", [("pre", "a")]),
        ("  <u>x</u> \n", "x", [("underline", "x")]),
    ],
)
def test_html_is_read(marked: str, plain: str, entities: list[tuple[str, str]]) -> None:
    assert read(marked, "HTML") == (plain, entities)


@pytest.mark.parametrize(
    ("marked", "plain", "entities"),
    [
        (r"*Leo* at 5\.30", "Leo at 5.30", [("bold", "Leo")]),
        (
            "_a_ __b__ ~c~ ||d||",
            "a b c d",
            [("italic", "a"), ("underline", "b"), ("strikethrough", "c"), ("spoiler", "d")],
        ),
        ("`a*b` ```py\nx=1```", "a*b x=1", [("code", "a*b"), ("pre", "x=1")]),
        (r"[the \(list\)](https://a.example/\))", "the (list)", [("text_link", "the (list)")]),
        (">one\n>two\nafter", "one\ntwo\nafter", [("blockquote", "one\ntwo")]),
        ("*a _b_*", "a b", [("bold", "a b"), ("italic", "b")]),
    ],
)
def test_markdown_is_read(marked: str, plain: str, entities: list[tuple[str, str]]) -> None:
    assert read(marked, "MarkdownV2") == (plain, entities)


@pytest.mark.parametrize(
    ("marked", "mode", "reason"),
    [
        ("<b>x", "HTML", 'end tag corresponding to start tag "b"'),
        ("é<x>y</x>", "HTML", 'Unsupported start tag "x" at byte offset 2'),
        ("<b>x</i>", "HTML", 'expected "</b>", found "</i>"'),
        ("x</b>", "HTML", "Unexpected end tag at byte offset 1"),
        ("5 < 6", "HTML", "Unclosed start tag at byte offset 2"),
        ("at 5.30", "MarkdownV2", "Character '.' is reserved"),
        ("*x", "MarkdownV2", "Can't find end of Bold entity at byte offset 0"),
        ("`x", "MarkdownV2", "Can't find end of Code entity at byte offset 0"),
        ("x", "BBCode", "unsupported parse_mode"),
    ],
)
def test_broken_markup_is_refused(marked: str, mode: str, reason: str) -> None:
    with pytest.raises(Refusal) as refused:
        read(marked, mode)
    assert reason in refused.value.description


def test_explicit_entities_are_taken_only_without_a_mode_and_within_the_text() -> None:
    bold: dict[str, Any] = {"type": "bold", "offset": 0, "length": 2}
    plain, entities = read_text(Arguments({"text": "🦊x", "entities": [bold]}))
    assert (plain, entities) == ("🦊x", [bold])
    with pytest.raises(Refusal):
        read_text(Arguments({"text": "x", "entities": [bold]}))


def test_what_is_found_by_itself() -> None:
    text = "🦊 /why@kin_bot @john #leo a@b.org https://x.example/a?b=c. kids.com package.json $USD"
    found = [(entity["type"], entity_text(text, entity)) for entity in find(text)]
    assert found == [
        ("bot_command", "/why@kin_bot"),
        ("mention", "@john"),
        ("hashtag", "#leo"),
        ("email", "a@b.org"),
        ("url", "https://x.example/a?b=c"),
        ("url", "kids.com"),
        ("cashtag", "$USD"),
    ]


@given(st.text(st.characters(exclude_categories=["Cs", "Cc", "Cf", "Zl", "Zp"]), min_size=1))
def test_escaped_text_comes_back_as_it_was(text: str) -> None:
    escaped = text.replace("&", "&amp;").replace("<", "&lt;").replace(">", "&gt;")
    assert read(escaped, "HTML") == read(text)
    marked = "".join(f"\\{char}" if char in r"_*[]()~`>#+-=|{}.!\\" else char for char in text)
    assert read(marked, "MarkdownV2") == read(text)
