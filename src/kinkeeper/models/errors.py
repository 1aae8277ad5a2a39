"""What can go wrong with a call to a model; the caller has a fallback for each."""

from kinkeeper.core.errors import UnavailableError
from kinkeeper.models.model import Outcome


class ModelError(UnavailableError):
    """There is no usable answer; the message says why, and never holds text of the call.

    Attributes:
        outcome: How the call ended.
    """

    def __init__(self, message: str, *, outcome: Outcome, **context: object) -> None:
        super().__init__(message, **context)
        self.outcome = outcome
