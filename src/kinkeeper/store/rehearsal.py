"""Transactions that are never kept: they show what would happen."""

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import NoReturn, TypeVar

from sqlalchemy import Connection

from kinkeeper.core.errors import InvariantError

T = TypeVar("T")

_MARK = "kinkeeper.rehearsal"


class RehearsedError(Exception):
    """Ends a rehearsal: carries its result out of the transaction, which its raising undoes.

    Attributes:
        result: What the work returned.
    """

    def __init__(self, result: object) -> None:
        super().__init__()
        self.result = result


def rehearsed(work: Callable[[Connection], T]) -> Callable[[Connection], NoReturn]:
    """Return the work as one that always ends with `RehearsedError`, so that nothing of it stays.

    Args:
        work: Runs in a writing transaction.
    """

    def run(conn: Connection) -> NoReturn:
        with _marked(conn):
            raise RehearsedError(work(conn))

    return run


def require_rehearsal(conn: Connection) -> None:
    """Refuse to go on in a transaction that could be kept.

    Raises:
        InvariantError: It is one.
    """
    if not conn.info.get(_MARK):
        raise InvariantError(
            "this may only run where it is rolled back; use the store's `rehearse`"
        )


@contextmanager
def _marked(conn: Connection) -> Iterator[None]:
    conn.info[_MARK] = True
    try:
        yield
    finally:
        del conn.info[_MARK]
