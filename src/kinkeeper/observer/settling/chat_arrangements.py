"""Folds settled messages into the arrangements of a chat, mirrored in cards, and asks what they bear out."""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from datetime import date, datetime
from typing import Any, Final
from zoneinfo import ZoneInfo

from sqlalchemy import Connection

from kinkeeper.actions import proposals
from kinkeeper.actions import repository as action_rows
from kinkeeper.actions.model import ActionStatus, PendingAction
from kinkeeper.arrangements import Arrangement, Change, ChangeKind, Folded, Heard, Status, fold
from kinkeeper.household.viewers import narrowest
from kinkeeper.memory.statements.secrecy import wished_scope
from kinkeeper.messaging import inbox
from kinkeeper.observer.answers import questions
from kinkeeper.observer.arrangement_rows import ChatRows, Kept
from kinkeeper.observer.cards import retraction
from kinkeeper.observer.cards.card_builder import Ground, Proposer
from kinkeeper.observer.config import ObserverConfig
from kinkeeper.observer.extraction.frame_extraction import (
    LEAVES_OPEN,
    PREDICATES,
    extraction_of,
    heard_frames,
    is_no_commitment,
)
from kinkeeper.observer.extraction.prepared import Part, Prepared
from kinkeeper.observer.model import (
    BY_FOLD,
    OF_READERS_ALONE,
    UNSPECIFIED,
    Decision,
    Extraction,
    RedlineOutcome,
    RedlineRule,
    Stance,
    Task,
    extraction_from_record,
)
from kinkeeper.observer.redline.case import JOBS
from kinkeeper.observer.settling.case_builder import CaseBuilder
from kinkeeper.observer.wording.participants import Participants
from kinkeeper.reading.model import Act, Frame, Predicate, Target

# Whether a chat's arrangements bear out what a rule would say aloud: a job is wanted, or two agreed
# plans clash. Pure.
#
# The rules see sentences and cards. Before anything is said, the trained reader and the state of
# the chat must see it too.

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
        outlook: The arrangements around the message.
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


# Keeps the card of each arrangement in step with it: who has it now, another day or hour, off,
# done, open again.
#
# Nothing is written to the calendar and nothing is said: a card is replaced by one that a person
# confirms, or withdrawn.

_SURE: Final = 0.5
"""Chance of the clause from which it changes a card. On the writers it was chosen with (w01 to w08), of what the
trained reader alone saw so surely: gone or done 7 of 9, open again 2 of 2, who has it 62 of 77."""
_SURE_OF_TIME: Final = 0.75
"""The same for another day or hour, which the trained reader alone gets wrong too often (right 2 of 7)."""
LIKELY: Final = 0.3
"""Chance of the least sure clause from which an arrangement that somebody has gets a card of its own. Of the cards that this
added on w01 to w08 (18 to 503), .50 were near an outcome; of the others .28."""
_CHANGES: Final = frozenset({Task.CANCEL, Task.MOVE})


@dataclass(frozen=True, slots=True, kw_only=True)
class Mirrored:
    """What became of the cards.

    Attributes:
        cards: Action ids by arrangement id.
        withdrawn: Ids of the actions taken back.
        action: The last card that took the place of another, if any.
    """

    cards: Mapping[str, str] = field(default_factory=dict)
    withdrawn: tuple[str, ...] = ()
    action: PendingAction | None = None


@dataclass(frozen=True, slots=True)
class _Turn:
    conn: Connection
    prepared: Prepared
    folded: Folded
    now: datetime

    @property
    def source(self) -> str:
        return str(self.prepared.stored.id)


class Mirror:
    """Mirrors the arrangements of one household in its cards."""

    def __init__(
        self, participants: Participants, config: ObserverConfig, proposer: Proposer
    ) -> None:
        self._family = participants.household
        self._participants = participants
        self._config = config
        self._proposer = proposer
        self._cases = CaseBuilder(participants, config)

    def show(
        self,
        conn: Connection,
        prepared: Prepared,
        folded: Folded,
        known: Mapping[str, str],
        *,
        now: datetime,
    ) -> Mirrored:
        """Bring the cards in step with what a message made of the arrangements.

        Args:
            prepared: The message; the rules have proposed and withdrawn already.
            known: Action ids by arrangement id, before it.
        """
        if not folded.changes:
            return Mirrored(cards=known)
        turn = _Turn(conn, prepared, folded, now)
        cards = {**known, **self._linked(turn, known)}
        withdrawn: list[str] = []
        shown: PendingAction | None = None
        for change in folded.changes:
            card = self._card(conn, cards.get(change.after.id))
            if card is None:
                if (new := self._opened(turn, change)) is not None:
                    cards[change.after.id], shown = new.id, new
                continue
            if change.p < _SURE or _is_of(card, turn):
                continue
            if change.before is None or not _is_spoken_of(change.before, turn):
                continue
            if change.kind is ChangeKind.CLOSED:
                if _names_another(change.before, turn):
                    continue
                withdrawn += self._withdraw(turn, card)
            elif (
                change.after.status.is_open
                and (new := self._renewed(turn, change, card)) is not None
            ):
                cards[change.after.id], shown = new.id, new
        return Mirrored(cards=cards, withdrawn=tuple(withdrawn), action=shown)

    def _opened(self, turn: _Turn, change: Change) -> PendingAction | None:
        """Return a card of what somebody has by now, on a day, although no message said all of it."""
        whole = turn.folded.state.whole(change.after)
        is_had = whole.status in {Status.OWNED, Status.MOVED} and whole.p >= LIKELY
        if not is_had or not (change.after.what or change.after.who_for):
            return None  # what has its words only from what it is about is too often nothing
        said = extraction_of(whole, self._participants)
        if said is None or _is_of_nobody(said) or self._waits(turn, whole):
            return None
        thresholds = turn.prepared.thresholds
        is_held = any(thresholds.holds(each.extraction) for each in turn.prepared.parts)
        if is_held or whole.p < LIKELY + thresholds.offset(said.task):
            return None
        scope = self._scope_of(turn, whole)
        return (
            None
            if scope is None
            else self._proposed(turn, replace(said, confidence=whole.p), change, scope)
        )

    def _waits(self, turn: _Turn, whole: Arrangement) -> bool:
        """Tell whether a card that waits may show an arrangement already: it shares a day, and who has it or whom it is for."""
        cards = self._cases.waiting(turn.conn, None, now=turn.now)
        waiting = [_said(each) for each in cards if each.proposal.extraction]
        days, people = {*whole.when.days}, {*whole.who_does, *whole.who_for}
        return any(days & {*e.dates} and people & {*e.owners, *e.child} for e in waiting)

    def _scope_of(self, turn: _Turn, whole: Arrangement) -> str | None:
        """Return who may see what all messages of an arrangement tell; None where nobody may see all of it."""
        message = turn.prepared.stored.message
        scopes = {turn.prepared.scope}
        for each in {*whole.evidence} - {message.message_id}:
            for said in inbox.find_by_message_id(
                turn.conn, self._family.id, each, chat_id=message.chat_id
            ):
                text, teller = said.message.text, said.message.sender
                scopes.add(wished_scope(text, self._family, teller, is_group=True))
        return narrowest(scopes)

    def _linked(self, turn: _Turn, known: Mapping[str, str]) -> Mapping[str, str]:
        """Return the cards that the message itself proposed, by the arrangement that each is most like."""
        own = action_rows.find_by_source(turn.conn, self._family.id, retraction.SOURCE, turn.source)
        ranked = sorted(
            (
                (_likeness(turn.folded.state.whole(change.after), _said(card)), -row, -column)
                for row, change in enumerate(turn.folded.changes)
                for column, card in enumerate(own)
                if card.proposal.type.is_about_calendar
            ),
            reverse=True,
        )
        found: dict[str, str] = {}
        for likeness, row, column in ranked:
            key, card = turn.folded.changes[-row].after.id, own[-column]
            if likeness > 0 and key not in found and card.id not in found.values():
                found[key] = card.id
        return found

    def _card(self, conn: Connection, action_id: str | None) -> PendingAction | None:
        return action_rows.load_action(conn, self._family.id, action_id) if action_id else None

    def _withdraw(self, turn: _Turn, card: PendingAction) -> Sequence[str]:
        """Withdraw a card, and let nobody be asked for what it asks."""
        self._close_question(turn, card, status=questions.WITHDRAWN)
        return retraction.withdraw_all(
            turn.conn, self._family.id, [card.id], by_source=turn.source, now=turn.now
        )

    def _renewed(self, turn: _Turn, change: Change, card: PendingAction) -> PendingAction | None:
        """Return the card that takes the place of one that says something else by now, if it does."""
        is_back = change.before is not None and not change.before.status.is_open
        wanted = ActionStatus.WITHDRAWN if is_back else ActionStatus.PENDING
        said = _said(card)
        if card.status is not wanted or card.proposal.conflict_key or said.task in _CHANGES:
            return None
        scope = narrowest({card.proposal.scope, turn.prepared.scope})
        if scope is None:
            return None
        whole = turn.folded.state.whole(change.after)
        new = self._amended(said, whole, change)
        if new is None or (new == said and not is_back):
            return None
        made = self._proposed(turn, replace(new, confidence=change.p), change, scope)
        if made is None or made.id == card.id:
            return None
        if card.status is ActionStatus.PENDING:
            proposals.supersede(
                turn.conn, card.id, household=self._family.id, by_action_id=made.id, now=turn.now
            )
            if new.owners:
                self._close_question(turn, card, status=questions.ANSWERED)
        return made

    def _proposed(
        self, turn: _Turn, said: Extraction, change: Change, scope: str
    ) -> PendingAction | None:
        """Return the card of what an arrangement says by now, if a person could confirm it."""
        said = replace(said, extractor=BY_FOLD)
        proposal = self._proposer.propose(
            self._ground(turn, said, change.after, scope), RedlineOutcome.silent("no_rule"), ()
        )
        if proposal is None:
            return None
        return proposals.propose(turn.conn, proposal, household=self._family, now=turn.now).action

    def _amended(self, said: Extraction, whole: Arrangement, change: Change) -> Extraction | None:
        """Return what a card says with what the arrangement is by now; None where no card can say that."""
        before = change.before
        if before is None or not all(self._family.member(person) for person in whole.who_does):
            return None
        new = said
        if before.who_does != whole.who_does and _may_hand_over(said, before, whole):
            new = replace(
                new,
                assigned_to=whole.who_does or (UNSPECIFIED,),
                stance=Stance.CLAIMS if whole.who_does else Stance.ASKS,
                seeks_owner=not whole.who_does,
            )
        is_moved = change.after.status is Status.MOVED and before.when != change.after.when
        if is_moved and change.p >= _SURE_OF_TIME and whole.when.days:
            times = (whole.when.start,) if whole.when.start else said.times
            new = replace(new, dates=whole.when.days, times=times, is_day_implied=False)
        if not new.times and whole.when.start and new.dates == whole.when.days:
            new = replace(new, times=(whole.when.start,))
        return new

    def _ground(
        self, turn: _Turn, said: Extraction, arrangement: Arrangement, scope: str
    ) -> Ground:
        message = turn.prepared.stored.message
        return Ground(
            case=self._cases.anew(turn.conn, turn.prepared, said, now=turn.now),
            row_id=turn.source,
            slot=f"of-{arrangement.id}",
            chat_id=message.chat_id,
            sender=message.sender,
            scope=scope,
            default_duration=self._config.rules.default_duration,
        )

    def _close_question(self, turn: _Turn, card: PendingAction, *, status: str) -> None:
        message = turn.prepared.stored.message
        for question, _ in questions.answerable(
            turn.conn,
            self._family.id,
            message.chat_id,
            at=message.sent_at,
            answered_within=self._config.open_question_window,
        ):
            if question.action_id == card.id:
                retraction.close_question(
                    turn.conn,
                    self._family.id,
                    question.id,
                    status=status,
                    by=message.sender,
                    now=turn.now,
                    part=question.part,
                )


def _said(card: PendingAction) -> Extraction:
    return extraction_from_record(card.proposal.extraction)


def _is_of(card: PendingAction, turn: _Turn) -> bool:
    """Tell whether the message itself proposed a card: the rules have decided it."""
    return card.proposal.source_id == turn.source


def _is_spoken_of(before: Arrangement, turn: _Turn) -> bool:
    """Tell whether a message may be about an arrangement: one that points at another message is about what that one decided."""
    message = turn.prepared.stored.message
    pointed_at = message.reply_to or message.target
    return pointed_at is None or turn.prepared.original is not None or pointed_at in before.evidence


def _names_another(before: Arrangement, turn: _Turn) -> bool:
    """Tell whether all that a message calls off has other names than an arrangement: its card stays."""
    heard = (turn.prepared.original or turn.prepared.stored).message.message_id
    told = turn.folded.state.recent.get(heard, ())
    named = [each.stems for each in told if each.predicate is Predicate.CANCEL and each.stems]
    stems = turn.folded.state.whole(before).stems
    return bool(named and stems) and not any(each & stems for each in named)


def _is_of_nobody(said: Extraction) -> bool:
    """Tell whether somebody is said to be with no person, in no activity ("who's watching the finale?")."""
    return said.task is Task.COVER and not said.child and said.is_in_own_words


def _may_hand_over(said: Extraction, before: Arrangement, whole: Arrangement) -> bool:
    """Tell whether a card may name another person: it said who had the job, and nobody takes it beside somebody or for themselves.

    Two who both take a job are the business of the rules.
    """
    had, has = {*said.owners}, {*whole.who_does}
    return had == {*before.who_does} and not (had and had < has) and not has & {*whole.who_for}


def _likeness(whole: Arrangement, said: Extraction) -> int:
    """Return how well a card fits an arrangement; at most 0 where it is another."""
    pairs: Iterator[tuple[frozenset[object], frozenset[object]]] = iter(
        (
            (frozenset(whole.when.days), frozenset(said.dates)),
            (frozenset(whole.who_for), frozenset(said.child)),
            (frozenset(whole.who_does), frozenset(said.owners)),
        )
    )
    score = 1
    for one, other in pairs:
        if one and other:
            score += 2 if one & other else -2
    if said.task is not None and said.task not in _CHANGES:
        score += 2 if PREDICATES[said.task] is whole.predicate else -1
    return score


# Folds each settled message into the arrangements of its chat, and mirrors them in their cards: in
# the settling transaction.


class Fold:
    """Keeps the arrangements of one household's chats."""

    def __init__(
        self, participants: Participants, config: ObserverConfig, proposer: Proposer
    ) -> None:
        self._family = participants.household
        self._config = config
        self._mirror = Mirror(participants, config, proposer)

    def outlook(self, conn: Connection, prepared: Prepared, *, now: datetime) -> Outlook:
        """Return a message beside the arrangements of its chat as they stand without it."""
        rows = ChatRows(conn, self._family.id, prepared.stored.message.chat_id)
        return Outlook(heard=prepared.heard, before=rows.load(now))

    def take(
        self, conn: Connection, prepared: Prepared, decision: Decision, *, now: datetime
    ) -> Mirrored:
        """Fold a message that the rules have decided about, and bring the cards in step."""
        stored = prepared.original or prepared.stored
        rows = ChatRows(conn, self._family.id, stored.message.chat_id)
        if prepared.original is not None:
            rows.forget_message(prepared.original.id, now)
        before = rows.load(now)
        heard = self._heard(prepared, decision, before.cards)
        folded = fold(before.state, heard, self._family, now)
        mirrored = self._mirror.show(conn, prepared, folded, before.cards, now=now)
        after = Kept(state=folded.state, cards=mirrored.cards)
        rows.save(prepared.stored.id, before=before, after=after, now=now)
        rows.remember(stored.id, folded.state.recent.get(heard.message_id, ()))
        return mirrored

    def _heard(self, prepared: Prepared, decision: Decision, cards: Mapping[str, str]) -> Heard:
        """Return the message with the frames of both readers, and the arrangements of the open cards."""
        heard = prepared.heard
        ruled = [part.extraction for part in prepared.parts if _is_of_rules(part)]
        by_rules = decision.attribution_source if len(ruled) == len(prepared.parts) else None
        answered = by_rules or prepared.stored.message.reply_to
        before = [*heard.before, *([answered] if answered not in {None, *heard.before} else ())]
        target = Target(said=before.index(answered), p=1.0) if answered else None
        plans = {card: plan for plan, card in cards.items()}
        items = [plans.get(each) for each in heard.items]
        frames = heard_frames(
            [_known(each, items) for each in heard.frames],
            ruled,
            text=heard.text,
            threshold=self._config.extraction_threshold,
            answers=target,
            may_doubt=heard.is_encoded,
        )
        return replace(heard, before=before, items=[each or "" for each in items], frames=frames)


def _is_of_rules(part: Part) -> bool:
    """Tell whether the rules read a part, and not the trained reader alone."""
    return part.answers is None and part.extraction.extractor not in OF_READERS_ALONE


def _known(frame: Frame, items: Sequence[str | None]) -> Frame:
    """Return a frame without a target that is no arrangement."""
    target = frame.target
    is_known = target is None or target.item is None or items[target.item] is not None
    return frame if is_known else replace(frame, target=None)
