"""Writing to a database server: units of work run beside each other, and one that lost runs again alone.

However many write at the same time, in however many processes, a unit loses once and then succeeds.
"""

from collections.abc import Callable
from typing import TypeVar

from sqlalchemy import Connection, text
from sqlalchemy.exc import DBAPIError

from kinkeeper.store.faults import is_conflict, translated
from kinkeeper.store.pool import TransactionPool

T = TypeVar("T")

# Any constant: all processes must ask the server for the same lock.
_TURN = 7_118_204_552
_BESIDE_OTHERS = text(f"SELECT pg_advisory_xact_lock_shared({_TURN})")
_TAKE_TURN = text(f"SELECT pg_advisory_lock({_TURN})")
_END_TURN = text(f"SELECT pg_advisory_unlock({_TURN})")

# The job engine's own transactions take no turns; a unit can lose against one of them, too.
_TRIES_ALONE = 4


class ServerWriter(TransactionPool):
    """Runs each unit of work in a serializable transaction on a connection of its own."""

    def run_now(self, work: Callable[[Connection], T]) -> T:
        """Run `work` on the calling thread; return after its transaction ended.

        Raises:
            StoreBusyError: Lost against concurrent transactions again and again.
            UnavailableError: The database cannot be reached, or the store is closed.
        """

        def beside_others(connection: Connection) -> T:
            connection.execute(_BESIDE_OTHERS)
            return work(connection)

        self._check_open()
        with translated():
            try:
                with self._engine.connect() as connection:
                    return self._once(connection, beside_others)
            except DBAPIError as error:
                if not is_conflict(error):
                    raise
            with self._engine.connect() as connection:
                return self._alone(connection, work)

    def _alone(self, connection: Connection, work: Callable[[Connection], T]) -> T:
        """Run `work` while no other unit of any process runs."""
        # In a transaction before: what `work` sees must not date from before its turn.
        with connection.begin():
            connection.execute(_TAKE_TURN)
        try:
            for _ in range(_TRIES_ALONE - 1):
                try:
                    return self._once(connection, work)
                except DBAPIError as error:
                    if not is_conflict(error):
                        raise
            return self._once(connection, work)
        finally:
            _end_turn(connection)


def _end_turn(connection: Connection) -> None:
    try:
        with connection.begin():
            connection.execute(_END_TURN)
    except DBAPIError:
        connection.invalidate()  # the server ends the turn of a connection that is gone
