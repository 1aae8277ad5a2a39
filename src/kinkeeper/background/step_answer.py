"""What a model answers about a step of a goal: numbers of lines and the key of a look, and nothing that people see. Pure."""

from collections.abc import Collection
from typing import Final

from pydantic import BaseModel, ConfigDict, Field, create_model, model_validator

from kinkeeper.background.page_match import MOST_LINES

_LONGEST_WORDS: Final = 100


class StepAnswer(BaseModel):
    """Which lines answer a step, and where to look next; `answer_type` has both checked.

    Attributes:
        answers: Numbers of lines, the best first.
        look: Key of a look; empty for none.
        words: What to look for there.
    """

    model_config = ConfigDict(frozen=True, extra="forbid")

    answers: list[int] = Field(max_length=MOST_LINES)
    look: str
    words: str = Field(max_length=_LONGEST_WORDS)


def answer_type(lines: int, looks: Collection[str]) -> type[StepAnswer]:
    """Return the answer's type in which only lines that were shown and looks that are offered fit.

    Args:
        lines: How many were shown, numbered from 1.
        looks: Keys of those that are offered.
    """

    def checked(answer: StepAnswer) -> StepAnswer:
        for each in answer.answers:
            if not 1 <= each <= lines:
                raise ValueError(f"there is no line {each}")
        if answer.look and answer.look not in looks:
            raise ValueError("there is no such look")
        return answer

    return create_model(
        "StepAnswer",
        __base__=StepAnswer,
        __validators__={"shown": model_validator(mode="after")(checked)},  # type: ignore[dict-item]
    )
