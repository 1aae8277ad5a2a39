from itertools import pairwise

import regex
from hypothesis import given, settings
from hypothesis import strategies as st

from kinkeeper.language.lexicon import Lexicon, Term
from kinkeeper.language.text import fold, shorten, strip_controls, tokenise, unaccented
from kinkeeper.reading.replies import asks_for_owner, is_question, read_reply

ANY = st.text(st.characters(exclude_categories=()), max_size=80)
CHAT = st.lists(
    st.sampled_from(
        [
            "Leo",
            "leo’s",
            "socer",
            "soccer",
            "pick-up",
            "pick",
            "up",
            "will",
            "Will",
            "Zoë",
            "i'll",
            "can",
            "you",
            "get",
            "no",
            "ok",
            "👍🏽",
            "4:30",
            "?",
            ".",
            "!",
            "just",
            "the",
            "me",
            "sooooo",
            "小明",
            "Westside",
            "Park",
        ]
    ),
    max_size=30,
).map(" ".join)
TERMS = [
    Term("child", "leo", ("Leo",)),
    Term("activity", "soccer", ("soccer",)),
    Term("place", "park", ("Westside Park",)),
    Term("child", "will", ("Will",)),
]


@given(ANY | CHAT)
@settings(max_examples=150)
def test_any_text_is_read_and_offsets_lead_back(text: str):
    tokens = tokenise(text)
    for before, after in pairwise(tokens):
        assert before.end <= after.start
    for token in tokens:
        assert token.surface
        assert token.text in fold(text).text
    for mention in Lexicon(TERMS).find(tokens):
        assert text[mention.start : mention.end] == mention.surface


@given(ANY | CHAT)
def test_replies_and_questions_never_fail(text: str):
    tokens = tokenise(text)
    read_reply(tokens)
    is_question(tokens, text, ())
    asks_for_owner(tokens, text)


@given(CHAT)
def test_a_new_term_takes_away_only_where_it_is_found_itself(text: str):
    tokens = tokenise(text)
    fewer = Lexicon(TERMS).find(tokens)
    more = Lexicon(
        [*TERMS, Term("place", "up", ("pick-up",)), Term("child", "zoe", ("Zoë",))]
    ).find(tokens)
    added = [mention for mention in more if mention.id in {"up", "zoe"}]
    for mention in fewer:
        assert mention in more or any(
            new.start < mention.end and mention.start < new.end for new in added
        )


def visible(text: str) -> int:
    """Characters as people see them: an emoji with its modifiers is one."""
    return len(regex.findall(r"\X", text))


@given(ANY, st.integers(min_value=0, max_value=90))
def test_shortened_text_fits_and_splits_nothing(text: str, limit: int):
    short = shorten(text, limit)
    assert visible(short) <= limit
    if short != text and limit:
        kept = short.removesuffix("…")
        assert text.startswith(kept)
        assert visible(kept) + visible(text[len(kept) :]) == visible(text)


@given(ANY)
def test_shown_text_is_encodable_and_stable(text: str):
    shown = strip_controls(text)
    shown.encode()
    assert strip_controls(shown) == shown


@given(ANY)
def test_plain_letters_stay_plain(text: str):
    assert unaccented(unaccented(text)) == unaccented(text)
