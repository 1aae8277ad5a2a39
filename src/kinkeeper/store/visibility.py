"""The condition by which a query returns only what somebody may see."""

from sqlalchemy import Boolean, Column, ColumnElement, String, and_, bindparam, or_

from kinkeeper.store.prepared import is_one_of

_SURPRISES = "except:%"
"""Matches the scopes that name from whom something is kept."""


def in_scope(scope: Column[str]) -> ColumnElement[bool]:
    """Return the condition that a row may be seen; its parameters are those of a viewer.

    A row is in one of `scopes`, or it is a surprise whose scope does not match the pattern `kept_from`. With
    `sees_all` every row is.

    Args:
        scope: Column of the row.
    """
    return or_(bindparam("sees_all", type_=Boolean), in_own_scope(scope))


def in_own_scope(scope: ColumnElement[str]) -> ColumnElement[bool]:
    """Return the condition of `in_scope` for readers that never see all: an index of scopes can serve it.

    Args:
        scope: Column of the row.
    """
    is_hidden = scope.like(bindparam("kept_from", type_=String), escape="\\")
    return or_(is_one_of(scope, "scopes"), and_(scope.like(_SURPRISES), ~is_hidden))
