"""A process in a network of its own that has loopback only: plays the sample, serves a message, counts what tried to leave.

Not a test itself. Writes one JSON object: what the kernel counted of a try to leave (to show that it
counts), and of the program.
"""

import fcntl
import json
import socket
import struct
import sys
import time
from contextlib import suppress
from pathlib import Path

from cli_program import Program
from running_server import prepared, running, token, where

_SET_FLAGS, _UP = 0x8914, 1
# Addresses that documents use and nobody has.
_NOWHERE = ((socket.AF_INET, "192.0.2.1"), (socket.AF_INET6, "2001:db8::1"))
_TEXT = "Leo has the dentist tomorrow at 4pm"


def bring_up() -> None:
    """Switch loopback on."""
    with socket.socket(socket.AF_INET, socket.SOCK_DGRAM) as any_socket:
        fcntl.ioctl(any_socket, _SET_FLAGS, struct.pack("16sh", b"lo", _UP))


def counted() -> dict[str, int]:
    """Return how many packets had no way to go, and how many datagrams (names asked for) were sent at all."""
    sixth = dict(line.split() for line in Path("/proc/net/snmp6").read_text("ascii").splitlines())
    return {
        "4": _count("Ip:", "OutNoRoutes"),
        "6": int(sixth["Ip6OutNoRoutes"]),
        "datagrams": _count("Udp:", "OutDatagrams") + int(sixth["Udp6OutDatagrams"]),
    }


def _count(protocol: str, name: str) -> int:
    lines = Path("/proc/net/snmp").read_text(encoding="ascii").splitlines()
    names, values = (line.split() for line in lines if line.startswith(protocol))
    return int(values[names.index(name)])


def try_to_leave() -> dict[str, int]:
    """Return what the kernel counts of a try to reach a host elsewhere."""
    before = counted()
    for family, address in _NOWHERE:
        with socket.socket(family, socket.SOCK_STREAM) as connection, suppress(OSError):
            connection.settimeout(1)
            connection.connect((address, 80))
    after = counted()
    return {name: after[name] - before[name] for name in after}


def round_trip(program: Program) -> dict[str, object]:
    """Serve a message and the pages, and stop; returns what was answered."""
    bridge = token(program, "sarah", "--role", "bridge")
    reader = token(program, "sarah", "--role", "adult")
    message = {
        "chat_id": "family",
        "message_id": "m1",
        "sender": "sarah",
        "text": _TEXT,
        "sent_at": time.strftime("%Y-%m-%dT%H:%M:%S+00:00", time.gmtime()),
    }
    with running(program) as server, server.client(bridge) as client:
        taken = client.post("/observe", json=message).status_code
        with server.client(reader) as reading:
            pages = [reading.get(path).status_code for path in ("/", "/health", "/metrics")]
            deadline = time.monotonic() + 60
            cards = 0
            while not cards and time.monotonic() < deadline:
                time.sleep(0.5)
                cards = len(reading.get("/api/pending").json()["actions"])
        return {"taken": taken, "pages": pages, "cards": cards, "ended": server.end()}


def main() -> None:
    """Do it in the folder that is named."""
    bring_up()
    control, before = try_to_leave(), counted()
    program = Program(Path(sys.argv[1]))
    played = program.bare("demo").code
    served = round_trip(prepared(program))
    listed = program.bare("why", "m1", *where(program)).code
    after = counted()
    interfaces = [name for _, name in socket.if_nameindex()]
    found = {
        "interfaces": interfaces,
        "control": control,
        "played": played,
        "listed": listed,
        **served,
        "left": {name: after[name] - before[name] for name in after},
    }
    sys.stdout.write(json.dumps(found))


if __name__ == "__main__":
    main()
