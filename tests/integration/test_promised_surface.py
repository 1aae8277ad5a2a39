"""What scripts and other programs may rely on: routes, pages, commands with their options, settings with their defaults."""

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
import typer
from fastapi.routing import iter_route_contexts

from kinkeeper.cli.main import app as program
from kinkeeper.core.errors import ConfigError
from kinkeeper.settings.load import load_settings
from kinkeeper.settings.model import Settings
from web_server import Served, served

ROUTES = """
POST /chat · GET /chat/{}/events · POST /api/sessions/messages · GET /api/context/inject · GET /brain/query
GET /api/memory/search · POST /api/memory/search · GET /api/facts/{} · PATCH /api/facts/{} · DELETE /api/facts/{}
GET /api/pending · POST /api/pending/{}/confirm · POST /api/pending/{}/reject · POST /api/pending/{}/resolve
POST /api/pending/{}/feedback · POST /api/actions/{}/undo · POST /api/quiet · GET /api/events · POST /api/events
GET /calendar.ics · GET /api/tasks · POST /api/tasks · GET /api/messages/{}/trace · GET /api/metrics
GET /api/observability/routing · GET /api/observability/calls · GET /api/observability/iterations
GET /api/observability/jobs · GET /api/observability/drift · POST /telegram/webhook · POST /observe · POST /v1/chat/completions · GET /v1/models
POST /mcp · GET /metrics · GET /healthz · GET /readyz · GET /openapi.json
GET / · GET /chat · GET /pending · GET /calendar · GET /memory · GET /why/{} · GET /silence · GET /health · GET /welcome
GET /login
"""
EVERYWHERE = ("--household", "--db", "--env")
COMMANDS = {
    "init": ("--yes",), "demo": (), "serve": (), "worker": (), "chat": (), "observe": ("--until",), "rehearse": ("--seed", "--jobs"), "route": (),
    "when": ("--file",), "classify": (), "relate": (), "remember": (), "recall": (), "context": (), "forget": (),
    "import": ("--as", "--wait", "--no-wait", "--rebuild"), "export": (), "search": ("--rebuild",), "consolidate": ("--dry-run",),
    "pending list": ("--json",), "pending confirm": ("--as",), "pending reject": ("--as",), "pending resolve": ("--as",),
    "undo": (), "quiet": (), "why": (), "events": ("--json",), "tasks": ("--json",), "jobs": ("--json",),
    "metrics": ("--json",), "models": ("--json",), "eval": (), "bench": (), "doctor": (),
    "backup": (), "restore": (),
}  # fmt: skip
# The last two hand their options on to a checkout.
WITHOUT_PLACE = {"init", "eval", "bench"}
DEFAULTS: dict[str, Any] = {
    "BRAIN_TIMEOUT_MS": 5000, "BRAIN_MIN_RELEVANCE": 0.5, "TRIPWIRE_THRESHOLD": 0.7, "EXTRACTION_THRESHOLD": 0.6,
    "CONTEXT_WINDOW_SIZE": 3, "CONTEXT_TTL_SECONDS": 300, "ATTRIBUTION_WINDOW_SECONDS": 600,
    "OPEN_QUESTION_WINDOW_SECONDS": 3600, "OPEN_QUESTION_GRACE_SECONDS": 900, "TIER2_WORKERS": 2,
    "REDLINE_TEMPORAL_CONFLICT": True, "REDLINE_RESOURCE_CONFLICT": True, "REDLINE_MISSING_VARIABLE": True,
    "SPEAK_ON_MISSING_CRITICAL": True, "MAX_SPEAK_PER_DAY": 4, "MAX_BRAIN_QUERIES_PER_MESSAGE": 3,
    "PENDING_ACTION_TTL_HOURS": 48, "MAX_MESSAGES_PER_MINUTE": 60, "MAX_CONFLICT_MESSAGE_LENGTH": 280,
    "MAX_CLARIFICATION_LENGTH": 200, "MAX_SUMMARY_LENGTH": 140, "MESSAGE_RETENTION_DAYS": 30,
    "CONTEXT_BUDGET_TOKENS": 1500, "QUIET_HOURS": "22:00-07:00", "ALLOW_REMOTE_MODEL_FOR_CHAT": False,
    "BRAIN_CACHE_TTL_SECONDS": 60, "ATTRIBUTION_THRESHOLD": 0.6, "TRAVEL_BUFFER_MINUTES": 0,
    "DEFAULT_EVENT_MINUTES": 60, "PASSIVE_STREAMING": True, "HOST": "127.0.0.1", "TRACE_TEXT": False,
}  # fmt: skip
FURTHER = """
ENV DB_PATH DATABASE_URL FAMILY_CONTEXT TELEGRAM_BOT_TOKEN TELEGRAM_GROUP_CHAT_ID BRAIN_BASE_URL BRAIN_QUERY_ENDPOINT OLLAMA_HOST
OLLAMA_MODEL_TIER2 LLM_BASE_URL LLM_API_KEY LLM_MODEL LLM_MODEL_LIGHT LLM_MODEL_STRONG LLM_MODEL_EXTRACTION TRIPWIRE_PATTERNS_PATH
SMTP_URL IMAP_URL CALDAV_URL MCP_SERVERS EMBEDDING_URL EMBEDDING_MODEL LLM_BUDGET_CALLS_PER_DAY LLM_BUDGET_TOKENS_PER_DAY PORT
TELEGRAM_WEBHOOK_URL TELEGRAM_WEBHOOK_SECRET BACKUP_DIR
"""


class TakesUpdates:
    def is_genuine(self, secret: str | None) -> bool:
        return secret is not None

    async def receive(self, body: bytes) -> None:
        return


@pytest.fixture
def house(tmp_path: Path) -> Iterator[Served]:
    with served(tmp_path, webhook=TakesUpdates()) as serving:
        yield serving


def _template(path: str) -> str:
    parts = path.split("/")
    return "/".join("{}" if part.startswith("{") else part for part in parts)


def test_every_promised_route_and_page_is_there(house: Served) -> None:
    there = {
        f"{method} {_template(each.path)}"
        for each in iter_route_contexts(house.app.routes)
        for method in each.methods or ()
        if each.path is not None
    }
    promised = {each.strip() for each in ROUTES.replace("\n", "·").split("·")} - {""}
    assert promised - there == set()


def _commands(group: Any, before: str = "") -> Iterator[tuple[str, Any]]:
    for name in group.commands:
        command = group.get_command(typer.Context(group), name)
        yield f"{before}{name}", command
        if hasattr(command, "commands"):
            yield from _commands(command, f"{before}{name} ")


def test_every_promised_command_is_there_with_its_options() -> None:
    there = dict(_commands(typer.main.get_command(program)))
    assert COMMANDS.keys() - there.keys() == set()
    for name, options in COMMANDS.items():
        taken = {each for one in there[name].params for each in (*one.opts, *one.secondary_opts)}
        wanted = {*options, *(() if name in WITHOUT_PLACE else EVERYWHERE)}
        assert wanted <= taken, name


def test_every_promised_setting_is_known_and_has_its_default() -> None:
    usual = Settings()
    assert {name: getattr(usual, name.lower()) for name in DEFAULTS} == DEFAULTS


def _refusal(file: Path) -> str:
    try:
        load_settings(environment={}, env_file=file, toml_file=file.parent / "nothing")
    except ConfigError as error:
        return str(error)
    return ""


@pytest.mark.parametrize("name", [*DEFAULTS, *FURTHER.split()])
def test_no_promised_setting_is_unknown_in_a_file(tmp_path: Path, name: str) -> None:
    file = tmp_path / ".env"
    file.write_text(f"{name}=1\n", encoding="utf-8")
    assert "unknown setting" not in _refusal(file)
    file.write_text(f"{name}X=1\n", encoding="utf-8")
    assert "unknown setting" in _refusal(file)
