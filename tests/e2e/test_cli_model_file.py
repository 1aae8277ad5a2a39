"""The server with a model file: the model is started by the first message in doubt, and ends with the server."""

from pathlib import Path

import pytest

from cli_program import Program
from packaged_model import small_model
from running_server import Running, decided, prepared, running, token, where

pytestmark = [pytest.mark.slow, pytest.mark.model]

PLAIN = "Leo has the dentist tomorrow at 4pm"
IN_DOUBT = (
    "could somebody drop off on thursday at 8 or 9?",
    "dad and mom, pickup thursday needs doing",
    "soccer thursday at 4 and the dentist at 5 for leo",
)


def test_a_message_in_doubt_starts_it_and_the_end_of_the_server_ends_it(program: Program) -> None:
    prepared(program)
    # So short that this model, which is of no use, is hardly ever waited for.
    settings = f"MODEL_GGUF={small_model()}\nMODEL_TIMEOUT_SECONDS=2\nMODEL_CONTEXT_TOKENS=4096\n"
    (program.home / ".env").write_text(settings, "utf-8")
    writer = token(program, "sarah", "--role", "adult")
    with running(program) as server:
        decided(server, writer, 0, PLAIN)
        assert models_of(server) == [], "it runs although no message asked for it"
        for number, text in enumerate(IN_DOUBT, start=1):
            decided(server, writer, number, text)
        [model] = models_of(server)
        told = program.bare("models", "--json", *where(program)).lines[0]
        assert sum(call["calls"] for call in told["calls"]) >= 1
        assert server.end() == 0
    assert not Path(f"/proc/{model}").exists()
    assert "Traceback" not in server.log.read_text()


def models_of(server: Running) -> list[int]:
    files = Path(f"/proc/{server.process.pid}/task").glob("*/children")
    return [int(each) for file in files for each in file.read_text().split()]
