"""Every prompt that is shipped: locked by version and hash, used, its output a strict type, its measurement told."""

import ast
import importlib
import json
import re
import tomllib
from pathlib import Path

import pytest
from pydantic import BaseModel

import kinkeeper
from hostile_messages import TEXTS as HOSTILE
from kinkeeper.models.prompts import load_prompt, parse_prompt

SOURCE = Path(kinkeeper.__file__).parent
PROMPTS = sorted(SOURCE.glob("**/prompts/*.md"))
LONGEST_LITERAL = 200


def locked(file: Path) -> list[dict[str, object]]:
    """The versions of one prompt as its folder's lock lists them, oldest first."""
    lock = tomllib.loads(file.with_name("prompts.lock").read_text("utf-8"))
    return [each for each in lock["prompt"] if each["file"] == file.name]


def test_there_are_prompts() -> None:
    assert PROMPTS


@pytest.mark.parametrize("file", PROMPTS, ids=lambda file: file.stem)
def test_a_changed_prompt_has_a_new_version_and_a_measurement(file: Path) -> None:
    prompt = parse_prompt(file.read_text("utf-8"), where=file.name)
    versions = locked(file)
    assert [each["version"] for each in versions] == list(range(1, len(versions) + 1))
    assert len({each["hash"] for each in versions}) == len(versions)
    last = versions[-1]
    assert (last["id"], last["version"], last["hash"]) == (
        prompt.head.id,
        prompt.head.version,
        prompt.hash,
    ), f"{file.name} was changed: raise its version, measure it, and add it to prompts.lock"
    assert re.match(r"20\d\d-\d\d-\d\d: .{20,}", str(last["measured"]))


@pytest.mark.parametrize("file", PROMPTS, ids=lambda file: file.stem)
def test_a_prompt_is_used_and_its_output_is_a_strict_type(file: Path) -> None:
    package = ".".join(["kinkeeper", *file.parent.parent.relative_to(SOURCE).parts])
    prompt = load_prompt(package, file.stem)
    assert prompt.head.id == f"{package.removeprefix('kinkeeper.')}.{file.stem}"
    if prompt.head.output != "text":
        module, name = prompt.head.output.split(":")
        output = getattr(importlib.import_module(module), name)
        assert issubclass(output, BaseModel)
        assert output.model_config.get("extra") == "forbid"
    sources = (SOURCE / file.parent.parent).rglob("*.py")
    assert any(f'"{file.stem}"' in source.read_text("utf-8") for source in sources)


@pytest.mark.parametrize("text", HOSTILE)
@pytest.mark.parametrize("file", PROMPTS, ids=lambda file: file.stem)
def test_hostile_text_in_any_input_stays_in_its_block(file: Path, text: str) -> None:
    prompt = parse_prompt(file.read_text("utf-8"), where=file.name)
    calm = prompt.render(**dict.fromkeys(prompt.head.inputs, "word"))
    hostile = prompt.render(**dict.fromkeys(prompt.head.inputs, text))
    assert hostile[0] == calm[0]
    marks = re.compile(r"^</?data \w+>$", re.MULTILINE)
    assert marks.findall(hostile[1].text) == marks.findall(calm[1].text)
    values = [line for line in hostile[1].text.split("\n") if not marks.fullmatch(line)]
    assert [json.loads(value) for value in values] == [text] * len(prompt.head.inputs)


def test_no_prompt_is_written_into_code() -> None:
    calls = []
    for source in SOURCE.rglob("*.py"):
        text = source.read_text("utf-8")
        if "ChatMessage(" not in text:
            continue
        calls += [
            (source.name, literal.lineno)
            for call in ast.walk(ast.parse(text))
            if isinstance(call, ast.Call) and ast.unparse(call.func) == "ChatMessage"
            for literal in ast.walk(call)
            if isinstance(literal, ast.Constant)
            and isinstance(literal.value, str)
            and len(literal.value) > LONGEST_LITERAL
        ]
    assert calls == []
