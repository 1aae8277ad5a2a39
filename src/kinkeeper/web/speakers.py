"""Who may ask the assistant through this server, in words or by hand on pages and by programs."""

from collections.abc import Callable, Mapping
from datetime import timedelta
from typing import Any

from sqlalchemy import Connection
from starlette.requests import Request

from kinkeeper.actions.requests.calendar import edit_requests
from kinkeeper.actions.requests.goals import goal_requests
from kinkeeper.actions.requests.model import ActionResult, Asked, Catalogue
from kinkeeper.actions.requests.notes import note_requests
from kinkeeper.actions.requests.request_runner import perform_by_hand
from kinkeeper.actions.requests.tasks import task_requests
from kinkeeper.conversation.conversation import Conversation
from kinkeeper.core.errors import DeniedError, UnavailableError
from kinkeeper.store.store import Store
from kinkeeper.web.access.door import house_of
from kinkeeper.web.access.model import Person, new_secret
from kinkeeper.web.context import context_of

CHANNEL = "web"
"""The channel of what is said on pages and over HTTP."""


def conversation_of(request: Request, person: Person) -> Conversation:
    """Return the conversation of a person's household.

    Raises:
        DeniedError: The login may do less than its member: what it says could decide more than it may.
    """
    if not person.may_speak:
        raise DeniedError("this sign-in is read-only and cannot talk to the assistant")
    talk = house_of(request, person).conversation
    if talk is None:
        raise UnavailableError(
            "conversations are not available on this server; run `kinkeeper serve`"
        )
    return talk


# Tasks, notes, goals and events as people change them on pages and by programs of theirs: the requests of a
# conversation.

_CHANNEL = "web"
_USUAL_LENGTH = timedelta(hours=1)


async def done_by_hand(
    request: Request,
    person: Person,
    key: str,
    params: Mapping[str, Any],
    *,
    idempotency_key: str | None = None,
    check: Callable[[Connection, Asked], None] | None = None,
) -> ActionResult:
    """Do something with a task, a note, a goal or an event for whoever makes a request.

    Args:
        key: Domain and name of what is done: "task.create".
        idempotency_key: Names the deed, so that it is done once; a new one each time where None.
        check: Asked in the transaction that writes; what it raises prevents the writing.

    Raises:
        KinkeeperError: It cannot be done; the message says why.
    """
    if not person.may_speak:
        raise DeniedError("this sign-in is read-only")
    house = house_of(request, person)
    domain, _, action = key.partition(".")
    asked = asked_by_hand(request, person, idempotency_key or new_secret())
    return await perform_by_hand(
        _by_hand(house.store),
        house.store,
        asked,
        domain=domain,
        action=action,
        params=params,
        check=None if check is None else lambda conn: check(conn, asked),
    )


def _by_hand(store: Store) -> Catalogue:
    return Catalogue(
        (
            *task_requests(store),
            *note_requests(store),
            *goal_requests(store),
            *edit_requests(store, usual_length=_USUAL_LENGTH),
        )
    )


def asked_by_hand(request: Request, person: Person, deed: str = "") -> Asked:
    """Return who makes a request by hand.

    Args:
        deed: Names what they do, so that it is done once; empty where they only look.
    """
    household, now = house_of(request, person).household, context_of(request).clock.now()
    return Asked(
        household=household,
        member=person.member,
        channel=_CHANNEL,
        thread_id="",
        now=now.astimezone(household.zone),
        turn_id=f"{_CHANNEL}:{person.member.id}/{deed}",
        is_by_hand=True,
    )
