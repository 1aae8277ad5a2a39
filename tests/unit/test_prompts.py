"""Prompt files: what is refused, and that no text leaves its block."""

import json
import re

import pytest
from hypothesis import given
from hypothesis import strategies as st

from hostile_messages import TEXTS as HOSTILE
from kinkeeper.core.errors import ConfigError, InputError
from kinkeeper.models.model import Author
from kinkeeper.models.prompts import Prompt, PromptTooLongError, block, load_prompt, parse_prompt

HEAD = """id = "test.job"
version = 3
role = "light"
inputs = ["message", "people"]
output = "kinkeeper.models.model:Usage"
temperature = 0.0
max_output_tokens = 100
budget_input_tokens = 200"""
USER = '{{ people | data("people") }}\n{{ message | data("message") }}'


def prompt(head: str = HEAD, user: str = USER) -> Prompt:
    return parse_prompt(f"+++\n{head}\n+++\n# system\nDo the job.\n# user\n{user}", where="x.md")


def test_instructions_come_first_and_hold_nothing_of_the_message() -> None:
    system, user = prompt().render(message="Leo at 5", people=["Mia"])
    assert (system.author, system.text) == (Author.SYSTEM, "Do the job.")
    assert user.author is Author.USER
    assert (
        user.text
        == '<data people>\n["Mia"]\n</data people>\n<data message>\n"Leo at 5"\n</data message>'
    )


@pytest.mark.parametrize("text", HOSTILE)
def test_hostile_text_stays_in_its_block(text: str) -> None:
    _, user = prompt().render(message=text, people=[text, {text: text}])  # type: ignore[list-item]
    lines = user.text.split("\n")
    assert [line for line in lines if "<" in line] == [
        "<data people>",
        "</data people>",
        "<data message>",
        "</data message>",
    ]
    assert json.loads(lines[4]) == text
    assert json.loads(lines[1]) == [text, {text: text}]
    assert not re.search(
        r"[\u200b-\u200f\u2028-\u202e\u2060\ufeff\x00-\x09\x0b-\x1f\x7f-\x9f]", user.text
    )


@given(st.recursive(st.text() | st.integers() | st.booleans() | st.none(), st.lists))
def test_a_block_is_its_value_again_and_has_three_lines(value: object) -> None:
    first, middle, last = block("it", value).splitlines()  # type: ignore[arg-type]
    assert (first, last) == ("<data it>", "</data it>")
    assert json.loads(middle) == value
    assert not set("<>|`#") & set(middle)


@pytest.mark.parametrize(
    "user",
    [
        "{{ message }}{{ people | data('people') }}",
        "{{ people | data('people') }}{{ message | upper }}",
        "{{ people | data('people') }}{{ message ~ (message | data('m')) }}",
    ],
)
def test_a_value_that_does_not_pass_the_filter_is_refused(user: str) -> None:
    with pytest.raises((InputError, ConfigError)):
        prompt(user=user).render(message="x", people=[])


@pytest.mark.parametrize(
    ("head", "user", "why"),
    [
        (HEAD.replace("people", "family"), USER, "family"),
        (HEAD + '\npersona = "kind"', USER, "persona"),
        (HEAD.replace("version = 3", "version = 0"), USER, "version"),
        (HEAD.replace('"light"', '"gpt"'), USER, "role"),
        (HEAD.replace("= 100", "= lots"), USER, "head"),
        (HEAD, USER + "{% if %}", "template"),
        (HEAD, "{{ message | data('m') }}", "people"),
    ],
)
def test_a_wrong_file_says_what_is_wrong(head: str, user: str, why: str) -> None:
    with pytest.raises(ConfigError, match=why):
        prompt(head, user)


def test_what_is_no_prompt_or_not_there_is_refused() -> None:
    with pytest.raises(ConfigError, match="# system"):
        parse_prompt("Do the job.", where="x.md")
    with pytest.raises(ConfigError, match="no such prompt"):
        load_prompt("kinkeeper.observer", "sing")


def test_inputs_are_exactly_those_of_the_head() -> None:
    with pytest.raises(InputError, match="people"):
        prompt().render(message="x")
    with pytest.raises(InputError, match="more"):
        prompt().render(message="x", people=[], more="y")


def test_more_than_the_budget_is_refused() -> None:
    with pytest.raises(PromptTooLongError, match="200"):
        prompt().render(message="word " * 200, people=[])


def test_every_change_changes_the_hash() -> None:
    assert prompt().ref != prompt(user=USER + " ").ref
    assert prompt().ref == prompt().ref
