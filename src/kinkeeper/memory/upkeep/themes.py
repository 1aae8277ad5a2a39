"""What somebody told again and again in other words, as a fact that nobody stated in so many words. Pure.

The fact is told by the most central of the episodes, verbatim: nothing is composed. What was only
overheard makes a proposal that a person decides on.
"""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from zoneinfo import ZoneInfo

from sqlalchemy import Connection

from kinkeeper.memory.ingest import speaker_of
from kinkeeper.memory.model import Category, Episode, Origin, Statement
from kinkeeper.memory.statement_match import subject_of
from kinkeeper.memory.statements.statement_reader import Reading, read_statement
from kinkeeper.memory.transience import recurring_id
from kinkeeper.memory.upkeep.clusters import SMALLEST

BELIEVED = 0.5
"""By itself; each of the other episodes supports it."""

LONGEST = 240
"""Characters of a sentence that can stand for a habit."""

_FEWEST_WORDS = 2
_WEAKEST_FIRST = (Origin.OBSERVED, Origin.IMPORTED, Origin.SAID)


@dataclass(frozen=True, slots=True, kw_only=True)
class Theme:
    """What a group of episodes amounts to.

    Attributes:
        statement: Tells it; of the most central episode.
        evidence: Ids of the other episodes.
        origin: The weakest of its episodes'.
    """

    statement: Statement
    evidence: tuple[str, ...]
    origin: Origin

    @property
    def episodes(self) -> tuple[str, ...]:
        """Ids of all its episodes."""
        return self.statement.episode_id, *self.evidence


Propose = Callable[[Connection, Theme], None]
"""Asks a person, in the transaction of the run, about what was only overheard."""


def theme_of(
    episodes: Sequence[Episode], *, people: Mapping[str, str], zone: ZoneInfo
) -> Theme | None:
    """Return what a dense group of episodes of one scope and speaker amounts to, if it is anything.

    Args:
        episodes: The most central one first.
        people: Member ids by folded name or alias.
        zone: Whose days are counted: what is told thrice in a day is one telling.
    """
    middle, *others = episodes
    main = _told_by(middle)
    if main is None:
        return None
    agreeing = [each for each in others if _agrees(main, each)]
    days = {each.said_at.astimezone(zone).date() for each in (middle, *agreeing)}
    if len(days) < SMALLEST:
        return None
    return Theme(
        statement=_statement(middle, people), evidence=tuple(each.id for each in agreeing),
        origin=min((each.origin for each in (middle, *agreeing)), key=_WEAKEST_FIRST.index),
    )  # fmt: skip


def _told_by(episode: Episode) -> Reading | None:
    """Return what an episode tells, where it is one plain sentence that may be quoted."""
    if "?" in episode.text or len(episode.text) > LONGEST:
        return None
    readings = read_statement(episode.text)
    if len(readings) != 1:
        return None
    reading = readings[0]
    is_plain = not (reading.is_hypothetical or reading.is_retraction or reading.is_negative)
    return reading if is_plain and len(reading.words) >= _FEWEST_WORDS else None


def _agrees(main: Reading, episode: Episode) -> bool:
    """Whether an episode speaks of the same person and shares a word that matters."""
    return "?" not in episode.text and any(
        each.subject == main.subject
        and not (each.is_hypothetical or each.is_retraction or each.is_negative)
        and set(each.words) & set(main.words)
        for each in read_statement(episode.text)
    )


def _statement(episode: Episode, people: Mapping[str, str]) -> Statement:
    speaker = speaker_of(episode)
    subject, slot = subject_of(episode.text, speaker=speaker, people=people)
    slot_category = read_statement(episode.text)[0].category
    identity = recurring_id(episode.household, episode.id)
    return Statement(
        household=episode.household, id=identity, episode_id=episode.id, scope=episode.scope,
        start=0, end=len(episode.text), text=episode.text, speaker=speaker, subject=subject,
        slot=slot, title=episode.text, narrative=episode.text,
        category=Category(slot_category) if slot_category else Category.PREFERENCE,
        confidence=BELIEVED, said_at=episode.said_at, origin=episode.origin, strand=identity,
    )  # fmt: skip
