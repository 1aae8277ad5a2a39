"""The settings of language models as one gateway to them, and whether those models can be used."""

import asyncio
from collections.abc import AsyncIterator, Mapping, Sequence
from contextlib import asynccontextmanager
from dataclasses import dataclass, replace
from datetime import timedelta
from decimal import Decimal
from typing import Any
from zoneinfo import ZoneInfo

from kinkeeper.core.time import Clock
from kinkeeper.models.endpoints import DailyLimits, Dialect, Endpoint, ModelConfig, Price, RoleModel
from kinkeeper.models.llama import LlamaServer, file_problem, runtime_problem
from kinkeeper.models.model import ModelGateway, ModelRole
from kinkeeper.observability.findings import Finding, ok, warning
from kinkeeper.observer.settling.message_reader import Extractor
from kinkeeper.settings.model import Settings
from kinkeeper.settings.models import ExtractorChoice, ReaderChoice
from kinkeeper.store.store import Store

_MICROS = 1_000_000


@asynccontextmanager
async def models_opened(
    settings: Settings, *, store: Store, clock: Clock, zones: Mapping[str, ZoneInfo]
) -> AsyncIterator[ModelGateway | None]:
    """Yield the way to all models for the length of the block, on this event loop; None where there are none."""
    llama = llama_server(settings)
    config = model_config(settings, llama)
    if config is None:
        yield None
        return
    from kinkeeper.models.gateway import Gateway  # noqa: PLC0415 - loads the library for HTTP

    try:
        async with Gateway(config, store=store, clock=clock, zones=zones) as gateway:
            yield gateway
    finally:
        if llama is not None:
            await llama.close()


def reads_talk(settings: Settings) -> bool:
    """Return whether a model is to read group talk."""
    has_model = settings.model_url is not None or settings.model_gguf is not None
    return has_model and settings.reader is not ReaderChoice.EMBEDDED


def model_extractor(settings: Settings, gateway: ModelGateway | None) -> Extractor | None:
    """Return what reads messages with a model's help; None where the rules are to read alone."""
    if gateway is None or settings.extractor is ExtractorChoice.RULES:
        return None
    from kinkeeper.observer.settling.model_extraction import ModelExtractor, extraction_prompt  # noqa: PLC0415 - loads the templates' library

    return ModelExtractor(gateway, extraction_prompt())


def llama_server(settings: Settings) -> LlamaServer | None:
    """Return what runs the model file of the settings, not started yet, if there is one."""
    if settings.model_gguf is None:
        return None
    return LlamaServer(
        settings.model_gguf,
        threads=settings.model_gguf_threads,
        context_tokens=settings.model_context_tokens,
    )


def model_config(settings: Settings, llama: LlamaServer | None) -> ModelConfig | None:
    """Return which model does what, by the settings; None where there is no server, or nobody is to be asked.

    Args:
        llama: Runs the model file of the settings, if there is one.
    """
    primary = None if settings.reader is ReaderChoice.EMBEDDED else _primary(settings, llama)
    if primary is None:
        return None
    light = _with_own(settings, "light", primary)
    cost = settings.model_cost_per_day
    return ModelConfig(
        roles={
            ModelRole.PRIMARY: primary,
            ModelRole.LIGHT: light,
            ModelRole.STRONG: _with_own(settings, "strong", primary),
            ModelRole.EXTRACTION: _with_own(settings, "extraction", light),
        },
        concurrency=settings.model_concurrency,
        allows_public=settings.allow_remote_model_for_chat,
        keeps_text=settings.trace_text,
        limits=DailyLimits(
            calls=settings.model_calls_per_day,
            tokens=settings.model_tokens_per_day,
            cost_micros=None if cost is None else int(cost * _MICROS),
        ),
    )


def _primary(settings: Settings, llama: LlamaServer | None) -> RoleModel | None:
    if llama is not None and settings.model_gguf is not None:
        endpoint = Endpoint(
            url="", api_key=llama.api_key, dialect=Dialect.OPENAI, start=llama.start
        )
        name = settings.model_name or settings.model_gguf.stem
    elif settings.model_url is not None and settings.model_name is not None:
        endpoint = Endpoint(
            url=settings.model_url, api_key=settings.model_api_key, dialect=settings.model_dialect
        )
        name = settings.model_name
    else:
        return None
    return RoleModel(
        endpoint=endpoint,
        model=name,
        timeout=timedelta(seconds=settings.model_timeout_seconds),
        temperature=settings.model_temperature,
        max_output_tokens=settings.model_max_output_tokens,
        context_tokens=settings.model_context_tokens,
        price=_price(settings.model_price) or Price(),
    )


def _with_own(settings: Settings, role: str, other: RoleModel) -> RoleModel:
    """Return a role's model: what its settings say, and of another role what they leave open."""

    def own(name: str) -> Any:
        return getattr(settings, f"{role}_model{name}")

    def chosen(name: str, inherited: Any) -> Any:
        return inherited if own(name) is None else own(name)

    seconds = chosen("_timeout_seconds", other.timeout.total_seconds())
    endpoint, inherited_price = other.endpoint, other.price
    if own("_url") is not None:
        # Neither the key nor the price of another server.
        endpoint, inherited_price = Endpoint(url=own("_url"), api_key=own("_api_key")), Price()
    elif own("_api_key") is not None:
        endpoint = replace(endpoint, api_key=own("_api_key"))
    return RoleModel(
        endpoint=endpoint,
        model=chosen("", other.model),
        timeout=timedelta(seconds=seconds),
        temperature=chosen("_temperature", other.temperature),
        max_output_tokens=chosen("_max_output_tokens", other.max_output_tokens),
        context_tokens=other.context_tokens,
        price=_price(own("_price")) or inherited_price,
    )


def _price(text: str | None) -> Price | None:
    if text is None:
        return None
    of_input, _, of_output = text.partition("/")
    return Price(input=Decimal(of_input), output=Decimal(of_output or of_input))


# Whether the models that the settings name can be used, and how to mend it where they cannot.

_CHECK = "language models"
_WITHOUT = "rules do the work until this is fixed"
_SHOWN = 5


@dataclass(frozen=True, slots=True, kw_only=True)
class ServerState:
    """A model server as the settings name it, and how it looked.

    Attributes:
        address: Its base address; of a model file run here, its path.
        missing: Models of those that it does not have, where it said what it has.
        milliseconds: Until it had listed its models; None where it did not.
        is_private: Whether its addresses are of this machine, a local network or a VPN.
        problem: Why it cannot be used; None where it can.
    """

    address: str
    wanted: Mapping[ModelRole, str]
    missing: tuple[str, ...] = ()
    milliseconds: float | None = None
    models: tuple[str, ...] = ()
    is_private: bool = True
    problem: str | None = None


def look_at_servers(settings: Settings) -> Sequence[ServerState]:
    """Look at every model server of the settings at once, for some seconds at most. Blocks.

    A model file is not loaded for that.
    """
    config = model_config(settings, llama_server(settings))
    if config is None:
        return ()

    async def look(config: ModelConfig) -> Sequence[ServerState]:
        endpoints = dict.fromkeys(role.endpoint for role in config.roles.values())
        return await asyncio.gather(*(_look(settings, config, each) for each in endpoints))

    return asyncio.run(look(config))


def model_findings(settings: Settings) -> Sequence[Finding]:
    """Return what a check of the model servers finds; of one on a public host also who may ask it. Blocks."""
    states = look_at_servers(settings)
    if not states:
        return (ok(_CHECK, "none; rules do all the work (set MODEL_URL or MODEL_GGUF to use one)"),)
    is_allowed = settings.allow_remote_model_for_chat
    return tuple(
        finding
        for state in states
        for finding in (_finding(state), _privacy(state, is_allowed=is_allowed))
        if finding is not None
    )


async def _look(settings: Settings, config: ModelConfig, endpoint: Endpoint) -> ServerState:
    wanted = {
        role: model.model for role, model in config.roles.items() if model.endpoint == endpoint
    }
    if endpoint.start is not None:
        path = settings.model_gguf
        problem = runtime_problem() or (file_problem(path) if path else None)
        return ServerState(address=str(path), wanted=wanted, problem=problem)
    from kinkeeper.models.client import look_at  # noqa: PLC0415 - loads the library for HTTP

    look = await look_at(endpoint)
    names = dict.fromkeys(wanted.values())
    missing = tuple(name for name in names if look.models and not look.has(name))
    return ServerState(
        address=look.url,
        wanted=wanted,
        missing=missing,
        milliseconds=look.milliseconds,
        models=look.models,
        is_private=look.is_private,
        problem=look.problem,
    )


def _finding(state: ServerState) -> Finding:
    if state.problem is not None:
        return warning(_CHECK, f"{state.address}: {state.problem}", _WITHOUT)
    if state.missing:
        some = ", ".join(state.models[:_SHOWN])
        found = f"{state.address} does not have {', '.join(state.missing)}"
        return warning(_CHECK, found, f"load it there, or choose an available one ({some}, …)")
    names = ", ".join(dict.fromkeys(state.wanted.values()))
    if state.milliseconds is None:
        return ok(_CHECK, f"{state.address} starts on the first call")
    return ok(_CHECK, f"{state.address} answers in {state.milliseconds:.0f} ms and has {names}")


def _privacy(state: ServerState, *, is_allowed: bool) -> Finding | None:
    """Return what becomes of the text of chats where a server is on a public host, well or not."""
    if state.is_private:
        return None
    if is_allowed:
        found = f"{state.address} is a public host, and group chat text may be sent to it"
        return warning(
            _CHECK, found, "if you don't want that, set ALLOW_REMOTE_MODEL_FOR_CHAT=false"
        )
    found = f"{state.address} is a public host; group chat text is not sent to it"
    remedy = "use a server on your own network, or set ALLOW_REMOTE_MODEL_FOR_CHAT=true"
    return warning(_CHECK, found, remedy)
