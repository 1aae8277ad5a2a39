"""A model server that does as it is told: answers, fails, drops, lies, obeys, over real HTTP on loopback.

    with model_server() as server:
        server.will(fails(503), says('{"who": "leo"}'))
        ...  # a client of server.url: OpenAI-compatible, and Ollama's own protocol
        assert server.calls[0].body["model"] == "m"

What it is told is used up in order; the last one stays. It records everything that it was sent.
"""

from modelserver.behaviours import (
    breaks_off,
    computes,
    drips,
    fails,
    floods,
    hangs,
    obeys,
    packs,
    pours,
    refuses,
    refuses_parameter,
    refuses_schemas,
    says,
    stalls,
    writes,
)
from modelserver.server import ModelServer, Received, model_server

__all__ = [
    "ModelServer",
    "Received",
    "breaks_off",
    "computes",
    "drips",
    "fails",
    "floods",
    "hangs",
    "model_server",
    "obeys",
    "packs",
    "pours",
    "refuses",
    "refuses_parameter",
    "refuses_schemas",
    "says",
    "stalls",
    "writes",
]
