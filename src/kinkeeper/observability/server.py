"""Figures of the HTTP server, in a registry of their own. Labels are route templates, never paths."""

from collections.abc import Mapping
from typing import TYPE_CHECKING

from kinkeeper.core.extras import is_installed

if TYPE_CHECKING:  # of the extra `metrics`
    pass

_SECONDS = (0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10)


class ServerMetrics:
    """Counts requests and how long they took. Needs the extra `metrics`.

    Attributes:
        registry: Where others may add what is looked up when somebody asks.
    """

    def __init__(self) -> None:
        from prometheus_client import CollectorRegistry, Counter, Histogram  # noqa: PLC0415

        self.registry = CollectorRegistry()
        self._requests = Counter(
            "kinkeeper_http_requests",
            "Answered requests.",
            ["route", "method", "status"],
            registry=self.registry,
        )
        self._seconds = Histogram(
            "kinkeeper_http_request_seconds",
            "Time to the start of the response, in seconds.",
            ["route"],
            buckets=_SECONDS,
            registry=self.registry,
        )
        self._counts: dict[tuple[str, str, int], Counter] = {}
        self._times: dict[str, Histogram] = {}

    def answered(self, route: str, method: str, status: int, *, seconds: float) -> None:
        """Count one answered request.

        Args:
            route: Its template ("/api/pending/{id}"), of which there are few.
            method: Of HTTP; a known one.
            seconds: Until the answer began, >= 0.
        """
        key = (route, method, status)
        count = self._counts.get(key)
        if count is None:
            count = self._counts[key] = self._requests.labels(route, method, str(status))
        count.inc()
        time = self._times.get(route)
        if time is None:
            time = self._times[route] = self._seconds.labels(route)
        time.observe(seconds)

    def text(self) -> bytes:
        """Return all figures in the Prometheus text format."""
        from prometheus_client.exposition import generate_latest  # noqa: PLC0415

        return generate_latest(self.registry)


def server_metrics() -> ServerMetrics | None:
    """Return new figures; None where the extra `metrics` is not installed."""
    return ServerMetrics() if is_installed("metrics") else None


def counts_text(name: str, meaning: str, counts: Mapping[str, int]) -> bytes:
    """Return how many of something are in which state, in the Prometheus text format.

    Args:
        counts: By state, of which there are few.
    """
    from prometheus_client import CollectorRegistry, Gauge  # noqa: PLC0415
    from prometheus_client.exposition import generate_latest  # noqa: PLC0415

    registry = CollectorRegistry()
    gauge = Gauge(name, meaning, ["state"], registry=registry)
    for state, count in sorted(counts.items()):
        gauge.labels(state).set(count)
    return generate_latest(registry)
