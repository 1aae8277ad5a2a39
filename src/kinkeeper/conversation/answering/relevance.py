"""Which parts of what is at hand go into the prompt of a turn, and how much of each. Pure."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from kinkeeper.brain.model import Source
from kinkeeper.conversation.answering.names_and_times import plain
from kinkeeper.conversation.model import AnswerContext, Mode
from kinkeeper.memory.finding.terms import stems

_WORTH = 0.3
_MOST = 5
_LONGEST = 300
_HISTORY = 4


@dataclass(frozen=True, slots=True)
class Relevance:
    """How much each part matters to an answer, each in [0, 1]; below .3 it is left out.

    Attributes:
        parts: By name: "talk", "memories", "gists", "known", "world", "sources".
    """

    parts: Mapping[str, float]

    def takes(self, part: str) -> bool:
        """Whether a part goes into the prompt."""
        return self.parts.get(part, 0.0) >= _WORTH


def relevance_of(context: AnswerContext, sources: Sequence[Source]) -> Relevance:
    """Return how much each part of what is at hand matters to a turn.

    Args:
        sources: What calendar and memory know about it.
    """
    asked = {*stems(context.text)}
    is_followup = context.triage.is_followup or not asked
    talk = 1.0 if is_followup else 0.3 + 0.7 * _overlap(asked, _talk(context))
    return Relevance(
        {
            "talk": talk if context.history else 0.0,
            "memories": _overlap(asked, context.memories),
            "gists": 0.8 if is_followup and context.gists else _overlap(asked, context.gists),
            "known": _overlap(asked, [f"{key} {value}" for key, value in context.known.items()]),
            "world": 0.6 if context.mode is Mode.RESPOND and context.world else 0.0,
            "sources": max((source.relevance for source in sources), default=0.0),
        }
    )


def chosen_lines(
    context: AnswerContext, sources: Sequence[Source], relevance: Relevance
) -> list[str]:
    """Return what is known as lines for a prompt, what matters most first.

    Args:
        sources: What calendar and memory know about it.
    """
    parts: Mapping[str, Sequence[str]] = {
        "sources": [source.sentence for source in sources],
        "known": [f"{key}: {value}" for key, value in context.known.items()],
        "memories": context.memories,
        "gists": context.gists,
    }
    names = sorted(parts, key=lambda name: -relevance.parts[name])
    lines = [
        plain(line, _LONGEST)
        for name in names
        if relevance.takes(name)
        for line in parts[name][:_MOST]
    ]
    return [*dict.fromkeys(lines)]


def talk_lines(context: AnswerContext, relevance: Relevance) -> list[dict[str, str]]:
    """Return the earlier talk for a prompt, oldest first."""
    if not relevance.takes("talk"):
        return []
    return [
        {"person": plain(turn.text, _LONGEST), "you": plain(turn.answer, _LONGEST)}
        for turn in context.history[-_HISTORY:]
    ]


def _talk(context: AnswerContext) -> list[str]:
    return [f"{turn.text} {turn.answer}" for turn in context.history[-_HISTORY:]]


def _overlap(asked: set[str], lines: Sequence[str]) -> float:
    """Return the share of a message's words that the best of some lines holds."""
    if not asked:
        return 0.0
    return max((len(asked & {*stems(line)}) / len(asked) for line in lines), default=0.0)
