"""The condition by which a query returns only what somebody may see."""

from sqlalchemy import Boolean, Column, ColumnElement, bindparam, or_

from kinkeeper.store.prepared import is_one_of


def in_scope(scope: Column[str]) -> ColumnElement[bool]:
    """Return the condition that a row is in one of the parameter `scopes`, unless `sees_all` is true.

    Args:
        scope: Column of the row.
    """
    return or_(bindparam("sees_all", type_=Boolean), is_one_of(scope, "scopes"))
