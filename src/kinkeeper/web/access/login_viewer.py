"""On whose behalf a login reads what is kept, and which actions it may read."""

from collections.abc import Collection
from dataclasses import replace
from datetime import datetime

from sqlalchemy import Connection

from kinkeeper.actions.model import PendingAction
from kinkeeper.actions.readers import Reader
from kinkeeper.actions.repository import read_action
from kinkeeper.core.errors import DeniedError, NotFoundError
from kinkeeper.household.viewers import Viewer, viewer_for
from kinkeeper.web.access.model import DECIDERS, AccessRole, Person


def viewer_of(person: Person, *, now: datetime, projects: Collection[str] = ()) -> Viewer:
    """Return on whose behalf a request reads.

    A screen on the wall is everybody's, whoever's key it was set up with: it sees nothing that is anybody's own.

    Args:
        person: Who makes the request.
        projects: Names of the projects that are asked for.

    Raises:
        DeniedError: Only the owner and adults see what belongs to projects.
    """
    if projects and person.role not in DECIDERS:
        raise DeniedError("only the owner and adults can see a project's memories")
    household = person.household.id
    if person.role is AccessRole.SCREEN:
        return replace(Viewer.of(household), sees_unconfirmed=False)
    if projects:
        return Viewer.of(household, person.member.id, projects=projects)
    return viewer_for(person.household, person.member, now=now)


# Which actions a person may read.


def may_read(person: Person, action: PendingAction) -> bool:
    """Whether somebody may read an action: what was said to the assistant only who may say yes to it, a child their own.

    The mail of another adult is theirs.

    Args:
        person: Who looks.
    """
    return reader_of(person, Viewer.of(person.household.id, person.member.id)).may_read(action)


def reader_of(person: Person, viewer: Viewer) -> Reader:
    """Return who reads actions on a page or in the API: nobody reads along.

    Args:
        person: Who looks.
        viewer: On whose behalf rows are read.
    """
    return Reader(member=person.member, household=person.household, viewer=viewer)


def require_may_read(person: Person, action: PendingAction) -> None:
    """Refuse to show an action, as if there were none.

    Args:
        person: Who looks.

    Raises:
        NotFoundError: They may not read it.
    """
    if not may_read(person, action):
        raise NotFoundError(f"there is no action {action.id!r}", action_id=action.id)


def action_shown_to(
    conn: Connection, person: Person, action_id: str, *, now: datetime
) -> PendingAction:
    """Return an action that a person may read.

    Args:
        person: Who looks.

    Raises:
        NotFoundError: There is none with that id that they may read.
    """
    action = read_action(conn, viewer_of(person, now=now), action_id)
    require_may_read(person, action)
    return action
