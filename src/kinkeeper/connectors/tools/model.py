"""A tool server as the settings name it. Values."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from datetime import timedelta

START = timedelta(seconds=30)
"""Longest wait for a server to start."""


@dataclass(frozen=True, slots=True, kw_only=True)
class ToolServer:
    """How to reach a server, and what it is trusted with.

    Attributes:
        name: As the settings name it; also the domain of its requests.
        command: Program to start, for one that runs here; None for one that is reached by its address.
        env: Variables for the program; it is given none of ours.
        url: Address, for one that is reached by it.
        headers: Sent with every request.
        safe: Names of tools that may be called unasked.
        timeout: Longest wait for an answer.
        allows_private: Whether a name may lead to an address of this machine or network.
    """

    name: str
    command: str | None = None
    args: tuple[str, ...] = ()
    env: Mapping[str, str] = field(default_factory=dict, repr=False)
    url: str | None = None
    headers: Mapping[str, str] = field(default_factory=dict, repr=False)
    safe: frozenset[str] = frozenset()
    timeout: timedelta = timedelta(seconds=20)
    allows_private: bool = False

    @property
    def longest_call(self) -> timedelta:
        """Longest time one call may take: to start it, to ask what it offers, and to call."""
        return START + 2 * self.timeout
