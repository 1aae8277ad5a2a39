"""A conversation as its page shows it. Pure."""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from kinkeeper.actions.button_removal import can_be_undone
from kinkeeper.actions.model import ActionStatus, PendingAction
from kinkeeper.actions.payload import shown_lines
from kinkeeper.actions.requests.model import ActionResult, Card, Decider
from kinkeeper.conversation.turn import Turn, TurnOutcome
from kinkeeper.web.views.day_text import Wording

_FAILED = "Something went wrong. Your message is saved; send it again to retry."
_STANDS = {
    ActionStatus.PENDING: "Needs approval",
    ActionStatus.CONFIRMED: "In progress",
    ActionStatus.EXECUTING: "In progress",
    ActionStatus.DONE: "Done",
    ActionStatus.FAILED: "Failed; nothing was changed",
    ActionStatus.REJECTED: "Declined",
    ActionStatus.EXPIRED: "Expired; nothing was changed",
    ActionStatus.SUPERSEDED: "Replaced by a newer one",
    ActionStatus.WITHDRAWN: "Withdrawn",
}


@dataclass(frozen=True, slots=True, kw_only=True)
class Question:
    """Something that waits for a yes, or what became of it.

    Attributes:
        summary: One line.
        lines: All that a yes would do, name and value.
        payload_hash: Of what is shown.
        is_open: Whether it still waits.
        stands: Where it stands, in words.
        can_undo: Whether it can be taken back.
        is_own: Whether who asked for it says yes to it, adult or not.
    """

    id: str
    summary: str
    lines: tuple[tuple[str, str], ...]
    payload_hash: str
    is_open: bool
    stands: str
    can_undo: bool
    is_own: bool = False


@dataclass(frozen=True, slots=True, kw_only=True)
class ShownTurn:
    """One turn of a conversation.

    Attributes:
        text: What the person said; empty where the assistant spoke unasked, or once it is deleted.
        answer: What was answered, as paragraphs.
        is_open: Whether it is under way.
        questions: That wait for a yes, or did.
        used: What the answer rests on: what kind of thing, and its words.
        is_gone: Whether its words are deleted by now.
    """

    id: str
    text: str
    answer: str
    at: str
    iso: str
    is_open: bool
    cards: tuple[Card, ...]
    questions: tuple[Question, ...]
    used: tuple[tuple[str, str], ...]
    is_gone: bool


def shown_turns(
    turns: Sequence[Turn], actions: Mapping[str, PendingAction], wording: Wording
) -> Sequence[ShownTurn]:
    """Return turns as they are shown; what several of them are about stands under the last of these.

    Args:
        turns: As stored, oldest first.
        actions: Those of their results that write, by id, as they stand now.
    """
    last = {
        result.action_id: turn.id
        for turn in turns
        for result in turn.results
        if result.action_id is not None
    }
    return [
        _shown(
            turn,
            {name: each for name, each in actions.items() if last.get(name) == turn.id},
            wording,
        )
        for turn in turns
    ]


def _shown(turn: Turn, actions: Mapping[str, PendingAction], wording: Wording) -> ShownTurn:
    answer = _FAILED if turn.outcome is TurnOutcome.FAILED else turn.answer or ""
    return ShownTurn(
        id=turn.id,
        text=turn.text,
        answer=answer,
        at=wording.moment(turn.received_at),
        iso=wording.local(turn.received_at).isoformat(timespec="seconds"),
        is_open=turn.outcome is None,
        # Of a turn under way its stream shows what it found.
        cards=tuple(each.card for each in turn.results if each.card is not None)
        if turn.outcome is not None
        else (),
        questions=tuple(_questions(turn.results, actions)),
        used=tuple(_used(turn.used)),
        is_gone=turn.outcome is not None and not turn.text and not answer,
    )


def _questions(
    results: Sequence[ActionResult], actions: Mapping[str, PendingAction]
) -> Iterable[Question]:
    for result in results:
        action = actions.get(result.action_id or "")
        if action is None:
            continue
        is_open = action.status is ActionStatus.PENDING
        yield Question(
            id=action.id,
            summary=action.proposal.summary,
            lines=shown_lines(action.proposal.request.get("shown") or {}) if is_open else (),
            payload_hash=action.payload_hash,
            is_open=is_open,
            stands="Undone" if action.undone_at else _STANDS[action.status],
            can_undo=can_be_undone(action),
            is_own=result.decider is Decider.ASKER,
        )


def _used(used: Iterable[Mapping[str, Any]]) -> Iterable[tuple[str, str]]:
    for each in used:
        text = str(each.get("text", "")).strip()
        if text:
            yield str(each.get("kind", "")).replace("_", " "), text
