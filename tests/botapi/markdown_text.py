"""Text marked up as MarkdownV2."""

import re
from dataclasses import dataclass, field

from botapi.entities import Entity, utf16_length
from botapi.refusals import Refusal, bad_request

_RESERVED = frozenset("_*[]()~`>#+-=|{}.!")
_MARKS = {"*": "bold", "__": "underline", "_": "italic", "~": "strikethrough", "||": "spoiler"}
_LINK = re.compile(r"\]\(((?:\\.|[^)\\])*)\)")


@dataclass(slots=True)
class _Reading:
    raw: str
    at: int = 0
    text: list[str] = field(default_factory=list)
    length: int = 0
    open: list[tuple[str, int, int]] = field(default_factory=list)
    entities: list[Entity] = field(default_factory=list)
    quote: int | None = None

    def add(self, piece: str) -> None:
        self.text.append(piece)
        self.length += utf16_length(piece)

    def byte(self, at: int) -> int:
        return len(self.raw[:at].encode())

    def close(self, kind: str, start: int, **more: str) -> None:
        if self.length > start:
            self.entities.append(
                {"type": kind, "offset": start, "length": self.length - start, **more}
            )


def read_markdown(raw: str) -> tuple[str, list[Entity]]:
    """Return the text without its marks, and what the marks meant.

    Raises:
        Refusal: A mark is unclosed, or a reserved character is not escaped.
    """
    reading = _Reading(raw)
    while reading.at < len(raw):
        _step(reading)
    if reading.quote is not None:
        reading.close("blockquote", reading.quote)
    if reading.open:
        mark, at, _ = reading.open[-1]
        kind = "Link" if mark == "[" else _MARKS[mark].capitalize()
        raise _broken(f"Can't find end of {kind} entity at byte offset {at}")
    ordered = sorted(reading.entities, key=lambda entity: (entity["offset"], -entity["length"]))
    return "".join(reading.text), ordered


def _broken(reason: str) -> Refusal:
    return bad_request(f"can't parse entities: {reason}")


def _step(reading: _Reading) -> None:
    raw, at = reading.raw, reading.at
    character = raw[at]
    if character == "\\" and at + 1 < len(raw) and ord(raw[at + 1]) < 127:
        reading.add(raw[at + 1])
        reading.at += 2
    elif character == "\n":
        _new_line(reading)
    elif character == ">" and (at == 0 or raw[at - 1] == "\n"):
        reading.quote = reading.length if reading.quote is None else reading.quote
        reading.at += 1
    elif character == "`":
        _code(reading)
    elif raw.startswith("![", at):
        reading.at += 1
    elif character == "[":
        reading.open.append(("[", reading.byte(at), reading.length))
        reading.at += 1
    elif character == "]" and reading.open and reading.open[-1][0] == "[":
        _link(reading)
    elif not _mark(reading):
        if character in _RESERVED:
            raise _broken(
                f"Character '{character}' is reserved and must be escaped with the preceding '\\'"
            )
        reading.add(character)
        reading.at += 1


def _new_line(reading: _Reading) -> None:
    goes_on = reading.raw.startswith(">", reading.at + 1)
    if reading.quote is not None and not goes_on:
        reading.close("blockquote", reading.quote)
        reading.quote = None
    reading.add("\n")
    reading.at += 1


def _code(reading: _Reading) -> None:
    raw, at = reading.raw, reading.at
    fence = "```" if raw.startswith("```", at) else "`"
    end = at + len(fence)
    while not raw.startswith(fence, end):
        if end >= len(raw):
            kind = "Pre" if len(fence) > 1 else "Code"
            raise _broken(f"Can't find end of {kind} entity at byte offset {reading.byte(at)}")
        end += 2 if raw[end] == "\\" else 1
    inside = re.sub(r"\\([!-/:-@\[-`{-~])", r"\1", raw[at + len(fence) : end])
    more = {}
    if fence == "```":
        language = re.match(r"([^\s`]+)\n", inside)
        if language:
            more["language"] = language.group(1)
        inside = inside[language.end() :] if language else inside.removeprefix("\n")
    start = reading.length
    reading.add(inside)
    reading.close("pre" if fence == "```" else "code", start, **more)
    reading.at = end + len(fence)


def _link(reading: _Reading) -> None:
    target = _LINK.match(reading.raw, reading.at)
    _, _, start = reading.open.pop()
    if target is None:
        reading.at += 1
        return
    address = re.sub(r"\\(.)", r"\1", target.group(1))
    if "." in address or "://" in address:
        reading.close("text_link", start, url=address)
    reading.at = target.end()


def _mark(reading: _Reading) -> bool:
    raw, at = reading.raw, reading.at
    for mark in ("||", "__", "*", "_", "~"):
        if not raw.startswith(mark, at):
            continue
        if reading.open and reading.open[-1][0] == mark:
            _, _, start = reading.open.pop()
            reading.close(_MARKS[mark], start)
        elif any(opened == mark for opened, _, _ in reading.open):
            raise _broken(
                f"Can't find end of the entity starting at byte offset {reading.open[-1][1]}"
            )
        else:
            reading.open.append((mark, reading.byte(at), reading.length))
        reading.at += len(mark)
        return True
    return False
