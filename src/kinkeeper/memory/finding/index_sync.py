"""Keeps what is searched in step with the database, whichever process writes to it.

Every change of a row takes the household's next number. What came after the last number known is read
before each search; what was there before that is read backwards, the newest first, as time allows.
So from the first search on all that is new is found, and the past is filled in.
"""

from collections.abc import Callable, Collection
from time import monotonic

import numpy as np
from sqlalchemy import Connection

from kinkeeper.memory.change_numbers import Changed, last_seq, removed
from kinkeeper.memory.finding.search_entries import Read
from kinkeeper.memory.finding.shelf import Shelf
from kinkeeper.memory.finding.vectors import vectors_changed, vectors_of

Reader = Callable[..., list[Read]]

_PAGE = 2_000
_NOT_BEGUN = -1


class Following:
    """One shelf in step with its table.

    Args:
        household: Tenant key.
        kind: What the table's rows are called among the removals.
        read: Reads the table.
        shelf: Is kept in step.
        model: Whose vectors; None where nothing makes any.
    """

    def __init__(
        self, household: str, *, kind: str, read: Reader, shelf: Shelf, model: str | None
    ) -> None:
        self.shelf = shelf
        self._household = household
        self._kind = kind
        self._read = read
        self._model = model
        self._known = _NOT_BEGUN
        self._unread_below = 0
        self._vectors_known = dict.fromkeys(shelf.vectors, 0)
        self._lacks_vectors = model is not None
        self._dimension: int | None = None

    @property
    def is_complete(self) -> bool:
        """Whether all of the past was read, and what it means."""
        return self._has_texts and not self._lacks_vectors

    @property
    def _has_texts(self) -> bool:
        return self._known != _NOT_BEGUN and self._unread_below == 0

    def catch_up(self, conn: Connection, *, deadline: float) -> None:
        """Read all that is new, and of the past as much as time allows.

        Args:
            conn: Open connection.
            deadline: Of the monotonic clock; the past is read until then.
        """
        last = last_seq(conn, self._household)
        if self._known == _NOT_BEGUN:
            self._known, self._unread_below = last, last + 1
        while self._known < last:
            self._read_new(conn, last)
        while not self._has_texts and (monotonic() < deadline or not len(self.shelf)):
            self._read_past(conn)
        if self._has_texts and self._model is not None:
            self._lacks_vectors = not self._read_vectors(conn, self._model, last, deadline)

    def _read_new(self, conn: Connection, last: int) -> None:
        page = self._read(conn, self._household, after=self._known, limit=_PAGE)
        # A full page tells nothing about what comes after it.
        until = page[-1][0] if len(page) == _PAGE else last
        gone: list[Changed[object]] = removed(
            conn, self._household, self._kind, after_seq=self._known, limit=last - self._known
        )
        self.shelf.drop([each for _, each, entry in page if entry is None])
        self.shelf.put([entry for *_, entry in page if entry is not None])
        # What came back under its old id after it was removed has the higher number.
        back = {each: seq for seq, each, _ in page}
        self.shelf.drop([each.id for each in gone if back.get(each.id, 0) < each.seq <= until])
        self._restore_vectors(conn, [each for _, each, entry in page if entry is not None])
        self._known = until

    def _read_past(self, conn: Connection) -> None:
        page = self._read(conn, self._household, before=self._unread_below, limit=_PAGE)
        # Of the same time, the later arrival stands later whatever is read first.
        self.shelf.put([entry for *_, entry in reversed(page) if entry is not None])
        self._unread_below = page[-1][0] if len(page) == _PAGE else 0

    def _restore_vectors(self, conn: Connection, ids: Collection[str]) -> None:
        """Read the vectors of texts that were put again, unless all vectors are still to be read."""
        if self._model is None or not any(self._vectors_known.values()):
            return
        for kind in self.shelf.vectors:
            found = vectors_of(
                conn, self._household, self._model, kind=kind, ids=ids, dimension=self._dimension
            )
            if found:
                self.shelf.put_vectors(kind, [*found], np.stack([*found.values()]))

    def _read_vectors(self, conn: Connection, model: str, last: int, deadline: float) -> bool:
        """Read the vectors that are new, a part at least and more as time allows; returns whether these are all."""
        for kind in self.shelf.vectors:
            while (known := self._vectors_known[kind]) < last:
                part = vectors_changed(
                    conn, self._household, model, kind, after_seq=known, dimension=self._dimension
                )
                if part is None:
                    self._vectors_known[kind] = last
                    break
                self._vectors_known[kind], ids, vectors = part
                if ids:
                    self._dimension = vectors.shape[1]
                    self.shelf.put_vectors(kind, ids, vectors)
                if monotonic() >= deadline:
                    return False
        return True
