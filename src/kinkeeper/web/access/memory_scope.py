"""Which memories a login may see. Pure."""

from collections.abc import Collection

from kinkeeper.core.errors import DeniedError
from kinkeeper.household.viewing import Viewer
from kinkeeper.web.access.model import DECIDERS, AccessRole, Person


def viewer_of(person: Person, *, projects: Collection[str] = ()) -> Viewer:
    """Return on whose behalf memory is read for a request.

    A screen on the wall is everybody's, whoever's key it was set up with: it sees nobody's own memories.

    Args:
        person: Who makes the request.
        projects: Names of the projects that are asked for.

    Raises:
        DeniedError: Only the owner and adults see what belongs to projects.
    """
    if projects and person.role not in DECIDERS:
        raise DeniedError("what belongs to a project is for the owner and adults of the household")
    household = person.household.id
    if person.role is AccessRole.SCREEN:
        return Viewer.of(household)
    return Viewer.of(household, person.member.id, projects=projects)
