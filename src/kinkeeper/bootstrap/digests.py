"""Where digests go: into the person's own conversation on the pages, and their private Telegram chat."""

from collections.abc import Iterator

from sqlalchemy import Connection

from kinkeeper.channels.telegram.answers import decision_buttons
from kinkeeper.channels.telegram.families import CHANNEL as TELEGRAM
from kinkeeper.conversation.threads import Thread, open_thread, usual_thread_id
from kinkeeper.conversation.turns import post_to_thread
from kinkeeper.core.time import Clock
from kinkeeper.digest.content import DigestRounds, DigestWords
from kinkeeper.digest.repository import Digest, next_release
from kinkeeper.household.model import Household, Member
from kinkeeper.messaging import outbox
from kinkeeper.messaging.addresses import private_chat_of
from kinkeeper.messaging.outbound import Outbound, QuietHours
from kinkeeper.observer.quiet_requests import quiet_until
from kinkeeper.settings.model import Settings
from kinkeeper.store.store import Store

_WEB = "web"
_MOST_CARDS = 3
_MOST_LINES = 12
_LONGEST_MESSAGE = 3500
"""Characters; a Telegram message holds 4,096."""


def digest_rounds(
    settings: Settings, household: Household, store: Store, clock: Clock
) -> DigestRounds:
    """Return what sends one household's digests."""
    quiet_hours = QuietHours.parse(settings.quiet_hours, household.zone)
    return DigestRounds(
        store,
        household,
        quiet_hours=quiet_hours,
        clock=clock,
        deliver=DigestPost(household, quiet_hours, address=settings.public_url),
        is_quiet=lambda conn, now: quiet_until(conn, household.id, now=now) is not None,
    )


class DigestPost:
    """Delivers one household's digests, each once under its key.

    Args:
        quiet_hours: When no digest is sent; tells how long one is of use.
        address: Where people reach the pages, if anywhere but on this machine.
    """

    def __init__(
        self, household: Household, quiet_hours: QuietHours, *, address: str | None
    ) -> None:
        self._household = household
        self._quiet_hours = quiet_hours
        self._address = address
        self._words = DigestWords(household)

    def __call__(self, conn: Connection, member: Member, digest: Digest) -> None:
        """Put a digest into the member's conversation, and into their private chat if they opened one."""
        household, key = (
            self._household.id,
            f"digest:{member.id}:{digest.day.isoformat()}:{digest.at.timestamp():.0f}",
        )
        thread = open_thread(conn, self._own_thread(member, digest))
        text = self._words.text(digest)
        post_to_thread(conn, household, thread.id, text, key=key, now=digest.at)
        chat_id = private_chat_of(conn, household, TELEGRAM, member.id)
        if chat_id is not None:
            for message in self._messages(member, digest, chat_id, key):
                outbox.put(conn, household, message, now=digest.at)

    def _own_thread(self, member: Member, digest: Digest) -> Thread:
        household = self._household.id
        return Thread(
            household=household,
            id=usual_thread_id(household, member.id, _WEB, None),
            member=member.id,
            channel=_WEB,
            chat_id=None,
            created_at=digest.at,
            last_at=digest.at,
        )

    def _messages(
        self, member: Member, digest: Digest, chat_id: str, key: str
    ) -> Iterator[Outbound]:
        """Yield the digest, and a card with buttons for each of the first plans that wait."""
        local = digest.at.astimezone(self._quiet_hours.zone).time()
        stale_at = next_release(digest.at, local, self._quiet_hours)
        text = self._words.text(digest, address=self._address, most=_MOST_LINES)
        for number, part in enumerate(_parts(text)):
            yield Outbound(
                channel=TELEGRAM,
                chat_id=chat_id,
                audience=member.id,
                body=part,
                dedupe_key=f"{key}:{number}",
                deliver_by=stale_at,
            )
        for action in digest.waiting[:_MOST_CARDS]:
            yield Outbound(
                channel=TELEGRAM,
                chat_id=chat_id,
                audience=member.id,
                dedupe_key=f"{key}:{action.id}",
                body=action.proposal.summary,
                buttons=decision_buttons(action),
                action_id=action.id,
                deliver_by=min(stale_at, action.expires_at),
                is_soundless=True,
            )


def _parts(text: str) -> Iterator[str]:
    """Yield a text in parts that fit a message, broken between lines."""
    part = ""
    for line in text.splitlines():
        if part and len(part) + len(line) >= _LONGEST_MESSAGE:
            yield part.strip()
            part = ""
        part += f"{line}\n"
    yield part.strip()
