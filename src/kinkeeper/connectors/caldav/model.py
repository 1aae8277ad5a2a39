"""What a calendar server tells: values."""

from collections.abc import Mapping
from dataclasses import dataclass


@dataclass(frozen=True, slots=True, kw_only=True)
class Collection:
    """A calendar on the server.

    Attributes:
        url: Its address, with a slash at its end.
        name: For people.
        components: Kinds of objects it takes; empty where it does not say.
    """

    url: str
    name: str = ""
    components: frozenset[str] = frozenset()

    def takes(self, component: str) -> bool:
        """Whether objects of a kind can be put there."""
        return not self.components or component in self.components


@dataclass(frozen=True, slots=True, kw_only=True)
class Mark:
    """The state of a collection up to which all is known.

    Attributes:
        token: To ask for what changed since; None where the server has none.
        ctag: Equal as long as nothing changes; None where the server has none.
    """

    token: str | None = None
    ctag: str | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class Delta:
    """What a collection tells of its objects.

    Attributes:
        etags: By path; None where the object is gone.
        is_complete: Whether all its objects are there, so that others are gone.
        mark: The state told of.
    """

    etags: Mapping[str, str | None]
    is_complete: bool
    mark: Mark


@dataclass(frozen=True, slots=True, kw_only=True)
class Version:
    """An object as it stands on the server.

    Attributes:
        etag: Of exactly this version.
        data: The object.
    """

    etag: str
    data: bytes
