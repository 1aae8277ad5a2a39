"""On whose behalf a login reads what is kept. Pure."""

from collections.abc import Collection
from datetime import datetime

from kinkeeper.core.errors import DeniedError
from kinkeeper.household.viewing import Viewer
from kinkeeper.web.access.model import DECIDERS, AccessRole, Person


def viewer_of(person: Person, *, now: datetime, projects: Collection[str] = ()) -> Viewer:
    """Return on whose behalf a request reads.

    A screen on the wall is everybody's, whoever's key it was set up with: it sees nothing that is anybody's own.

    Args:
        person: Who makes the request.
        now: Aware.
        projects: Names of the projects that are asked for.

    Raises:
        DeniedError: Only the owner and adults see what belongs to projects.
    """
    if projects and person.role not in DECIDERS:
        raise DeniedError("what belongs to a project is for the owner and adults of the household")
    household = person.household.id
    if person.role is AccessRole.SCREEN:
        return Viewer.of(household)
    if person.role is AccessRole.GUEST:
        return Viewer.guest(person.household, person.member.id, now=now)
    return Viewer.of(household, person.member.id, projects=projects)
