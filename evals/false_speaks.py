"""How often the assistant speaks into ordinary talk: real chatter replayed through the real observer."""

import sys
import time
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path

from evals.chatter import (
    HOUSEHOLD_TALK,
    TEXT_MESSAGES,
    Conversation,
    as_family_chat,
    household_talk,
    sample,
    text_messages,
)
from evals.episode_scoring import Line
from evals.replayed import Heard, Reader, Stage, play, spoken_lines
from evals.report import Table
from kinkeeper.core.messages import InboundMessage
from kinkeeper.household.file import load_household
from kinkeeper.observer.model import Tier1Decision

NO_DAILY_LIMIT = {"MAX_SPEAK_PER_DAY": "1000000"}
"""The limit would hide false messages behind the first four of a day."""

_SAMPLE = {TEXT_MESSAGES: 1_000, HOUSEHOLD_TALK: 2_000}
_PROGRESS_EVERY = 2_000


@dataclass(frozen=True, slots=True, kw_only=True)
class FalseSpeak:
    """One unprompted message into ordinary talk.

    Attributes:
        source: Where the talk comes from.
        household: Whose chat it was.
        message: What was said.
        line: The output line that speaks.
    """

    source: str
    household: str
    message: InboundMessage
    line: Line

    def __str__(self) -> str:
        """Return it on one line, with what made the rule match."""
        said = self.line.get("extraction") or {}
        cause = " ".join(
            f"{name}={said.get(name)}"
            for name in ("task", "activity", "child", "dates", "times")
            if said.get(name)
        )
        return (
            f"{self.line.get('redline_trigger_rule')} [{self.source}, {self.household}] "
            f"{self.message.text[:160]!r} -> {self.line.get('reply')!r} {cause}"
        )


@dataclass(slots=True)
class Tally:
    """What came out of one source of talk.

    Attributes:
        messages: Replayed.
        queued: Passed on by the tripwire.
        cards: Pending actions made.
        failed: Given up by tier 2.
        speaks: Unprompted messages.
    """

    messages: int = 0
    queued: int = 0
    cards: int = 0
    failed: int = 0
    speaks: list[FalseSpeak] = field(default_factory=list)

    @property
    def per_thousand(self) -> float:
        """Unprompted messages per 1,000 messages."""
        return 1_000 * len(self.speaks) / max(1, self.messages)


@dataclass(slots=True)
class Chatter:
    """The outcome of a replay of ordinary talk.

    Attributes:
        tallies: By source.
        seconds: Wall-clock time of the replay alone.
    """

    tallies: dict[str, Tally] = field(default_factory=dict)
    seconds: float = 0.0

    @property
    def total(self) -> Tally:
        """All sources together."""
        tallies = self.tallies.values()
        return Tally(
            messages=sum(tally.messages for tally in tallies),
            queued=sum(tally.queued for tally in tallies),
            cards=sum(tally.cards for tally in tallies),
            failed=sum(tally.failed for tally in tallies),
            speaks=[speak for tally in tallies for speak in tally.speaks],
        )


def replay_chatter(
    data: Path, households: Sequence[Path], *, is_full: bool, reader: Reader | None = None
) -> Chatter:
    """Replay real talk in the chats of several households, with no limit on messages a day.

    Args:
        data: Folder with the public sets.
        households: Household files; the conversations are dealt out to them.
        is_full: All there is; otherwise a fixed sample of 3,000 messages.
        reader: Reads the messages; the rules where None.

    Raises:
        InputError: A public set is missing.
    """
    conversations = list(_conversations(data, is_full=is_full))
    outcome = Chatter()
    with Stage(NO_DAILY_LIMIT) as stage:
        for number, file in enumerate(households):
            dealt = conversations[number :: len(households)]
            if dealt:
                _replay_household(stage, file, dealt, outcome, reader)
    return outcome


def _conversations(data: Path, *, is_full: bool) -> Iterator[Conversation]:
    sources = {
        TEXT_MESSAGES: text_messages(data / "sms_real_dev.jsonl"),
        HOUSEHOLD_TALK: household_talk(data / "cabnc_home_conversations_dev.jsonl"),
    }
    for name, conversations in sources.items():
        yield from sample(conversations, sys.maxsize if is_full else _SAMPLE[name])


def _replay_household(  # noqa: PLR0917 - one household's part of the replay
    stage: Stage, file: Path, dealt: Sequence[Conversation], outcome: Chatter, reader: Reader | None
) -> None:
    household = load_household(file)
    messages = list(as_family_chat(dealt, household))
    chat = _Chat(
        household=household.id,
        sources={conversation.id: conversation.source for conversation in dealt},
        messages={message.message_id: message for message in messages},
    )
    system = stage.opened(file, messages[0].sent_at)
    end = messages[-1].sent_at + system.config.open_question_window
    started = time.perf_counter()
    for count, heard in enumerate(play(system, messages, until=end, reader=reader), start=1):
        _tally(outcome, chat, heard)
        if count % _PROGRESS_EVERY == 0:
            _progress(household.id, count, len(messages), outcome)
    outcome.seconds += time.perf_counter() - started


@dataclass(frozen=True, slots=True, kw_only=True)
class _Chat:
    """The talk dealt out to one household: its messages by id, the sources of its conversations."""

    household: str
    sources: Mapping[str, str]
    messages: Mapping[str, InboundMessage]

    def source(self, message_id: str) -> str:
        return self.sources[message_id.rpartition(":")[0]]


def _tally(outcome: Chatter, chat: _Chat, heard: Heard) -> None:
    """Count what one message brought; time also brings lines about earlier ones."""
    if heard.message is not None:
        tally = outcome.tallies.setdefault(chat.source(heard.message.message_id), Tally())
        tally.messages += 1
        tally.queued += heard.own["tier1_decision"] == Tier1Decision.QUEUE
        tally.cards += heard.own["action"] is not None
        tally.failed += heard.has_failed
    for line in spoken_lines(heard.lines):
        message = chat.messages[line["message_id"]]
        source = chat.source(message.message_id)
        outcome.tallies[source].speaks.append(
            FalseSpeak(source=source, household=chat.household, message=message, line=line)
        )


def chatter_tables(outcome: Chatter) -> tuple[Table, Table]:
    """Return what was said into ordinary talk: by source, and by rule."""
    rows = [*outcome.tallies.items(), ("all", outcome.total)]
    by_rule = Counter(
        (str(speak.line.get("redline_trigger_rule")), speak.source)
        for speak in outcome.total.speaks
    )
    return (
        Table(
            title="Ordinary talk: unprompted messages, none of which is called for",
            columns=("source", "messages", "dropped", "cards", "spoken", "per 1,000", "failed"),
            rows=tuple(
                (
                    name,
                    each.messages,
                    1 - each.queued / max(1, each.messages),
                    each.cards,
                    len(each.speaks),
                    each.per_thousand,
                    each.failed,
                )
                for name, each in rows
            ),
        ),
        Table(
            title="Ordinary talk: unprompted messages by rule",
            columns=("rule", "source", "spoken"),
            rows=tuple((*key, count) for key, count in by_rule.most_common()),
        ),
    )


def _progress(household: str, done: int, of: int, outcome: Chatter) -> None:
    said = len(outcome.total.speaks)
    sys.stderr.write(f"{household}: {done} of {of} messages, {said} spoken so far\n")
