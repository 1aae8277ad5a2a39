"""Tables and mistakes of the ways to read a message: rules, a model alone, rules with a model."""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Final

from evals.episode_scoring import Check, Score
from evals.report import Table
from kinkeeper.observer.consultation import ANSWERED, Consultation

LEFT_OPEN: Final = "left open by the rules"
SURE: Final = "read without doubt"

Cells = tuple[str | int | float, ...]
Messages = Mapping[str, frozenset[str]]
"""Ids of messages by the id of their episode."""


@dataclass(frozen=True, slots=True)
class Arm:
    """One way to read, and what it came to.

    Attributes:
        name: Of the way.
        scores: Of the episodes with sampled messages.
        asked: Every question to the model.
    """

    name: str
    scores: Mapping[str, Score]
    asked: Sequence[Consultation]

    def checks(self, messages: Messages) -> Iterator[tuple[str, list[Check]]]:
        """Yield what was expected of the reading of each message, and whether it was met."""
        for key, wanted in messages.items():
            score = self.scores[key]
            for message in sorted(wanted):
                fields = score.episode.lines[message]["extraction"]
                yield (
                    f"{key} {message}",
                    [c for c in score.checks if c.message_id == message and c.field in fields],
                )

    def fields_right(self, messages: Messages) -> int:
        """Return how many expected fields of messages came out right."""
        return sum(check.right for _, checks in self.checks(messages) for check in checks)


def reading_table(arms: Sequence[Arm], groups: Mapping[str, Messages]) -> Table:
    """Return how well each way read each group of messages."""
    return Table(
        title="Reading of sampled messages",
        columns=(
            "messages",
            "way",
            "count",
            "fields right",
            "all fields right",
            "wrong person",
            "episodes with the right words said",
        ),
        rows=tuple(_row(arm, group, groups[group]) for group in groups for arm in arms),
    )


def _row(arm: Arm, group: str, messages: Messages) -> Cells:
    found = [checks for _, checks in arm.checks(messages)]
    fields = sum(map(len, found))
    whole = sum(all(check.right for check in checks) for checks in found)
    spoke = sum(arm.scores[key].spoke_right for key in messages)
    return (
        group,
        arm.name,
        len(found),
        round(arm.fields_right(messages) / max(1, fields), 3),
        round(whole / max(1, len(found)), 3),
        sum(len(arm.scores[key].wrong_people) for key in messages),
        round(spoke / max(1, len(messages)), 3),
    )


def question_table(arms: Sequence[Arm]) -> Table:
    """Return how often a model was asked, and how much of its answers had no ground."""
    return Table(
        title="Questions to the model",
        columns=("way", "asked", "answered", "values without ground"),
        rows=tuple(
            (
                arm.name,
                len(arm.asked),
                sum(each.outcome in ANSWERED for each in arm.asked),
                sum(each.discarded for each in arm.asked),
            )
            for arm in arms
        ),
    )


def mistakes(arms: Sequence[Arm], groups: Mapping[str, Messages]) -> Iterator[str]:
    """Yield the fields that came out wrong."""
    for arm in arms:
        for messages in groups.values():
            for where, checks in arm.checks(messages):
                for check in checks:
                    if not check.right:
                        yield f"{arm.name}: {where} {check.field}: {check.expected}, got {check.got}"
