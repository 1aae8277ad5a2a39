"""Whether a chat's arrangements bear out what a rule would say aloud: a job is wanted, or two agreed plans clash. Pure.

The rules see sentences and cards. Before anything is said, the trained reader and the state of the chat must see it too.
"""

from collections.abc import Mapping
from dataclasses import dataclass
from datetime import date, datetime
from typing import Any, Final
from zoneinfo import ZoneInfo

from kinkeeper.arrangements import Arrangement, Heard
from kinkeeper.observer.arrangement_rows import Kept
from kinkeeper.observer.extraction.as_frame import LEAVES_OPEN, PREDICATES, is_no_commitment
from kinkeeper.observer.model import Extraction, RedlineOutcome, RedlineRule, Stance, Task
from kinkeeper.observer.redline.same_job import JOBS
from kinkeeper.reading.model import Act, Frame

_SAYS_NOTHING: Final = frozenset({Act.NONE, Act.GREET})
_LEAVES_JOB_OPEN: Final = frozenset({Stance.ASKS, Stance.DECLINES})
_PLAN: Final = 0.5
"""Chance from which the trained reader takes a clause for part of a plan."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Outlook:
    """A message beside the arrangements of its chat, before anything is said.

    Attributes:
        heard: The message, with the frames of the trained reader.
        before: The arrangements as they stand without it, with their cards.
    """

    heard: Heard
    before: Kept

    def of_card(self, action_id: str) -> Arrangement | None:
        """Return the open arrangement that a card shows, if there is one."""
        plans = {card: plan for plan, card in self.before.cards.items()}
        found = self.before.state.arrangement(plans.get(action_id, ""))
        return self.before.state.whole(found) if found and found.status.is_open else None


def is_borne_out(
    verdict: RedlineOutcome, said: Extraction, outlook: Outlook, zone: ZoneInfo
) -> bool:
    """Tell whether what a rule found may be said aloud.

    Args:
        verdict: Of a rule that speaks, or will once a question has had its chance.
        said: What the rules read.
        outlook: The arrangements around the message.
        zone: The household's.
    """
    frames, facts = outlook.heard.frames, verdict.facts
    if verdict.rule is RedlineRule.MISSING_VARIABLE:
        is_plain = said.stance in _LEAVES_JOB_OPEN and said.task in JOBS
        return is_plain or not frames or any(_is_open_plan(each) for each in frames)
    clashing: Mapping[str, Any] = facts.get("slot") or facts.get("booked") or {}
    card = clashing.get("action_id")
    if verdict.rule is RedlineRule.TIME_MISMATCH or card is None or clashing["event_id"]:
        return True
    other = outlook.of_card(card)
    if other is None:
        return False
    if verdict.rule is RedlineRule.TEMPORAL_CONFLICT:
        return not other.is_job and _starts(other, clashing["start"], zone)
    is_there = facts["first"] not in outlook.before.state.away(date.fromisoformat(facts["day"]))
    is_taken = is_there and _is_taken(other, facts, clashing["task"])
    may_doubt = bool(frames) and outlook.heard.is_encoded
    return is_taken and (not may_doubt or any(_takes(each) for each in frames))


def _is_open_plan(frame: Frame) -> bool:
    return frame.act in LEAVES_OPEN or frame.plan >= _PLAN


def _takes(frame: Frame) -> bool:
    """Tell whether somebody may commit to something in a clause."""
    is_said = frame.act not in _SAYS_NOTHING or frame.plan >= _PLAN
    return is_said and not is_no_commitment(frame)


def _is_taken(other: Arrangement, facts: Mapping[str, Any], task: str | None) -> bool:
    """Tell whether the other person of a clash has that very job, or is taken up by the other plan."""
    if facts["is_double"]:
        return facts["first"] in {*other.who_does, *other.who_for}
    is_same = task is None or (task != Task.OTHER and PREDICATES[Task(task)] is other.predicate)
    return is_same and facts["first"] in other.who_does


def _starts(other: Arrangement, start: str | None, zone: ZoneInfo) -> bool:
    """Tell whether a plan begins when its card says: an hour at which something ends is no booking."""
    local = datetime.fromisoformat(start).astimezone(zone).time() if start else None
    return other.when.start in {None, local} and (local is None or other.when.end != local)
