"""Faults a test asks for: lost connections, late, broken and refused answers."""

import threading
from dataclasses import dataclass, field
from typing import Literal

Kind = Literal["drop", "answer", "garble", "hold", "delay"]


@dataclass(eq=False, slots=True)
class Hold:
    """A call that stands still until it is released."""

    _arrived: threading.Event = field(default_factory=threading.Event)
    _released: threading.Event = field(default_factory=threading.Event)

    def wait_until_held(self, within: float = 5) -> None:
        """Return once a call stands here.

        Raises:
            AssertionError: None came in time.
        """
        assert self._arrived.wait(within), "no call came to be held"

    def release(self) -> None:
        """Let the call go on."""
        self._released.set()

    def stand(self) -> None:
        """Stand here; for the server."""
        self._arrived.set()
        self._released.wait()


@dataclass(eq=False, slots=True, kw_only=True)
class Fault:
    """What happens to calls of one method."""

    method: str
    kind: Kind
    times: int
    processed: bool
    """Whether the call takes effect all the same."""
    status: int = 200
    body: str = ""
    seconds: float = 0
    hold: Hold | None = None


@dataclass(eq=False, slots=True)
class Faults:
    """Faults waiting for calls. `method` is one by its name, or `*` for any."""

    waiting: list[Fault] = field(default_factory=list)
    holds: list[Hold] = field(default_factory=list)

    def drop_before(self, method: str = "*", *, times: int = 1) -> None:
        """Close the connection; the call has no effect."""
        self._add(method, "drop", times, processed=False)

    def drop_after(self, method: str = "*", *, times: int = 1) -> None:
        """Let the call take effect, then close the connection without an answer."""
        self._add(method, "drop", times, processed=True)

    def answer(
        self, method: str = "*", *, status: int, body: str, times: int = 1, processed: bool = False
    ) -> None:
        """Answer with this status and body."""
        fault = Fault(
            method=method, kind="answer", times=times, processed=processed, status=status, body=body
        )
        self.waiting.append(fault)

    def internal_error(self, method: str = "*", *, times: int = 1, processed: bool = False) -> None:
        """Answer 500, as the API words it."""
        body = '{"ok":false,"error_code":500,"description":"Internal Server Error"}'
        self.answer(method, status=500, body=body, times=times, processed=processed)

    def bad_gateway(self, method: str = "*", *, times: int = 1, processed: bool = False) -> None:
        """Answer 502 with the page of a proxy, which is no JSON."""
        body = "<html><head><title>502 Bad Gateway</title></head><body></body></html>"
        self.answer(method, status=502, body=body, times=times, processed=processed)

    def too_many(self, method: str = "*", *, retry_after: int = 5, times: int = 1) -> None:
        """Answer 429; the call has no effect."""
        body = (
            '{"ok":false,"error_code":429,'
            f'"description":"Too Many Requests: retry after {retry_after}",'
            f'"parameters":{{"retry_after":{retry_after}}}}}'
        )
        self.answer(method, status=429, body=body, times=times)

    def garble(self, method: str = "*", *, times: int = 1) -> None:
        """Let the call take effect, but cut its answer in the middle."""
        self._add(method, "garble", times, processed=True)

    def hold(self, method: str = "*", *, processed: bool = False) -> Hold:
        """Keep the next call standing, before or after it takes effect, until it is released."""
        held = Hold()
        self.holds.append(held)
        fault = Fault(method=method, kind="hold", times=1, processed=processed, hold=held)
        self.waiting.append(fault)
        return held

    def delay(
        self, method: str = "*", *, seconds: float, times: int = 1, processed: bool = False
    ) -> None:
        """Keep calls waiting for so many real seconds."""
        self.waiting.append(
            Fault(method=method, kind="delay", times=times, processed=processed, seconds=seconds)
        )

    def clear(self) -> None:
        """Forget them all, and let held calls go on."""
        for held in self.holds:
            held.release()
        self.holds.clear()
        self.waiting.clear()

    def take(self, method: str) -> Fault | None:
        """Return the fault for this call and count it; for the server."""
        for fault in self.waiting:
            if fault.method.lower() in {"*", method.lower()}:
                fault.times -= 1
                if fault.times <= 0:
                    self.waiting.remove(fault)
                return fault
        return None

    def _add(self, method: str, kind: Kind, times: int, *, processed: bool) -> None:
        self.waiting.append(Fault(method=method, kind=kind, times=times, processed=processed))
