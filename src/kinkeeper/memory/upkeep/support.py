"""Whether an episode that states nothing anew still bears out a fact: resemblance alone is not enough. Pure.

What takes something back resembles it more than most of what supports it, and so does the same said
of somebody else, or as a question, or as a wish. So words are read, too.
"""

from collections.abc import Sequence

from kinkeeper.memory.model import Episode, EpisodeKind, Statement
from kinkeeper.memory.statement_match import ME
from kinkeeper.memory.statements.relation import Relation, relate
from kinkeeper.memory.statements.statement_reader import Reading, read_statement

ALIKE = 0.75
"""Likeness from which an episode may support a fact."""

_COVERED = 0.8
"""Share of a fact's words that an episode holds where nobody can tell how alike they are."""


def may_support(episode: Episode) -> bool:
    """Whether an episode may be evidence at all: somebody's own words, from a source that may be believed."""
    is_turn = episode.kind is EpisodeKind.TURN and not episode.is_assistant
    return is_turn and episode.origin.may_become_fact


def supports(
    words: Statement, episode: Episode, *, speaker: str | None, likeness: float | None
) -> bool:
    """Whether an episode supports a fact of the same scope.

    Args:
        words: The statement that tells the fact.
        episode: Said after the fact was supported last.
        speaker: Who speaks in the episode, as statements name speakers.
        likeness: Calibrated, in [0, 1], of the episode and the fact; None where they have no vectors.
    """
    if not may_support(episode) or "?" in episode.text:
        return False
    told = read_statement(words.text)
    heard = read_statement(episode.text)
    if not told or not heard:
        return False
    about = [each for each in heard if _is_of_the_same(words, told[0], each, speaker)]
    if not about or any(_speaks_against(told[0], each) for each in about):
        return False
    relation = relate(words.text, episode.text).relation
    if relation in {Relation.UPDATE, Relation.CONTRADICTION}:
        return False
    if not _names_it(told[0], about):
        return False
    if relation is Relation.SAME or _covered(told[0], about) >= _COVERED:
        return True
    return likeness is not None and likeness >= ALIKE


def _is_of_the_same(words: Statement, told: Reading, heard: Reading, speaker: str | None) -> bool:
    if told.subject != heard.subject:
        return False
    # "I" and "my sister" are somebody else when another person says them.
    is_relative = told.subject == ME or "/" in words.subject
    return words.speaker == speaker or not is_relative


def _speaks_against(told: Reading, heard: Reading) -> bool:
    if heard.is_retraction or heard.is_hypothetical:
        return True
    # The very same told as past is over; something else about it that happened is not.
    if heard.is_past and heard.slot == told.slot:
        return True
    differs_in_taste = bool(told.side and heard.side and told.side != heard.side)
    return heard.is_negative != told.is_negative or differs_in_taste


def _names_it(told: Reading, heard: Sequence[Reading]) -> bool:
    """Whether the very value of the fact is spoken of: of two alike sentences that is the difference."""
    value = set(told.value or told.words)
    return bool(value) and any(value <= {*each.words, *each.value} for each in heard)


def _covered(told: Reading, heard: Sequence[Reading]) -> float:
    wanted = set(told.words)
    if not wanted:
        return 0.0
    return max(len(wanted & {*each.words, *each.value}) / len(wanted) for each in heard)
