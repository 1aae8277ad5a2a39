"""What a message makes of the arrangements: the state machine. Pure."""

from collections.abc import Mapping
from dataclasses import replace
from datetime import datetime
from typing import Final

from kinkeeper.arrangements.draft import Draft
from kinkeeper.arrangements.effects import apply
from kinkeeper.arrangements.frame_grounding import grounding_of
from kinkeeper.arrangements.model import Change, ChangeKind, Folded, Heard, State, Told
from kinkeeper.household.model import Household

_REMEMBERED: Final = 256
"""Messages whose clauses are kept to be answered, and which are known as read."""


def fold(state: State, heard: Heard, household: Household, now: datetime) -> Folded:
    """Return the state after one message, and what it changed. A message that was read already changes nothing.

    Args:
        state: Before it.
        heard: The message with its frames.
        household: Resolves names and times.
        now: Aware; arrangements long past are not spoken of by messages without a link.
    """
    if heard.message_id in state.recent:
        return Folded(state=state, changes=())
    draft = Draft(state, now.astimezone(household.zone))
    said = grounding_of(household).told(heard)
    for number, told in enumerate(said):
        draft.state = _remembering(draft.state, heard.message_id, said[:number])
        apply(told, draft)
    after = _remembering(draft.state, heard.message_id, said)
    return Folded(state=after, changes=_changes(state, after, draft.sureness))


def _remembering(state: State, message_id: str, said: tuple[Told, ...]) -> State:
    recent = {**state.recent, message_id: said}
    for each in list(recent)[: len(recent) - _REMEMBERED]:
        del recent[each]
    return replace(state, recent=recent)


def _changes(before: State, after: State, sureness: Mapping[str, float]) -> tuple[Change, ...]:
    known = {each.id: each for each in before.arrangements}
    found = []
    for each in after.arrangements:
        old = known.get(each.id)
        if old == each:
            continue
        was_open = old is None or old.status.is_open
        kind = (
            ChangeKind.OPENED if old is None
            else ChangeKind.CLOSED if was_open and not each.status.is_open
            else ChangeKind.AMENDED
        )  # fmt: skip
        found.append(Change(kind=kind, before=old, after=each, p=sureness[each.id]))
    return tuple(found)
