"""All that can be asked of the assistant, by domain and name: for planners, for carrying out, for people."""

from collections.abc import Collection, Iterable, Iterator
from typing import Any

from kinkeeper.actions.consent import Stakes
from kinkeeper.actions.requests.model import RequestKind
from kinkeeper.core.errors import InputError, NotFoundError


class Catalogue:
    """The table of requests; it does not change, a wider one is made of it.

    Args:
        kinds: Its rows.

    Raises:
        InputError: Two rows have the same domain and name.
    """

    def __init__(self, kinds: Iterable[RequestKind]) -> None:
        self._kinds: dict[str, RequestKind] = {}
        for kind in kinds:
            if kind.key in self._kinds:
                raise InputError(f"two requests are called {kind.key!r}; rename one of them")
            self._kinds[kind.key] = kind

    def __iter__(self) -> Iterator[RequestKind]:
        """Yield all rows, in the order they came."""
        return iter(self._kinds.values())

    @property
    def domains(self) -> tuple[str, ...]:
        """The domains there are, in the order they came."""
        return tuple(dict.fromkeys(kind.domain for kind in self))

    def find(self, domain: str, name: str) -> RequestKind | None:
        """Return the row with that domain and name, if there is one."""
        return self._kinds.get(f"{domain}.{name}")

    def get(self, domain: str, name: str) -> RequestKind:
        """Return the row with that domain and name.

        Raises:
            NotFoundError: There is none; the message lists what the domain has.
        """
        kind = self.find(domain, name)
        if kind is None:
            known = [each.name for each in self.of([domain])] or self.domains
            raise NotFoundError(f"there is no {domain}.{name}; use one of {', '.join(known)}")
        return kind

    def of(self, domains: Collection[str]) -> tuple[RequestKind, ...]:
        """Return the rows of some domains."""
        return tuple(kind for kind in self if kind.domain in domains)

    def schemas(self, domains: Collection[str] | None = None) -> list[dict[str, Any]]:
        """Return rows as planners are told them: names, a sentence, and the parameters as JSON schema.

        Args:
            domains: Only of these; of all where None.
        """
        wanted = tuple(self) if domains is None else self.of(domains)
        return [
            {
                "domain": kind.domain,
                "action": kind.name,
                "description": kind.description,
                "is_high_stakes": kind.stakes is Stakes.HIGH,
                "parameters": kind.parameters.model_json_schema(),
            }
            for kind in wanted
        ]

    def extended(self, kinds: Iterable[RequestKind]) -> "Catalogue":
        """Return a catalogue with further rows, which may not stand under a domain that there is already.

        Args:
            kinds: Rows that come from outside, such as those of tool servers.

        Raises:
            InputError: One of them would pass for a request of our own.
        """
        added = tuple(kinds)
        taken = sorted({kind.domain for kind in added} & set(self.domains))
        if taken:
            raise InputError(f"{', '.join(taken)} is a built-in request domain; rename the server")
        return Catalogue((*self, *added))
