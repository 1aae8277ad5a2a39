"""Reads the settings: environment first, then `.env`, then `kinkeeper.toml`. Reports every problem at once."""

import difflib
import os
import tomllib
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

from dotenv import dotenv_values
from pydantic import ValidationError

from kinkeeper.core.errors import ConfigError, Problem
from kinkeeper.settings.model import Settings

ENV_FILE = Path(".env")
TOML_FILE = Path("kinkeeper.toml")


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
    sources: dict[str, str] = {}
    values: dict[str, Any] = {}
    for where, content in (
        (str(toml_file), _read_toml(toml_file, problems)),
        (str(env_file), _read_env(env_file)),
    ):
        problems += _unknown(where, content)
        for key, value in content.items():
            values[key.lower()] = value
            sources[key.lower()] = where
    known = set(Settings.model_fields)
    for key, value in (os.environ if environment is None else environment).items():
        if key.lower() in known and value != "":
            values[key.lower()] = value
            sources[key.lower()] = "environment"
    try:
        settings = Settings.model_validate({k: v for k, v in values.items() if k in known})
    except ValidationError as error:
        problems += [_problem(sources, detail) for detail in error.errors()]
        raise ConfigError(problems) from error
    if problems:
        raise ConfigError(problems)
    return settings


def data_folder(environment: Mapping[str, str] | None = None) -> Path:
    """Return the folder of the program's data: `kinkeeper` in the XDG data folder."""
    values = os.environ if environment is None else environment
    base = values.get("XDG_DATA_HOME") or str(Path.home() / ".local" / "share")
    return Path(base) / "kinkeeper"


def _read_toml(path: Path, problems: list[Problem]) -> dict[str, Any]:
    if not path.is_file():
        return {}
    try:
        return tomllib.loads(path.read_text(encoding="utf-8"))
    except (tomllib.TOMLDecodeError, UnicodeDecodeError) as error:
        problems.append(Problem(where=str(path), line=None, message=f"not valid TOML: {error}"))
        return {}


def _read_env(path: Path) -> dict[str, Any]:
    if not path.is_file():
        return {}
    return {key: value for key, value in dotenv_values(path).items() if value}


def _unknown(where: str, content: Mapping[str, Any]) -> Iterator[Problem]:
    known = sorted(Settings.model_fields)
    for key in content:
        if key.lower() in known:
            continue
        nearest = difflib.get_close_matches(key.lower(), known, n=1)
        hint = f"; did you mean {nearest[0].upper()}?" if nearest else ""
        yield Problem(where=where, line=None, message=f"unknown setting {key!r}{hint}")


def _problem(sources: Mapping[str, str], detail: Any) -> Problem:
    name = str(detail["loc"][0]) if detail["loc"] else "settings"
    return Problem(
        where=sources.get(name, "settings"),
        line=None,
        message=f"{name.upper()}: {detail['msg']} (got {detail['input']!r})",
    )
