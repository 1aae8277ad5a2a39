"""Puts what the trained reader sees beside what the rules read: it fills gaps, and adds what they missed for a person to confirm. Pure."""

from collections.abc import Sequence
from dataclasses import replace

from kinkeeper.observer.config import ObserverConfig
from kinkeeper.observer.extraction.frame_extraction import (
    Seen,
    answer_in,
    filled,
    plans_in,
    seen_in,
)
from kinkeeper.observer.extraction.prepared import MOST_PARTS, Part, Prepared
from kinkeeper.observer.model import Extraction, OpenQuestion, Stance
from kinkeeper.observer.settling.question_links import attribute_part
from kinkeeper.observer.wording.message_view import Reading
from kinkeeper.observer.wording.participants import Participants

_OWN_OF_RULES = frozenset({Stance.DECLINES, Stance.WITHDRAWS, Stance.ACCEPTS})


def read_along(
    prepared: Prepared,
    reading: Reading,
    *,
    asked: Sequence[OpenQuestion],
    participants: Participants,
    config: ObserverConfig,
) -> list[Part]:
    """Return the parts of a message with what the trained reader adds.

    Where the rules find an arrangement or an answer, they stay in charge.

    Args:
        prepared: As the rules read it.
        reading: The whole message.
        asked: Questions that it may answer, newest first.
        participants: The household compiled.
        config: Thresholds.
    """
    parts = list(prepared.parts)
    seen = seen_in(prepared.heard, participants)
    settled = [
        _filled(each, seen, reading, participants)
        for each in parts
        if _is_settled(prepared, each, asked, config)
    ]
    left = [each for each in seen if not any(part.covers(each.frame.clause) for part in settled)]
    plans = [
        Part(reading=reading, extraction=each)
        for each in plans_in(left, reading, prepared.member, participants)
        if each.confidence >= config.extraction_threshold
    ]
    if settled or plans:
        return _with_consultation([*settled, *plans][:MOST_PARTS], parts)
    answer = answer_in(seen)
    members = [each for each in asked if participants.household.member(each.asker)]
    if answer is None or not any(each.message_id == answer[1] for each in members):
        return parts  # what a stranger offers is taken up by plain words alone
    stance, answers = answer
    return [
        replace(
            parts[0], extraction=Extraction(is_coordination=False, stance=stance), answers=answers
        )
    ]


def _with_consultation(chosen: list[Part], parts: Sequence[Part]) -> list[Part]:
    """Return the chosen parts with the one question that a model was asked, if its own part gave way."""
    asked = next((each.consultation for each in parts if each.consultation), None)
    if asked is not None and not any(each.consultation for each in chosen):
        chosen[0] = replace(chosen[0], consultation=asked)
    return chosen


def _is_settled(
    prepared: Prepared, part: Part, asked: Sequence[OpenQuestion], config: ObserverConfig
) -> bool:
    """Whether the rules are sure of a part: it arranges something, answers a question, sets right, or refuses."""
    said = part.extraction
    is_arranged = said.is_coordination and said.confidence >= config.extraction_threshold
    if is_arranged or part.corrects or said.stance in _OWN_OF_RULES:
        return True
    return attribute_part(prepared, part, asked, config).question is not None


def _filled(part: Part, seen: Sequence[Seen], reading: Reading, participants: Participants) -> Part:
    """Return a part with what the frames of its own words add."""
    if not part.reading.symbols or part.corrects:
        return part
    own = [each for each in seen if part.covers(each.frame.clause)]
    extraction = filled(part.extraction, own, reading, participants)
    return replace(part, extraction=extraction, by_rules=part.extraction)
