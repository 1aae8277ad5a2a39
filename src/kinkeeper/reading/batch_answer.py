"""The shape of a model's answer about a batch, and its quotations found again in the talk."""

import re
from typing import Annotated, Any, Final, Literal

from pydantic import BaseModel, ConfigDict, Field

from kinkeeper.language.text import fold

OUTSIDE: Final = "outside person"
"""Somebody who is no member of the household."""

_MOST_ITEMS: Final = 20
_MOST_PEOPLE: Final = 8

_Id = Annotated[str, Field(max_length=8)]
_Quoted = Annotated[str, Field(max_length=120)]
_Names = Annotated[list[Annotated[str, Field(max_length=80)]], Field(max_length=_MOST_PEOPLE)]


def _without_description(schema: dict[str, Any]) -> None:
    """Leave out of the schema what the prompt says anyway."""
    schema.pop("description", None)


class Item(BaseModel):
    """What one message does to one plan.

    Attributes:
        message: Id of the message.
        does: What it does to the plans.
        act: How; the acts of the contract that group talk has.
        kind: What the plan is; the predicates of the contract that group talk has.
        ref: Id of the thing or of the earlier message that it is about; null where there is none.
        title: What the plan is, quoted; null where nobody named it.
        day: The words for the day, quoted, or the id of a thing on that day.
        hour: The words for the time of day, quoted, or the id of a thing at that time.
        at: What both come to, "2026-03-12" or "2026-03-12T17:30".
        who: Whom it concerns.
        by: Who does it.
        certain: Whether it is meant as it stands; not for wishes, maybes, jokes.
        secret: Whether somebody is not to hear of it.
    """

    model_config = ConfigDict(frozen=True, extra="forbid", json_schema_extra=_without_description)

    message: _Id
    does: Literal["new", "change", "cancel", "answer", "nothing"]
    act: Literal[
        "state", "ask", "request", "offer", "accept", "decline", "assign", "withdraw", "report_done"
    ]
    kind: Literal["event", "pickup", "dropoff", "cover", "task", "absence"]
    ref: _Id | None
    title: _Quoted | None
    day: _Quoted | None
    hour: _Quoted | None
    at: Annotated[str, Field(max_length=20)] | None
    who: _Names
    by: _Names
    certain: bool
    secret: bool


class BatchAnswer(BaseModel):
    """All that the new messages do to the plans.

    Attributes:
        items: In the order of the messages; empty where they do nothing.
    """

    model_config = ConfigDict(frozen=True, extra="forbid", json_schema_extra=_without_description)

    items: Annotated[list[Item], Field(max_length=_MOST_ITEMS)]


# Words that were copied from a text, found again in it as the program folds spellings. Pure.

_EDGES = " \t\n.,;:!?\"'()…"
_MOST_WORDS = 24


def quoted_span(quote: str, text: str) -> tuple[int, int] | None:
    """Return where a text holds a quotation: offsets of its first character, and past its last; None where it does not.

    Case, kinds of quotes and dashes, letters drawn out, spacing and marks at its ends do not count; it begins and ends
    with whole words.

    Args:
        quote: What is said to be copied.
        text: What it is to stand in, as it was typed.
    """
    words = fold(quote).text.strip(_EDGES).split()
    if not words or len(words) > _MOST_WORDS:
        return None
    folded = fold(text)
    pattern = r"\s+".join(map(re.escape, words))
    found = re.search(rf"(?<!\w){pattern}(?!\w)", folded.text)
    return folded.span(*found.span()) if found else None
