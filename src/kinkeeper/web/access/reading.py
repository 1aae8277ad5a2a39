"""Which actions a person may read. Pure."""

from kinkeeper.actions.model import PendingAction
from kinkeeper.actions.requests.performing import FROM_CHAT
from kinkeeper.web.access.model import Person


def may_read(person: Person, action: PendingAction) -> bool:
    """Whether somebody may read an action: what was said to the assistant only who may say yes to it.

    Args:
        person: Who looks.
        action: Of their household.
    """
    return person.may_decide or action.proposal.source_type != FROM_CHAT
