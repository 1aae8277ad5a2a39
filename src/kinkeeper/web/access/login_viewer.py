"""On whose behalf a login reads what is kept. Pure."""

from collections.abc import Collection
from dataclasses import replace
from datetime import datetime

from kinkeeper.core.errors import DeniedError
from kinkeeper.household.viewers import Viewer, viewer_for
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
        raise DeniedError("only the owner and adults can see a project's memories")
    household = person.household.id
    if person.role is AccessRole.SCREEN:
        return replace(Viewer.of(household), sees_unconfirmed=False)
    if projects:
        return Viewer.of(household, person.member.id, projects=projects)
    return viewer_for(person.household, person.member, now=now)
