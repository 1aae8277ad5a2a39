"""Settings: where they come from, what is refused, and that secrets are never shown."""

from collections.abc import Mapping
from pathlib import Path

import pytest

from kinkeeper.core.errors import ConfigError
from kinkeeper.settings.load import load_settings
from kinkeeper.settings.model import Settings, outbound_hosts

TOKEN = "123456:a-token-nobody-may-see"  # noqa: S105 - nobody's


def load(
    folder: Path, env: Mapping[str, str] | None = None, toml: str = "", dotenv: str = ""
) -> Settings:
    (folder / "kinkeeper.toml").write_text(toml)
    (folder / ".env").write_text(dotenv)
    return load_settings(
        environment=env or {}, env_file=folder / ".env", toml_file=folder / "kinkeeper.toml"
    )


def problems(
    folder: Path, env: Mapping[str, str] | None = None, toml: str = "", dotenv: str = ""
) -> str:
    with pytest.raises(ConfigError) as caught:
        load(folder, env, toml, dotenv)
    return str(caught.value)


def test_the_server_stays_on_this_machine_unless_told(tmp_path: Path) -> None:
    settings = load(tmp_path)
    assert (settings.host, settings.port) == ("127.0.0.1", 8765)
    assert settings.trace_text is False
    assert settings.telegram_bot_token is None


def test_the_environment_goes_before_env_file_and_toml(tmp_path: Path) -> None:
    settings = load(tmp_path, {"PORT": "1"}, toml="port = 3\nhost = '::1'", dotenv="PORT=2\n")
    assert (settings.port, settings.host) == (1, "::1")


def test_a_secret_can_lie_in_a_file(tmp_path: Path) -> None:
    (tmp_path / "token").write_text(f"{TOKEN}\n")
    settings = load(tmp_path, {"TELEGRAM_BOT_TOKEN_FILE": str(tmp_path / "token")})
    assert settings.telegram_bot_token is not None
    assert settings.telegram_bot_token.get_secret_value() == TOKEN


def test_the_address_of_a_database_holds_a_password_and_can_lie_in_a_file(tmp_path: Path) -> None:
    (tmp_path / "url").write_text("postgresql://kin:hushhush@db/kin\n")
    settings = load(tmp_path, {"DATABASE_URL_FILE": str(tmp_path / "url")})
    assert settings.database_url == "postgresql://kin:hushhush@db/kin"
    assert "hushhush" not in repr(settings)


def test_a_secret_of_the_environment_goes_before_a_file_named_in_the_toml(tmp_path: Path) -> None:
    (tmp_path / "token").write_text("other")
    toml = f"telegram_bot_token_file = '{tmp_path / 'token'}'"
    settings = load(tmp_path, {"TELEGRAM_BOT_TOKEN": TOKEN}, toml=toml)
    assert settings.telegram_bot_token is not None
    assert settings.telegram_bot_token.get_secret_value() == TOKEN


def test_a_secret_given_twice_in_one_place_is_refused(tmp_path: Path) -> None:
    (tmp_path / "token").write_text(TOKEN)
    env = {"TELEGRAM_BOT_TOKEN": TOKEN, "TELEGRAM_BOT_TOKEN_FILE": str(tmp_path / "token")}
    told = problems(tmp_path, env)
    assert "both set" in told
    assert TOKEN not in told


def test_a_secret_s_file_that_cannot_be_read_is_named(tmp_path: Path) -> None:
    told = problems(tmp_path, {"TELEGRAM_BOT_TOKEN_FILE": str(tmp_path / "nowhere")})
    assert "nowhere" in told
    assert "TELEGRAM_BOT_TOKEN_FILE" in told


def test_no_secret_is_shown_by_any_form_of_the_settings_or_of_their_errors(tmp_path: Path) -> None:
    short = "sh0rt-secret"
    told = problems(tmp_path, {"TELEGRAM_WEBHOOK_SECRET": short, "TELEGRAM_BOT_TOKEN": " "})
    assert "TELEGRAM_WEBHOOK_SECRET" in told
    assert short not in told
    settings = load(tmp_path, {"TELEGRAM_BOT_TOKEN": TOKEN})
    for shown in (
        repr(settings),
        str(settings),
        settings.model_dump_json(),
        str(settings.model_dump()),
    ):
        assert TOKEN not in shown


@pytest.mark.parametrize(
    ("name", "value"),
    [
        ("PORT", "70000"),
        ("PORT", "http"),
        ("HOST", ""),
        ("PUBLIC_URL", "family.example"),
        ("PUBLIC_URL", "https://family.example/path"),
        ("PUBLIC_URL", "ftp://family.example"),
        ("PUBLIC_URL", "https://me:pw@family.example"),
        ("TELEGRAM_API_URL", "api.telegram.org"),
        ("TELEGRAM_WEBHOOK_URL", "http://family.example/telegram/webhook"),
        ("TRACE_TEXT", "perhaps"),
        ("QUIET_HOURS", "22-7h"),
        ("QUIET_HOURS", "22:00"),
        ("QUIET_HOURS", "25:00-07:00"),
        ("BRAIN_BASE_URL", "brain.local"),
        ("BRAIN_QUERY_ENDPOINT", "brain/query"),
        ("BRAIN_QUERY_ENDPOINT", "/brain/query?q=1"),
        ("BRAIN_QUERY_ENDPOINT", "//elsewhere@host"),
    ],
)
def test_impossible_values_are_refused_by_name(tmp_path: Path, name: str, value: str) -> None:
    assert name in problems(tmp_path, toml=f"{name.lower()} = '{value}'")


def test_another_program_s_brain_is_a_host_that_is_told_and_its_token_is_not(
    tmp_path: Path,
) -> None:
    settings = load(tmp_path, {"BRAIN_BASE_URL": "http://nas:8765/", "BRAIN_TOKEN": TOKEN})
    assert outbound_hosts(settings) == ("nas",)
    assert TOKEN not in f"{settings!r} {settings} {settings.model_dump_json()}"


def test_a_webhook_needs_its_secret(tmp_path: Path) -> None:
    url = "https://family.example/telegram/webhook"
    assert "TELEGRAM_WEBHOOK_SECRET" in problems(tmp_path, {"TELEGRAM_WEBHOOK_URL": url})
    both = {"TELEGRAM_WEBHOOK_URL": url, "TELEGRAM_WEBHOOK_SECRET": "x" * 32}
    assert load(tmp_path, both).telegram_webhook_url == url


def test_a_chat_id_may_be_a_number_in_the_toml(tmp_path: Path) -> None:
    assert (
        load(tmp_path, toml="telegram_group_chat_id = -100123").telegram_group_chat_id == "-100123"
    )


def test_an_unknown_key_names_the_nearest(tmp_path: Path) -> None:
    assert "did you mean TELEGRAM_BOT_TOKEN_FILE?" in problems(
        tmp_path, dotenv="TELEGRAM_BOT_TOKEN_FIL=x\n"
    )


@pytest.mark.parametrize("name", [".env", "kinkeeper.toml"])
def test_a_file_that_cannot_be_read_is_named(tmp_path: Path, name: str) -> None:
    def told() -> str:
        with pytest.raises(ConfigError) as caught:
            load_settings(
                environment={}, env_file=tmp_path / ".env", toml_file=tmp_path / "kinkeeper.toml"
            )
        return str(caught.value)

    file = tmp_path / name
    file.symlink_to(file)
    assert name in told()
    assert "cannot be read" in told()
    file.unlink()
    file.write_bytes(b"HOST=\xff\xfe")
    assert name in told()
    assert "UTF-8" in told()
