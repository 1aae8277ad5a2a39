"""Names that other programs use for the same things, taken as ours: a `.env` that serves them serves us. Pure."""

from collections.abc import Iterator, Mapping
from typing import Any

OTHER_NAMES: Mapping[str, str] = {
    "llm_base_url": "model_url",
    "llm_api_key": "model_api_key",
    "llm_api_key_file": "model_api_key_file",
    "llm_model": "model_name",
    "llm_model_light": "light_model",
    "llm_model_strong": "strong_model",
    "llm_model_extraction": "extraction_model",
    "llm_budget_calls_per_day": "model_calls_per_day",
    "llm_budget_tokens_per_day": "model_tokens_per_day",
    "embedding_url": "embedder_url",
    "embedding_model": "embedder_model",
}
"""Other names with ours."""

OLLAMA_HOST, OLLAMA_MODEL = "ollama_host", "ollama_model_tier2"
_OLLAMA_PORT = 11434
_EVERYWHERE = "0.0.0.0"  # noqa: S104 - what Ollama's own server listens on; a client cannot ask there


def in_our_names(values: Mapping[str, Any]) -> tuple[dict[str, Any], Iterator[str]]:
    """Return the settings of one source by our names, and what is wrong about them.

    Args:
        values: By names in small letters.
    """
    twice = (
        f"{OTHER_NAMES[name].upper()} and {name.upper()} are both set; keep one"
        for name in values
        if OTHER_NAMES.get(name) in values
    )
    return {OTHER_NAMES.get(name, name): value for name, value in values.items()}, twice


def completed(values: Mapping[str, Any]) -> dict[str, Any]:
    """Return the settings of all sources with what those names say beside a value.

    A server of embeddings that is named is one to be used. Ollama's own OLLAMA_HOST is often set for others: it is
    only used where a model is named that is to answer.

    Args:
        values: By our names.
    """
    ours = dict(values)
    if "embedder_url" in ours and "embedder" not in ours:
        ours["embedder"] = "openai"
    host, model = ours.pop(OLLAMA_HOST, None), ours.pop(OLLAMA_MODEL, None)
    if model is not None:
        ours.setdefault("extraction_model", model)
    if host is None or (model is None and "model_name" not in ours):
        return ours
    if "model_url" in ours or "model_gguf" in ours:
        return {"extraction_model_url": _address(str(host)), **ours} if model is not None else ours
    return {"model_name": model, **ours, "model_url": _address(str(host))}


def _address(host: str) -> str:
    """Return the address of a server as Ollama's own programs name it: with or without scheme, name and port."""
    if "://" in host:
        return host
    name, _, port = host.partition(":")
    name = "127.0.0.1" if name in {"", _EVERYWHERE} else name
    return f"http://{name}:{port or _OLLAMA_PORT}"
