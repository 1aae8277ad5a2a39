"""The closed table of effects: what each needs, what is at stake, and whether it can be undone."""

from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass
from types import MappingProxyType
from typing import Any

from pydantic import ValidationError
from sqlalchemy import Connection

from kinkeeper.actions.consent import Stakes
from kinkeeper.actions.effects import calendar, goals, memory, notes, outside, tasks
from kinkeeper.actions.effects.contract import Effect, Execution
from kinkeeper.core.errors import InputError


@dataclass(frozen=True, slots=True, kw_only=True)
class EffectKind:
    """A row of the table.

    Attributes:
        parameters: What it needs, and how it is written.
        stakes: What a mistake would cost.
        undo: Takes it back by its change id; None where nothing can.
        is_outside: Whether it is only queued when it is executed, and done outside the database by a worker.
    """

    parameters: type[Effect]
    stakes: Stakes
    undo: Callable[[Connection, Execution], None] | None
    is_outside: bool = False


# One occurrence or one entry is easily put right; a whole series is not easily missed in time, and
# what was erased is gone.
EFFECTS: Mapping[str, EffectKind] = MappingProxyType(
    {
        "calendar.add_event": EffectKind(
            parameters=calendar.AddEvent, stakes=Stakes.LOW, undo=calendar.undo
        ),
        "calendar.move_occurrence": EffectKind(
            parameters=calendar.MoveOccurrence, stakes=Stakes.LOW, undo=calendar.undo
        ),
        "calendar.cancel_occurrence": EffectKind(
            parameters=calendar.CancelOccurrence, stakes=Stakes.LOW, undo=calendar.undo
        ),
        "calendar.assign_occurrence": EffectKind(
            parameters=calendar.AssignOccurrence, stakes=Stakes.LOW, undo=calendar.undo
        ),
        "calendar.update_event": EffectKind(
            parameters=calendar.UpdateEvent, stakes=Stakes.HIGH, undo=calendar.undo
        ),
        "calendar.set_scope": EffectKind(
            parameters=calendar.SetEventScope, stakes=Stakes.LOW, undo=calendar.undo
        ),
        "calendar.cancel_event": EffectKind(
            parameters=calendar.CancelEvent, stakes=Stakes.HIGH, undo=calendar.undo
        ),
        "email.keep_draft": EffectKind(
            parameters=outside.KeepDraft, stakes=Stakes.LOW, undo=outside.undo_kept
        ),
        "email.create_draft": EffectKind(
            parameters=outside.CreateDraft,
            stakes=Stakes.LOW,
            undo=outside.undo_created,
            is_outside=True,
        ),
        "email.send": EffectKind(
            parameters=outside.SendMail, stakes=Stakes.HIGH, undo=None, is_outside=True
        ),
        "tools.call": EffectKind(
            parameters=outside.CallTool, stakes=Stakes.HIGH, undo=None, is_outside=True
        ),
        "goal.add": EffectKind(parameters=goals.AddGoal, stakes=Stakes.LOW, undo=goals.undo),
        "goal.pause": EffectKind(parameters=goals.PauseGoal, stakes=Stakes.LOW, undo=goals.undo),
        "goal.resume": EffectKind(parameters=goals.ResumeGoal, stakes=Stakes.LOW, undo=goals.undo),
        "goal.cancel": EffectKind(parameters=goals.CancelGoal, stakes=Stakes.LOW, undo=goals.undo),
        "goal.read_page": EffectKind(
            parameters=goals.ReadPage, stakes=Stakes.LOW, undo=goals.undo_read_page
        ),
        "memory.remember_fact": EffectKind(
            parameters=memory.RememberFact, stakes=Stakes.LOW, undo=memory.undo
        ),
        "memory.edit_fact": EffectKind(
            parameters=memory.EditFact, stakes=Stakes.LOW, undo=memory.undo
        ),
        "memory.mark_wrong": EffectKind(
            parameters=memory.MarkWrong, stakes=Stakes.LOW, undo=memory.undo
        ),
        "memory.end_fact": EffectKind(
            parameters=memory.EndFact, stakes=Stakes.LOW, undo=memory.undo
        ),
        "memory.settle_doubt": EffectKind(
            parameters=memory.SettleDoubt, stakes=Stakes.LOW, undo=memory.undo
        ),
        "memory.settle_question": EffectKind(
            parameters=memory.SettleQuestion, stakes=Stakes.LOW, undo=memory.undo
        ),
        "memory.set_scope": EffectKind(
            parameters=memory.SetScope, stakes=Stakes.LOW, undo=memory.undo
        ),
        "memory.set_told_scope": EffectKind(
            parameters=memory.SetToldScope, stakes=Stakes.LOW, undo=memory.undo
        ),
        "memory.forget_fact": EffectKind(
            parameters=memory.ForgetFact, stakes=Stakes.HIGH, undo=None
        ),
        "memory.take_back": EffectKind(parameters=memory.TakeBack, stakes=Stakes.LOW, undo=None),
        "task.add": EffectKind(parameters=tasks.AddTask, stakes=Stakes.LOW, undo=tasks.undo),
        "task.update": EffectKind(parameters=tasks.UpdateTask, stakes=Stakes.LOW, undo=tasks.undo),
        "task.complete": EffectKind(
            parameters=tasks.CompleteTask, stakes=Stakes.LOW, undo=tasks.undo
        ),
        "task.delete": EffectKind(parameters=tasks.DeleteTask, stakes=Stakes.HIGH, undo=tasks.undo),
        "notes.add": EffectKind(parameters=notes.AddNote, stakes=Stakes.LOW, undo=notes.undo),
        "notes.append": EffectKind(
            parameters=notes.AppendToNote, stakes=Stakes.LOW, undo=notes.undo
        ),
        "notes.replace_lines": EffectKind(
            parameters=notes.ReplaceLines, stakes=Stakes.LOW, undo=notes.undo
        ),
        "notes.set_scope": EffectKind(
            parameters=notes.SetNoteScope, stakes=Stakes.LOW, undo=notes.undo
        ),
        "notes.delete": EffectKind(
            parameters=notes.DeleteNote, stakes=Stakes.HIGH, undo=notes.undo
        ),
    }
)


def effect_kind(name: object) -> EffectKind:
    """Return the row of an effect.

    Raises:
        InputError: There is no such effect.
    """
    kind = EFFECTS.get(str(name))
    if kind is None:
        raise InputError(f"there is no effect {name!r}; use one of {', '.join(EFFECTS)}")
    return kind


def read_effects(household: str, effects: Iterable[Mapping[str, Any]]) -> list[Effect]:
    """Return effects typed and checked.

    Args:
        household: Tenant they would be written for.
        effects: Frozen form: {"effect": name, ...parameters}.

    Raises:
        InputError: An effect is unknown, its parameters do not fit, or they name another household.
    """
    return [_read(household, effect) for effect in effects]


def stakes_of(effects: Iterable[Mapping[str, Any]]) -> Stakes:
    """Return the highest stakes among effects; an unknown effect counts as high."""
    kinds = [EFFECTS.get(str(effect.get("effect"))) for effect in effects]
    is_low = all(kind is not None and kind.stakes is Stakes.LOW for kind in kinds)
    return Stakes.LOW if is_low else Stakes.HIGH


def reaches_outside(effects: Iterable[Mapping[str, Any]]) -> bool:
    """Whether one of these frozen effects is done outside the database."""
    kinds = [EFFECTS.get(str(effect.get("effect"))) for effect in effects]
    return any(kind is not None and kind.is_outside for kind in kinds)


def _read(household: str, record: Mapping[str, Any]) -> Effect:
    name = record.get("effect")
    try:
        effect = effect_kind(name).parameters.model_validate(dict(record))
    except ValidationError as error:
        problems = "; ".join(
            f"{'.'.join(map(str, problem['loc']))}: {problem['msg']}" for problem in error.errors()
        )
        raise InputError(f"effect {name!r} cannot be used: {problems}") from error
    effect.check(household)
    return effect
