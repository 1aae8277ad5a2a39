"""llama.cpp on a real, packaged model: asked, cancelled, ended, killed; and what keeps it from running."""

import asyncio
import os
import signal
import subprocess
import sys
import time
from collections.abc import AsyncIterator, Iterator
from contextlib import aclosing, asynccontextmanager, suppress
from itertools import pairwise
from pathlib import Path
from typing import Literal

import httpx
import pytest
from pydantic import BaseModel, ConfigDict

from kinkeeper.bootstrap.models import models_opened
from kinkeeper.core.time import VirtualClock
from kinkeeper.models.llama import LlamaServer, file_problem
from kinkeeper.models.model import ChatReply, Finish, ModelError, ModelGateway, Outcome
from kinkeeper.models.structured import ask
from kinkeeper.settings.model import Settings
from kinkeeper.store.store import Store
from model_calls import HOUSE, NOON, ZONE, request
from packaged_model import small_model

pytestmark = [pytest.mark.slow, pytest.mark.model]


class Judgement(BaseModel):
    """An answer whose every shape is short, so that a model of no wit cannot run out of room."""

    model_config = ConfigDict(extra="forbid")

    day: Literal["Monday", "Thursday"]
    is_certain: bool


@pytest.fixture(scope="module")
def kept(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Store]:
    with Store.open(str(tmp_path_factory.mktemp("kept") / "family.sqlite")) as store:
        yield store


@asynccontextmanager
async def through_the_settings(store: Store) -> AsyncIterator[ModelGateway]:
    settings = Settings(model_gguf=small_model(), model_context_tokens=2048)
    async with models_opened(
        settings, store=store, clock=VirtualClock(NOON), zones={HOUSE: ZONE}
    ) as gateway:
        assert gateway is not None
        yield gateway


def server_of(gguf: Path) -> LlamaServer:
    return LlamaServer(gguf, threads=1, context_tokens=2048)


@asynccontextmanager
async def started(gguf: Path) -> AsyncIterator[tuple[LlamaServer, str]]:
    server = server_of(gguf)
    try:
        yield server, await server.start()
    finally:
        await server.close()


def test_typed_answers_two_at_a_time_and_a_stream(kept: Store) -> None:
    async def calls() -> None:
        async with through_the_settings(kept) as gateway:
            said = request("soccer is on Thursday", max_output_tokens=60)
            both = await asyncio.gather(*(ask(gateway, said, Judgement) for _ in range(2)))
            assert all(isinstance(each.value, Judgement) for each in both)
            assert both[0].reply.model == small_model().stem
            assert both[0].reply.usage.input_tokens > 10
            free = request("Tell a long story about a fox.", max_output_tokens=12)
            pieces = [piece async for piece in gateway.stream(free)]
            *texts, last = pieces
            assert isinstance(last, ChatReply)
            assert len(texts) > 3
            assert last.text == "".join(map(str, texts))
            assert last.finish is Finish.LENGTH

    asyncio.run(calls())


def test_a_call_that_is_given_up_stops_the_computing(kept: Store) -> None:
    async def calls() -> None:
        async with through_the_settings(kept) as gateway:
            free = request("Tell a long story about a fox.", max_output_tokens=1500)
            async with aclosing(gateway.stream(free)) as pieces:  # type: ignore[type-var]  # a generator
                await anext(pieces)
                await anext(pieces)
            [child] = children_of(os.getpid())
            await asyncio.sleep(1)
            before = cpu_seconds(child)
            await asyncio.sleep(1)
            assert cpu_seconds(child) - before < 0.2, "it goes on computing for nobody"
            await ask(gateway, request("Monday?", max_output_tokens=60), Judgement)

    asyncio.run(calls())


def test_one_that_died_is_started_again_and_the_end_leaves_none(kept: Store) -> None:
    async def calls() -> int:
        said = request("soccer is on Thursday", max_output_tokens=60)
        async with through_the_settings(kept) as gateway:
            assert children_of(os.getpid()) == [], "nothing runs before the first call"
            await ask(gateway, said, Judgement)
            [child] = children_of(os.getpid())
            os.kill(child, signal.SIGKILL)
            while children_of(os.getpid()) in ([], [child]):
                # One that was under way when it died has failed.
                with suppress(ModelError):
                    await ask(gateway, said, Judgement)
            await ask(gateway, said, Judgement)
            [child] = children_of(os.getpid())
        return child

    child = asyncio.run(calls())
    assert not is_running(child)


def test_it_is_started_once_for_all_and_can_be_unloaded() -> None:
    async def calls() -> None:
        async with started(small_model()) as (server, address):
            assert await asyncio.gather(server.start(), server.start()) == [address, address]
            assert len(children_of(os.getpid())) == 1
            await server.close()
            assert children_of(os.getpid()) == []
            await server.close()
            async with httpx.AsyncClient(base_url=await server.start()) as client:
                assert (await client.get("/health")).status_code == 200
                refused = await client.post("/v1/chat/completions", json={})
                assert refused.status_code == 401, "any program of this machine may use it"

    asyncio.run(calls())


def test_nothing_else_stands_still_while_it_loads() -> None:
    turns = [time.perf_counter()]

    async def tick() -> None:
        while True:
            await asyncio.sleep(0.01)
            turns.append(time.perf_counter())

    async def calls() -> None:
        ticking = asyncio.ensure_future(tick())
        async with started(small_model()):
            ticking.cancel()

    asyncio.run(calls())
    longest = max(later - earlier for earlier, later in pairwise(turns))
    assert longest < (turns[-1] - turns[0]) / 2


def test_it_ends_with_its_parent_however_that_ends() -> None:
    program = (
        "import asyncio, sys, time; from pathlib import Path\n"
        "from kinkeeper.models.llama import LlamaServer\n"
        "server = LlamaServer(Path(sys.argv[1]), threads=1, context_tokens=512)\n"
        "async def main():\n"
        "    await server.start(); print('up', flush=True); await asyncio.sleep(600)\n"
        "asyncio.run(main())\n"
    )
    with subprocess.Popen(
        [sys.executable, "-c", program, small_model()], stdout=subprocess.PIPE
    ) as parent:
        assert parent.stdout is not None
        assert parent.stdout.readline() == b"up\n"
        [child] = children_of(parent.pid)
        parent.kill()
    deadline = time.monotonic() + 10
    while is_running(child) and time.monotonic() < deadline:
        time.sleep(0.05)
    assert not is_running(child)


def refusal(server: LlamaServer) -> ModelError:
    async def start() -> None:
        try:
            await server.start()
        finally:
            await server.close()

    with pytest.raises(ModelError) as caught:
        asyncio.run(start())
    return caught.value


def test_half_a_file_is_said_to_be_damaged(tmp_path: Path) -> None:
    half = tmp_path / "half.gguf"
    half.write_bytes(small_model().read_bytes()[:30_000_000])
    error = refusal(server_of(half))
    assert error.outcome is Outcome.UNREACHABLE
    assert "incomplete; download it again" in str(error)


def test_more_room_than_there_is_memory_is_said_to_be_that() -> None:
    program = (
        "import asyncio, resource, sys; from pathlib import Path\n"
        "from kinkeeper.models.llama import LlamaServer\n"
        "resource.setrlimit(resource.RLIMIT_AS, (1_500_000_000, 1_500_000_000))\n"
        "server = LlamaServer(Path(sys.argv[1]), threads=1, context_tokens=200_000)\n"
        "asyncio.run(server.start())\n"
    )
    ran = subprocess.run(
        [sys.executable, "-c", program, small_model()], capture_output=True, check=False, text=True
    )
    assert "insufficient memory" in ran.stderr
    assert "use a smaller model, or a smaller MODEL_CONTEXT_TOKENS" in ran.stderr


def test_what_is_no_model_is_refused_before_anything_starts(tmp_path: Path) -> None:
    text = tmp_path / "notes.gguf"
    text.write_text("hello", "utf-8")
    missing, giant = tmp_path / "missing.gguf", tmp_path / "giant.gguf"
    giant.write_bytes(b"GGUF")
    os.truncate(giant, 1 << 42)  # a hole: it takes no room
    for path, told in (
        (text, "not a GGUF file"),
        (missing, "no file"),
        (tmp_path, "cannot be read"),
        (giant, "larger than this machine's memory"),
    ):
        error = refusal(server_of(path))
        assert error.outcome is Outcome.REJECTED
        assert told in str(error)
        assert str(error) == file_problem(path)


def children_of(parent: int) -> list[int]:
    found = Path(f"/proc/{parent}/task").glob("*/children")
    children = [int(each) for file in found for each in file.read_text().split()]
    return [each for each in children if not is_warm(each)]


def is_warm(process: int) -> bool:
    """Whether it is the process of which other tests fork their runs."""
    with suppress(FileNotFoundError, ProcessLookupError):
        return b"warm_process" in Path(f"/proc/{process}/cmdline").read_bytes()
    return False


def is_running(process: int) -> bool:
    try:
        state = Path(f"/proc/{process}/stat").read_text().rpartition(")")[2].split()[0]
    except (FileNotFoundError, ProcessLookupError):
        return False
    return state != "Z"


def cpu_seconds(process: int) -> float:
    fields = Path(f"/proc/{process}/stat").read_text().rpartition(")")[2].split()
    return (int(fields[11]) + int(fields[12])) / os.sysconf("SC_CLK_TCK")
