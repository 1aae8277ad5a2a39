"""Where models are and how each role uses one. Values, made from the settings."""

from collections.abc import Awaitable, Callable, Mapping
from dataclasses import dataclass
from datetime import timedelta
from decimal import Decimal
from enum import StrEnum

from pydantic import SecretStr

from kinkeeper.models.model import ModelRole, Usage


class Dialect(StrEnum):
    """Which protocol a server speaks."""

    AUTO = "auto"
    OPENAI = "openai"
    OLLAMA = "ollama"


@dataclass(frozen=True, slots=True, kw_only=True)
class Endpoint:
    """A model server.

    Attributes:
        url: Its base address, without a slash at the end; empty where `start` tells it.
        api_key: What it lets callers in with, if it asks.
        dialect: What it speaks; AUTO asks it once.
        start: Starts a server of our own unless it runs, and returns its base address; asked before
            every call.
    """

    url: str
    api_key: SecretStr | None = None
    dialect: Dialect = Dialect.AUTO
    start: Callable[[], Awaitable[str]] | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class Price:
    """What tokens cost, in any currency a million."""

    input: Decimal = Decimal(0)
    output: Decimal = Decimal(0)

    def micros(self, usage: Usage) -> int:
        """Return what a call costs in millionths of the currency, rounded up."""
        exact = self.input * usage.input_tokens + self.output * usage.output_tokens
        return int(exact.to_integral_value(rounding="ROUND_CEILING"))


@dataclass(frozen=True, slots=True, kw_only=True)
class RoleModel:
    """The model that does a role's work, and within which bounds.

    Attributes:
        model: As the server names it.
        timeout: Of a whole call with its retries, > 0.
        context_tokens: What the server is to keep room for, request and answer together, where it can be told.
        temperature: Of all its calls, >= 0; None: as each call asks.
        max_output_tokens: Longest answer, > 0; None: as each call asks.
        price: Of its tokens.
    """

    endpoint: Endpoint
    model: str
    timeout: timedelta
    context_tokens: int
    temperature: float | None = None
    max_output_tokens: int | None = None
    price: Price = Price()


@dataclass(frozen=True, slots=True, kw_only=True)
class DailyLimits:
    """Most that a household may use in a local day; None: no limit.

    Attributes:
        tokens: Of requests and answers together.
        cost_micros: Millionths of the currency that the prices are in.
    """

    calls: int | None = None
    tokens: int | None = None
    cost_micros: int | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class ModelConfig:
    """All that the settings say about language models.

    Attributes:
        roles: Which model does what; every role has one.
        concurrency: Most calls at a time to one server, > 0.
        allows_public: Whether text of a group chat may leave for a public host.
        keeps_text: Whether requests and answers are kept with the records.
        limits: Of each household and day.
    """

    roles: Mapping[ModelRole, RoleModel]
    concurrency: int
    allows_public: bool
    keeps_text: bool
    limits: DailyLimits
