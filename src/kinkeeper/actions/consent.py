"""Who must be asked before something is written: by where it came from and what is at stake. Pure."""

from enum import StrEnum


class Origin(StrEnum):
    """How a proposal came to be known."""

    SAID = "said"  # an identified member asked the assistant for it directly
    OBSERVED = "observed"  # overheard in ambient chat
    IMPORTED = "imported"
    INFERRED = "inferred"
    MODEL = "model"
    TOOL = "tool"
    MAIL = "mail"
    MCP = "mcp"
    OPENAI = "openai"
    DRIFT = "drift"
    TASK = "task"


class Stakes(StrEnum):
    """How much a mistake would cost; stands in the registry, never judged by a model."""

    LOW = "low"
    HIGH = "high"


class Consent(StrEnum):
    """What has to happen before execution."""

    RUN_AT_ONCE = "run_at_once"
    ASK = "ask"


# Everything that is not listed asks.
_RUN_AT_ONCE = frozenset({(Origin.SAID, Stakes.LOW)})


def highest(*stakes: Stakes) -> Stakes:
    """Return the highest of several stakes; of none, low."""
    return Stakes.HIGH if Stakes.HIGH in stakes else Stakes.LOW


def consent_for(origin: Origin, stakes: Stakes) -> Consent:
    """Return whether effects of these stakes may run at once or await a person's confirmation."""
    return Consent.RUN_AT_ONCE if (origin, stakes) in _RUN_AT_ONCE else Consent.ASK
