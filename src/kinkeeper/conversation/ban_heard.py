"""Whether a message of a thread tells what a child is not to do for a while, also where only the thread says which child. Pure."""

from collections.abc import Sequence
from datetime import datetime, timedelta

from kinkeeper.conversation.model import Exchange
from kinkeeper.household.model import Household
from kinkeeper.memory.statements.care import childs_ban, doings_of, people_in
from kinkeeper.memory.statements.discretion import speaks_of_self
from kinkeeper.reading.ruled_out import Ban, ban_told

_TOGETHER = timedelta(minutes=30)


def ban_in(
    text: str, history: Sequence[Exchange], household: Household, *, now: datetime
) -> Ban | None:
    """Return what a message tells that a child is not to do for a while, or may do once more.

    What names nobody is about the one child of whom the thread spoke last, if it did so lately.

    Args:
        text: The whole message, verbatim.
        history: Earlier turns of the thread, oldest first.
    """
    ban = childs_ban(text, household)
    if ban is not None or people_in(text, household):
        return ban
    return childs_ban(text, household, is_known=_spoke_of_child(history, household, now))


def _spoke_of_child(history: Sequence[Exchange], household: Household, now: datetime) -> bool:
    children = {each.id for each in household.children}
    for each in reversed(history):
        if now - each.at > _TOGETHER:
            break
        if named := people_in(each.text, household) & children:
            return len(named) == 1
    return False


def is_ban_of_nobody(
    text: str, history: Sequence[Exchange], household: Household, *, now: datetime
) -> bool:
    """Return whether a message tells that somebody is not to do something, and neither it nor the thread says who."""
    ban = ban_told(text, doings_of(household))
    if ban is None or ban.is_light or people_in(text, household) or speaks_of_self(text):
        return False
    return ban_in(text, history, household, now=now) is None
