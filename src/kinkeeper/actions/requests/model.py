"""What can be asked of the assistant, what comes of it, and the table of all requests: frozen values."""

from collections.abc import Awaitable, Callable, Collection, Iterable, Iterator, Mapping
from dataclasses import dataclass, field
from datetime import datetime, timedelta
from enum import StrEnum
from typing import Any

from pydantic import BaseModel, ConfigDict

from kinkeeper.actions.consent import Origin, Stakes
from kinkeeper.actions.model import ActionType
from kinkeeper.core.errors import InputError, NotFoundError
from kinkeeper.household.model import Household, Member
from kinkeeper.household.viewers import HOUSEHOLD_SCOPE, Viewer, viewer_for


class Parameters(BaseModel):
    """What a request needs, as the planner fills it in; unknown names are refused."""

    model_config = ConfigDict(frozen=True, extra="forbid")


@dataclass(frozen=True, slots=True, kw_only=True)
class Asked:
    """Who asks, where and when.

    Attributes:
        household: Theirs, as its file has it now.
        member: As the channel identified them, with the rights of their login; never taken from text.
        now: Aware, in the household's zone.
        channel: "web", "cli", "telegram", ...
        thread_id: The conversation it belongs to.
        turn_id: The turn; with `number` it makes what is written identifiable, so that a retry writes nothing twice.
        number: Which request of the turn, from 0.
        is_shared: Whether others read along: then nothing is told that only the member may know.
        origin: How it came to be wanted; decides, with the stakes, whether a person is asked first.
        scope: Who may read what is proposed, where the part of a message that no plan is made of asks to keep it secret.
        is_unsaid: Whether they did not say it so, and nobody else is shown it before it is confirmed.
        confidence: How sure it is that they want it, in [0, 1].
        is_by_hand: Whether they did it themselves on a page or through the API, and said nothing.
    """

    household: Household
    member: Member
    now: datetime
    channel: str
    thread_id: str
    turn_id: str
    number: int = 0
    is_shared: bool = False
    origin: Origin = Origin.SAID
    scope: str = HOUSEHOLD_SCOPE
    is_unsaid: bool = False
    confidence: float = 1.0
    is_by_hand: bool = False

    @property
    def viewer(self) -> Viewer:
        """On whose behalf is read what is kept: where others read along, on everybody's."""
        if self.is_shared:
            return Viewer.of(self.household.id)
        return viewer_for(self.household, self.member, now=self.now)


@dataclass(frozen=True, slots=True, kw_only=True)
class Card:
    """A result for people to look at instead of reading prose.

    Attributes:
        kind: "events", "tasks", "notes", "mails", "facts", "free", "draft" or "result".
        title: One line.
        items: Each a JSON object with at least "text"; "id", "when", "detail" where there are such.
    """

    kind: str
    title: str
    items: tuple[Mapping[str, Any], ...] = ()


@dataclass(frozen=True, slots=True, kw_only=True)
class Found:
    """What a request that only reads brought.

    Attributes:
        result: As JSON, for the answer and for later steps of the turn.
        card: To be shown, where there is something to look at.
    """

    result: Mapping[str, Any]
    card: Card | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class Prepared:
    """A request that writes: resolved, checked, not yet written.

    Attributes:
        type: What it would change.
        summary: One line for people, as a card shows it: "Cancel Dentist, Thu 12 Nov 16:30".
        effects: What would be written, in frozen form.
        shown: All that a person must see before a yes: recipients, subject, body, calendar difference.
        result: As JSON, for the answer once it is done: what a template needs (title, when, ids).
        stakes: HIGH where this one needs a person's yes although its kind does not.
        params: Parameters to keep instead of those asked for, where these may say more than whoever decides may read.
    """

    type: ActionType
    summary: str
    effects: tuple[Mapping[str, Any], ...]
    shown: Mapping[str, Any] = field(default_factory=dict)
    result: Mapping[str, Any] = field(default_factory=dict)
    stakes: Stakes = Stakes.LOW
    params: Mapping[str, Any] | None = None


class Decider(StrEnum):
    """Whose yes can carry out what awaits one."""

    ASKER = "asker"  # whoever asked for it
    ADULT = "adult"  # an adult who may see it
    NOBODY = "nobody"  # it needs an adult, and no adult may see it


class ResultStatus(StrEnum):
    """What became of one planned request."""

    DONE = "done"  # the receipt or the reading says so
    AWAITING = "awaiting"  # a person has to say yes
    UNDER_WAY = "under_way"  # confirmed; a server outside has not answered yet
    FAILED = "failed"
    UNCLEAR = "unclear"  # several could be meant, or something is missing; `error` is the question
    CANCELLED = "cancelled"  # the person said stop


@dataclass(frozen=True, slots=True, kw_only=True)
class ActionResult:
    """What became of one planned request; made from receipts and readings only.

    Attributes:
        action: Its name.
        result: What was found or written, as JSON.
        summary: One line of what was (or would be) done, for people.
        error: Why it failed, or the question where it is unclear; for people.
        options: What could be meant, where it is unclear.
        action_id: Of the pending action, where it writes.
        card: To be shown.
        may_retry: Whether it failed for a reason that may pass: the same once more may succeed.
        decider: Whose yes it awaits; None where it awaits none.
    """

    domain: str
    action: str
    status: ResultStatus
    params: Mapping[str, Any]
    result: Mapping[str, Any] = field(default_factory=dict)
    summary: str = ""
    error: str | None = None
    options: tuple[str, ...] = ()
    action_id: str | None = None
    card: Card | None = None
    may_retry: bool = False
    decider: Decider | None = None


Read = Callable[[Any, Asked], Awaitable[Found]]
"""Reads, given the typed parameters; raises NotFoundError, UnclearError, UnavailableError or InputError."""

Prepare = Callable[[Any, Asked], Awaitable[Prepared]]
"""Resolves what is meant and freezes it, given the typed parameters; writes nothing. Raises as `Read` does."""


@dataclass(frozen=True, slots=True, kw_only=True)
class RequestKind:
    """One row of the table of requests.

    Attributes:
        domain: "task", "calendar", "email", "memory", "notes", or the name of a tool server.
        name: Of the request within its domain.
        description: One sentence, for planners and people.
        stakes: HIGH needs a person's yes, whoever asks and however; LOW writes run at once if an adult says so.
        is_foreign: Whether others wrote its name and description: who reads them may do what they want.
        read: Set for requests that only read.
        prepare: Set for requests that write.
        progress: Shown while it takes long: "Checking your calendar…".
        cost: What it takes out of a turn's budget of effort, > 0.
        limit: Longest time it may take, where that is more than anybody waits for an answer; None where it is quick.
    """

    domain: str
    name: str
    description: str
    parameters: type[BaseModel]
    stakes: Stakes
    progress: str
    is_foreign: bool = False
    read: Read | None = None
    prepare: Prepare | None = None
    cost: float = 1.0
    limit: timedelta | None = None

    @property
    def key(self) -> str:
        """Domain and name: "calendar.list_events"."""
        return f"{self.domain}.{self.name}"


# All that can be asked of the assistant, by domain and name: for planners, for carrying out, for
# people.


class Catalogue:
    """The table of requests; it does not change, a wider one is made of it.

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
