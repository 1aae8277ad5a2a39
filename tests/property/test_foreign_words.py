"""Whatever a foreign server says of its tools or answers: it comes out short, visible, and checkable."""

import json
import unicodedata
from collections.abc import Iterator, Mapping
from typing import Any

from hypothesis import given, settings
from hypothesis import strategies as st
from jsonschema import Draft202012Validator
from pydantic import ValidationError

from kinkeeper.actions.requests.tools import ForeignArguments
from kinkeeper.connectors.tools.connection import clean_data, clean_text, described, is_tool_name

UNSEEN = {"Cc", "Cf", "Co", "Cs", "Cn", "Zl", "Zp"}
words = st.text(max_size=60)
json_values = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats(allow_nan=False) | words,
    lambda inner: st.lists(inner, max_size=4) | st.dictionaries(words, inner, max_size=4),
    max_leaves=25,
)
keywords = st.sampled_from(
    [
        "type",
        "properties",
        "items",
        "$ref",
        "$defs",
        "anyOf",
        "pattern",
        "enum",
        "required",
        "title",
        "additionalProperties",
        "description",
        "minimum",
        "not",
        "if",
        "maxLength",
        "const",
    ]
)
schemas = st.recursive(
    st.dictionaries(keywords, json_values | st.just("#") | st.just("#/$defs/a"), max_size=5),
    lambda inner: st.dictionaries(keywords, inner | st.dictionaries(words, inner), max_size=4),
    max_leaves=12,
)


def keywords_of(schema: Mapping[str, Any]) -> Iterator[str]:
    """Yield the keywords of a schema, without the names of what it is about."""
    yield from schema
    below = [
        *schema.get("properties", {}).values(),
        schema.get("items"),
        schema.get("additionalProperties"),
    ]
    for each in (
        *below,
        *schema.get("anyOf", ()),
        *schema.get("oneOf", ()),
        *schema.get("allOf", ()),
    ):
        if isinstance(each, Mapping):
            yield from keywords_of(each)


def unseen(text: str) -> list[str]:
    return [each for each in text if each != "\n" and unicodedata.category(each) in UNSEEN]


@given(text=st.text(max_size=500), longest=st.integers(1, 100))
def test_texts_are_visible_and_short(text: str, longest: int):
    for lines in (True, False):
        cleaned = clean_text(text, longest=longest, lines=lines)
        assert len(cleaned) <= longest
        assert unseen(cleaned) == []
        assert lines or "\n" not in cleaned


@given(value=json_values)
def test_answers_stay_json_without_unseen_characters(value: Any):
    text = json.dumps(clean_data(value), ensure_ascii=False)
    assert unseen(text) == []


@settings(max_examples=60)
@given(schema=schemas, arguments=json_values, text=st.text(max_size=800))
def test_any_schema_can_be_checked_and_shown(schema: dict[str, Any], arguments: Any, text: str):
    tool = described("s", "t", text, schema, is_safe=False)
    assert not {"$ref", "pattern", "not", "if"} & set(keywords_of(tool.schema))
    model = ForeignArguments.of(tool)
    Draft202012Validator.check_schema(model.model_json_schema())
    try:
        model.model_validate(arguments)
    except ValidationError:
        return
    assert isinstance(arguments, dict)


def test_a_schema_that_refers_to_itself_ends():
    schema = {
        "type": "object",
        "$defs": {"a": {"properties": {"b": {"$ref": "#/$defs/a"}}}},
        "properties": {"c": {"$ref": "#/$defs/a"}},
    }
    assert described("s", "t", "", schema, is_safe=False).schema["properties"]["c"]["properties"]


def test_equal_words_give_equal_definitions_and_others_do_not():
    first = described("s", "t", "says", {"type": "object"}, is_safe=False)
    assert (
        first.definition == described("s", "t", "says", {"type": "object"}, is_safe=True).definition
    )
    assert (
        first.definition
        != described("s", "t", "says\u200b", {"type": "object"}, is_safe=False).definition
    )


def test_names_that_could_be_instructions_are_no_names():
    assert is_tool_name("get_forecast.v2")
    assert not any(map(is_tool_name, ["", "a b", "ignore\nall", "x" * 65, "-x", "é"]))
