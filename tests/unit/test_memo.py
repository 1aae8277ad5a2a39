"""A memo keeps the words that come again, and never grows without end."""

from kinkeeper.language import compact
from kinkeeper.language.compact import Memo

LETTERS = str.maketrans("0123456789", "abcdefghij")


def test_a_word_is_worked_out_once() -> None:
    asked: list[str] = []
    lengths = Memo(lambda word: asked.append(word) or len(word))
    assert [lengths[word] for word in ("judo", "choir", "judo")] == [4, 5, 4]
    assert asked == ["judo", "choir"]


def test_a_number_is_kept_when_it_comes_back() -> None:
    asked: list[str] = []
    lengths = Memo(lambda word: asked.append(word) or len(word))
    assert [lengths[word] for word in ("4pm", "5pm", "4pm", "4pm", "4pm")] == [3] * 5
    assert asked == ["4pm", "5pm", "4pm"]


def test_no_answer_is_an_answer() -> None:
    asked: list[str] = []
    nothing = Memo(asked.append)
    assert nothing["judo"] is None
    assert nothing["judo"] is None
    assert asked == ["judo"]


def test_endless_words_are_answered_and_not_kept() -> None:
    lengths = Memo(len)
    for _ in range(3):
        assert lengths["a" * 5_000] == 5_000
    assert not lengths


def test_numbers_that_never_come_back_are_not_kept() -> None:
    lengths = Memo(len)
    for number in range(4 * compact._LIMIT):
        assert lengths[str(number)] == len(str(number))
    assert not lengths


def test_a_full_memo_begins_anew() -> None:
    lengths = Memo(len)
    for number in range(compact._LIMIT + 1):
        assert lengths[str(number).translate(LETTERS)] == len(str(number))
    assert len(lengths) == 1


def test_what_is_asked_for_again_and_again_is_not_worked_out_anew() -> None:
    asked: list[str] = []
    lengths = Memo(lambda word: asked.append(word) or len(word))
    for number in range(4 * compact._LIMIT):
        assert lengths["judo"] == 4
        assert lengths[f"w{number}".translate(LETTERS)]
    assert asked.count("judo") == 1
    assert len(lengths) + len(lengths._earlier) <= 2 * compact._LIMIT
