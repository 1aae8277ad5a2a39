"""What is believed changes through the executor, memory's own reading and its nights alone: proven from the source code.

A function of `kinkeeper.memory` writes if it calls SQLAlchemy's insert, update or delete, or another
function of that package that writes. Outside the package, only what is named here may import one.
"""

from functools import cache

import pytest

from source_names import Modules, read, sources, writers

MEMORY = "kinkeeper.memory"
# People's wishes become changes here, and nowhere else.
ADAPTER = "kinkeeper.actions.effects.memory"
# Nothing of these is what anybody believes: vectors, the map, a night's books and a person's answer to its question.
BOOKKEEPING = frozenset(
    f"{MEMORY}.{name}" for name in ("concepts.follow_facts", "upkeep.rollback.keep_all")
)
BOOKS = (f"{MEMORY}.finding.", f"{MEMORY}.upkeep.runs.")
# Facts are read out of what was said: here the gate decides whether they wait for a confirmation.
GATE = "kinkeeper.actions.session_words"
# A file that its owner hands over on the command line, the night's own command, mending, and erasing a person.
BY_HAND = {
    # A message that only asks for secrecy narrows who may recall the one before it, and never widens it.
    # What a person takes back of their own words, a moment after they said them, leaves.
    GATE: {
        f"{MEMORY}.sessions.take_in",
        f"{MEMORY}.corrections.narrow_last",
        f"{MEMORY}.erasure.take_back",
    },
    # The summary of a talk: by the assistant, so never evidence.
    "kinkeeper.conversation.encoding.job": {f"{MEMORY}.episodes.insert_episodes"},
    "kinkeeper.bootstrap.table_erasure": {f"{MEMORY}.erasure.erase_person"},
    "kinkeeper.cli.memory_import": {
        f"{MEMORY}.ingest.import_facts",
        f"{MEMORY}.episodes.insert_episodes",
    },
    "kinkeeper.cli.doctor": {f"{MEMORY}.invariants.mend"},
    "kinkeeper.cli.consolidate": {f"{MEMORY}.upkeep.rollback.revert"},
}


@cache
def memory_writers() -> frozenset[str]:
    return writers(sources(), MEMORY)


def offences(modules: Modules) -> list[str]:
    """Return "module:line name" of everything that changes what is believed past the executor."""
    found = []
    for name, module in modules.items():
        if f"{name}.".startswith(f"{MEMORY}.") or name == ADAPTER:
            continue
        forbidden = memory_writers() - BOOKKEEPING - BY_HAND.get(name, set())
        found += [
            f"{name}:{line} {each}"
            for line, each in module.named
            if each in forbidden and not each.startswith(BOOKS)
        ]
    return sorted(set(found))


def test_nobody_changes_what_is_believed_past_the_executor() -> None:
    assert offences(sources()) == []


def test_the_writers_are_found_by_what_they_do() -> None:
    found = memory_writers()
    assert {
        f"{MEMORY}.{name}"
        for name in ("ingest.remember", "corrections.edit_fact", "erasure.forget", "undo.undo")
    } <= found
    assert f"{MEMORY}.facts.list_facts" not in found
    assert f"{MEMORY}.browser.as_of" not in found


@pytest.mark.parametrize(
    "code",
    [
        "from kinkeeper.memory.ingest import remember",
        "from kinkeeper.memory import corrections\ncorrections.mark_wrong",
        "import kinkeeper.memory.erasure as e\ne.forget",
        "def late():\n    from kinkeeper.memory.undo import undo",
        "import importlib\nimportlib.import_module('kinkeeper.memory.ingest.remember')",
        "from kinkeeper.memory.upkeep.rollback import revert",
        "from kinkeeper.memory.sessions import take_in",
        "from kinkeeper.memory import episodes\nepisodes.insert_episodes",
    ],
)
@pytest.mark.parametrize("module", ["kinkeeper.observer.planted", "kinkeeper.web.planted"])
def test_a_planted_offender_is_found(module: str, code: str) -> None:
    assert offences({module: read(module, code)})


def test_reading_is_allowed() -> None:
    code = (
        "from kinkeeper.memory.facts import list_facts\nfrom kinkeeper.memory.browser import as_of"
    )
    assert offences({"kinkeeper.web.planted": read("kinkeeper.web.planted", code)}) == []


def test_a_person_is_erased_from_the_command_line_alone() -> None:
    """It empties every table by its columns, past all other guards."""
    wanted = "kinkeeper.bootstrap.table_erasure"
    naming = {
        name
        for name, module in sources().items()
        if any(f"{each}.".startswith(f"{wanted}.") for each in module.names)
    }
    assert naming - {wanted} == {"kinkeeper.cli.erase"}
