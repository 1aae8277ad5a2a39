"""Prompts: files filled in strictly, with data in blocks that no text can leave.

```
+++
id = "package.job"
...
+++
# system
What never changes, so that a server keeps it ready.
# user
{{ message | data("message") }}
```

The parts are Jinja templates in a sandbox. Every value that is put in has to pass the filter `data`, which makes
a block that no text can leave; anything else is an error, and so is a variable that the head does not name.
"""

import hashlib
import json
import re
import tomllib
import unicodedata
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from importlib import resources
from typing import Any

from jinja2 import StrictUndefined, TemplateError, meta
from jinja2.sandbox import ImmutableSandboxedEnvironment
from pydantic import BaseModel, ConfigDict, Field, ValidationError

from kinkeeper.core.errors import ConfigError, InputError, Problem
from kinkeeper.models.model import Author, ChatMessage, ModelRole, PromptRef

# Data inside a prompt: a block that no text can leave, whatever it says. Pure.

# Marks of chat templates and of our own blocks are made of these: inside a block they stand escaped.
_STRUCTURAL = frozenset("<>[]{}|`#")
_UNSEEN = frozenset({"Cc", "Cf", "Co", "Cs", "Zl", "Zp"})
_BASIC_PLANE = 0xFFFF

Data = str | int | bool | None | Sequence["Data"] | Mapping[str, "Data"]


def block(name: str, value: Data) -> str:
    """Return a value as a block of JSON between marks.

    Inside, text holds none of the characters that marks are made of, no line break and nothing
    invisible, only their JSON escapes: it can neither close its block nor look like another.

    Args:
        name: Letters and underscores, from the prompt's author.
        value: Text, numbers, lists and objects with text keys.
    """
    return f"<data {name}>\n{_literal(value)}\n</data {name}>"


def _literal(value: Data) -> str:
    if isinstance(value, str):
        return _text(value)
    if isinstance(value, Mapping):
        return "{" + ", ".join(f"{_text(k)}: {_literal(v)}" for k, v in value.items()) + "}"
    if isinstance(value, Sequence):
        return "[" + ", ".join(map(_literal, value)) + "]"
    return json.dumps(value)


def _text(value: str) -> str:
    return "".join(map(_safe, json.dumps(value, ensure_ascii=False)))


def _safe(character: str) -> str:
    if character not in _STRUCTURAL and unicodedata.category(character) not in _UNSEEN:
        return character
    point = ord(character)
    if point <= _BASIC_PLANE:
        return f"\\u{point:04x}"
    return json.dumps(character)[1:-1]


_WHOLE = re.compile(
    r"\+\+\+\n(?P<head>.*?)\n\+\+\+\n+# system\n(?P<system>.*?)\n# user\n(?P<user>.*)", re.DOTALL
)
_BYTES_A_TOKEN = 3
"""Fewer than in any language that families write in, so that the estimate is no smaller than the count."""


class PromptHead(BaseModel):
    """What the head of a prompt's file says.

    Attributes:
        id: Dotted name of the job.
        version: Counts up with every change.
        role: Which model does it.
        inputs: Names of the values it takes; exactly those that its parts use.
        output: "module:Type" of the pydantic type that an answer must fit; "text" for words to a person.
        temperature: How freely the model chooses its words.
        max_output_tokens: Longest answer.
        budget_input_tokens: Longest filled-in prompt; a longer one is refused.
    """

    model_config = ConfigDict(frozen=True, extra="forbid", strict=True)

    id: str = Field(pattern=r"^[a-z_]+(\.[a-z_]+)+$")
    version: int = Field(ge=1)
    role: ModelRole = Field(strict=False)
    inputs: list[str] = Field(min_length=1)
    output: str = Field(pattern=r"^(text|[a-z_.]+:[A-Za-z]+)$")
    temperature: float = Field(ge=0, le=2)
    max_output_tokens: int = Field(ge=1)
    budget_input_tokens: int = Field(ge=1)


class PromptTooLongError(InputError):
    """A filled-in prompt is longer than its budget; the caller says less or does without a model."""


class _Block(str):
    """Text that has passed the filter."""

    __slots__ = ()


@dataclass(frozen=True, slots=True, kw_only=True)
class Prompt:
    """One prompt, checked.

    Attributes:
        head: What its head says.
        hash: SHA-256 of its file, hex.
        system: Template of the instructions.
        user: Template of the message.
    """

    head: PromptHead
    hash: str
    system: str
    user: str

    @property
    def ref(self) -> PromptRef:
        """What a call made from it is recorded under."""
        return PromptRef(id=self.head.id, version=self.head.version, hash=self.hash)

    def render(self, **inputs: Data) -> tuple[ChatMessage, ...]:
        """Return the messages of a call: the instructions, then what it is about.

        Args:
            inputs: Each of the head's inputs by name.

        Raises:
            InputError: An input is missing or not named in the head.
            PromptTooLongError: It would be longer than its budget.
        """
        if wrong := set(inputs) ^ set(self.head.inputs):
            raise InputError(
                f"prompt {self.head.id}: inputs {sorted(wrong)} are missing or unknown"
            )
        environment = _environment()
        try:
            messages = tuple(
                ChatMessage(
                    author=author, text=environment.from_string(part).render(inputs).strip()
                )
                for author, part in ((Author.SYSTEM, self.system), (Author.USER, self.user))
            )
        except TemplateError as error:
            raise InputError(f"prompt {self.head.id}: {error}") from error
        tokens = sum(len(message.text.encode()) for message in messages) // _BYTES_A_TOKEN
        if tokens > self.head.budget_input_tokens:
            raise PromptTooLongError(
                f"prompt {self.head.id} would take about {tokens} tokens; "
                f"its budget is {self.head.budget_input_tokens}"
            )
        return messages


def load_prompt(package: str, name: str) -> Prompt:
    """Return a prompt that is shipped with a package.

    Args:
        package: Dotted name of the folder's package, "kinkeeper.observer".
    """
    where = f"{package.replace('.', '/')}/prompts/{name}.md"
    file = resources.files(package).joinpath("prompts", f"{name}.md")
    if not file.is_file():
        raise _wrong(where, "there is no such prompt")
    return parse_prompt(file.read_text(encoding="utf-8"), where=where)


def parse_prompt(text: str, *, where: str) -> Prompt:
    """Return the prompt of a file's text."""
    match = _WHOLE.fullmatch(text)
    if match is None:
        raise _wrong(where, "a prompt is a head between +++ lines, then # system, then # user")
    try:
        head = PromptHead.model_validate(tomllib.loads(match["head"]))
    except (tomllib.TOMLDecodeError, ValidationError) as error:
        raise _wrong(where, f"the head is invalid: {error}") from error
    environment = _environment()
    try:
        used = {
            name
            for part in ("system", "user")
            for name in meta.find_undeclared_variables(environment.parse(match[part]))
        }
    except TemplateError as error:
        raise _wrong(where, f"a part is not a template: {error}") from error
    if used != set(head.inputs):
        raise _wrong(where, f"inputs are {sorted(head.inputs)}, but the parts use {sorted(used)}")
    return Prompt(
        head=head,
        hash=hashlib.sha256(text.encode()).hexdigest(),
        system=match["system"],
        user=match["user"],
    )


def _wrong(where: str, message: str) -> ConfigError:
    return ConfigError([Problem(where=where, line=None, message=message)])


def _environment() -> ImmutableSandboxedEnvironment:
    environment = ImmutableSandboxedEnvironment(
        undefined=StrictUndefined, autoescape=False, finalize=_only_blocks, trim_blocks=True
    )
    environment.filters = {"data": lambda value, name: _Block(block(name, value))}
    environment.globals = {}
    environment.tests = {}
    return environment


def _only_blocks(value: Any) -> Any:
    """Let through what passed the filter, and nothing else; Jinja calls this for every value put in."""
    if isinstance(value, _Block):
        return value
    raise TemplateError("a value is inserted without the filter data(name)")
