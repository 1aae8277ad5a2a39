"""Statements compiled once a database: for the few that run for every message of every chat.

SQLAlchemy looks a statement up in its cache and rearranges its values at every execution, which costs
more than SQLite takes to run it. Text, types and transaction are SQLAlchemy's here too.
"""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from sqlalchemy import ColumnDefault, Connection, CursorResult, Insert, Select


@dataclass(frozen=True, slots=True)
class _Bind:
    """A parameter: its name, its value where none is given, and how a value is put."""

    name: str
    fixed: Any
    convert: Callable[[Any], Any] | None


class Prepared:
    """A statement without expanding lists, whose result needs no conversion: text, integers, floats.

    Args:
        statement: Its parameters are named by `bindparam`, or by the columns of a plain insert.
        columns: Of a plain insert: the columns that are given; others have their default.
    """

    def __init__(
        self, statement: Select[*tuple[Any, ...]] | Insert, columns: Sequence[str] = ()
    ) -> None:
        self._statement = statement
        self._columns = list(columns) or None
        self._ready: dict[str, tuple[str, bool, list[_Bind]]] = {}

    def execute(
        self, conn: Connection, values: Mapping[str, Any]
    ) -> CursorResult[*tuple[Any, ...]]:
        """Run it in the caller's transaction.

        Args:
            conn: Of the database.
            values: One for each parameter.
        """
        ready = self._ready.get(conn.dialect.name)
        text, is_positional, binds = ready or self._compile(conn)
        given = [values.get(bind.name, bind.fixed) for bind in binds]
        put = [
            value if bind.convert is None else bind.convert(value)
            for bind, value in zip(binds, given, strict=True)
        ]
        if is_positional:
            return conn.exec_driver_sql(text, tuple(put))
        named = {bind.name: value for bind, value in zip(binds, put, strict=True)}
        return conn.exec_driver_sql(text, named)

    def _compile(self, conn: Connection) -> tuple[str, bool, list[_Bind]]:
        dialect = conn.dialect
        compiled = self._statement.compile(dialect=dialect, column_keys=self._columns)
        fixed = {
            name: bind.effective_value for name, bind in compiled.binds.items() if not bind.required
        }
        defaults = ((column.key, column.default) for column in compiled.insert_prefetch)
        fixed |= {
            key: default.arg for key, default in defaults if isinstance(default, ColumnDefault)
        }
        binds = [
            _Bind(
                name,
                fixed.get(name),
                compiled.binds[name].type.dialect_impl(dialect).bind_processor(dialect),
            )
            for name in (compiled.positiontup or compiled.binds)
        ]
        ready = (str(compiled), compiled.positiontup is not None, binds)
        self._ready[dialect.name] = ready
        return ready
