"""Whatever a person writes is asked who may read it, in one place, before it is stored: proven from the effects and the source code."""

import typing
from collections.abc import Iterator
from dataclasses import fields, is_dataclass

import pytest
from pydantic import BaseModel

from kinkeeper.actions.effects.contract import Effect
from kinkeeper.actions.registry import EFFECTS
from source_names import Modules, read, sources

# Names of texts that are no words of a person: what is named, by whom, for whom, how.
NO_WORDS = frozenset(
    ["effect", "scope", "new_scope", "id", "household", "tz", "rrule", "who", "responsible", "made_by", "asked_by", "done_by", "confirmed_by", "action_id", "source_id", "speaker", "member", "channel", "session", "thread_id", "account", "event_id", "note_id", "fact_id", "other_id", "question_id", "episode_id", "change_set", "activity", "task", "server", "tool"]
)  # fmt: skip
# Effects with words that stand somewhere already, or that only their asker reads.
NOTHING_NEW = frozenset(
    {
        "memory.mark_wrong",
        "memory.end_fact",
        "memory.settle_doubt",
        "memory.settle_question",
        "memory.set_scope",
        "memory.set_told_scope",
        "memory.forget_fact",
        "task.complete",
        "task.delete",
        "notes.set_scope",
        "notes.delete",
        "email.keep_draft",
        "email.create_draft",
        "email.send",
        "tools.call",
        "goal.add",
        "goal.pause",
        "goal.resume",
        "goal.cancel",
        "goal.read_page",
    }
)
# Who stores a proposal without it: what was said in a group is read by who listens there; what was stored is stored again;
# what is only to be erased or asked; what comes from a calendar that others share.
PROPOSE = "kinkeeper.actions.proposals.propose"
KEPT = "kinkeeper.actions.written_audience.kept_as_written"
BY_THEMSELVES = frozenset(
    f"kinkeeper.{name}"
    for name in (
        "actions.retries",
        "actions.reversal",
        "actions.session_words",
        "channels.telegram.commands",
        "observer.cards.model_amendments",
        "observer.overheard_facts",
        "observer.settling.chat_arrangements",
        "observer.settling.open_questions",
        "observer.settling.settlement",
    )
)


def texts(kind: object) -> Iterator[str]:
    """Yield the names of the fields of a type that hold text, those of the types of its fields too."""
    for each in typing.get_args(kind):
        yield from texts(each)
    if isinstance(kind, type) and issubclass(kind, BaseModel):
        named = {name: each.annotation for name, each in kind.model_fields.items()}
    elif isinstance(kind, type) and is_dataclass(kind):
        hints = typing.get_type_hints(kind)
        named = {each.name: hints[each.name] for each in fields(kind)}
    else:
        return
    for name, annotation in named.items():
        if str in {annotation, *typing.get_args(annotation)}:
            yield name
        yield from texts(annotation)


def is_asked(kind: type[Effect]) -> bool:
    """Return whether an effect says what it lets others read, and can be kept from some."""
    return kind.told is not Effect.told and kind.narrowed is not Effect.narrowed


@pytest.mark.parametrize("name", EFFECTS)
def test_every_effect_with_words_can_be_kept_from_some(name: str) -> None:
    kind = EFFECTS[name].parameters
    has_words = bool({*texts(kind)} - NO_WORDS)
    assert is_asked(kind) is (has_words and name not in NOTHING_NEW)


def offences(modules: Modules) -> set[str]:
    """Return the modules that store what is proposed and do not ask its words."""
    return {
        name
        for name, module in modules.items()
        if PROPOSE in module.names and KEPT not in module.names and name not in BY_THEMSELVES
    }


def test_nothing_is_stored_that_was_not_asked() -> None:
    assert offences(sources()) == set()


def test_a_new_way_in_that_does_not_ask_is_found() -> None:
    code = "from kinkeeper.actions.proposals import propose\npropose(1)\n"
    assert offences({"kinkeeper.web.new": read("kinkeeper.web.new", code)}) == {"kinkeeper.web.new"}
