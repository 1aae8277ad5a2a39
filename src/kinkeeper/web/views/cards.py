"""What awaits a person: one card, one decision. Pure."""

from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime

from kinkeeper.actions.consent import Stakes
from kinkeeper.actions.model import ActionStatus, ActionType, PendingAction
from kinkeeper.actions.receipts import Outcome
from kinkeeper.actions.registry import stakes_of
from kinkeeper.core.messages import MessageKind
from kinkeeper.household.model import Household, Member
from kinkeeper.messaging.inbox import StoredMessage
from kinkeeper.observer.correcting import correctable
from kinkeeper.observer.metrics import Failure
from kinkeeper.web.views.addresses import why_href
from kinkeeper.web.views.changes import Standing, changes_of
from kinkeeper.web.views.diff import ChangeLine, DiffWords
from kinkeeper.web.views.overlay import job_title, unowned
from kinkeeper.web.views.people import People, Person, joined
from kinkeeper.web.views.wording import Wording

_KINDS = {
    ActionType.EVENT_CREATE: "Something new",
    ActionType.CARE_ASSIGNMENT: "Who does it",
    ActionType.SCHEDULE_CHANGE: "A change of plan",
    ActionType.MAINTENANCE_UPDATE: "Upkeep",
}
_MESSAGES = {
    Outcome.DENIED: "Only an adult of the household can decide this. Nothing was changed.",
    Outcome.CHANGED: "The card had changed meanwhile; nothing was saved. Please look at it again.",
    Outcome.CHOOSE: "Nothing was changed yet: choose one of the ways on the card.",
    Outcome.NOT_UNDOABLE: "This cannot be taken back.",
    Outcome.ALREADY_DONE: "That was confirmed before; nothing was changed by you.",
    Outcome.ALREADY_UNDONE: "That was taken back before; nothing was changed by you.",
}


@dataclass(frozen=True, slots=True, kw_only=True)
class Quote:
    """A message that a card rests on.

    Attributes:
        sender: Who said it.
        text: Their words; empty once they are purged.
        at: When, in few words.
        spoken: When, in full.
        iso: When, for machines.
        kind: Text, reaction or edit.
        why_href: Page that tells how it was decided.
    """

    sender: Person
    text: str
    at: str
    spoken: str
    iso: str
    kind: MessageKind
    why_href: str


@dataclass(frozen=True, slots=True, kw_only=True)
class Way:
    """One way to say yes.

    Attributes:
        label: Of its button.
        choice: Label of the choice that is sent; empty for a plain Confirm.
        changes: What it would write.
        is_grave: Whether it touches a whole series or entry, so that the person must say so.
    """

    label: str
    choice: str
    changes: tuple[ChangeLine, ...]
    is_grave: bool


@dataclass(frozen=True, slots=True, kw_only=True)
class Card:
    """One decision.

    Attributes:
        id: Of the action.
        payload_hash: Of exactly what is shown; sent back with the decision.
        kind: In words.
        line: What it is, at most 140 characters.
        said: What was asked aloud about it, where it is a conflict; else empty.
        quotes: Messages it rests on, oldest first.
        shared: What is written whichever way is chosen, where the ways differ in the owner alone.
        ways: How it can be confirmed.
        deciders: Who may decide, in words.
        lapses: When it ends by itself, in words.
        may_decide: Whether the person looking may.
        can_change: Whether it can be corrected in a form before it is saved.
        asked: When it was proposed, in few words.
    """

    id: str
    payload_hash: str
    kind: str
    line: str
    said: str
    quotes: tuple[Quote, ...]
    shared: tuple[ChangeLine, ...]
    ways: tuple[Way, ...]
    deciders: str
    lapses: str
    may_decide: bool
    can_change: bool
    asked: str


@dataclass(frozen=True, slots=True, kw_only=True)
class Ground:
    """What an action rests on.

    Attributes:
        messages: Oldest first.
        said: What was asked aloud about the newest, if anything.
    """

    messages: tuple[StoredMessage, ...] = ()
    said: str = ""


@dataclass(frozen=True, slots=True, kw_only=True)
class Batch:
    """Cards of one kind that can be confirmed together and taken back one by one.

    Attributes:
        kind: In words.
        cards: At least two.
    """

    kind: str
    cards: tuple[Card, ...]


@dataclass(frozen=True, slots=True, kw_only=True)
class Left:
    """A message that could not be understood and is left to a person.

    Attributes:
        message_id: The channel's id.
        quote: What was said; None where it is gone.
        why_href: Page that tells how far it came.
        error: What went wrong, for engineers.
    """

    message_id: str
    quote: Quote | None
    why_href: str
    error: str


@dataclass(frozen=True, slots=True, kw_only=True)
class Notice:
    """What became of the last decision.

    Attributes:
        text: One line.
        undo_id: Action that can be taken back; empty where there is nothing.
        is_good: Whether the person's wish came true.
    """

    text: str
    undo_id: str = ""
    is_good: bool = True


@dataclass(frozen=True, slots=True)
class Cards:
    """Makes cards for one household.

    Attributes:
        household: Theirs.
        people: As drawn.
        words: For changes.
        wording: For moments.
        may_decide: Whether who looks may confirm.
    """

    household: Household
    people: People
    words: DiffWords
    wording: Wording
    may_decide: bool

    def card(self, action: PendingAction, ground: Ground, standing: Standing) -> Card:
        """Return the card of an open action.

        Args:
            action: Open.
            ground: What it rests on.
            standing: What stands of what it would touch.
        """
        proposal = action.proposal
        title = job_title(action, self.wording.phrasing)
        asked_for = unowned(action, standing, title=title)
        return Card(
            id=action.id,
            payload_hash=action.payload_hash,
            kind=_KINDS[proposal.type],
            line=proposal.summary,
            said=ground.said if proposal.conflict_key is not None else "",
            quotes=tuple(self.quote(each) for each in ground.messages),
            shared=self.words.jobs(asked_for),
            ways=tuple(self._ways(action, standing)),
            deciders=f"{_names(self.household.adults)} may decide.",
            lapses=self.wording.lapse(proposal.expires_at),
            may_decide=self.may_decide,
            can_change=self.may_decide and correctable(action) is not None,
            asked=self.wording.moment(action.created_at),
        )

    def quote(self, stored: StoredMessage) -> Quote:
        """Return a message as it is quoted."""
        message, at = stored.message, stored.message.sent_at
        return Quote(
            sender=self.people.of(message.sender), text=message.text, at=self.wording.moment(at),
            spoken=self.wording.long_moment(at),
            iso=self.wording.local(at).isoformat(timespec="seconds"), kind=message.kind,
            why_href=why_href(message.message_id, message.chat_id),
        )  # fmt: skip

    def left(self, failure: Failure, stored: StoredMessage | None) -> Left:
        """Return a message that is left to a person."""
        return Left(
            message_id=failure.message_id,
            quote=None if stored is None else self.quote(stored),
            why_href=why_href(failure.message_id, failure.chat_id), error=failure.error,
        )  # fmt: skip

    def _ways(self, action: PendingAction, standing: Standing) -> Iterable[Way]:
        proposal = action.proposal
        if proposal.effects or not proposal.choices:
            yield self._way(action, "Confirm", "", proposal.effects, standing)
        for choice in proposal.choices:
            yield self._way(action, choice.label, choice.label, choice.effects, standing)

    def _way(  # noqa: PLR0917 - the parts of one way
        self,
        action: PendingAction,
        label: str,
        choice: str,
        effects: Sequence[Mapping[str, object]],
        standing: Standing,
    ) -> Way:
        changes = changes_of(action.proposal.household, effects, standing)
        return Way(
            label=label, choice=choice, changes=self.words.lines(changes),
            is_grave=stakes_of(effects) is Stakes.HIGH,
        )  # fmt: skip


def batches(cards: Iterable[Card]) -> tuple[Batch, ...]:
    """Return the cards that can be confirmed together: one kind, one plain way, easily taken back."""
    plain = [
        card
        for card in cards
        if card.may_decide and len(card.ways) == 1 and _is_plain(card.ways[0])
    ]
    counted = Counter(card.kind for card in plain)
    return tuple(
        Batch(kind=kind, cards=tuple(card for card in plain if card.kind == kind))
        for kind, count in counted.items()
        if count > 1
    )


def notice_of(
    outcome: Outcome, action: PendingAction, household: Household, *, is_change: bool
) -> Notice:
    """Return what became of a decision, told from the stored action.

    Args:
        outcome: Of the person's press.
        action: As it stands now.
        household: Whose it is.
        is_change: Whether that very press changed anything.
    """
    summary = action.proposal.summary
    is_done = action.status is ActionStatus.DONE and action.undone_at is None
    if outcome is Outcome.DONE and is_done:
        chosen = [each.result for each in action.proposal.choices if each.label == action.choice]
        return Notice(text=f"Saved: {(chosen or [summary])[0]}", undo_id=action.id)
    if outcome is Outcome.UNDONE and action.undone_at is not None:
        return Notice(text=f"Taken back: {summary}")
    if outcome is Outcome.REJECTED and is_change and action.status is ActionStatus.REJECTED:
        return Notice(text=f"Put away, nothing was saved: {summary}")
    if action.status is ActionStatus.FAILED:
        reason = (action.receipt or {}).get("reason", "")
        return Notice(text=f"Could not be saved, nothing was changed: {reason}.", is_good=False)
    if outcome in _MESSAGES:
        undo_id = action.id if outcome is Outcome.ALREADY_DONE and is_done else ""
        return Notice(text=_MESSAGES[outcome], undo_id=undo_id, is_good=False)
    return Notice(text=f"{_stands(action, household)} Nothing was changed by you.", is_good=False)


def _is_plain(way: Way) -> bool:
    return not way.choice and not way.is_grave and bool(way.changes)


def _names(members: Iterable[Member]) -> str:
    return joined([member.name for member in members], last="or") or "Nobody here"


def _stands(action: PendingAction, household: Household) -> str:
    member = household.member(action.decided_by) if action.decided_by else None
    by = f" by {member.name}" if member else ""
    match action.status:
        case ActionStatus.DONE | ActionStatus.CONFIRMED | ActionStatus.EXECUTING:
            return f"Already confirmed{by}."
        case ActionStatus.REJECTED:
            return f"Already put away{by}."
        case ActionStatus.EXPIRED:
            return "This had lapsed."
        case ActionStatus.SUPERSEDED:
            return "Something newer took its place."
        case ActionStatus.WITHDRAWN:
            return "This was taken back in the chat."
        case _:
            return "This still waits."


def lapses_at(action: PendingAction) -> datetime:
    """Return when a card ends by itself: what lapses first comes first."""
    return action.proposal.expires_at
