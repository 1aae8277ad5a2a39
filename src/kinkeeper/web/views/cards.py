"""What awaits a person: one card, one decision; its correction, and what became of it. Pure."""

from collections import Counter
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from datetime import date, datetime, timedelta

from kinkeeper.actions.consent import Stakes
from kinkeeper.actions.effects.calendar import AddEvent
from kinkeeper.actions.effects.memory import remembered_lines
from kinkeeper.actions.model import ActionStatus, ActionType, PendingAction, RejectReason
from kinkeeper.actions.payload import shown_lines
from kinkeeper.actions.receipts import Outcome, failure
from kinkeeper.actions.registry import stakes_of
from kinkeeper.household.model import Household, Member
from kinkeeper.household.viewers import kept_from, person_of
from kinkeeper.language.text import enumerated
from kinkeeper.messaging.inbox import StoredMessage
from kinkeeper.observer.cards.card_corrections import correctable
from kinkeeper.web.views.calendar_diff import ChangeLine, DiffWords, Standing, changes_of
from kinkeeper.web.views.day_text import Wording
from kinkeeper.web.views.items import job_title, unowned
from kinkeeper.web.views.people import People, Person
from kinkeeper.web.views.quotes import Quote, Quotes

_KINDS = {
    ActionType.EVENT_CREATE: "New plan",
    ActionType.CARE_ASSIGNMENT: "Who does it",
    ActionType.SCHEDULE_CHANGE: "Change of plan",
    ActionType.MAINTENANCE_UPDATE: "Upkeep",
    ActionType.MEMORY_FACT: "Memory",
    ActionType.TASK: "Task",
    ActionType.GOAL: "Goal",
    ActionType.NOTE: "Note",
    ActionType.EMAIL: "Email",
    ActionType.FOREIGN_TOOL: "Other program",
}


@dataclass(frozen=True, slots=True, kw_only=True)
class Way:
    """One way to say yes.

    Attributes:
        choice: Label of the choice that is sent; empty for a plain Confirm.
        changes: What it would write into the calendar.
        is_grave: Whether it touches a whole series or entry, so that the person must say so.
    """

    label: str
    choice: str
    changes: tuple[ChangeLine, ...]
    remembers: tuple[str, ...]
    is_grave: bool


@dataclass(frozen=True, slots=True, kw_only=True)
class Card:
    """One decision.

    Attributes:
        payload_hash: Of exactly what is shown; sent back with the decision.
        line: What it is, at most 140 characters.
        said: What was asked aloud about it, where it is a conflict; else empty.
        quotes: Messages it rests on, oldest first.
        shown: What a request from conversation would do, name and value, as it is frozen.
        shared: What is written whichever way is chosen, where the ways differ in the owner alone.
        ways: How it can be confirmed.
        deciders: Who may decide, in words.
        lapses: When it ends by itself, in words.
        may_decide: Whether the person looking may.
        can_change: Whether it can be corrected in a form before it is saved.
        reasons: What can be wrong with it.
        asked: When it was proposed, in few words.
    """

    id: str
    payload_hash: str
    kind: str
    line: str
    said: str
    quotes: tuple[Quote, ...]
    shown: tuple[tuple[str, str], ...]
    shared: tuple[ChangeLine, ...]
    ways: tuple[Way, ...]
    deciders: str
    lapses: str
    may_decide: bool
    can_change: bool
    reasons: tuple[RejectReason, ...]
    asked: str


@dataclass(frozen=True, slots=True, kw_only=True)
class ExpiredCard:
    """A plan that expired and can be brought back.

    Attributes:
        payload_hash: Of exactly what is shown.
        when: When it expired, in words.
    """

    id: str
    payload_hash: str
    line: str
    when: str


@dataclass(frozen=True, slots=True, kw_only=True)
class Ground:
    """What an action rests on.

    Attributes:
        messages: Oldest first.
        said: What was asked aloud about the newest, if anything.
    """

    messages: tuple[StoredMessage, ...] = ()
    said: str = ""


@dataclass(frozen=True, slots=True)
class Cards:
    """Makes cards for one household.

    Attributes:
        quotes: For the messages they rest on.
        may_decide: Whether who looks may confirm.
    """

    household: Household
    quotes: Quotes
    words: DiffWords
    may_decide: bool

    def card(self, action: PendingAction, ground: Ground, standing: Standing) -> Card:
        """Return the card of an open action."""
        proposal = action.proposal
        title = job_title(action, self.words.wording.phrasing)
        asked_for = unowned(action, standing, title=title)
        return Card(
            id=action.id,
            payload_hash=action.payload_hash,
            kind=_KINDS[proposal.type],
            line=proposal.summary,
            said=ground.said if proposal.conflict_key is not None else "",
            quotes=tuple(map(self.quotes.of, ground.messages)),
            shown=shown_lines(proposal.request.get("shown") or {}),
            shared=self.words.jobs(asked_for),
            ways=tuple(self._ways(action, standing)),
            deciders=self._deciders(action),
            lapses=self.words.wording.lapse(action.expires_at),
            may_decide=self.may_decide,
            can_change=self.may_decide and correctable(action) is not None,
            reasons=RejectReason.of(proposal.type),
            asked=self.words.wording.moment(action.created_at),
        )

    def expired(self, action: PendingAction) -> ExpiredCard:
        """Return the line of an action that expired."""
        wording = self.words.wording
        ended = wording.local((action.decided_at or action.expires_at) - timedelta(seconds=1))
        return ExpiredCard(
            id=action.id,
            payload_hash=action.payload_hash,
            line=action.proposal.summary,
            when=f"Expired {wording.day(ended.date())}",
        )

    def _deciders(self, action: PendingAction) -> str:
        """Return who may decide; a child says yes to what is theirs alone where they asked for it."""
        own = self.household.member(person_of(action.proposal.scope) or "")
        if own is None:
            hidden = kept_from(action.proposal.scope)
            adults = [each for each in self.household.adults if each.id not in hidden]
            return f"{_names(adults)} can approve this."
        where = "" if own.is_adult else ", in their chat with me"
        return f"Only {own.name} can approve this{where}."

    def _ways(self, action: PendingAction, standing: Standing) -> Iterable[Way]:
        proposal = action.proposal
        ways = [(choice.label, choice.label, choice.effects) for choice in proposal.choices]
        if proposal.effects or not ways:
            ways.insert(0, ("Approve", "", proposal.effects))
        for label, choice, effects in ways:
            changes = changes_of(proposal.household, effects, standing)
            yield Way(
                label=label,
                choice=choice,
                changes=self.words.lines(changes),
                remembers=remembered_lines(effects),
                is_grave=stakes_of(effects) is Stakes.HIGH,
            )


def _names(members: Iterable[Member]) -> str:
    return enumerated([member.name for member in members], last="or") or "Nobody here"


def is_past(action: PendingAction, today: date) -> bool:
    """Return whether every day that a card is about has passed; one that names no day never is."""
    days: Sequence[str] = action.proposal.extraction.get("dates") or ()
    return bool(days) and max(map(date.fromisoformat, days)) < today


def lapses_at(action: PendingAction) -> datetime:
    """Return when a card ends by itself: what lapses first comes first."""
    return action.expires_at


# Cards that may be confirmed together. Pure.


@dataclass(frozen=True, slots=True, kw_only=True)
class Batch:
    """Cards of one kind that can be confirmed together and taken back one by one.

    Attributes:
        cards: At least two.
    """

    kind: str
    cards: tuple[Card, ...]


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


def _is_plain(way: Way) -> bool:
    return not way.choice and not way.is_grave and bool(way.changes or way.remembers)


# The form that corrects a card before it is saved. Pure.


@dataclass(frozen=True, slots=True, kw_only=True)
class Candidate:
    """Somebody who may be put in charge."""

    person: Person
    is_chosen: bool


@dataclass(frozen=True, slots=True, kw_only=True)
class CorrectionForm:
    """The form, filled with what the card says.

    Attributes:
        payload_hash: Of what the card shows.
        day: ISO date.
        start: HH:MM; empty of whole days.
        end: HH:MM; empty of whole days.
        candidates: Adults of the household; empty where the card has no owner.
    """

    action_id: str
    payload_hash: str
    line: str
    day: str
    start: str
    end: str
    candidates: tuple[Candidate, ...]


def correction_form(
    action: PendingAction, *, household: Household, people: People, wording: Wording
) -> CorrectionForm | None:
    """Return the form; None where the card cannot be corrected in one."""
    effect = correctable(action)
    if effect is None:
        return None
    is_whole_day = False
    chosen: tuple[str, ...] = ()
    candidates: tuple[Member, ...] = ()
    length: timedelta | None
    if isinstance(effect, AddEvent):
        start, length = effect.event.start, effect.event.duration
        is_whole_day = effect.event.all_day
        chosen = effect.event.responsible if action.proposal.effects else ()
        candidates = tuple(household.adults)
    else:
        start, length = effect.new_start, effect.new_duration
    begin = wording.local(start)
    return CorrectionForm(
        action_id=action.id,
        payload_hash=action.payload_hash,
        line=action.proposal.summary,
        day=begin.date().isoformat(),
        start="" if is_whole_day else f"{begin:%H:%M}",
        end="" if is_whole_day or length is None else f"{wording.local(start + length):%H:%M}",
        candidates=tuple(
            Candidate(person=people.of(member.id), is_chosen=member.id in chosen)
            for member in candidates
        ),
    )


# What became of a decision, as it is told to whoever made it. Pure.

_MESSAGES = {
    Outcome.DENIED: "Only an adult in the household can decide this. Nothing was changed.",
    Outcome.CHANGED: "The card has changed in the meantime; nothing was saved. Please check it again.",
    Outcome.CHOOSE: "Nothing has been changed yet. Choose one of the options on the card.",
    Outcome.NOT_UNDOABLE: "This can't be undone.",
    Outcome.ALREADY_DONE: "That was already approved; nothing changed.",
    Outcome.ALREADY_UNDONE: "That was already undone; nothing changed.",
}


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


def notice_of(
    outcome: Outcome, action: PendingAction, household: Household, *, is_change: bool
) -> Notice:
    """Return what became of a decision, told from the stored action.

    Args:
        outcome: Of the person's press.
        is_change: Whether that very press changed anything.
    """
    summary = action.proposal.summary
    is_done = action.status is ActionStatus.DONE and action.undone_at is None
    if outcome is Outcome.DONE and is_done:
        chosen = [each.result for each in action.proposal.choices if each.label == action.choice]
        return Notice(text=f"Saved: {(chosen or [summary])[0]}", undo_id=action.id)
    if outcome is Outcome.RESTORED and action.status is ActionStatus.PENDING:
        return Notice(text=f"Waiting for approval again: {summary}", undo_id=action.id)
    is_expired = action.status is ActionStatus.EXPIRED
    if outcome is Outcome.UNDONE and (is_expired or action.undone_at is not None):
        return Notice(text=f"{'Expired again' if is_expired else 'Undone'}: {summary}")
    if outcome is Outcome.REJECTED and is_change and action.status is ActionStatus.REJECTED:
        return Notice(text=f"Dismissed: {summary}")
    if action.status is ActionStatus.FAILED:
        return Notice(text=f"{failure(action)}.", is_good=False)
    if action.status is ActionStatus.EXECUTING:
        return Notice(text=f"In progress: {summary}")
    if outcome in _MESSAGES:
        undo_id = action.id if outcome is Outcome.ALREADY_DONE and is_done else ""
        return Notice(text=_MESSAGES[outcome], undo_id=undo_id, is_good=False)
    return Notice(text=f"{_stands(action, household)} Nothing changed.", is_good=False)


def _stands(action: PendingAction, household: Household) -> str:
    member = household.member(action.decided_by) if action.decided_by else None
    by = f" by {member.name}" if member else ""
    match action.status:
        case ActionStatus.DONE | ActionStatus.CONFIRMED:
            return f"Already approved{by}."
        case ActionStatus.REJECTED:
            return f"Already dismissed{by}."
        case ActionStatus.EXPIRED:
            return "This had expired; you can restore it below."
        case ActionStatus.SUPERSEDED:
            return "It was replaced by something newer."
        case ActionStatus.WITHDRAWN:
            return "This was withdrawn in the chat."
        case _:
            return "This is still waiting."
