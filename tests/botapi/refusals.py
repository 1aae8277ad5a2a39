"""How the API says no: a status, a sentence, and at times parameters a program can act on."""

from typing import Any


class Refusal(Exception):  # noqa: N818 - an answer of the API, not a failure of the emulator
    """A call that the API refuses."""

    def __init__(self, code: int, description: str, **parameters: int) -> None:
        super().__init__(description)
        self.code = code
        self.description = description
        self.parameters = parameters

    def as_json(self) -> dict[str, Any]:
        body: dict[str, Any] = {
            "ok": False,
            "error_code": self.code,
            "description": self.description,
        }
        if self.parameters:
            body["parameters"] = self.parameters
        return body


def bad_request(reason: str, **parameters: int) -> Refusal:
    return Refusal(400, f"Bad Request: {reason}", **parameters)


def forbidden(reason: str) -> Refusal:
    return Refusal(403, f"Forbidden: {reason}")


def conflict(reason: str) -> Refusal:
    return Refusal(409, f"Conflict: {reason}")


def too_many_requests(seconds: int) -> Refusal:
    return Refusal(429, f"Too Many Requests: retry after {seconds}", retry_after=seconds)
