"""What the bot may do where, and how to mend what is missing."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace

from sqlalchemy import Connection

from kinkeeper.channels.telegram import strangers
from kinkeeper.channels.telegram.families import CHANNEL
from kinkeeper.channels.telegram.strangers import Stranger
from kinkeeper.household.model import Household
from kinkeeper.messaging.addresses import current_chat, private_chat_of
from kinkeeper.observability.findings import Finding, broken, ok, warning

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
        household: Whose group it is.
        chat_id: Its number now.
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
        groups: Of all its households.
        webhook_url: Where Telegram posts updates; empty where it is asked for them.
        webhook_error: What went wrong last with that, if anything.
    """

    username: str
    hears_all: bool
    groups: tuple[GroupStanding, ...]
    webhook_url: str
    webhook_error: str


def load_known(conn: Connection, households: Sequence[Household], *, bot: str) -> Known:
    """Return what is known without asking Telegram.

    Args:
        conn: Any transaction.
        households: Of the bot.
        bot: Telegram's number of it.
    """
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
        strangers=tuple(strangers.find(conn, bot)),
    )


def findings(
    standing: Standing, known: Known, *, households: Sequence[Household], webhook_url: str | None
) -> Iterator[Finding]:
    """Say what is in order and how to mend what is not.

    Args:
        standing: As Telegram says.
        known: What this program knows.
        households: Of the bot.
        webhook_url: Where updates should be posted by the settings; None where they are asked for.
    """
    yield ok("telegram bot", f"@{standing.username}")
    yield from _updates(standing, webhook_url)
    for group in standing.groups:
        yield replace(_group(group, standing), household=group.household)
    if not standing.groups:
        yield warning(
            "telegram group", "not listening to any group",
            "add the bot to your group, write something there, and run this again; it then shows the group's id for `chats` in the household file",
        )  # fmt: skip
    for household in households:
        for found in _members(household, known):
            yield replace(found, household=household.id)
    for stranger in known.strangers:
        if stranger.chat_id.startswith("-"):
            yield replace(_stranger(stranger), household=strangers.NOBODY)


def _stranger(stranger: Stranger) -> Finding:
    return warning(
        "telegram stranger", f"not listening to group {stranger.chat_id}",
        "if it is yours, add this id to `chats` in the household file; otherwise remove the bot from it",
    )  # fmt: skip


def _updates(standing: Standing, wanted: str | None) -> Iterator[Finding]:
    if (wanted or "") != standing.webhook_url:
        found = standing.webhook_url or "no webhook is set; Telegram waits to be polled"
        remedy = (
            "`kinkeeper serve` sets this when it starts; check that it is running, and see its log"
        )
        yield warning("telegram updates", found, remedy)
    elif standing.webhook_error:
        yield warning(
            "telegram updates", f"posting to {wanted} failed: {standing.webhook_error}",
            "make sure that TELEGRAM_WEBHOOK_URL can be reached from outside",
        )  # fmt: skip
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
        )  # fmt: skip
    return broken(
        check, f"{group.chat_id}: privacy mode hides the family's messages from the bot",
        "make the bot an administrator with one harmless right, such as pinning messages; or send "
        "/setprivacy to @BotFather, choose Disable, then remove the bot from the group and add it again",
    )  # fmt: skip


def _members(household: Household, known: Known) -> Iterator[Finding]:
    for member in household.adults:
        if member.telegram_id is None:
            yield warning(
                "telegram member", f"{member.id}: no telegram_id in the household file",
                "ask them to write to the bot in a private chat; it answers with their id",
            )  # fmt: skip
        elif (household.id, member.id) not in known.reachable:
            yield warning(
                "telegram member", f"{member.id} cannot be reached privately",
                "ask them to open a chat with the bot and press Start once",
            )  # fmt: skip
