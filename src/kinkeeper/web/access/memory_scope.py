"""Which memories a login may see. Pure."""

from collections.abc import Iterable

from kinkeeper.memory.model import Viewer
from kinkeeper.web.access.model import AccessRole, Person


def viewer_of(person: Person, *, projects: Iterable[str] = ()) -> Viewer:
    """Return on whose behalf memory is read for a request.

    A screen on the wall is everybody's, whoever's key it was set up with: it sees nobody's own memories.

    Args:
        person: Who makes the request.
        projects: Names of the projects that are asked for.
    """
    household = person.household.id
    if person.role is AccessRole.SCREEN:
        return Viewer.of(household, projects=projects)
    return Viewer.of(household, person.member.id, projects=projects)
