"""What can go wrong with a call to a model; the caller has a fallback for each."""

from datetime import timedelta

from kinkeeper.core.errors import UnavailableError
from kinkeeper.models.model import Outcome


class ModelError(UnavailableError):
    """There is no usable answer; the message says why, and never holds text of the call.

    Attributes:
        outcome: How the call ended.
        may_retry: Whether the server said that the same call may succeed soon.
        retry_after: How long it asked to wait, >= 0; None where it did not say.
    """

    def __init__(
        self,
        message: str,
        *,
        outcome: Outcome,
        may_retry: bool = False,
        retry_after: timedelta | None = None,
        **context: object,
    ) -> None:
        super().__init__(message, **context)
        self.outcome = outcome
        self.may_retry = may_retry
        self.retry_after = retry_after


class StatusError(ModelError):
    """The server answered with an error's status.

    Attributes:
        status: Of HTTP.
        parameter: What of the request it does not take, where it says so.
    """

    def __init__(
        self,
        message: str,
        *,
        status: int,
        outcome: Outcome,
        may_retry: bool,
        retry_after: timedelta | None = None,
        parameter: str | None = None,
    ) -> None:
        super().__init__(message, outcome=outcome, may_retry=may_retry, retry_after=retry_after)
        self.status = status
        self.parameter = parameter
