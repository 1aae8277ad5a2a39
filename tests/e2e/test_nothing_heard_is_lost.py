"""A family that never opens the pages hears of every plan before it is lost: weeks of made-up chats on a virtual clock."""

import asyncio
from dataclasses import dataclass, field
from datetime import datetime, timedelta

import pytest

from family_chat import Chat, chat
from family_phrases import chat_lines
from kinkeeper.actions.model import ActionStatus, PendingAction
from kinkeeper.actions.proposals import expire_due
from kinkeeper.core.messages import InboundMessage, MessageKind
from kinkeeper.core.time import VirtualClock
from kinkeeper.digest.content import DigestRounds, DigestWords
from kinkeeper.digest.repository import Digest
from kinkeeper.household.model import Member
from kinkeeper.messaging.outbound import QuietHours

MESSAGES = 130
DAY = timedelta(days=1)


@dataclass
class Heard:
    """What a family's adults were told in their digests.

    Attributes:
        waiting: When each adult was first told that an action waits.
        expired: When each was told that it had expired.
        texts: All digests.
    """

    waiting: dict[tuple[str, str], datetime] = field(default_factory=dict)
    expired: dict[tuple[str, str], datetime] = field(default_factory=dict)
    texts: list[str] = field(default_factory=list)


class Listening:
    """Notes what each digest names; a plan counts as told only where its line is in the text."""

    def __init__(self, family: Chat, heard: Heard) -> None:
        self._words = DigestWords(family.household)
        self._heard = heard

    def __call__(self, _conn: object, member: Member, digest: Digest) -> None:
        text = self._words.text(digest, most=12)
        self._heard.texts.append(text)
        for told, actions in (
            (self._heard.waiting, digest.waiting),
            (self._heard.expired, digest.expired),
        ):
            for action in actions:
                if action.proposal.summary in text:
                    told.setdefault((member.id, action.id), digest.at)


def live_through(family: Chat, seed: int, *, hours: int) -> Heard:
    """Let weeks of chat pass; every few hours the server looks whether a digest is due."""
    heard = Heard()
    clock = VirtualClock(family.at("Mon 2026-03-02 06:00"))
    quiet = QuietHours.parse("22:00-07:00", family.zone)
    rounds = DigestRounds(
        family.store,
        family.household,
        quiet_hours=quiet,
        clock=clock,
        deliver=Listening(family, heard),
        is_quiet=lambda _conn, _now: False,
    )
    start = family.at("Mon 2026-03-02 08:00").isoformat()
    for line in chat_lines(family.household.id, MESSAGES, seed=seed, start=start):
        message = said(line)
        pass_time(family, clock, rounds, until=message.sent_at, hours=hours)
        family.feed(message)
    pass_time(family, clock, rounds, until=clock.now() + 21 * DAY, hours=hours)
    return heard


def pass_time(
    family: Chat, clock: VirtualClock, rounds: DigestRounds, *, until: datetime, hours: int
) -> None:
    while clock.now() < until:
        clock.advance_to(min(until, clock.now() + timedelta(hours=hours)))
        now = clock.now()
        family.store.write_now(lambda conn, now=now: expire_due(conn, family.household.id, now))
        asyncio.run(rounds.run_once())


def said(line: dict[str, str]) -> InboundMessage:
    return InboundMessage(
        channel="replay",
        chat_id=line["chat_id"],
        message_id=line["message_id"],
        sender=line["sender"],
        text=line.get("text", ""),
        sent_at=datetime.fromisoformat(line["sent_at"]),
        reply_to=line.get("reply_to"),
        kind=MessageKind(line.get("kind") or "text"),
        target=line.get("target"),
    )


def lost(family: Chat, heard: Heard) -> list[tuple[str, PendingAction]]:
    """Return the expired plans of which an adult had not been told before they expired."""
    return [
        (adult.id, action)
        for action in family.actions()
        if action.status is ActionStatus.EXPIRED
        for adult in family.household.adults
        if heard.waiting.get((adult.id, action.id), action.expires_at) >= action.expires_at
    ]


@pytest.mark.parametrize("name", ["miller", "okafor-bennett"])
@pytest.mark.parametrize("seed", [3, 17])
def test_every_plan_that_expires_was_told_to_every_adult_before_and_again_afterwards(
    name: str, seed: int
) -> None:
    with chat(name) as family:
        heard = live_through(family, seed, hours=3)
        expired = [each for each in family.actions() if each.status is ActionStatus.EXPIRED]
        assert len(expired) >= 10, "nothing was at stake"
        assert lost(family, heard) == []
        adults = [adult.id for adult in family.household.adults]
        summaries = {each.id: each.proposal.summary for each in expired}
        untold = [
            (adult, summaries[action])
            for adult in adults
            for action in summaries
            if (adult, action) not in heard.expired
        ]
        # What somebody said again later is told as what waits now.
        newer = [each.proposal.merge_key for each in family.actions()]
        assert len(untold) <= sum(newer.count(key) > 1 for key in set(newer) if key) * len(adults)


def test_without_digests_the_same_chats_lose_plans_that_nobody_was_told_of() -> None:
    with chat("miller") as family:
        live_through(family, 3, hours=3)
        assert lost(family, Heard())
