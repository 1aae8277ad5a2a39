import pytest

from kinkeeper.language.text import (
    SCORING_LIMIT,
    TokenKind,
    fold,
    shorten,
    strip_controls,
    tokenise,
    unaccented,
)

FAMILY = "👨\u200d👩\u200d👧"


def texts(message: str) -> list[str]:
    return [token.text for token in tokenise(message)]


@pytest.mark.parametrize(
    "whole",
    [
        "4:30",
        "4:30pm",
        "3pm",
        "i'll",
        "o'clock",
        "who's",
        "pick-up",
        "n/m",
        "2moro",
        "3rd",
        "24/7",
        "2026-03-24",
        FAMILY,
        "🇬🇧",
        ":)",
    ],
)
def test_stays_one_token(whole: str):
    assert texts(f"so {whole} then") == ["so", whole, "then"]


@pytest.mark.parametrize(
    ("typed", "folded"),
    [
        ("I’ll", "i'll"),
        ("sooooo", "soo"),
        ("🙋🏽\u200d♀\ufe0f", "🙋"),
        ("❤\ufe0f", "❤"),
        ("1\ufe0f\u20e3", "1"),
        ("ｌｅｏ", "leo"),
        ("Le\u200bo\u202e", "leo"),
        ("Zoe\u0308", "zoë"),
    ],
)
def test_folds(typed: str, folded: str):
    assert fold(typed).text == folded


def test_offsets_point_into_the_original_where_folding_changes_lengths():
    message = "Sooooo “Zoe\u0308”… 👍🏽 I’ll"
    assert [token.surface for token in tokenise(message)] == [
        "Sooooo",
        "“",
        "Zoe\u0308",
        "”",
        "…",
        "👍🏽",
        "I’ll",
    ]


@pytest.mark.parametrize(
    ("message", "kinds"),
    [
        (
            "leo 5 4:30 👍 ! www.x.org",
            [
                TokenKind.WORD,
                TokenKind.NUMBER,
                TokenKind.TIME,
                TokenKind.EMOJI,
                TokenKind.PUNCTUATION,
                TokenKind.LINK,
            ],
        ),
        ("4-5pm", [TokenKind.NUMBER, TokenKind.PUNCTUATION, TokenKind.TIME]),
    ],
)
def test_names_what_a_token_is_made_of(message: str, kinds: list[TokenKind]):
    assert [token.kind for token in tokenise(message)] == kinds


def test_letters_of_unspaced_scripts_are_tokens_while_marks_stay():
    assert texts("小明 किताब") == ["小", "明", "किताब"]


def test_reads_no_more_than_the_limit():
    assert tokenise("a " * SCORING_LIMIT)[-1].end <= SCORING_LIMIT


def test_unaccented_keeps_vowel_signs_of_other_scripts():
    assert unaccented("zoë łukasz") == "zoe lukasz"
    assert unaccented("किताब") == "किताब"


@pytest.mark.parametrize(
    ("text", "limit", "short"),
    [
        ("hello big world", 15, "hello big world"),
        ("hello big world", 12, "hello big…"),
        ("hello big world", 10, "hello big…"),
        (f"ok {FAMILY}{FAMILY} now", 5, f"ok {FAMILY}…"),
        ("abcdefghij", 4, "abc…"),
        ("a b", 0, ""),
    ],
)
def test_shortens_at_words_and_whole_emoji(text: str, limit: int, short: str):
    assert shorten(text, limit) == short


def test_shown_text_has_no_invisible_characters_but_keeps_emoji_whole():
    flag = "🏴\U000e0067\U000e0062\U000e007f"
    assert (
        strip_controls(f"a\u202eb\u200d{FAMILY}{flag}\ud83d\r\n\tc\x00") == f"ab{FAMILY}{flag}\n\tc"
    )
