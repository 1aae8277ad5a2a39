"""What the rules are sure of stands in the frames of a message in place of what the trained reader saw there."""

from datetime import date

import pytest

from kinkeeper.observer.extraction.frame_extraction import heard_frames
from kinkeeper.observer.model import UNSPECIFIED, Entity, Extraction, Stance, Task
from kinkeeper.reading import Act, Frame, Predicate, SlotName, Target
from scripted_frames import frame

TEXT = "I'll get Leo on Friday"
SURE = Extraction(
    is_coordination=True,
    task=Task.PICKUP,
    stance=Stance.CLAIMS,
    assigned_to=("john",),
    child=("leo",),
    dates=(date(2026, 3, 6),),
    confidence=0.9,
    entities=(
        Entity(type="child", surface="Leo", start=9, end=12, value="leo"),
        Entity(type="date", surface="Friday", start=16, end=22, value="2026-03-06"),
    ),
)


def frames(
    read: tuple[Frame, ...] = (),
    said: Extraction = SURE,
    answers: Target | None = None,
    *,
    may_doubt: bool = True,
) -> tuple[Frame, ...]:
    return heard_frames(
        read, [said], text=TEXT, threshold=0.6, answers=answers, may_doubt=may_doubt
    )


def test_the_rules_speak_where_they_are_sure() -> None:
    (found,) = frames()
    assert (found.act, found.predicate) == (Act.OFFER, Predicate.PICKUP)
    assert [(each.name, TEXT[each.start : each.end]) for each in found.slots] == [
        (SlotName.WHO_FOR, "Leo"),
        (SlotName.WHEN, "Friday"),
    ]


def test_what_only_the_trained_reader_saw_is_kept() -> None:
    read = frame(TEXT, "none.task", named={SlotName.WHO_DOES: "I"}, answers=2)
    (found,) = frames((read,))
    assert (found.act, found.target) == (Act.OFFER, read.target)
    assert SlotName.WHO_DOES in {each.name for each in found.slots}


@pytest.mark.parametrize(("may_doubt", "act"), [(True, Act.REQUEST), (False, Act.OFFER)])
def test_a_commitment_is_doubted_only_where_the_encoder_read_along(
    may_doubt: bool, act: Act
) -> None:
    (found,) = frames((frame(TEXT, "request.pickup"),), may_doubt=may_doubt)
    assert found.act is act


def test_the_trained_reader_speaks_where_the_rules_are_unsure() -> None:
    read = frame(TEXT, "ask.pickup")
    unsure = Extraction(is_coordination=True, task=Task.PICKUP, confidence=0.4)
    assert frames((read,), unsure) == (read,)


def test_a_reply_counts_however_short_it_is() -> None:
    yes = Extraction(
        is_coordination=False, stance=Stance.ACCEPTS, assigned_to=(UNSPECIFIED,), confidence=0.2
    )
    (found,) = frames((), yes, Target(said=0, p=1.0))
    assert (found.act, found.target) == (Act.ACCEPT, Target(said=0, p=1.0))
    assert frames((), yes) == ()


def test_a_move_names_what_was_and_what_is() -> None:
    moved = Extraction(
        is_coordination=True,
        task=Task.MOVE,
        dates=(date(2026, 3, 6),),
        moved_from=date(2026, 3, 5),
        confidence=0.9,
        entities=(
            Entity(type="date", surface="Leo", start=9, end=12, value="2026-03-05"),
            Entity(type="date", surface="Friday", start=16, end=22, value="2026-03-06"),
        ),
    )
    (found,) = frames((), moved)
    assert [each.name for each in found.slots] == [SlotName.FROM, SlotName.TO]
