"""Tier 1: everything that happens to a message before the chat gets its answer. One transaction, no model.

Steps: refuse foreign chats, recognise repeats, find the thread and its context, score the text, decide DROP or
QUEUE, take back what an edit or a "never mind" makes stale, store the decision and its gate.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime, timedelta
from functools import cached_property, partial

from sqlalchemy import Connection

from kinkeeper.core.errors import DeniedError, InvariantError
from kinkeeper.core.gates import ConfidenceType, GateDecision, GateResult, Stage
from kinkeeper.core.messages import InboundMessage, MessageKind
from kinkeeper.household.model import resolve_sender
from kinkeeper.household.vocabulary import WordKind
from kinkeeper.jobs.job import Enqueuer
from kinkeeper.jobs.leases import WorkState
from kinkeeper.language.compact import Memo
from kinkeeper.language.lexicon import Lexicon, Mention
from kinkeeper.language.text import Token, tokenise
from kinkeeper.messaging import inbox
from kinkeeper.messaging.addresses import former_chats
from kinkeeper.messaging.inbox import StoredMessage
from kinkeeper.observer import repository
from kinkeeper.observer.answers import questions
from kinkeeper.observer.answers.questions import Asked
from kinkeeper.observer.arrangement_rows import has_planning
from kinkeeper.observer.cards import retraction
from kinkeeper.observer.config import ObserverConfig
from kinkeeper.observer.feedback import note_wonder
from kinkeeper.observer.model import Decision, Extraction, OpenQuestion, Stance, Tier1Decision
from kinkeeper.observer.repository import Talk
from kinkeeper.observer.tripwire.gate import (
    Evidence,
    Tripwire,
    Verdict,
    makes_coordination,
    takes_up,
)
from kinkeeper.observer.wording.arrangement_times import gives_up_an_hour
from kinkeeper.observer.wording.participants import Participants
from kinkeeper.reading.corrections import calls_off, exchanges_owners, may_correct
from kinkeeper.reading.replies import Reply, ReplyKind, asks_for_owner, read_reply, words_taken_back

JOB_NAME = "observer.understand"
_PROMISE_HOLDS = timedelta(hours=12)


@dataclass(frozen=True, slots=True, kw_only=True)
class Received:
    """What tier 1 made of a message.

    Attributes:
        row_id: Id of the message's rows.
        is_repeat: Whether it had been recorded before; then nothing was changed.
        is_queued: Whether tier 2 has (still) to run.
        decision: As far as tier 1 goes; None for a repeat.
    """

    row_id: str
    is_repeat: bool
    is_queued: bool
    decision: Decision | None


@dataclass(frozen=True, slots=True, kw_only=True)
class _Setting:
    """What surrounds a message: its thread and what is open there."""

    thread_id: str
    window: tuple[str, ...]
    is_coordination: bool
    asked: tuple[Asked, ...]
    edited: StoredMessage | None


class _Words:
    """The words of a message, read once, and only as far as somebody asks."""

    def __init__(self, text: str, lexicon: Lexicon) -> None:
        self._text = text
        self._lexicon = lexicon

    @cached_property
    def tokens(self) -> tuple[Token, ...]:
        return tokenise(self._text)

    @cached_property
    def mentions(self) -> tuple[Mention, ...]:
        return self._lexicon.find(self.tokens)

    @cached_property
    def reply(self) -> Reply | None:
        return read_reply(self.tokens, self.mentions)

    @cached_property
    def asks(self) -> bool:
        return asks_for_owner(self.tokens, self._text, self.mentions)


class Intake:
    """Tier 1 of one household.

    Args:
        queue: Where tier 2's work is enqueued in the same transaction; None where the caller runs it itself.
        refuses_chats: Whether only the chats of the household file are taken in; a replay takes all.
        reads_talk: Whether a model is to read the talk, a stretch at a time.
    """

    def __init__(
        self,
        participants: Participants,
        tripwire: Tripwire,
        config: ObserverConfig,
        queue: Enqueuer | None,
        *,
        refuses_chats: bool,
        reads_talk: bool = False,
    ) -> None:
        self._participants = participants
        self._tripwire = tripwire
        self._config = config
        self._queue = queue
        self._refuses_chats = refuses_chats
        self._reads_talk = reads_talk
        self._members = Memo(partial(resolve_sender, participants.household))

    def receive(self, conn: Connection, message: InboundMessage, *, now: datetime) -> Received:
        """Take in one message.

        Args:
            conn: In a write transaction; everything below becomes durable with it.
            now: Aware; when it arrived.

        Returns:
            What was decided, or that the message was known.

        Raises:
            DeniedError: The chat is not this household's; nothing is stored.
            ConflictError: The id is taken by a message with another text; nothing is changed.
        """
        household = self._participants.household
        if self._refuses_chats and not self._is_ours(conn, message):
            raise DeniedError(
                f"chat {message.chat_id!r} does not belong to household {household.id!r}; "
                "add it to `chats` in the household file to have it observed"
            )
        return self._take_in(conn, message, now=now)

    def _is_ours(self, conn: Connection, message: InboundMessage) -> bool:
        """Whether the household file names the chat, by its id or by one it had before."""
        household = self._participants.household
        if message.chat_id in household.chats:
            return True
        earlier = former_chats(conn, household.id, message.channel, message.chat_id)
        return not set(earlier).isdisjoint(household.chats)

    def _repeat(self, conn: Connection, message: InboundMessage) -> Received:
        household = self._participants.household.id
        found = inbox.find_revision(conn, household, message)
        if found is None:
            raise InvariantError("a message was rejected as a duplicate but is not stored")
        row = repository.find(conn, household, str(found.id))
        is_queued = row is not None and row.state in {WorkState.QUEUED, WorkState.RUNNING}
        return Received(row_id=str(found.id), is_repeat=True, is_queued=is_queued, decision=None)

    def _take_in(self, conn: Connection, message: InboundMessage, *, now: datetime) -> Received:
        household = self._participants.household
        member = self._members[message.sender]
        sender = member.id if member else message.sender
        setting = self._setting(conn, message)
        words = _Words(message.text, self._participants.lexicon)
        evidence = self._tripwire.weigh(words.tokens, words.mentions)
        verdict = self._tripwire.decide(
            evidence,
            in_coordination_thread=setting.is_coordination,
            answers_open_question=takes_up(
                message,
                sender,
                words.reply if setting.asked else None,
                setting.asked,
                asks=bool(setting.asked) and words.asks,
            )
            or self._revises_own(conn, message, sender, words),
            threshold=self._config.tripwire_threshold,
        )
        row = inbox.record(
            conn,
            household.id,
            message,
            sender=sender,
            is_member=member is not None,
            thread_id=setting.thread_id,
            now=now,
        )
        if row is None:
            return self._repeat(conn, message)
        withdrawn = self._take_back(conn, message, sender, words, setting.edited, now=now)
        if verdict.decision is Tier1Decision.QUEUE and self._is_flood(conn, message):
            tier1, state, reason = Tier1Decision.QUEUE, WorkState.DROPPED, "rate_limited"
        elif verdict.decision is Tier1Decision.QUEUE:
            tier1, state, reason = Tier1Decision.QUEUE, WorkState.QUEUED, "queued"
        else:
            tier1, state, reason = Tier1Decision.DROP, WorkState.DROPPED, "tripwire"
        decision = Decision(
            message_id=message.message_id,
            tier1=tier1,
            tripwire_confidence=verdict.confidence,
            override=verdict.override,
            patterns=verdict.patterns,
            reason=reason,
            withdrawn_actions=withdrawn,
            gates=(self._gate(verdict),),
        )
        repository.insert_intake(
            conn,
            household.id,
            str(row),
            decision,
            chat_id=message.chat_id,
            thread_id=setting.thread_id,
            sender=sender,
            sent_at=message.sent_at,
            context_window=setting.window,
            evidence=_evidence_record(evidence, verdict),
            is_coordination_talk=tier1 is Tier1Decision.QUEUE or makes_coordination(evidence),
            state=state,
            now=now,
        )
        if self._reads_talk and reason != "rate_limited":
            repository.add_to_stretch(conn, household.id, str(row), message, now=now)
        note_wonder(conn, household.id, message, words.tokens, sender=sender, now=now)
        is_queued = state is WorkState.QUEUED
        if is_queued:
            if words.asks and message.kind is MessageKind.TEXT:
                self._open_provisionally(
                    conn, row, message, sender=sender, thread_id=setting.thread_id
                )
            if self._queue:
                self._queue.enqueue(conn, JOB_NAME, (household.id, str(row)))
        return Received(row_id=str(row), is_repeat=False, is_queued=is_queued, decision=decision)

    def _setting(self, conn: Connection, message: InboundMessage) -> _Setting:
        household, config = self._participants.household.id, self._config
        recent, may_be_asked = repository.recent_talk(
            conn,
            household,
            message.chat_id,
            since=message.sent_at - config.context_ttl,
            before=message.sent_at,
        )
        pointed_at = message.target or message.reply_to
        asked = (
            questions.asked_in(
                conn, household, message.chat_id, at=message.sent_at, pointed_at=pointed_at
            )
            if may_be_asked or pointed_at
            else ()
        )
        parent, edited = self._parent(conn, message)
        thread_id = parent or _continued(recent, asked) or message.message_id
        window = (
            [talk for talk in recent if talk.thread_id == thread_id][-config.window_size :]
            if config.window_size
            else []
        )
        return _Setting(
            thread_id=thread_id,
            window=tuple(talk.id for talk in window),
            is_coordination=any(talk.is_coordination for talk in window)
            or any(question.thread_id == thread_id for question in asked),
            asked=tuple(asked),
            edited=edited,
        )

    def _parent(
        self, conn: Connection, message: InboundMessage
    ) -> tuple[str | None, StoredMessage | None]:
        """The thread of what the message replies to, reacts to or edits, and the message it edits."""
        reference = message.target or message.reply_to
        if reference is None:
            return None, None
        stored = inbox.find_by_message_id(
            conn, self._participants.household.id, reference, chat_id=message.chat_id
        )
        if not stored:
            return None, None
        return stored[-1].thread_id, stored[-1] if message.kind is MessageKind.EDIT else None

    def _take_back(  # noqa: PLR0917 - the message and all that is known of it
        self,
        conn: Connection,
        message: InboundMessage,
        sender: str,
        words: _Words,
        edited: StoredMessage | None,
        *,
        now: datetime,
    ) -> tuple[str, ...]:
        """Withdraw what an edit or a "never mind" makes stale, before anybody can confirm it."""
        household = self._participants.household.id
        if edited is not None:
            return retraction.retract_message(conn, household, edited, now=now)
        reply = words.reply
        if reply is None or (words.mentions and not (reply.is_whole or reply.stands_alone)):
            return ()
        if reply.kind is ReplyKind.RELEASE and message.reply_to is not None:
            return retraction.release(
                conn,
                self._participants.household,
                chat_id=message.chat_id,
                message_id=message.reply_to,
                by=sender,
                now=now,
            )
        is_settled = reply.settles or reply.kind is ReplyKind.RELEASE
        if reply.kind is not ReplyKind.WITHDRAW and not is_settled:
            return ()
        said = retraction.TakingBack(
            sender=sender,
            family=self._participants.household,
            chat_id=message.chat_id,
            answers=message.reply_to,
            sent_at=message.sent_at,
            window=self._config.open_question_window,
            only_questions=is_settled,
            words=words_taken_back(message.text, reply),
            points=reply.points,
        )
        return retraction.retract_latest(conn, household, said, now=now)

    def _revises_own(
        self, conn: Connection, message: InboundMessage, sender: str, words: _Words
    ) -> bool:
        """Whether a message may revise what its sender has planned lately, or anybody's plan whose old hour it names or people it swaps."""
        window = self._config.open_question_window
        is_anybodys = gives_up_an_hour(message.text, words.tokens) or exchanges_owners(message.text)
        planner = None if is_anybodys else sender
        reaches = []
        if planner is None or _hands_on(words.reply) or _sets_right(message, words):
            reaches.append(window)
        if _steps_back(words.reply):
            reaches.append(_PROMISE_HOLDS)
        return bool(reaches) and has_planning(
            conn,
            self._participants.household.id,
            message.chat_id,
            sender=planner,
            since=message.sent_at - max(reaches),
            before=message.sent_at,
        )

    def _is_flood(self, conn: Connection, message: InboundMessage) -> bool:
        household = self._participants.household.id
        sent = repository.count_in_last_minute(conn, household, message.chat_id, message.sent_at)
        return sent >= self._config.max_messages_per_minute

    def _gate(self, verdict: Verdict) -> GateResult:
        passes = verdict.decision is Tier1Decision.QUEUE
        return GateResult(
            stage=Stage.TRIPWIRE,
            confidence_type=ConfidenceType.REGEX_SCORE,
            score=verdict.confidence,
            threshold=self._config.tripwire_threshold,
            decision=GateDecision.PROCEED if passes else GateDecision.DROP,
        )

    def _open_provisionally(
        self, conn: Connection, row: int, message: InboundMessage, *, sender: str, thread_id: str
    ) -> None:
        """Open a question at once, so that an answer that overtakes tier 2 still finds it."""
        question = OpenQuestion(
            id=row,
            chat_id=message.chat_id,
            message_id=message.message_id,
            thread_id=thread_id,
            asker=sender,
            asked_at=message.sent_at,
            until=message.sent_at + self._config.open_question_window,
            extraction=Extraction(is_coordination=True, stance=Stance.ASKS),
            action_id=None,
        )
        questions.put(conn, self._participants.household.id, question)


def _hands_on(reply: Reply | None) -> bool:
    """Whether somebody says that a job is another's: "I mean Sam does"."""
    return reply is not None and reply.stands_alone and reply.kind is ReplyKind.ASSIGN


def _steps_back(reply: Reply | None) -> bool:
    """Whether somebody says that they cannot, more than by a mere "no"."""
    if reply is None or not reply.stands_alone:
        return False
    return reply.kind is ReplyKind.DECLINE and not reply.cue.startswith("no")


def _sets_right(message: InboundMessage, words: _Words) -> bool:
    """Whether a message reads as a correction ("10am sorry", "choir is shut")."""
    if message.kind is not MessageKind.TEXT:
        return False
    is_change = calls_off(words.tokens) and any(
        mention.kind == WordKind.ACTIVITY for mention in words.mentions
    )
    return is_change or may_correct(words.tokens, words.mentions)


def _continued(recent: Sequence[Talk], asked: Sequence[Asked]) -> str | None:
    if recent:
        return recent[-1].thread_id
    return asked[0].thread_id if asked else None


def _evidence_record(evidence: Evidence, verdict: Verdict) -> Mapping[str, object]:
    return {
        "score": evidence.score,
        "confidence": verdict.confidence,
        "contributions": [list(item) for item in evidence.contributions],
    }
