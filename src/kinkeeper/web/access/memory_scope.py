"""Which memories a login may see. Pure."""

from kinkeeper.memory.model import Viewer
from kinkeeper.web.access.model import AccessRole, Person


def viewer_of(person: Person) -> Viewer:
    """Return on whose behalf memory is read for a request.

    A screen on the wall is everybody's, whoever's key it was set up with: it sees nobody's own memories.

    Args:
        person: Who makes the request.
    """
    household = person.household.id
    if person.role is AccessRole.SCREEN:
        return Viewer.of(household)
    return Viewer.of(household, person.member.id)
