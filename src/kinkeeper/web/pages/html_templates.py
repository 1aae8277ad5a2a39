"""Templates to HTML: everything is escaped, and a name that is missing is an error."""

import hashlib
from functools import cache
from importlib.resources import files
from typing import Any

from jinja2 import Environment, PackageLoader, StrictUndefined

_STATIC = files("kinkeeper.web").joinpath("static")


@cache
def environment() -> Environment:
    """Return the one template environment."""
    made = Environment(
        loader=PackageLoader("kinkeeper.web", "templates"), autoescape=True,
        undefined=StrictUndefined, trim_blocks=True, lstrip_blocks=True,
    )  # fmt: skip
    made.globals["asset"] = asset
    return made


def render(template: str, **values: Any) -> str:
    """Return a page.

    Args:
        template: Name of its file.
        values: What it shows; all escaped.
    """
    return environment().get_template(template).render(**values)


@cache
def asset(name: str) -> str:
    """Return the address of a static file; it changes with the content, so that it may be cached for good."""
    digest = hashlib.sha256(_STATIC.joinpath(name).read_bytes()).hexdigest()
    return f"/static/{name}?v={digest[:12]}"
