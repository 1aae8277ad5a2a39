"""`kinkeeper route`: where messages to the assistant would go."""

import asyncio
from collections.abc import Mapping, Sequence
from pathlib import Path
from time import perf_counter
from typing import Annotated, Any

import typer

from kinkeeper.bootstrap.memory import embedder_opened
from kinkeeper.cli.input import answered, text_in
from kinkeeper.cli.located import Where, located
from kinkeeper.cli.opener import log_to_stderr, settings_of
from kinkeeper.cli.terminal import Progress
from kinkeeper.conversation.model import Exchange
from kinkeeper.conversation.routing.router import Routed, Router, exchanges_of
from kinkeeper.core.errors import InputError

_PERSON = "user"

app = typer.Typer()


@app.command()
@located
def route(
    where: Where,
    file: Annotated[
        Path,
        typer.Argument(
            metavar="FILE",
            help='JSON lines {"id", "text", "history"?: [{"role", "text"}], '
            '"pending"?: {"confirmation_message"}}; "-" reads stdin.',
        ),
    ],
) -> None:
    """Show how messages to the assistant are routed."""
    log_to_stderr()

    async def routed() -> int:
        async with embedder_opened(settings_of(where)) as embedder:
            router = Router(embedder)
            return await answered(
                file, lambda record: _answer(router, record), progress=Progress("messages routed")
            )

    if asyncio.run(routed()):
        raise typer.Exit(2)


async def _answer(router: Router, record: Mapping[str, Any]) -> Mapping[str, Any]:
    text, history, question = text_in(record, "text"), _history(record), _question(record)
    begun = perf_counter()
    routed = await router.route(text, history=history, open_question=question)
    return {**_told(routed), "ms": round(1000 * (perf_counter() - begun), 3)}


def _told(routed: Routed) -> dict[str, Any]:
    triage = routed.triage
    return {
        "type": triage.type, "is_followup": triage.is_followup, "domains": list(triage.domains),
        "branch": triage.branch, "social": triage.social, "mode": triage.mode,
        "confirmation": triage.confirmation, "source": triage.source,
        "is_weak": routed.confirmation is not None and routed.confirmation.is_weak,
        "decided_by": routed.decided_by,
    }  # fmt: skip


def _question(record: Mapping[str, Any]) -> bool | str:
    """Return the question that is open; whether there is one, where its words are missing."""
    pending = record.get("pending")
    if pending is None:
        return False
    if not isinstance(pending, Mapping):
        raise InputError('"pending" is not an object; write {"confirmation_message": "…"}')
    return text_in(pending, "confirmation_message") if "confirmation_message" in pending else True


def _history(record: Mapping[str, Any]) -> Sequence[Exchange]:
    """Return the lines of a history as exchanges: what was said, with what was answered to it."""
    lines = record.get("history") or []
    if not isinstance(lines, list) or not all(isinstance(line, Mapping) for line in lines):
        raise InputError('"history" is not a list of {"role", "text"}')
    return exchanges_of((text_in(line, "role") != _PERSON, text_in(line, "text")) for line in lines)
