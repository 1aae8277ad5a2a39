"""What the encoder is given: bounded, every word in its place, whatever is typed."""

from datetime import UTC, datetime

from hypothesis import given
from hypothesis import strategies as st

from kinkeeper.models.embedding.minilm import shipped_vocabulary
from kinkeeper.reading.encoder import MOST_EARLIER, MOST_ITEMS, MOST_PIECES, encoder_input
from kinkeeper.reading.model import Context, Said, Surface, Utterance

MOST_POSITIONS = 512
NOW = datetime(2026, 3, 2, 18, tzinfo=UTC)
TYPED = st.text(alphabet=st.sampled_from("ab é'’-.?\n\u200d😂ß漢\u202e\x00 7"), max_size=120)


def utterance(text: str) -> Utterance:
    return Utterance(text=text, speaker="Zdeněk", sent_at=NOW, surface=Surface.GROUP)


@given(TYPED, st.lists(TYPED, max_size=12), st.lists(TYPED, max_size=14))
def test_words_are_where_they_say_and_nothing_grows_without_bound(
    text: str, before: list[str], items: list[str]
) -> None:
    context = Context(before=[Said("Ann", each) for each in before], items=items)
    row = encoder_input(utterance(text), context, shipped_vocabulary())

    assert len(row.pieces) <= MOST_POSITIONS
    assert len(row.words) == len(row.places)
    assert [*row.places] == sorted({*row.places})
    assert all(row.own <= place < len(row.pieces) for place in row.places)
    assert all(text[start:end].strip() for start, end in row.words)
    assert len(row.earlier) == min(len(before), MOST_EARLIER)
    assert len(row.items) == min(len(items), MOST_ITEMS)
    assert row.first_earlier == len(before) - len(row.earlier)


def test_a_long_message_is_read_part_by_part_to_its_end() -> None:
    text, seen, start = "word " * (3 * MOST_PIECES), [], 0
    while row := encoder_input(utterance(text), Context(), shipped_vocabulary(), start=start):
        if not row.words:
            break
        seen += row.words
        start = row.words[-1][1]

    assert [text[first:last] for first, last in seen] == ["word"] * (3 * MOST_PIECES)


def test_who_speaks_and_what_was_said_before_are_read_too() -> None:
    vocabulary = shipped_vocabulary()
    alone = encoder_input(utterance("i can"), Context(), vocabulary)
    asked = encoder_input(
        utterance("i can"), Context(before=[Said("Ann", "who can get Leo?")]), vocabulary
    )

    assert alone.pieces[alone.own :] == asked.pieces[asked.own :]
    start, end = asked.earlier[0]
    assert len(asked.pieces) - len(alone.pieces) == end - start > 0
