"""Every error the program raises on purpose, on one screen.

KinkeeperError               base; `context` holds loggable keys
├─ ConfigError               settings or household file are wrong: every problem, each with its place
├─ InputError                the caller's data is wrong
│  └─ FieldError             one field of a form is wrong
├─ NotFoundError             nothing has that id
├─ ConflictError             state moved on: settled, expired, stale
│  └─ OutdatedError          somebody else changed it since it was looked at
├─ DeniedError               policy says no: role, household, staging
├─ UnavailableError          may pass; try again later
│  └─ StoreBusyError         the database is held by another writer
├─ StoreVersionError         the database is newer than this program, or its SQLite is unsafe
└─ InvariantError            a bug of ours; never caught below a boundary
"""

from collections.abc import Sequence
from dataclasses import dataclass


class KinkeeperError(Exception):
    """Base of all errors raised on purpose.

    Attributes:
        context: Loggable keys (ids, counts; never message text).
    """

    def __init__(self, message: str, **context: object) -> None:
        super().__init__(message)
        self.context = context


@dataclass(frozen=True, slots=True, kw_only=True)
class Problem:
    """One thing wrong in a file.

    Attributes:
        where: File name, or another name of the place.
        line: 1-based line, or None where the whole file is concerned.
        message: What is wrong and how to mend it.
    """

    where: str
    line: int | None
    message: str

    def __str__(self) -> str:
        """Return `file:line: message`, the form editors can jump to."""
        place = self.where if self.line is None else f"{self.where}:{self.line}"
        return f"{place}: {self.message}"


class ConfigError(KinkeeperError):
    """Settings or a household file are wrong; carries every problem at once."""

    def __init__(self, problems: Sequence[Problem]) -> None:
        super().__init__("\n".join(str(problem) for problem in problems))
        self.problems = tuple(problems)


class InputError(KinkeeperError):
    """The caller's data is wrong; the message says what to change."""


class FieldError(InputError):
    """One field of what the caller sent is wrong; the message says what to change.

    Attributes:
        field: Its name.
    """

    def __init__(self, field: str, message: str) -> None:
        super().__init__(message)
        self.field = field


class UnclearError(KinkeeperError):
    """Several things could be meant, or something is missing; the message is the question to the person.

    Attributes:
        options: What could be meant, as people would say it.
    """

    def __init__(self, question: str, *, options: Sequence[str] = ()) -> None:
        super().__init__(question)
        self.options = tuple(options)


class NotFoundError(KinkeeperError):
    """Nothing has the id that was asked for."""


class ConflictError(KinkeeperError):
    """The state moved on: already settled, expired, or changed in between."""


class OutdatedError(ConflictError):
    """Somebody else changed it after the caller looked at it; they should look again."""


class DeniedError(KinkeeperError):
    """Policy refuses: wrong role, household, chat or environment."""


class UnavailableError(KinkeeperError):
    """Something needed is not reachable now; a later try may succeed."""


class StoreBusyError(UnavailableError):
    """Another writer held the database for longer than the busy timeout."""


class StoreVersionError(KinkeeperError):
    """The database was written by a newer program, or the SQLite library is unsafe."""


class InvariantError(KinkeeperError):
    """A promise of the code does not hold: a bug of ours."""
