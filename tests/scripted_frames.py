"""Frames of a trained reader that sees what a test lets it see."""

from collections.abc import Mapping

import pytest

from kinkeeper.arrangements import Heard
from kinkeeper.household.model import Household
from kinkeeper.observer.extraction.prepared import Loaded
from kinkeeper.observer.settling import message_reader
from kinkeeper.reading import Act, Frame, Modality, Predicate, Slot, SlotName, Target
from kinkeeper.reading.model import Clause


def frame(
    text: str,
    label: str,
    *,
    named: Mapping[SlotName, str] | None = None,
    answers: int | None = None,
    p: float = 0.9,
    modality: Modality = Modality.PLAIN,
    is_negated: bool = False,
) -> Frame:
    """Return the frame of a text of one clause.

    Args:
        text: As it was typed.
        label: Act and predicate: "offer.pickup", "accept".
        named: Words of the text by what they stand for.
        answers: Which of the messages before it it answers, from 0.
        p: Chance that it is right.
        modality: How it is meant.
        is_negated: Whether it denies what it names.
    """
    act, _, predicate = label.partition(".")
    slots = [
        Slot(name=name, start=text.index(words), end=text.index(words) + len(words), p=1.0)
        for name, words in (named or {}).items()
    ]
    return Frame(
        clause=Clause(0, len(text)),
        act=Act(act),
        predicate=Predicate(predicate) if predicate else None,
        modality=modality,
        is_negated=is_negated,
        is_secret=False,
        slots=tuple(sorted(slots, key=lambda each: each.start)),
        target=None if answers is None else Target(said=answers, p=1.0),
        plan=p,
        p=p,
    )


def read_as(monkeypatch: pytest.MonkeyPatch, frames: Mapping[str, Frame]) -> None:
    """Let the trained reader see these frames by the text of their message, and none of any other."""

    async def heard_in(loaded: Loaded, household: Household) -> tuple[Heard, bool]:
        del household
        message = (loaded.original or loaded.stored).message
        text = loaded.stored.message.text
        found = frames.get(text)
        heard = Heard(
            message_id=message.message_id,
            speaker=message.sender,
            text=text,
            sent_at=message.sent_at,
            frames=(found,) if found else (),
            before=tuple(each.message.message_id for each in loaded.talk),
            items=tuple(loaded.items),
        )
        return heard, True

    monkeypatch.setattr(message_reader, "heard_in", heard_in)
