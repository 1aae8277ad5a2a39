"""The settings of embeddings: what turns texts into vectors."""

from enum import StrEnum
from typing import Annotated, Self

from pydantic import BaseModel, Field, model_validator

from kinkeeper.settings.fields import Secret, Url


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
