"""The settings of models: language models, each role falling back to another, and embeddings.

The primary role is set by MODEL_…; light and strong fall back to it, extraction falls back to light.
"""

from decimal import Decimal
from enum import StrEnum
from pathlib import Path
from typing import Annotated, Self

from pydantic import AfterValidator, BaseModel, Field, model_validator

from kinkeeper.models.endpoints import Dialect
from kinkeeper.settings.fields import Positive, Secret, Url


def _prices(text: str) -> str:
    parts = text.split("/")
    try:
        are_prices = all(Decimal(part).is_finite() and Decimal(part) >= 0 for part in parts)
    except ArithmeticError:
        are_prices = False
    if not are_prices or len(parts) > 2:  # noqa: PLR2004 - of the request, of the answer
        raise ValueError(
            "must be like 0.15/0.60: the price of a million input tokens and a million output tokens"
        )
    return text


Seconds = Annotated[float, Field(gt=0, le=3600)]
Temperature = Annotated[float, Field(ge=0, le=2)]
Prices = Annotated[str, AfterValidator(_prices)]
_MODEL = "Model name for this role."
_URL = "Server for this role, if it differs from MODEL_URL."
_KEY = "API key for that server; or add _FILE to the name and point it to a file."
_TIMEOUT = "Timeout for a complete answer, in seconds."
_TEMPERATURE = (
    "Sampling temperature; 0 is the most repeatable. If unset, each job uses its own value."
)
_LONGEST = "Maximum answer length, in tokens. If unset, each job uses its own value; reasoning models need more."
_PRICE = "Price per million input/output tokens, in any currency."


class ExtractorChoice(StrEnum):
    """Who reads what a message arranges."""

    AUTO = "auto"
    RULES = "rules"
    MODEL = "model"


class ReaderChoice(StrEnum):
    """Who may read what people write."""

    AUTO = "auto"
    EMBEDDED = "embedded"


class ModelSettings(BaseModel):
    """Which language models there are, for what, and how much of them may be used."""

    reader: ReaderChoice = Field(
        default=ReaderChoice.AUTO,
        description="Who may read what people write: auto (a model too, if one is configured) "
        "or embedded (only what is built in; no model is asked anything).",
    )
    extractor: ExtractorChoice = Field(
        default=ExtractorChoice.AUTO,
        description="Who reads messages: rules, model (rules first, then a model where they are unsure), "
        "or auto (model if one is configured).",
    )
    model_url: Url | None = Field(
        default=None,
        description="OpenAI-compatible or Ollama model server; no model is used if unset.",
    )
    model_api_key: Secret | None = Field(
        default=None,
        description="API key for that server; or set MODEL_API_KEY_FILE to a file that contains it.",
    )
    model_dialect: Dialect = Field(
        default=Dialect.AUTO,
        description="Protocol of that server: openai, ollama, or auto to detect it.",
    )
    model_gguf: Path | None = Field(
        default=None,
        description="Model file to run on this machine with llama.cpp, instead of MODEL_URL.",
    )
    model_gguf_threads: Positive | None = Field(
        default=None, description="Number of threads for it; default is all cores but one."
    )
    model_name: str | None = Field(
        default=None,
        min_length=1,
        max_length=200,
        description="Model for every role that doesn't set its own.",
    )
    model_timeout_seconds: Seconds = Field(default=60, description=_TIMEOUT)
    model_temperature: Temperature | None = Field(default=None, description=_TEMPERATURE)
    model_max_output_tokens: Positive | None = Field(default=None, description=_LONGEST)
    model_context_tokens: Positive = Field(
        default=8192,
        description="Context size for request plus answer, in tokens, if the server accepts it as an option.",
    )
    model_price: Prices | None = Field(default=None, description=_PRICE)
    model_concurrency: Positive = Field(
        default=2, description="Maximum concurrent calls per model server."
    )
    model_calls_per_day: Positive | None = Field(
        default=2000, description="Maximum calls per household and day (local time)."
    )
    model_tokens_per_day: Positive | None = Field(
        default=None, description="Maximum input plus output tokens per household and day."
    )
    model_cost_per_day: Annotated[Decimal, Field(gt=0)] | None = Field(
        default=None,
        description="Maximum cost per household and day, in the currency of the prices.",
    )
    allow_remote_model_for_chat: bool = Field(
        default=False,
        description="Allow group chat text to be sent to models on public hosts, not only on your own network.",
    )
    light_model: str | None = Field(default=None, min_length=1, max_length=200, description=_MODEL)
    light_model_url: Url | None = Field(default=None, description=_URL)
    light_model_api_key: Secret | None = Field(default=None, description=_KEY)
    light_model_timeout_seconds: Seconds | None = Field(default=None, description=_TIMEOUT)
    light_model_temperature: Temperature | None = Field(default=None, description=_TEMPERATURE)
    light_model_max_output_tokens: Positive | None = Field(default=None, description=_LONGEST)
    light_model_price: Prices | None = Field(default=None, description=_PRICE)
    strong_model: str | None = Field(default=None, min_length=1, max_length=200, description=_MODEL)
    strong_model_url: Url | None = Field(default=None, description=_URL)
    strong_model_api_key: Secret | None = Field(default=None, description=_KEY)
    strong_model_timeout_seconds: Seconds | None = Field(default=None, description=_TIMEOUT)
    strong_model_temperature: Temperature | None = Field(default=None, description=_TEMPERATURE)
    strong_model_max_output_tokens: Positive | None = Field(default=None, description=_LONGEST)
    strong_model_price: Prices | None = Field(default=None, description=_PRICE)
    extraction_model: str | None = Field(
        default=None, min_length=1, max_length=200, description=_MODEL
    )
    extraction_model_url: Url | None = Field(default=None, description=_URL)
    extraction_model_api_key: Secret | None = Field(default=None, description=_KEY)
    extraction_model_timeout_seconds: Seconds | None = Field(default=None, description=_TIMEOUT)
    extraction_model_temperature: Temperature | None = Field(default=None, description=_TEMPERATURE)
    extraction_model_max_output_tokens: Positive | None = Field(default=None, description=_LONGEST)
    extraction_model_price: Prices | None = Field(default=None, description=_PRICE)

    @model_validator(mode="after")
    def _require_whole_models(self) -> Self:
        if self.model_url and self.model_gguf:
            raise ValueError("MODEL_URL and MODEL_GGUF are both set; keep one")
        if self.model_url and self.model_name is None:
            raise ValueError("MODEL_URL needs MODEL_NAME, the model to use")
        if not (self.model_url or self.model_gguf):
            self._refuse_without_server()
        if self.reader is ReaderChoice.EMBEDDED and self.extractor is ExtractorChoice.MODEL:
            raise ValueError("EXTRACTOR=model and READER=embedded contradict each other; keep one")
        if self.model_cost_per_day is not None and not self._has_price():
            raise ValueError("MODEL_COST_PER_DAY needs MODEL_PRICE, or a price for a role")
        return self

    def _refuse_without_server(self) -> None:
        named = [name for name in _OF_A_SERVER if getattr(self, name) is not None]
        if named:
            raise ValueError(f"{named[0].upper()} needs MODEL_URL or MODEL_GGUF")
        if self.extractor is ExtractorChoice.MODEL:
            raise ValueError("EXTRACTOR=model needs MODEL_URL or MODEL_GGUF")

    def _has_price(self) -> bool:
        prices = (
            self.model_price,
            self.light_model_price,
            self.strong_model_price,
            self.extraction_model_price,
        )
        return any(price is not None for price in prices)


_OF_A_SERVER = (
    "model_api_key",
    "model_name",
    "light_model",
    "light_model_url",
    "strong_model",
    "strong_model_url",
    "extraction_model",
    "extraction_model_url",
)
MODEL_SECRETS = frozenset(
    {"model_api_key", "light_model_api_key", "strong_model_api_key", "extraction_model_api_key"}
)


# The settings of embeddings: what turns texts into vectors.


class EmbedderChoice(StrEnum):
    """What turns texts into vectors."""

    AUTO = "auto"
    MINILM = "minilm"
    HASHING = "hashing"
    NONE = "none"
    OPENAI = "openai"
    OLLAMA = "ollama"

    @property
    def is_remote(self) -> bool:
        """Whether a server does it."""
        return self in {EmbedderChoice.OPENAI, EmbedderChoice.OLLAMA}


class EmbedderSettings(BaseModel):
    """Which embedder there is."""

    embedder: EmbedderChoice = Field(
        default=EmbedderChoice.AUTO,
        description="How texts are compared by meaning: minilm (local; needs the extra `embedder`), hashing "
        "(local; compares spelling), openai or ollama (a server), none, or auto (minilm if "
        "installed, otherwise hashing).",
    )
    embedder_url: Url | None = Field(
        default=None, description="Server for EMBEDDER=openai or EMBEDDER=ollama."
    )
    embedder_model: str | None = Field(
        default=None, min_length=1, max_length=128, description="Embedding model on that server."
    )
    embedder_api_key: Secret | None = Field(
        default=None,
        description="API key for that server; or set EMBEDDER_API_KEY_FILE to a file that contains it.",
    )
    embedder_timeout_seconds: Annotated[float, Field(gt=0, le=3600)] = Field(
        default=20, description="Timeout for one batch of texts, in seconds."
    )

    @model_validator(mode="after")
    def _require_whole_server(self) -> Self:
        if self.embedder.is_remote and not (self.embedder_url and self.embedder_model):
            raise ValueError(f"EMBEDDER={self.embedder} needs EMBEDDER_URL and EMBEDDER_MODEL")
        if not self.embedder.is_remote and (self.embedder_url or self.embedder_model):
            raise ValueError("EMBEDDER_URL and EMBEDDER_MODEL need EMBEDDER=openai or ollama")
        return self


EMBEDDER_SECRETS = frozenset({"embedder_api_key"})
