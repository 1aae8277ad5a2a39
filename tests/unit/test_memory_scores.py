"""Figures of finding, on rankings whose figures one can work out by hand."""

from collections.abc import Sequence

import pytest

from evals.memory_finders import Hit
from evals.memory_gold import Conversation, Question, Turn
from evals.memory_probes import answer_all, foreign_relevance, renamed
from evals.memory_scores import Answered, recall_of, refused, separation, within_tokens


def answered(ranked: str, evidence: str) -> Answered:
    question = Question(text="?", evidence=frozenset(evidence), category="any")
    return Answered(question=question, ranked=tuple(ranked), relevance=0)


def test_recall_is_the_mean_share_of_evidence():
    found = recall_of([answered("xaybz", "ab"), answered("c", "cd")])
    assert found.at == pytest.approx((0.25, 0.75, 0.75, 0.75))
    assert found.reciprocal_rank == pytest.approx((1 / 2 + 1) / 2)
    assert found.hit == 1


def test_what_was_not_found_has_no_rank():
    found = recall_of([answered("xyz", "a"), answered("", "b")])
    assert found.at == (0, 0, 0, 0)
    assert (found.hit, found.reciprocal_rank) == (0, 0)


def test_a_turn_that_does_not_fit_leaves_room_for_a_shorter_one():
    texts = {"a": "one two three four", "b": "one two", "c": "one"}
    found = [answered("bac", "ac")]
    assert within_tokens(found, lambda _, key: texts[key], 3) == pytest.approx(0.5)
    assert within_tokens(found, lambda _, key: texts[key], 2) == 0
    assert within_tokens(found, lambda _, key: texts[key], 7) == 1


def test_refusal_counts_foreign_questions_below_what_a_loss_of_own_ones_allows():
    own = [value / 10 for value in range(1, 11)]
    assert refused(own, [0.05, 0.15, 0.5, 0.9], 0.1) == pytest.approx(0.5)
    assert separation(own, [0.0, 0.0]) == 1
    assert separation([1.0], [1.0, 2.0]) == pytest.approx(0.25)


def test_names_are_replaced_all_at_once():
    assert renamed("Did Ann tell Bob?", {"Ann": "Bob", "Bob": "Cy"}) == "Did Bob tell Cy?"
    assert renamed("Did Annabel?", {"Ann": "Bob"}) == "Did Annabel?"
    assert renamed("Did Ann?", {}) == "Did Ann?"


class SecondBest:
    """Puts first what bears less on a question than the next, as a ranker may."""

    def add(self, turns: Sequence[Turn]) -> None:
        """Take in nothing."""

    def find(self, question: str, limit: int) -> Sequence[Hit]:
        return [Hit(key="a", relevance=0.2), Hit(key="b", relevance=0.7)][:limit]

    def foresee(self, recent: Sequence[Turn], limit: int) -> Sequence[Hit]:
        return []


def test_own_and_foreign_questions_are_judged_by_as_many_hits():
    question = Question(text="?", evidence=frozenset("a"), category="any")
    talks = [Conversation(name=name, turns=(), questions=(question,)) for name in "xy"]
    assert [each.relevance for each in answer_all(SecondBest, talks)] == [0.7, 0.7]
    assert foreign_relevance(SecondBest, talks) == [0.7, 0.7]
