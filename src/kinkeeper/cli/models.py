"""`kinkeeper models`: which language models there are, how they do, and what they were used for."""

from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass
from datetime import timedelta
from typing import Annotated, Any

import typer
from rich.console import Console
from rich.table import Table

from kinkeeper.bootstrap import System
from kinkeeper.bootstrap.memory import embedder_finding
from kinkeeper.bootstrap.models import ServerState, llama_server, look_at_servers, model_config
from kinkeeper.cli.located import JsonOption, Where, located
from kinkeeper.cli.opener import opened
from kinkeeper.cli.tables import console
from kinkeeper.cli.terminal import answer_json
from kinkeeper.core.time import SystemClock
from kinkeeper.models.endpoints import DailyLimits
from kinkeeper.models.repository import (
    Amount,
    RoleFigures,
    count_fallbacks,
    load_figures,
    load_spent,
)
from kinkeeper.observability.findings import Finding

_MICROS = 1_000_000
_SUCCEEDED = frozenset({"ok", "repaired"})

app = typer.Typer()


@app.command()
@located
def models(
    where: Where,
    days: Annotated[int, typer.Option(min=1, max=366, help="Number of days to include.")] = 7,
    json_: JsonOption = False,
) -> None:
    """Show language model usage, failures and today's budget."""
    with opened(where) as system:
        overview = _overview(system, days)
    if json_:
        answer_json(_record(overview))
    else:
        _show(console(), overview, days)


@dataclass(frozen=True, slots=True, kw_only=True)
class _Overview:
    """All that is shown.

    Attributes:
        servers: How they look now.
        figures: Of each role's calls.
        fallbacks: How often which stage did without, and why.
        embedder: What turns texts into vectors.
    """

    servers: Sequence[ServerState]
    figures: Sequence[RoleFigures]
    fallbacks: Mapping[tuple[str, str], int]
    spent: Amount
    limits: DailyLimits
    embedder: Finding


def _overview(system: System, days: int) -> _Overview:
    household, now = system.household.id, SystemClock().now()
    today = now.astimezone(system.household.zone).date()
    since = now - timedelta(days=days)
    figures, fallbacks, spent = system.store.read_now(
        lambda conn: (
            load_figures(conn, household, since=since),
            count_fallbacks(conn, household, since=since),
            load_spent(conn, household, today),
        )
    )
    config = model_config(system.settings, llama_server(system.settings))
    return _Overview(
        servers=look_at_servers(system.settings),
        figures=figures,
        fallbacks=fallbacks,
        spent=spent or Amount(),
        limits=config.limits if config else DailyLimits(),
        embedder=embedder_finding(system.settings),
    )


def _record(overview: _Overview) -> dict[str, Any]:
    return {
        "servers": [asdict(server) for server in overview.servers],
        "calls": [asdict(each) for each in overview.figures],
        "fallbacks": [
            {"stage": stage, "outcome": outcome, "count": count}
            for (stage, outcome), count in sorted(overview.fallbacks.items())
        ],
        "today": {"used": asdict(overview.spent), "limits": asdict(overview.limits)},
        "embedder": asdict(overview.embedder),
    }


def _show(screen: Console, overview: _Overview, days: int) -> None:
    if overview.servers:
        screen.print(_servers_table(overview.servers))
    else:
        screen.print(
            "no language model is set up; rules do all the work (see MODEL_URL, MODEL_GGUF)"
        )
    if overview.figures:
        screen.print(_calls_table(overview.figures, days))
    for (stage, outcome), count in sorted(overview.fallbacks.items()):
        screen.print(f"{stage} ran without a model {count} times: {outcome}")
    if overview.servers:
        screen.print(_budget_line(overview.spent, overview.limits))
    screen.print(f"Embedder: {overview.embedder.found}")


def _servers_table(servers: Sequence[ServerState]) -> Table:
    table = Table(title="Servers", title_justify="left")
    for heading in ("server", "state", "role", "model"):
        table.add_column(heading, overflow="fold")
    for server in servers:
        for number, (role, model) in enumerate(server.wanted.items()):
            shown = (server.address, _state(server)) if number == 0 else ("", "")
            missing = " (not there)" if model in server.missing else ""
            table.add_row(*shown, role.value, f"{model}{missing}")
    return table


def _state(server: ServerState) -> str:
    if server.problem is not None:
        return server.problem
    where = "" if server.is_private else ", a public host"
    if server.milliseconds is None:
        return "starts on the first call"
    return f"answers in {server.milliseconds:.0f} ms, {len(server.models)} models{where}"


def _calls_table(figures: Sequence[RoleFigures], days: int) -> Table:
    noun = "day" if days == 1 else f"{days} days"
    table = Table(title=f"Calls in the last {noun}", title_justify="left")
    for heading in ("role", "calls", "p50 s", "p99 s", "tokens in", "out", "cost", "failed"):
        left = heading in {"role", "failed"}
        table.add_column(heading, justify="left" if left else "right", overflow="fold")
    for each in figures:
        failed = ", ".join(
            f"{outcome} {count}"
            for outcome, count in sorted(each.outcomes.items())
            if outcome not in _SUCCEEDED
        )
        table.add_row(
            each.role,
            str(each.calls),
            _seconds(each.p50_milliseconds),
            _seconds(each.p99_milliseconds),
            f"{each.input_tokens:,}",
            f"{each.output_tokens:,}",
            f"{each.cost_micros / _MICROS:.4f}",
            failed,
        )
    return table


def _seconds(milliseconds: float | None) -> str:
    return "" if milliseconds is None else f"{milliseconds / 1000:.2f}"


def _budget_line(spent: Amount, limits: DailyLimits) -> str:
    most = None if limits.cost_micros is None else limits.cost_micros / _MICROS
    parts = (
        _part("calls", spent.calls, limits.calls),
        _part("tokens", spent.tokens, limits.tokens),
        _part("cost", spent.cost_micros / _MICROS, most),
    )
    return f"Today: {'; '.join(parts)}"


def _part(name: str, used: float, most: float | None) -> str:
    limit = "no limit" if most is None else f"of {most:,.6g}"
    return f"{name} {used:,.6g} ({limit})"
