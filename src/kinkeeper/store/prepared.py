"""Statements compiled once a database, and the condition that leaves only what somebody may see.

SQLAlchemy looks a statement up in its cache, rearranges its values and wraps what comes back at every
execution, which costs several times what SQLite takes to run it. Text and types are SQLAlchemy's here
too, and so is the transaction; SQLite's driver is asked directly.
"""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Self

from sqlalchemy import (
    ARRAY,
    JSON,
    Boolean,
    Column,
    ColumnDefault,
    ColumnElement,
    Connection,
    Dialect,
    Float,
    Insert,
    Select,
    String,
    Table,
    Update,
    and_,
    any_,
    bindparam,
    func,
    insert,
    or_,
    select,
    update,
)
from sqlalchemy.ext.compiler import compiles
from sqlalchemy.sql.compiler import SQLCompiler
from sqlalchemy.sql.functions import FunctionElement
from sqlalchemy.types import TypeDecorator, TypeEngine

_SQLITE = "sqlite"
Rows = Sequence[Sequence[Any]]
_Convert = Callable[[Any], Any]


def is_one_of(column: ColumnElement[str], name: str) -> ColumnElement[bool]:
    """Return the condition that a column holds one of some texts, of any number, given as one parameter.

    Args:
        name: Of the parameter, a list.
    """
    return _IsOneOf(column, name)


@dataclass(frozen=True, slots=True)
class _Compiled:
    """A statement of one database.

    Attributes:
        text: As the driver takes it.
        binds: Its parameters in order: name, and how a value is put.
        fixed: Values of those that need not be given; any other that is missing is a `KeyError`.
        names: Of the values of a row; none where it returns no columns of its own.
        reads: How the values of a row are read back, by place; those that come as they are are left out.
        is_positional: Whether parameters are told by their order, not by name.
    """

    text: str
    binds: Sequence[tuple[str, _Convert | None]]
    fixed: Mapping[str, Any]
    names: Sequence[str]
    reads: Sequence[tuple[int, _Convert]]
    is_positional: bool


class Prepared:
    """A statement without expanding lists (for those, see `is_one_of`).

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
        """Run it in the caller's transaction and return all rows; none where it returns nothing."""
        compiled = self._compiled.get(conn.dialect.name) or self._compile(conn.dialect)
        rows = self._rows(conn, compiled, values)
        if not compiled.reads:
            return rows
        read = [list(row) for row in rows]
        for place, convert in compiled.reads:
            for row in read:
                row[place] = convert(row[place])
        return read

    def mappings(self, conn: Connection, values: Mapping[str, Any]) -> list[dict[str, Any]]:
        """Run a selection in the caller's transaction and return all rows, each by the names of its columns."""
        rows = self.execute(conn, values)
        names = self._compiled[conn.dialect.name].names
        return [dict(zip(names, row, strict=True)) for row in rows]

    def _rows(self, conn: Connection, compiled: _Compiled, values: Mapping[str, Any]) -> Rows:
        given = {**compiled.fixed, **values}
        put = [
            given[name] if convert is None else convert(given[name])
            for name, convert in compiled.binds
        ]
        if conn.dialect.name == _SQLITE:
            rows: Rows = conn.connection.driver_connection.execute(compiled.text, put).fetchall()  # type: ignore[union-attr]  # open here
            return rows
        if compiled.is_positional:
            result = conn.exec_driver_sql(compiled.text, tuple(put))
        else:
            names = (name for name, _ in compiled.binds)
            result = conn.exec_driver_sql(compiled.text, dict(zip(names, put, strict=True)))
        return result.all() if result.returns_rows else ()

    def _compile(self, dialect: Dialect) -> _Compiled:
        compiled = self._statement.compile(dialect=dialect, column_keys=self._columns)
        fixed = {
            name: bind.effective_value for name, bind in compiled.binds.items() if not bind.required
        }
        defaults = ((column.key, column.default) for column in compiled.insert_prefetch)
        fixed |= {
            key: default.arg for key, default in defaults if isinstance(default, ColumnDefault)
        }
        binds = [
            (name, compiled.binds[name].type.dialect_impl(dialect).bind_processor(dialect))
            for name in (compiled.positiontup or compiled.binds)
        ]
        columns = _columns(self._statement)
        names = [column.key or "" for column in columns]
        reads = _reads(columns, dialect)
        ready = _Compiled(
            str(compiled), binds, fixed, names, reads, compiled.positiontup is not None
        )
        self._compiled[dialect.name] = ready
        return ready


class PreparedPut:
    """Puts a row where its primary key says: changes the one that is there, or makes it.

    Args:
        table: Every column of it is given.
    """

    def __init__(self, table: Table) -> None:
        key = [*table.primary_key.columns]
        others = [column for column in table.columns if not column.primary_key]
        self._insert = Prepared(insert(table), table.columns.keys())
        self._update = Prepared(
            update(table)
            .where(*(column == bindparam(f"of_{column.key}") for column in key))
            .values({column: bindparam(f"{column.key}_", type_=column.type) for column in others})
            .returning(*key)
        )
        self._names = [
            (f"of_{column.key}" if column.primary_key else f"{column.key}_", column.key)
            for column in table.columns
        ]

    def put(self, conn: Connection, row: Mapping[str, Any]) -> None:
        """Run it in the caller's transaction.

        Args:
            row: A value for each column.
        """
        if not self._update.execute(conn, {name: row[key] for name, key in self._names}):
            self._insert.execute(conn, row)


def _columns(statement: Select[*tuple[Any, ...]] | Insert | Update) -> Sequence[ColumnElement[Any]]:
    return [*statement.selected_columns] if isinstance(statement, Select) else []


def _reads(columns: Sequence[ColumnElement[Any]], dialect: Dialect) -> list[tuple[int, _Convert]]:
    # Both drivers give floats as they are; SQLAlchemy would ask the server which kind it was.
    converts = (
        None
        if isinstance(column.type, Float)
        else column.type.dialect_impl(dialect).result_processor(dialect, None)
        for column in columns
    )
    return [(place, convert) for place, convert in enumerate(converts) if convert is not None]


class _Texts(TypeDecorator[list[str]]):
    """A list of texts as a parameter."""

    impl = JSON
    cache_ok = True

    def load_dialect_impl(self, dialect: Dialect) -> TypeEngine[Any]:
        """Return JSON for SQLite, which has no lists."""
        return dialect.type_descriptor(JSON() if dialect.name == _SQLITE else ARRAY(String()))


class _IsOneOf(FunctionElement[bool]):
    name = "is_one_of"
    inherit_cache = True  # without it, each statement that asks who may see its rows is compiled at every execution
    type = Boolean()

    def __init__(self, column: ColumnElement[str], name: str) -> None:
        super().__init__(column, bindparam(name, type_=_Texts()))

    def self_group(self, against: Any = None) -> Self:
        """Return it as it is: compared with 1, as columns of truth values are, no index would serve it."""
        return self


@compiles(_IsOneOf)
def _any_of_list(element: _IsOneOf, compiler: SQLCompiler, **kw: Any) -> str:
    column, texts = element.clauses
    return compiler.process(column == any_(texts), **kw)


@compiles(_IsOneOf, _SQLITE)
def _any_of_json(element: _IsOneOf, compiler: SQLCompiler, **kw: Any) -> str:
    column, texts = element.clauses
    each = func.json_each(texts).table_valued("value")
    return compiler.process(column.in_(select(each.c.value)), **kw)


# The condition by which a query returns only what somebody may see.

_SURPRISES = "except:%"
"""Matches the scopes that name from whom something is kept."""


def in_scope(scope: Column[str]) -> ColumnElement[bool]:
    """Return the condition that a row may be seen; its parameters are those of a viewer.

    A row is in one of `scopes`, or it is a surprise whose scope does not match the pattern `kept_from`. With
    `sees_all` every row is.
    """
    return or_(bindparam("sees_all", type_=Boolean), in_own_scope(scope))


def in_own_scope(scope: ColumnElement[str]) -> ColumnElement[bool]:
    """Return the condition of `in_scope` for readers that never see all: an index of scopes can serve it."""
    is_hidden = scope.like(bindparam("kept_from", type_=String), escape="\\")
    return or_(is_one_of(scope, "scopes"), and_(scope.like(_SURPRISES), ~is_hidden))
