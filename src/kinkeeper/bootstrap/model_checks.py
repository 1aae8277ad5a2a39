"""Whether the models that the settings name can be used, and how to mend it where they cannot."""

import asyncio
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from kinkeeper.bootstrap.models import llama_server, model_config
from kinkeeper.models.endpoints import Endpoint, ModelConfig
from kinkeeper.models.llama import file_problem, runtime_problem
from kinkeeper.models.model import ModelRole
from kinkeeper.observability.findings import Finding, ok, warning
from kinkeeper.settings.model import Settings

_CHECK = "language models"
_WITHOUT = "rules do the work until this is fixed"
_SHOWN = 5


@dataclass(frozen=True, slots=True, kw_only=True)
class ServerState:
    """A model server as the settings name it, and how it looked.

    Attributes:
        address: Its base address; of a model file run here, its path.
        wanted: The model of each role that uses it.
        missing: Models of those that it does not have, where it said what it has.
        milliseconds: Until it had listed its models; None where it did not.
        models: That it has.
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

    Args:
        settings: In force.
    """
    config = model_config(settings, llama_server(settings))
    if config is None:
        return ()

    async def look(config: ModelConfig) -> Sequence[ServerState]:
        endpoints = dict.fromkeys(role.endpoint for role in config.roles.values())
        return await asyncio.gather(*(_look(settings, config, each) for each in endpoints))

    return asyncio.run(look(config))


def model_findings(settings: Settings) -> Sequence[Finding]:
    """Return what a check of the model servers finds; of one on a public host also who may ask it. Blocks.

    Args:
        settings: In force.
    """
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
        address=look.url, wanted=wanted, missing=missing, milliseconds=look.milliseconds,
        models=look.models, is_private=look.is_private, problem=look.problem,
    )  # fmt: skip


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
