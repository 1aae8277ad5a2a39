"""What the bot may do where, how to mend what is missing, and the chats that are no household's here."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from datetime import datetime, timedelta

from sqlalchemy import Connection, delete, insert, select, update

from kinkeeper.channels.telegram.families import CHANNEL
from kinkeeper.channels.telegram.progress import telegram_strangers
from kinkeeper.household.model import Household
from kinkeeper.messaging import outbox
from kinkeeper.messaging.addresses import current_chat, private_chat_of
from kinkeeper.messaging.outbound import Outbound
from kinkeeper.observability.findings import Finding, broken, ok, warning
from kinkeeper.store.locks import lock

# Chats that are no household's here: nothing of what is said in them is kept, only that they are
# there.
#
# What they are told goes out through an outbox of its own, so no household's rows name a stranger.

NOBODY = ""
"""Stands for a household where something belongs to none; no household file can have this id."""

_MOST = 100
_ANSWER_WITHIN = timedelta(hours=1)
_ONCE_IN = timedelta(days=1)
_strangers = telegram_strangers.c


@dataclass(frozen=True, slots=True, kw_only=True)
class Stranger:
    """A chat that is not listened to.

    Attributes:
        chat_id: Telegram's number of it, as the household file would name it.
        times: How often something came from it.
        last_at: Aware; when last.
    """

    chat_id: str
    times: int
    last_at: datetime


def count_stranger(conn: Connection, bot: str, chat_id: str, *, now: datetime) -> None:
    """Count something that came from a chat that is no household's here."""
    lock(conn, NOBODY)
    mine = (_strangers.household == NOBODY, _strangers.bot == bot)
    counted = conn.execute(
        update(telegram_strangers)
        .where(*mine, _strangers.chat_id == chat_id)
        .values(times=_strangers.times + 1, last_at=now)
    )
    if counted.rowcount:
        return
    # Anybody can add a bot to a chat: the longest silent make room.
    known = conn.execute(
        select(_strangers.chat_id)
        .where(*mine)
        .order_by(_strangers.last_at.desc(), _strangers.chat_id)
    ).scalars()
    if too_many := list(known)[_MOST - 1 :]:
        conn.execute(delete(telegram_strangers).where(*mine, _strangers.chat_id.in_(too_many)))
    conn.execute(
        insert(telegram_strangers).values(
            household=NOBODY, bot=bot, chat_id=chat_id, times=1, last_at=now
        )
    )


def answer_stranger(conn: Connection, chat_id: str, account: int | None, *, now: datetime) -> None:
    """Tell somebody who is no member their number, once a day, and nothing else.

    Args:
        chat_id: Their private chat.
        account: Telegram's number of them.
    """
    lock(conn, NOBODY)
    outbox.forget(conn, NOBODY, before=now - _ONCE_IN)
    message = Outbound(
        channel=CHANNEL,
        chat_id=chat_id,
        body=f"I only talk to members of the household. Your Telegram id is {account}.",
        dedupe_key=f"stranger:{chat_id}",
        deliver_by=now + _ANSWER_WITHIN,
        is_unprompted=False,
        is_soundless=True,
    )
    outbox.put(conn, NOBODY, message, now=now)


def find_strangers(conn: Connection, bot: str) -> Sequence[Stranger]:
    """Return the chats that are not listened to, the latest first."""
    rows = conn.execute(
        select(telegram_strangers)
        .where(_strangers.household == NOBODY, _strangers.bot == bot)
        .order_by(_strangers.last_at.desc(), _strangers.chat_id)
    )
    return [Stranger(chat_id=row.chat_id, times=row.times, last_at=row.last_at) for row in rows]


_GOVERNING = frozenset({"creator", "administrator"})
_PRESENT = _GOVERNING | {"member", "restricted"}


@dataclass(frozen=True, slots=True, kw_only=True)
class Known:
    """What this program knows without asking Telegram.

    Attributes:
        groups: Household id and number, as it is now, of every group that is listened to.
        reachable: Household id and member id of everybody who opened a chat with the bot.
        strangers: Chats that something came from and that are no household's.
    """

    groups: tuple[tuple[str, str], ...]
    reachable: frozenset[tuple[str, str]]
    strangers: tuple[Stranger, ...]


@dataclass(frozen=True, slots=True, kw_only=True)
class GroupStanding:
    """What the bot is in one group.

    Attributes:
        status: "administrator", "member", "left", ...; empty where Telegram does not let it ask.
    """

    household: str
    chat_id: str
    status: str

    @property
    def is_present(self) -> bool:
        """Whether it is in the group."""
        return self.status in _PRESENT

    @property
    def governs(self) -> bool:
        """Whether it hears everything, gets reactions, and may show a line to one member alone."""
        return self.status in _GOVERNING


@dataclass(frozen=True, slots=True, kw_only=True)
class Standing:
    """What the bot is.

    Attributes:
        username: What people write behind an @.
        hears_all: Whether it is told of every message in groups that it joined since that was set.
        webhook_url: Where Telegram posts updates; empty where it is asked for them.
        webhook_error: What went wrong last with that, if anything.
    """

    username: str
    hears_all: bool
    groups: tuple[GroupStanding, ...]
    webhook_url: str
    webhook_error: str


def load_known(conn: Connection, households: Sequence[Household], *, bot: str) -> Known:
    """Return what is known without asking Telegram."""
    return Known(
        groups=tuple(
            (each.id, current_chat(conn, each.id, CHANNEL, chat_id))
            for each in households
            for chat_id in each.chats
        ),
        reachable=frozenset(
            (each.id, member.id)
            for each in households
            for member in each.members
            if private_chat_of(conn, each.id, CHANNEL, member.id) is not None
        ),
        strangers=tuple(find_strangers(conn, bot)),
    )


def findings(
    standing: Standing, known: Known, *, households: Sequence[Household], webhook_url: str | None
) -> Iterator[Finding]:
    """Say what is in order and how to mend what is not.

    Args:
        webhook_url: Where updates should be posted by the settings; None where they are asked for.
    """
    yield ok("telegram bot", f"@{standing.username}")
    yield from _updates(standing, webhook_url)
    for group in standing.groups:
        yield replace(_group(group, standing), household=group.household)
    if not standing.groups:
        yield warning(
            "telegram group",
            "not listening to any group",
            "add the bot to your group, write something there, and run this again; it then shows the group's id for `chats` in the household file",
        )
    for household in households:
        for found in _members(household, known):
            yield replace(found, household=household.id)
    for stranger in known.strangers:
        if stranger.chat_id.startswith("-"):
            yield replace(_stranger(stranger), household=NOBODY)


def _stranger(stranger: Stranger) -> Finding:
    return warning(
        "telegram stranger",
        f"not listening to group {stranger.chat_id}",
        "if it is yours, add this id to `chats` in the household file; otherwise remove the bot from it",
    )


def _updates(standing: Standing, wanted: str | None) -> Iterator[Finding]:
    if (wanted or "") != standing.webhook_url:
        found = standing.webhook_url or "no webhook is set; Telegram waits to be polled"
        remedy = (
            "`kinkeeper serve` sets this when it starts; check that it is running, and see its log"
        )
        yield warning("telegram updates", found, remedy)
    elif standing.webhook_error:
        yield warning(
            "telegram updates",
            f"posting to {wanted} failed: {standing.webhook_error}",
            "make sure that TELEGRAM_WEBHOOK_URL can be reached from outside",
        )
    else:
        yield ok("telegram updates", wanted or "polled by `kinkeeper serve`")


def _group(group: GroupStanding, standing: Standing) -> Finding:
    check = "telegram group"
    if not group.is_present:
        remedy = "add the bot to the group, or correct the id in `chats`"
        return broken(check, f"the bot is not in {group.chat_id}", remedy)
    if group.governs:
        return ok(
            check, f"{group.chat_id}: hears everything, gets reactions, can answer people privately"
        )
    if standing.hears_all:
        return warning(
            check,
            f"{group.chat_id}: hears messages only if it joined after privacy mode was turned off; no reactions, no private answers",
            "make the bot an administrator with one harmless right, such as pinning messages",
        )
    return broken(
        check,
        f"{group.chat_id}: privacy mode hides the family's messages from the bot",
        "make the bot an administrator with one harmless right, such as pinning messages; or send "
        "/setprivacy to @BotFather, choose Disable, then remove the bot from the group and add it again",
    )


def _members(household: Household, known: Known) -> Iterator[Finding]:
    for member in household.adults:
        if member.telegram_id is None:
            yield warning(
                "telegram member",
                f"{member.id}: no telegram_id in the household file",
                "ask them to write to the bot in a private chat; it answers with their id",
            )
        elif (household.id, member.id) not in known.reachable:
            yield warning(
                "telegram member",
                f"{member.id} cannot be reached privately",
                "ask them to open a chat with the bot and press Start once",
            )
