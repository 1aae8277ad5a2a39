"""A real calendar server on loopback, in a process of its own: Radicale, one calendar shared by its users."""

import socket
import subprocess
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path

import httpx

from kinkeeper.connectors.caldav.address import Address

COLLECTION = "/family/calendar/"
USER, PASSWORD = "parent", "p@ss/word"  # a password that must be escaped in an address
_RIGHTS = """
[root]
user: .+
collection:
permissions: R

[shared]
user: .+
collection: family
permissions: RrWw

[calendar]
user: .+
collection: family/[^/]+
permissions: RrWw
"""
_MAKE = """<?xml version="1.0" encoding="utf-8"?>
<C:mkcalendar xmlns:D="DAV:" xmlns:C="urn:ietf:params:xml:ns:caldav"><D:set><D:prop>
<D:displayname>Family</D:displayname></D:prop></D:set></C:mkcalendar>"""


@dataclass(slots=True)
class CalendarServer:
    """The server, which can be stopped and started again.

    Attributes:
        folder: Where it keeps what it holds.
        port: Where it listens.
    """

    folder: Path
    port: int
    process: subprocess.Popen[bytes] | None = None

    @property
    def origin(self) -> str:
        return f"http://127.0.0.1:{self.port}"

    @property
    def address(self) -> Address:
        return Address(url=f"{self.origin}{COLLECTION}", user=USER, password=PASSWORD)

    @property
    def setting(self) -> str:
        return f"http://{USER}:p%40ss%2Fword@127.0.0.1:{self.port}{COLLECTION}"

    def start(self) -> None:
        (self.folder / "rights").write_text(_RIGHTS)
        (self.folder / "users").write_text(f"{USER}:{PASSWORD}\nother:other\nfamily:family\n")
        self.process = subprocess.Popen(
            [
                sys.executable,
                "-m",
                "radicale",
                "--config",
                "",
                "--server-hosts",
                f"127.0.0.1:{self.port}",
                "--storage-filesystem-folder",
                str(self.folder / "store"),
                "--auth-type",
                "htpasswd",
                "--auth-htpasswd-filename",
                str(self.folder / "users"),
                "--auth-htpasswd-encryption",
                "plain",
                "--auth-delay",
                "0",
                "--rights-type",
                "from_file",
                "--rights-file",
                str(self.folder / "rights"),
                "--logging-level",
                "error",
            ],
            stdin=subprocess.DEVNULL,
        )
        while not self._answers():
            assert self.process.poll() is None, "the calendar server ended"

    def _answers(self) -> bool:
        try:
            httpx.get(f"{self.origin}/.web", timeout=5)
        except httpx.TransportError:
            return False
        return True

    def stop(self) -> None:
        if self.process is not None:
            self.process.terminate()
            self.process.wait()
            self.process = None

    def call(self, method: str, path: str, body: str = "", **headers: str) -> httpx.Response:
        """Do what another program of the family does to the calendar."""
        return httpx.request(
            method,
            f"{self.origin}{path}",
            content=body.encode(),
            auth=("other", "other"),
            headers={"Content-Type": "text/calendar; charset=utf-8"} | headers,
        )

    def objects(self) -> dict[str, str]:
        """Return what it holds, by name."""
        folder = self.folder / "store/collection-root/family/calendar"
        return {path.name: path.read_text() for path in sorted(folder.glob("*.ics"))}

    def put(self, name: str, *lines: str, component: str = "VEVENT") -> None:
        """Put an object there as a phone would; `lines` are those of its component."""
        text = "\r\n".join(
            [
                "BEGIN:VCALENDAR",
                "VERSION:2.0",
                "PRODID:-//Phone//EN",
                f"BEGIN:{component}",
                "DTSTAMP:20260101T000000Z",
                *lines,
                f"END:{component}",
                "END:VCALENDAR",
                "",
            ]
        )
        response = self.call("PUT", f"{COLLECTION}{name}", text)
        assert response.status_code in {201, 204}, response.text

    def edit(self, name: str, *changes: tuple[str, str]) -> None:
        """Change the text of an object as a phone would."""
        text = self.objects()[name]
        for old, new in changes:
            assert old in text, text
            text = text.replace(old, new)
        response = self.call("PUT", f"{COLLECTION}{name}", text)
        assert response.status_code in {201, 204}, response.text

    def remove(self, name: str) -> None:
        response = self.call("DELETE", f"{COLLECTION}{name}")
        assert response.status_code in {200, 204}, response.text


def _free_port() -> int:
    with socket.socket() as listening:
        listening.bind(("127.0.0.1", 0))
        return int(listening.getsockname()[1])


@contextmanager
def calendar_server(folder: Path) -> Iterator[CalendarServer]:
    """Run a server with one empty calendar for the length of the block."""
    folder.mkdir(parents=True, exist_ok=True)
    server = CalendarServer(folder=folder, port=_free_port())
    server.start()
    try:
        (folder / "store/collection-root/family").mkdir(parents=True)
        made = server.call("MKCALENDAR", COLLECTION, _MAKE)
        assert made.status_code == 201, made.text
        yield server
    finally:
        server.stop()
