"""How many tokens a text may have, where nobody counted. Pure."""

from kinkeeper.models.model import ChatRequest, Usage

_CHARACTERS_A_TOKEN = 4
# What templates put around each message: who speaks, where it begins and ends.
_AROUND_A_MESSAGE = 16
_MOST = 10_000_000
"""Tokens of a call; what a server claims beyond, or below nothing, would spend a budget or fill it up again."""


def estimated(text: str) -> int:
    """Return the usual number of tokens of a text."""
    return -(-len(text) // _CHARACTERS_A_TOKEN)


def at_least(request: ChatRequest) -> int:
    """Return a number of tokens that no tokeniser stays below: one a word."""
    return sum(len(message.text.split()) for message in request.messages)


def at_most(request: ChatRequest) -> int:
    """Return a number of tokens that no tokeniser goes beyond: one a byte."""
    texts = sum(len(message.text.encode()) + _AROUND_A_MESSAGE for message in request.messages)
    schema = len(str(request.output.schema)) if request.output else 0
    return texts + schema


def usage_of(
    request: ChatRequest, answer: str, *, input_tokens: int | None, output_tokens: int | None
) -> Usage:
    """Return what a call took, estimated where its server does not say, or says what cannot be.

    Args:
        request: What was sent.
        answer: What came.
        input_tokens: As the server counts; None where it does not.
        output_tokens: The same of the answer.
    """
    if input_tokens is None or output_tokens is None or not _can_be(input_tokens, output_tokens):
        sent = sum(estimated(message.text) for message in request.messages)
        return Usage(input_tokens=sent, output_tokens=estimated(answer), is_estimated=True)
    return Usage(
        input_tokens=input_tokens, output_tokens=output_tokens,
        is_input_cut=input_tokens < at_least(request),
    )  # fmt: skip


def _can_be(*counts: int) -> bool:
    return all(0 <= count <= _MOST for count in counts)
