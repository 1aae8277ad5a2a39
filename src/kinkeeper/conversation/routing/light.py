"""A light model's word on where a message goes; late or without one, the rules stand."""

from collections.abc import Sequence
from dataclasses import dataclass, replace
from datetime import timedelta
from typing import Annotated, Literal, TypeVar

from pydantic import BaseModel, ConfigDict, Field

from kinkeeper.actions.requests.model import RequestKind
from kinkeeper.conversation.model import Branch, Exchange, Mode, Source, Triage, TurnType
from kinkeeper.conversation.routing.signals import Signals
from kinkeeper.models.model import ModelGateway, Outcome
from kinkeeper.models.prompts import Data, Prompt, load_prompt
from kinkeeper.models.structured import consult

TIMEOUT = timedelta(milliseconds=500)
"""Longest wait for either answer."""

TRIAGE, TIE = "conversation.triage", "conversation.tie_break"
"""Names under which going on without a model is counted."""

_PACKAGE = "kinkeeper.conversation.routing"
_TURNS_SHOWN = 3
_LONGEST = 300
_LONGEST_MESSAGE = 2_000

Share = Annotated[float, Field(ge=0, le=1)]
T = TypeVar("T", bound=BaseModel)


class TriageAnswer(BaseModel):
    """Where a message goes."""

    model_config = ConfigDict(frozen=True, extra="forbid")

    branch: Literal["respond", "clarify", "act"]
    domains: list[str]
    tools: list[str]
    is_followup: bool
    confidence: Share


class TieAnswer(BaseModel):
    """Which of two modes."""

    model_config = ConfigDict(frozen=True, extra="forbid")

    mode: Mode


@dataclass(frozen=True, slots=True, kw_only=True)
class Said:
    """What a model is shown.

    Attributes:
        household: Whose budget it is.
        history: Earlier turns, oldest first.
    """

    household: str
    text: str
    history: Sequence[Exchange] = ()

    def talk(self) -> list[Data]:
        """The last turns."""
        return [
            {"said": each.text[:_LONGEST], "answered": each.answer[:_LONGEST]}
            for each in self.history[-_TURNS_SHOWN:]
        ]


class LightModel:
    """Asks the light model.

    Args:
        models: Answer, and count where there was no answer.
    """

    def __init__(self, models: ModelGateway) -> None:
        self._models = models
        self._triage = load_prompt(_PACKAGE, "triage")
        self._tie = load_prompt(_PACKAGE, "break_tie")

    async def triage(
        self, said: Said, rules: Triage, signals: Signals, requests: Sequence[RequestKind]
    ) -> tuple[Triage, Outcome | None]:
        """Return a triage by the model, or the rules' with the reason why there is none.

        Args:
            said: What it is shown.
            rules: What the rules made of the message.
            signals: What is known when it comes.
            requests: All that can be asked.
        """
        inputs: dict[str, Data] = {
            "requests": {kind.key: kind.description for kind in requests},
            "talk": said.talk(),
            "state": {
                "previous_mode": str(signals.previous_mode or ""),
                "previous_tools": list(signals.previous_tools),
                "warmth": f"{signals.warmth:.2f}",
                "memory_confidence": f"{signals.memory_confidence:.2f}",
                "gists": signals.gists,
            },
            "message": said.text[:_LONGEST_MESSAGE],
        }
        answer = await self._asked(
            said.household, self._triage, inputs, output=TriageAnswer, stage=TRIAGE
        )
        if isinstance(answer, Outcome):
            return rules, answer
        return _with(rules, answer), None

    async def between(
        self, said: Said, modes: Sequence[Mode]
    ) -> tuple[Mode | None, Outcome | None]:
        """Return which of two modes the model prefers; None, and why, where it says neither.

        Args:
            said: What it is shown.
            modes: The two, the better first.
        """
        inputs: dict[str, Data] = {
            "modes": [mode.value for mode in modes], "talk": said.talk(),
            "message": said.text[:_LONGEST_MESSAGE],
        }  # fmt: skip
        answer = await self._asked(said.household, self._tie, inputs, output=TieAnswer, stage=TIE)
        if isinstance(answer, Outcome):
            return None, answer
        return (answer.mode, None) if answer.mode in modes else (None, Outcome.INVALID_OUTPUT)

    async def _asked(
        self,
        household: str,
        prompt: Prompt,
        inputs: dict[str, Data],
        *,
        output: type[T],
        stage: str,
    ) -> T | Outcome:
        answer = await consult(
            self._models, prompt, inputs, output, household=household, stage=stage, within=TIMEOUT
        )
        return answer if isinstance(answer, Outcome) else answer.value


def _with(rules: Triage, answer: TriageAnswer) -> Triage:
    branch = Branch(answer.branch)
    named = [tool.partition(".")[0] for tool in answer.tools]
    follows = answer.is_followup or rules.is_followup
    return replace(
        rules, branch=branch, type=TurnType.FOLLOWUP if follows else rules.type,
        domains=tuple(dict.fromkeys([*answer.domains, *named])), tools=tuple(answer.tools),
        is_followup=follows, source=Source.MODEL,
        confidence_tool_need=answer.confidence if branch is Branch.ACT else 1 - answer.confidence,
    )  # fmt: skip
