"""What the bot may do where, as Telegram says at the moment, and how to mend what is missing."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from telegram import Bot
from telegram.error import BadRequest, Forbidden

from kinkeeper.channels.telegram.strangers import Stranger
from kinkeeper.household.model import Household
from kinkeeper.observability.findings import Finding, Health, broken, ok

_GOVERNING = frozenset({"creator", "administrator"})
_PRESENT = _GOVERNING | {"member", "restricted"}


@dataclass(frozen=True, slots=True, kw_only=True)
class GroupStanding:
    """What the bot is in one group.

    Attributes:
        chat_id: The group, as its household file names it.
        status: "administrator", "member", "left", ...; empty where Telegram does not let it ask.
    """

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


async def look_at_group(bot: Bot, chat_id: str) -> GroupStanding:
    """Ask what the bot is in a group.

    Args:
        bot: Made by `open_bot`, and initialised.
        chat_id: The group as it is known now.

    Raises:
        TelegramError: Telegram cannot be asked.
    """
    if not chat_id.lstrip("-").isdecimal():
        return GroupStanding(chat_id=chat_id, status="")
    try:
        member = await bot.get_chat_member(int(chat_id), bot.id)
    except (BadRequest, Forbidden):
        return GroupStanding(chat_id=chat_id, status="")
    return GroupStanding(chat_id=chat_id, status=str(member.status))


async def look(bot: Bot, chat_ids: Sequence[str]) -> Standing:
    """Ask Telegram what the bot is.

    Args:
        bot: Made by `open_bot`.
        chat_ids: Groups of its households, as they are known now.

    Raises:
        TelegramError: Telegram cannot be asked.
    """
    await bot.initialize()
    about, webhook = await bot.get_me(), await bot.get_webhook_info()
    return Standing(
        username=about.username or "",
        hears_all=bool(about.can_read_all_group_messages),
        groups=tuple([await look_at_group(bot, chat_id) for chat_id in chat_ids]),
        webhook_url=webhook.url,
        webhook_error=webhook.last_error_message or "",
    )


def findings(
    standing: Standing,
    *,
    households: Sequence[Household],
    reachable: frozenset[str],
    strangers: Sequence[Stranger],
    webhook_url: str | None,
) -> Iterator[Finding]:
    """Say what is in order and how to mend what is not.

    Args:
        standing: As just asked.
        households: Of the bot.
        reachable: Member ids, each behind its household's id and a slash, with an open private chat.
        strangers: Chats that something came from and that are no household's.
        webhook_url: Where updates should be posted by the settings; None where they are asked for.
    """
    yield ok("telegram bot", f"@{standing.username}")
    yield from _updates(standing, webhook_url)
    for group in standing.groups:
        yield _group(group, standing)
    if not standing.groups:
        yield _warning(
            "telegram group", "no group is listened to",
            "add the bot to your group, write something there, and run this again: it then "
            "names the group's number for `chats` in the household file",
        )  # fmt: skip
    for household in households:
        yield from _members(household, reachable)
    for stranger in strangers:
        if stranger.chat_id.startswith("-"):
            yield _warning(
                "telegram stranger", f"group {stranger.chat_id} is not listened to",
                "if it is yours, write this number into `chats` of the household file; "
                "else remove the bot there",
            )  # fmt: skip


def _updates(standing: Standing, wanted: str | None) -> Iterator[Finding]:
    if (wanted or "") != standing.webhook_url:
        found = standing.webhook_url or "Telegram waits to be asked"
        remedy = "`kinkeeper serve` sets this when it starts; see that it runs, and its log"
        yield _warning("telegram updates", found, remedy)
    elif standing.webhook_error:
        yield _warning(
            "telegram updates", f"posting to {wanted} failed: {standing.webhook_error}",
            "see that TELEGRAM_WEBHOOK_URL can be reached from outside",
        )  # fmt: skip
    else:
        yield ok("telegram updates", wanted or "asked for by `kinkeeper serve`")


def _group(group: GroupStanding, standing: Standing) -> Finding:
    check = "telegram group"
    if not group.is_present:
        remedy = "add the bot to the group, or correct the number in `chats`"
        return broken(check, f"the bot is not in {group.chat_id}", remedy)
    if group.governs:
        return ok(check, f"{group.chat_id}: hears everything, gets reactions, can answer one alone")
    if standing.hears_all:
        return _warning(
            check,
            f"{group.chat_id}: hears messages if it joined after that was allowed; no reactions, "
            "and no answers for one alone",
            "make the bot an administrator with one harmless right, such as pinning messages",
        )  # fmt: skip
    return broken(
        check, f"{group.chat_id}: privacy mode hides the family's messages from the bot",
        "make the bot an administrator with one harmless right, such as pinning messages; or send "
        "/setprivacy to @BotFather, choose Disable, then remove the bot from the group and add it again",
    )  # fmt: skip


def _members(household: Household, reachable: frozenset[str]) -> Iterator[Finding]:
    for member in household.adults:
        if member.telegram_id is None:
            yield _warning(
                "telegram member", f"{member.id}: no telegram_id in the household file",
                "let them write to the bot alone: it answers with their number",
            )  # fmt: skip
        elif f"{household.id}/{member.id}" not in reachable:
            yield _warning(
                "telegram member", f"{member.id} cannot be reached alone",
                "let them open a chat with the bot and press Start once",
            )  # fmt: skip


def _warning(check: str, found: str, remedy: str) -> Finding:
    return Finding(check=check, health=Health.WARNING, found=found, remedy=remedy)
