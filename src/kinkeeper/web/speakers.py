"""Who may talk with the assistant through this server, and with what."""

from starlette.requests import Request

from kinkeeper.conversation.conversation import Conversation
from kinkeeper.core.errors import DeniedError, UnavailableError
from kinkeeper.web.access.door import house_of
from kinkeeper.web.access.model import Person

CHANNEL = "web"
"""The channel of what is said on pages and over HTTP."""


def conversation_of(request: Request, person: Person) -> Conversation:
    """Return the conversation of a person's household.

    Raises:
        DeniedError: The login may do less than its member: what it says could decide more than it may.
        UnavailableError: This server has none.
    """
    if not person.may_speak:
        raise DeniedError("this sign-in is read-only and cannot talk to the assistant")
    talk = house_of(request, person).conversation
    if talk is None:
        raise UnavailableError(
            "conversations are not available on this server; run `kinkeeper serve`"
        )
    return talk
