"""Who sent a message: from the name a channel gives to a member of the household."""

from kinkeeper.household.model import Household, Member
from kinkeeper.household.name_folding import fold


def resolve_sender(household: Household, sender: str) -> Member | None:
    """Return the member whom `sender` names.

    Args:
        household: Whose members are meant.
        sender: A member id, name, alias or Telegram id; case and accents do not count.

    Returns:
        None where nobody or more than one is meant. An id exactly as written goes before all.
    """
    plain = sender.strip().removeprefix("@")
    if exact := household.member(plain):
        return exact
    wanted = fold(plain)
    found = [member for member in household.members if wanted in _names(member)]
    return found[0] if len(found) == 1 else None


def _names(member: Member) -> set[str]:
    telegram = set() if member.telegram_id is None else {str(member.telegram_id)}
    return telegram | {fold(word) for word in (member.id, member.name, *member.aliases)}
