"""The gate: whether something may be written at once, needs a person's confirmation, or is refused. Pure.

Every way in asks here: chat, sessions, the OpenAI endpoint, MCP, commands, pages and imports. No channel decides by
itself who may write what.
"""

from dataclasses import dataclass
from enum import StrEnum


class Origin(StrEnum):
    """How a proposal came to be known."""

    SAID = "said"  # an identified member asked the assistant for it directly
    OBSERVED = "observed"  # overheard in ambient chat
    IMPORTED = "imported"
    INFERRED = "inferred"
    MODEL = "model"
    TOOL = "tool"  # a program reports it with a member's token
    MAIL = "mail"
    MCP = "mcp"
    OPENAI = "openai"
    DRIFT = "drift"
    TASK = "task"


class Stakes(StrEnum):
    """How much a mistake would cost; stands in the registry, never judged by a model."""

    LOW = "low"
    HIGH = "high"


class Audience(StrEnum):
    """Who will see what is written."""

    OWN = "own"  # only the person who wants it, and it concerns nobody else
    HOUSEHOLD = "household"
    PROJECT = "project"  # the adults who ask for it


class Consent(StrEnum):
    """What has to happen before something is written."""

    RUN_AT_ONCE = "run_at_once"
    ASK = "ask"
    REFUSE = "refuse"


@dataclass(frozen=True, slots=True, kw_only=True)
class Author:
    """Who wants something written.

    Attributes:
        is_adult: Whether they are an adult of the household by its file, and their login may decide.
        origin: How their wish came to be known.
    """

    is_adult: bool
    origin: Origin


# Everything that is not listed needs a confirmation.
_RUN_AT_ONCE = frozenset({(Origin.SAID, Stakes.LOW)})


def highest(*stakes: Stakes) -> Stakes:
    """Return the highest of several stakes; of none, low."""
    return Stakes.HIGH if Stakes.HIGH in stakes else Stakes.LOW


def consent_for(origin: Origin, stakes: Stakes) -> Consent:
    """Return whether effects of these stakes may run at once for an adult, or need a confirmation."""
    return Consent.RUN_AT_ONCE if (origin, stakes) in _RUN_AT_ONCE else Consent.ASK


def decide(author: Author, audience: Audience, stakes: Stakes = Stakes.LOW) -> Consent:
    """Return what has to happen before something is written for a person.

    A child or a guest writes alone only what is their own and seen by nobody else; everything else of theirs needs an
    adult's confirmation. Projects are for adults. What a person did not say directly, or has high stakes, needs a
    confirmation whoever wants it.

    Args:
        author: Who wants it, and how that is known.
        audience: Who will see it.
        stakes: The highest of all its effects.
    """
    if audience is Audience.PROJECT and not author.is_adult:
        return Consent.REFUSE
    if not author.is_adult and audience is not Audience.OWN:
        return Consent.ASK
    return consent_for(author.origin, stakes)
