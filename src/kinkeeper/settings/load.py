"""Reads the settings: environment first, then `.env`, then `kinkeeper.toml`. Reports every problem at once."""

import difflib
import os
import tomllib
from collections.abc import Iterator, Mapping
from io import StringIO
from pathlib import Path
from typing import Any

from dotenv import dotenv_values
from pydantic import ValidationError

from kinkeeper.core.errors import ConfigError, Problem
from kinkeeper.settings.model import SECRETS, Settings
from kinkeeper.settings.other_names import (
    OLLAMA_HOST,
    OLLAMA_MODEL,
    OTHER_NAMES,
    completed,
    in_our_names,
)

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
    if problems:
        raise ConfigError(problems)
    return settings


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
