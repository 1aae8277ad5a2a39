"""Statements compiled once a database: for the few that run for every message of every chat.

SQLAlchemy looks a statement up in its cache, rearranges its values and wraps what comes back at every
execution, which costs several times what SQLite takes to run it. Text and types are SQLAlchemy's here
too, and so is the transaction; SQLite's driver is asked directly.
"""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from sqlalchemy import ColumnDefault, Connection, Insert, Select, Update

_SQLITE = "sqlite"
Rows = Sequence[Sequence[Any]]


@dataclass(frozen=True, slots=True)
class _Compiled:
    """A statement of one database.

    Attributes:
        text: As the driver takes it.
        binds: Its parameters in order: name, value where none is given, and how a value is put.
        is_positional: Whether parameters are told by their order, not by name.
    """

    text: str
    binds: Sequence[tuple[str, Any, Callable[[Any], Any] | None]]
    is_positional: bool


class Prepared:
    """A statement without expanding lists, whose result needs no conversion: text, integers, floats.

    Args:
        statement: Its parameters are named by `bindparam`, or by the columns of a plain insert.
        columns: Of a plain insert: the columns that are given; others have their default.
    """

    def __init__(
        self, statement: Select[*tuple[Any, ...]] | Insert | Update, columns: Sequence[str] = ()
    ) -> None:
        self._statement = statement
        self._columns = list(columns) or None
        self._compiled: dict[str, _Compiled] = {}

    def execute(self, conn: Connection, values: Mapping[str, Any]) -> Rows:
        """Run it in the caller's transaction and return all rows; none where it returns nothing.

        Args:
            conn: Of the database.
            values: One for each parameter.
        """
        database = conn.dialect.name
        compiled = self._compiled.get(database) or self._compile(conn)
        given = values.get
        put = [
            given(name, fixed) if convert is None else convert(given(name, fixed))
            for name, fixed, convert in compiled.binds
        ]
        if database == _SQLITE:
            rows: Rows = conn.connection.driver_connection.execute(compiled.text, put).fetchall()  # type: ignore[union-attr]  # open here
            return rows
        if compiled.is_positional:
            result = conn.exec_driver_sql(compiled.text, tuple(put))
        else:
            names = (name for name, _, _ in compiled.binds)
            result = conn.exec_driver_sql(compiled.text, dict(zip(names, put, strict=True)))
        return result.all() if result.returns_rows else ()

    def _compile(self, conn: Connection) -> _Compiled:
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
            (
                name,
                fixed.get(name),
                compiled.binds[name].type.dialect_impl(dialect).bind_processor(dialect),
            )
            for name in (compiled.positiontup or compiled.binds)
        ]
        ready = _Compiled(str(compiled), binds, compiled.positiontup is not None)
        self._compiled[dialect.name] = ready
        return ready
