"""Who sent a message: from the name a channel gives to a member of the household."""

from kinkeeper.household.folding import fold
from kinkeeper.household.model import Household, Member


def resolve_sender(household: Household, sender: str) -> Member | None:
    """Return the member whom `sender` names.

    Args:
        household: Whose members are meant.
        sender: A member id, name, alias or Telegram id; case and accents do not count.

    Returns:
        None where nobody or more than one is meant. An id goes before names and aliases.
    """
    wanted = fold(sender.strip().removeprefix("@"))
    by_id = [member for member in household.members if wanted == fold(member.id)]
    by_name = [
        member
        for member in household.members
        if wanted in {fold(member.name), *map(fold, member.aliases)}
        or (member.telegram_id is not None and wanted == str(member.telegram_id))
    ]
    found = by_id or by_name
    return found[0] if len(found) == 1 else None
