"""What a language model was asked about one arrangement and what it said: typed, without words of the chat."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from pydantic import BaseModel, ConfigDict, Field

from kinkeeper.models.model import Outcome, PromptRef
from kinkeeper.observer.model import Stance, Task

ANSWERED = frozenset({Outcome.OK, Outcome.REPAIRED})
_MOST = 6

Ids = list[str]


class Answer(BaseModel):
    """The shape of a model's answer; what stands in it is believed only as far as it is grounded.

    Attributes:
        is_arrangement: Whether anything concrete is arranged.
        stance: What the sender does with it.
        task: What is to be done; null if it does not say.
        owners: Ids of the adults who do it.
        children: Ids of the children concerned.
        activity: Id of the activity, or null.
        place: Id of the place, or null.
        dates: Keys of the days among those offered.
        times: Keys of the times of day among those offered.
    """

    model_config = ConfigDict(frozen=True, extra="forbid")

    is_arrangement: bool
    stance: Stance
    task: Task | None
    owners: Ids = Field(max_length=_MOST)
    children: Ids = Field(max_length=_MOST)
    activity: str | None
    place: str | None
    dates: Ids = Field(max_length=_MOST)
    times: Ids = Field(max_length=_MOST)


@dataclass(frozen=True, slots=True, kw_only=True)
class Consultation:
    """One question to a model, and what came of it.

    Attributes:
        part: Which arrangement of the message it was about, from 0.
        doubt: What the rules had left open.
        outcome: How it ended; where there is no answer, the rules decided alone.
        prompt: What it was made from; None where it could not be made.
        model: The model that answered, as its server names it.
        answer: What it said, without the values that had no ground; None where there is none.
        discarded: How many values had none.
    """

    part: int
    doubt: str
    outcome: Outcome
    prompt: PromptRef | None = None
    model: str | None = None
    answer: Answer | None = None
    discarded: int = 0


def consultation_record(consultation: Consultation) -> dict[str, Any]:
    """Return the JSON form."""
    prompt, answer = consultation.prompt, consultation.answer
    return {
        "part": consultation.part,
        "doubt": consultation.doubt,
        "outcome": consultation.outcome.value,
        "prompt": {"id": prompt.id, "version": prompt.version, "hash": prompt.hash}
        if prompt
        else None,
        "model": consultation.model,
        "answer": answer.model_dump(mode="json") if answer else None,
        "discarded": consultation.discarded,
    }


def consultations_from(records: Sequence[Mapping[str, Any]] | None) -> tuple[Consultation, ...]:
    """Return what was stored with a message; the inverse of `consultation_record` for each."""
    return tuple(
        Consultation(
            part=record["part"],
            doubt=record["doubt"],
            outcome=Outcome(record["outcome"]),
            prompt=PromptRef(**record["prompt"]) if record["prompt"] else None,
            model=record["model"],
            answer=Answer.model_validate(record["answer"]) if record["answer"] else None,
            discarded=record["discarded"],
        )
        for record in records or ()
    )
