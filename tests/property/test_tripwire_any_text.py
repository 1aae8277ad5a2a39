"""What holds of the tripwire for every text and every household."""

from hypothesis import example, given, settings
from hypothesis import strategies as st

from kinkeeper.language.lexicon import Lexicon, Term
from kinkeeper.observer.tripwire.gate import load_tripwire, with_context

_PLAIN = load_tripwire(
    Lexicon([Term("child", "leo", ("Leo",)), Term("activity", "a", ("soccer",))])
)
_KINDS = st.sampled_from(["child", "adult", "activity", "place"])
# Letters that the messages below do not use, so that no slip of the new word can occur in them.
_NEW_WORDS = st.text(alphabet="qxzj", min_size=4, max_size=10)
_MESSAGES = st.lists(
    st.sampled_from(
        [
            "leo",
            "soccer",
            "can",
            "you",
            "get",
            "her",
            "at",
            "three",
            "tomorrow",
            "pickup",
            "thanks",
            "who",
            "is",
            "on",
            "4:30",
            "?",
            "!",
            "👍",
            "the",
            "bus",
        ]
    ),
    max_size=12,
).map(" ".join)


@settings(deadline=None)
@given(st.text(alphabet=st.characters(), max_size=300))
@example("\ud800 leo pickup \udfff")
@example("\x00")
@example("_child_ _activity_")
@example("a" * 9000)
@example("👍" * 3000)
def test_any_text_has_a_score(text: str) -> None:
    evidence = _PLAIN.evidence(text)
    assert 0.0 <= evidence.score <= 1.0
    for live in (True, False):
        assert evidence.score <= with_context(evidence, in_coordination_thread=live) <= 1.0


@settings(deadline=None)
@given(st.binary(max_size=200))
def test_any_bytes_read_as_text_have_a_score(data: bytes) -> None:
    assert 0.0 <= _PLAIN.evidence(data.decode("utf-8", errors="surrogateescape")).score <= 1.0


@settings(max_examples=40, deadline=None)
@given(_NEW_WORDS, _KINDS, _MESSAGES)
def test_a_household_word_changes_no_message_without_it(word: str, kind: str, text: str) -> None:
    known = [Term("child", "leo", ("Leo",)), Term("activity", "a", ("soccer",))]
    richer = load_tripwire(Lexicon([*known, Term(kind, "new", (word,))]))
    assert richer.evidence(text) == _PLAIN.evidence(text)
