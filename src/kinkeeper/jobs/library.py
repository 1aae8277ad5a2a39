"""Loads the job engine without the libraries that it takes along and never uses here.

They are there for annotations, for checks of what it is not given, and for a database server: 16 MB of what a server
on a file holds. While the engine is loaded, names stand for what it takes from them; whoever uses one gets the real
thing. (`importlib.util.LazyLoader` puts off a module, but not the names that others import from it.)
"""

import sys
from collections.abc import Iterator
from contextlib import contextmanager
from importlib import import_module
from types import ModuleType
from typing import Any

_SELDOM_USED = ("psycopg", "sqlalchemy.orm", "sqlalchemy.ext.asyncio", "yaml", "croniter")


class _Later(type):
    """Something of a library: an annotation until it is called, asked for an attribute, or compared with."""

    _library: str

    def __instancecheck__(cls, value: object) -> bool:
        # Of what nobody has loaded nothing is an instance.
        return cls._library in sys.modules and isinstance(value, cls._meant())

    def __getattr__(cls, name: str) -> Any:
        return getattr(cls._meant(), name)

    def __getitem__(cls, _parameters: object) -> "_Later":
        return cls

    def __call__(cls, *args: Any, **named: Any) -> Any:
        return cls._meant()(*args, **named)

    def _meant(cls) -> Any:
        return getattr(import_module(cls._library), cls.__name__)


class _Library(ModuleType):
    """A module whose names are there later."""

    def __getattr__(self, name: str) -> _Later:
        if name.startswith("__"):
            raise AttributeError(name)
        return _Later(name, (), {"_library": self.__name__})


@contextmanager
def _put_off(*libraries: str) -> Iterator[None]:
    """Let what is imported in the block take names from libraries that are not loaded yet, unloaded."""
    absent = [name for name in libraries if name not in sys.modules]
    sys.modules.update({name: _Library(name) for name in absent})
    try:
        yield
    finally:
        for name in absent:
            del sys.modules[name]


with _put_off(*_SELDOM_USED):
    from dbos import DBOS, DBOSClient, DBOSConfig, EnqueueOptions, Serializer
    from dbos import _dbos as engine_internals
    from dbos import _queue as queue_internals
    from dbos import _sys_db as database_internals
    from dbos import _workflow_commands as upkeep_internals
    from dbos._serialization import DefaultSerializer

__all__ = [
    "DBOS",
    "DBOSClient",
    "DBOSConfig",
    "DefaultSerializer",
    "EnqueueOptions",
    "Serializer",
    "database_internals",
    "engine_internals",
    "queue_internals",
    "upkeep_internals",
]
