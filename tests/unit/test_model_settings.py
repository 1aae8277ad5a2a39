"""Settings of language models: which role gets what, and what is refused."""

import subprocess
import sys
from collections.abc import Mapping
from datetime import timedelta
from decimal import Decimal
from pathlib import Path

import pytest

from kinkeeper.bootstrap.models import llama_server, model_config
from kinkeeper.core.errors import ConfigError
from kinkeeper.models.endpoints import Dialect, ModelConfig, Price
from kinkeeper.models.model import ModelRole, Usage
from kinkeeper.settings.load import load_settings
from kinkeeper.settings.model import Settings, outbound_hosts

HERE = {"MODEL_URL": "http://127.0.0.1:11434/", "MODEL_NAME": "small"}


def load(values: Mapping[str, str]) -> Settings:
    nowhere = Path("/nonexistent")
    return load_settings(environment=values, env_file=nowhere / "e", toml_file=nowhere / "t")


def configured(values: Mapping[str, str]) -> ModelConfig:
    found = model_config(load(values), None)
    assert found is not None
    return found


def test_without_a_server_there_are_no_models() -> None:
    assert model_config(load({}), None) is None
    assert outbound_hosts(load({})) == ()


def test_with_the_embedded_reader_there_are_none_whatever_else_is_set() -> None:
    assert model_config(load(HERE | {"READER": "embedded"}), None) is None
    with pytest.raises(ConfigError, match="READER=embedded"):
        load(HERE | {"READER": "embedded", "EXTRACTOR": "model"})


def test_without_a_server_nothing_that_speaks_http_is_loaded() -> None:
    code = (
        "import sys, kinkeeper.bootstrap.system, kinkeeper.bootstrap.models\n"
        "print([name for name in ('httpx', 'onnxruntime') if name in sys.modules])"
    )
    done = subprocess.run([sys.executable, "-c", code], check=True, capture_output=True, text=True)
    assert done.stdout.strip() == "[]"


def test_one_server_and_model_do_for_all_roles() -> None:
    found = configured(HERE)
    assert set(found.roles) == set(ModelRole)
    assert len(set(found.roles.values())) == 1
    assert found.roles[ModelRole.STRONG].endpoint.url == "http://127.0.0.1:11434"
    assert found.allows_public is False
    assert found.keeps_text is False
    assert found.limits.calls == 2000


def test_a_role_takes_what_it_does_not_set_from_another() -> None:
    found = configured(
        HERE
        | {
            "LIGHT_MODEL": "tiny",
            "LIGHT_MODEL_TIMEOUT_SECONDS": "5",
            "STRONG_MODEL": "big",
            "EXTRACTION_MODEL_TEMPERATURE": "0.5",
            "MODEL_PRICE": "1/2",
        }
    ).roles
    names = {role: model.model for role, model in found.items()}
    assert names == {
        ModelRole.PRIMARY: "small",
        ModelRole.LIGHT: "tiny",
        ModelRole.STRONG: "big",
        ModelRole.EXTRACTION: "tiny",
    }
    assert found[ModelRole.EXTRACTION].timeout == timedelta(seconds=5)
    assert found[ModelRole.EXTRACTION].temperature == 0.5
    assert found[ModelRole.PRIMARY].timeout == timedelta(seconds=60)
    assert found[ModelRole.STRONG].price == Price(input=Decimal(1), output=Decimal(2))


def test_neither_key_nor_price_nor_protocol_of_one_server_is_used_for_another() -> None:
    found = configured(
        HERE
        | {
            "MODEL_API_KEY": "mine",
            "MODEL_PRICE": "1",
            "MODEL_DIALECT": "ollama",
            "STRONG_MODEL_URL": "https://models.example/v1",
            "STRONG_MODEL": "big",
        }
    ).roles
    strong, light = found[ModelRole.STRONG], found[ModelRole.LIGHT]
    assert strong.endpoint.api_key is None
    assert strong.endpoint.dialect is Dialect.AUTO
    assert strong.price == Price()
    assert light.endpoint.api_key is not None
    assert light.endpoint.dialect is Dialect.OLLAMA


def test_the_hosts_of_all_roles_are_named() -> None:
    found = load(
        HERE | {"STRONG_MODEL_URL": "https://models.example/v1", "LIGHT_MODEL_URL": "http://nas:1"}
    )
    assert outbound_hosts(found) == ("127.0.0.1", "models.example", "nas")


def test_a_model_file_does_for_a_server() -> None:
    found = load({"MODEL_GGUF": "/models/tiny.q4.gguf"})
    config = model_config(found, llama_server(found))
    assert config is not None
    assert config.roles[ModelRole.LIGHT].model == "tiny.q4"
    assert config.roles[ModelRole.LIGHT].endpoint.start is not None
    assert outbound_hosts(found) == ()


def test_money_is_counted_in_millionths_and_never_rounded_down() -> None:
    price = Price(input=Decimal("0.15"), output=Decimal("0.6"))
    assert price.micros(Usage(input_tokens=1000, output_tokens=100)) == 210
    assert price.micros(Usage(input_tokens=1, output_tokens=0)) == 1
    assert configured(HERE | {"MODEL_COST_PER_DAY": "0.5", "MODEL_PRICE": "1"}).limits == (
        configured(HERE | {"MODEL_COST_PER_DAY": "0.50", "MODEL_PRICE": "1"}).limits
    )


@pytest.mark.parametrize(
    ("values", "named"),
    [
        ({"MODEL_URL": "http://127.0.0.1:1"}, "MODEL_NAME"),
        ({"MODEL_NAME": "a"}, "MODEL_URL"),
        ({"LIGHT_MODEL_URL": "http://127.0.0.1:1"}, "LIGHT_MODEL_URL needs MODEL_URL"),
        ({"MODEL_API_KEY": "a"}, "MODEL_URL"),
        (HERE | {"MODEL_GGUF": "a.gguf"}, "keep one"),
        (HERE | {"MODEL_COST_PER_DAY": "1"}, "MODEL_PRICE"),
        (HERE | {"MODEL_PRICE": "1/2/3"}, "0.15/0.60"),
        (HERE | {"MODEL_PRICE": "-1"}, "0.15/0.60"),
        (HERE | {"MODEL_PRICE": "cheap"}, "0.15/0.60"),
        (HERE | {"MODEL_TIMEOUT_SECONDS": "0"}, "MODEL_TIMEOUT_SECONDS"),
        (HERE | {"MODEL_DIALECT": "gemini"}, "MODEL_DIALECT"),
        ({"MODEL_URL": "http://me:secret@host", "MODEL_NAME": "a"}, "password"),
    ],
)
def test_what_cannot_be_meant_is_refused_with_a_way_out(
    values: Mapping[str, str], named: str
) -> None:
    with pytest.raises(ConfigError, match=named):
        load(values)


def test_keys_can_lie_in_files_and_are_not_shown(tmp_path: Path) -> None:
    (tmp_path / "key").write_text("sk-hidden\n")
    found = load(HERE | {"LIGHT_MODEL_API_KEY_FILE": str(tmp_path / "key")})
    assert found.light_model_api_key is not None
    assert found.light_model_api_key.get_secret_value() == "sk-hidden"
    assert "sk-hidden" not in found.model_dump_json() + repr(found)


@pytest.mark.parametrize(
    ("theirs", "ours"),
    [
        (
            {
                "LLM_BASE_URL": "http://127.0.0.1:1",
                "LLM_MODEL": "m",
                "LLM_API_KEY": "k",
                "LLM_MODEL_LIGHT": "l",
            },
            {
                "MODEL_URL": "http://127.0.0.1:1",
                "MODEL_NAME": "m",
                "MODEL_API_KEY": "k",
                "LIGHT_MODEL": "l",
            },
        ),
        (
            {
                **HERE,
                "LLM_MODEL_STRONG": "s",
                "LLM_MODEL_EXTRACTION": "e",
                "LLM_BUDGET_CALLS_PER_DAY": "5",
            },
            {**HERE, "STRONG_MODEL": "s", "EXTRACTION_MODEL": "e", "MODEL_CALLS_PER_DAY": "5"},
        ),
        ({**HERE, "LLM_BUDGET_TOKENS_PER_DAY": "7"}, {**HERE, "MODEL_TOKENS_PER_DAY": "7"}),
        (
            {"EMBEDDING_URL": "http://127.0.0.1:1", "EMBEDDING_MODEL": "v"},
            {"EMBEDDER_URL": "http://127.0.0.1:1", "EMBEDDER_MODEL": "v", "EMBEDDER": "openai"},
        ),
        (
            {"OLLAMA_HOST": ":99", "OLLAMA_MODEL_TIER2": "q"},
            {"MODEL_URL": "http://127.0.0.1:99", "MODEL_NAME": "q", "EXTRACTION_MODEL": "q"},
        ),
        (
            {"OLLAMA_HOST": "nas", "LLM_MODEL": "m"},
            {"MODEL_URL": "http://nas:11434", "MODEL_NAME": "m"},
        ),
        (
            {**HERE, "OLLAMA_HOST": "http://nas:11434", "OLLAMA_MODEL_TIER2": "q"},
            {**HERE, "EXTRACTION_MODEL": "q", "EXTRACTION_MODEL_URL": "http://nas:11434"},
        ),
        ({"OLLAMA_HOST": "nas"}, {}),
    ],
)
def test_names_that_other_programs_use_say_the_same(
    theirs: dict[str, str], ours: dict[str, str]
) -> None:
    assert load(theirs) == load(ours)


def test_a_setting_under_two_names_is_refused_and_the_environment_goes_first(
    tmp_path: Path,
) -> None:
    with pytest.raises(ConfigError, match="MODEL_NAME and LLM_MODEL are both set"):
        load({**HERE, "LLM_MODEL": "other"})
    (tmp_path / ".env").write_text("LLM_MODEL=small\nLLM_BASE_URL=http://127.0.0.1:1\n", "utf-8")
    settings = load_settings(
        environment={"MODEL_NAME": "large"}, env_file=tmp_path / ".env", toml_file=tmp_path / "t"
    )
    assert (settings.model_name, settings.model_url) == ("large", "http://127.0.0.1:1")
