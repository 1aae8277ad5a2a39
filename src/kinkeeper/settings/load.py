"""Reads the settings and other programs' names for them, and what a service manager told the process."""

import difflib
import os
import tomllib
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from datetime import timedelta
from io import StringIO
from pathlib import Path
from typing import Any

from dotenv import dotenv_values
from pydantic import ValidationError

from kinkeeper.core.errors import ConfigError, Problem
from kinkeeper.core.extras import missing_extra
from kinkeeper.settings.model import SECRETS, Settings

# Names that other programs use for the same things, taken as ours: a `.env` that serves them serves
# us. Pure.

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


_NEEDED_EXTRAS: Mapping[str, str] = {
    "caldav_url": "caldav",
    "imap_url": "mail",
    "mcp_servers": "mcp",
    "smtp_url": "mail",
    "telegram_bot_token": "telegram",
    "web_reading": "web",
}

ENV_FILE = Path(".env")
TOML_FILE = Path("kinkeeper.toml")
_FILE = "_file"


def load_settings(
    *,
    environment: Mapping[str, str] | None = None,
    env_file: Path = ENV_FILE,
    toml_file: Path = TOML_FILE,
) -> Settings:
    """Return the settings in force.

    Args:
        environment: Variables; the process's own where None. Unknown ones are not ours and are ignored.
        env_file: KEY=VALUE lines, if it exists.
        toml_file: key = value, if it exists.

    Raises:
        ConfigError: An unknown key in one of the files (with the nearest known one) or a bad value;
            every problem with its place.
    """
    problems: list[Problem] = []
    values: dict[str, Any] = {}
    sources: dict[str, str] = {}
    outside = os.environ if environment is None else environment
    known = _known()
    for where, content in (
        (str(toml_file), _read_toml(toml_file, problems)),
        (str(env_file), _read_env(env_file, problems)),
        ("environment", {k: v for k, v in outside.items() if k.lower() in known and v != ""}),
    ):
        problems += _unknown(where, content)
        found, twice = in_our_names(
            {key.lower(): value for key, value in content.items() if key.lower() in known}
        )
        problems += [Problem(where=where, line=None, message=each) for each in twice]
        for name, value in _with_secrets(where, found, problems).items():
            values[name] = value
            sources[name] = where
    try:
        settings = Settings.model_validate(completed(values))
    except ValidationError as error:
        problems += [_problem(sources, detail) for detail in error.errors()]
        raise ConfigError(problems) from error
    problems += _missing_extras(settings, sources)
    if problems:
        raise ConfigError(problems)
    return settings


def _missing_extras(settings: Settings, sources: Mapping[str, str]) -> list[Problem]:
    """Return which settings turn on what is not installed."""
    return [
        Problem(where=sources[name], line=None, message=f"{name.upper()} {missing}")
        for name, extra in _NEEDED_EXTRAS.items()
        if name in sources
        and getattr(settings, name)
        and (missing := missing_extra(extra)) is not None
    ]


def environment_with(**values: str) -> dict[str, str]:
    """Return this process's environment with some variables set, for a process that it starts."""
    return {**os.environ, **values}


def data_folder(environment: Mapping[str, str] | None = None) -> Path:
    """Return the folder of the program's data: `kinkeeper` in the XDG data folder."""
    values = os.environ if environment is None else environment
    base = values.get("XDG_DATA_HOME") or str(Path.home() / ".local" / "share")
    return Path(base) / "kinkeeper"


def _read_toml(path: Path, problems: list[Problem]) -> dict[str, Any]:
    try:
        return tomllib.loads(_read(path, problems))
    except tomllib.TOMLDecodeError as error:
        problems.append(Problem(where=str(path), line=None, message=f"not valid TOML: {error}"))
        return {}


def _read_env(path: Path, problems: list[Problem]) -> dict[str, Any]:
    values = dotenv_values(stream=StringIO(_read(path, problems)))
    return {key: value for key, value in values.items() if value}


def _read(path: Path, problems: list[Problem]) -> str:
    """Return what a file holds: nothing where there is none."""
    try:
        return path.read_text(encoding="utf-8")
    except (FileNotFoundError, NotADirectoryError, IsADirectoryError):
        return ""
    except OSError as error:
        # Also where the folder is closed to this user: what lies in it is then not known.
        message = f"cannot be read ({error.strerror}); let this user read it, or start Kinkeeper in another folder"
        problems.append(Problem(where=str(path), line=None, message=message))
    except UnicodeDecodeError:
        problems.append(Problem(where=str(path), line=None, message="not a text file in UTF-8"))
    return ""


def _unknown(where: str, content: Mapping[str, Any]) -> Iterator[Problem]:
    known = sorted(_known())
    for key in content:
        if key.lower() in known:
            continue
        nearest = difflib.get_close_matches(key.lower(), known, n=1)
        hint = f"; did you mean {nearest[0].upper()}?" if nearest else ""
        yield Problem(where=where, line=None, message=f"unknown setting {key!r}{hint}")


def _known() -> set[str]:
    """Return the names of all settings, ours and others'; those of secrets also with the ending that names a file."""
    ours = set(Settings.model_fields) | {name + _FILE for name in SECRETS}
    return ours | set(OTHER_NAMES) | {OLLAMA_HOST, OLLAMA_MODEL}


def _with_secrets(
    where: str, found: Mapping[str, Any], problems: list[Problem]
) -> Mapping[str, Any]:
    """Return settings of one source with the secrets whose files are named."""
    values = dict(found)
    for name in SECRETS:
        path = values.pop(name + _FILE, None)
        if path is None:
            continue
        if name in values:
            message = f"{name.upper()} and {(name + _FILE).upper()} are both set; keep one"
            problems.append(Problem(where=where, line=None, message=message))
        try:
            values[name] = Path(str(path)).read_text(encoding="utf-8").strip()
        except (OSError, UnicodeDecodeError) as error:
            reason = error.strerror if isinstance(error, OSError) else "not a text file"
            message = f"{(name + _FILE).upper()}: cannot read {str(path)!r}: {reason}"
            problems.append(Problem(where=where, line=None, message=message))
    return values


def _problem(sources: Mapping[str, str], detail: Any) -> Problem:
    what = str(detail["msg"]).removeprefix("Value error, ")
    if not detail["loc"]:
        return Problem(where="settings", line=None, message=what)
    name = str(detail["loc"][0])
    got = "" if name in SECRETS else f" (got {detail['input']!r})"
    return Problem(
        where=sources.get(name, "settings"), line=None, message=f"{name.upper()}: {what}{got}"
    )


# What a service manager told this process: where to report to, and how often.


@dataclass(frozen=True, slots=True, kw_only=True)
class Supervisor:
    """A service manager that waits for reports.

    Attributes:
        socket: Path of its datagram socket; one that begins with "@" is abstract.
        patience: How long it waits for a sign of life before it starts the process again; None for ever.
    """

    socket: str
    patience: timedelta | None


def find_supervisor(
    environment: Mapping[str, str] | None = None, *, process: int | None = None
) -> Supervisor | None:
    """Return who supervises this process, if anybody does.

    Args:
        environment: Variables; the process's own where None.
        process: Its id; this process's where None.
    """
    values = os.environ if environment is None else environment
    socket = values.get("NOTIFY_SOCKET", "")
    if not socket.startswith(("/", "@")):
        return None
    pid = values.get("WATCHDOG_PID", "")
    is_meant = pid in {"", str(os.getpid() if process is None else process)}
    microseconds = values.get("WATCHDOG_USEC", "")
    has_watchdog = is_meant and microseconds.isdecimal() and int(microseconds) > 0
    patience = timedelta(microseconds=int(microseconds)) if has_watchdog else None
    return Supervisor(socket=socket, patience=patience)
