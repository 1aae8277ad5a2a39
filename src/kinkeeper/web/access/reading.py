"""Which actions a person may read. Pure."""

from kinkeeper.actions.authority import is_anothers
from kinkeeper.actions.model import PendingAction
from kinkeeper.actions.requests.performing import FROM_CHAT
from kinkeeper.web.access.model import Person


def may_read(person: Person, action: PendingAction) -> bool:
    """Whether somebody may read an action: what was said to the assistant only who may say yes to it.

    The mail of another adult is theirs.

    Args:
        person: Who looks.
        action: Of their household.
    """
    if is_anothers(action, person.member, person.household):
        return False
    return person.may_decide or action.proposal.source_type != FROM_CHAT
