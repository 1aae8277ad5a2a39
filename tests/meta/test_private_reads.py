"""What is private is kept so in one place: proven from the source code.

Rows with a scope are read by their own packages' reading functions, which take on whose behalf. Who reads
for nobody's eyes says so with `Viewer.whole`; the modules that may are listed here, with why.
"""

from source_names import read, sources

# Which modules may name a table with a scope, and so write a query of their own about it.
READERS = {
    "kinkeeper.tasks.repository.tasks": {"kinkeeper.tasks.repository"},
    "kinkeeper.tasks.repository.task_reminders": {"kinkeeper.tasks.repository"},
    "kinkeeper.notes.repository.notes": {"kinkeeper.notes.repository"},
    "kinkeeper.goals.repository.goals": {"kinkeeper.goals.repository"},
    "kinkeeper.calendar.tables": {
        "kinkeeper.calendar.repository",
        "kinkeeper.calendar.event_rows",
        "kinkeeper.calendar.search",
        "kinkeeper.calendar.occurrences",
        "kinkeeper.calendar.event_changes",
        # Counts and takes back changes by their ids; shows none.
        "kinkeeper.observer.accounts.rewind",
    },
    "kinkeeper.actions.tables": {
        "kinkeeper.actions.repository",
        "kinkeeper.actions.action_writes",
        "kinkeeper.actions.authority",
        "kinkeeper.actions.action_retention",
        "kinkeeper.actions.journal",
        "kinkeeper.actions.press_tokens",
        # Counts, instants and states; no words.
        "kinkeeper.observer.accounts.metrics",
        "kinkeeper.observer.feedback",
        "kinkeeper.observer.accounts.card_labels",
        "kinkeeper.conversation.offer_labels",
        "kinkeeper.observer.accounts.traces",
        "kinkeeper.observer.accounts.rewind",
        "kinkeeper.web.live",
        # Of open actions that were read for somebody: which messages they rest on.
        "kinkeeper.web.pages.page_queries",
    },
}
WHOLE = {
    # They write, and must find what they write over.
    "kinkeeper.actions.effects.calendar",
    "kinkeeper.actions.effects.notes",
    "kinkeeper.actions.effects.tasks",
    "kinkeeper.actions.calendar_import",
    "kinkeeper.calendar.event_changes",
    "kinkeeper.calendar.occurrences",
    "kinkeeper.calendar.repository",
    "kinkeeper.calendar.seeds",
    "kinkeeper.notes.note_changes",
    "kinkeeper.tasks.task_changes",
    "kinkeeper.goals.repository",
    # Works on each goal on behalf of whose it is, and tells nobody else.
    "kinkeeper.background.goal_work",
    # Reads others' private events to tell that they are busy, and nothing else of them.
    "kinkeeper.calendar.search",
    # Says reminders to those whose they are.
    "kinkeeper.tasks.reminders",
    # Decides for how long actions wait, and keeps their days when a household moves.
    "kinkeeper.actions.lifetime",
    # Leaves out what is private here, but for what came from there.
    "kinkeeper.connectors.caldav.kinds",
    # Counts.
    "kinkeeper.observer.accounts.metrics",
    # Everything, for whoever may read the database file.
    "kinkeeper.bootstrap.household_state",
    "kinkeeper.cli.export",
}

# When an event takes place is told through `calendar.search`, which leaves out what the viewer may not see.
EXPANDING: set[str] = set()
# Below the surfaces readers take the viewer of whoever asks. These make one themselves, each for a reason.
OWN_VIEWERS = {
    # A chat is read by all of the household, so the observer asks, decides and shows on its behalf.
    "kinkeeper.bootstrap.system",
    "kinkeeper.bootstrap.brain",
    "kinkeeper.observer.accounts.proof",
    "kinkeeper.observer.settling.case_builder",
    "kinkeeper.observer.settling.earlier_cards",
    "kinkeeper.observer.settling.message_reader",
    "kinkeeper.observer.settling.group_talk",
    "kinkeeper.observer.replay",
    # Refuses all others.
    "kinkeeper.brain.remote",
    # For the adult who decides, or for a person about what is their own.
    "kinkeeper.actions.effects.memory",
    "kinkeeper.actions.calendar_import",
    "kinkeeper.actions.setting_right",
    # Of the person who asks; where others read along, of everybody.
    "kinkeeper.actions.requests.model",
    # What is forgotten is shown to all adults first.
    "kinkeeper.actions.requests.memory",
}
# What reads memory of all scopes, for the program's own upkeep.
OF_ALL_SCOPES = tuple(
    f"kinkeeper.memory.{name}"
    for name in (
        "facts.facts_by_id",
        "episodes.episodes_by_id",
        "episodes.unread_episodes",
        "episodes.episodes_changed",
        "facts.facts_changed",
        "evidence.statements_by_id",
        "evidence.for_facts",
        "evidence.in_strands",
        "evidence.out_of",
        "evidence.words_of",
        "journal.images_of",
    )
)
READING_ALL_SCOPES = {
    # Which facts of a change somebody may not see: it is then shown without them, and cannot be undone.
    "kinkeeper.web.pages.remembered",
    "kinkeeper.actions.setting_right",
    # Counts what an import on the command line found stored already.
    "kinkeeper.cli.memory_import",
    # Whether anything was read out of a turn.
    "kinkeeper.conversation.encoding.job",
}
LISTING_ACTIONS = {
    "kinkeeper.actions.readers",
    # Ask the rule of the reader, or a narrower one, about each action that they list.
    "kinkeeper.web.api.pending",
    "kinkeeper.web.pages.desk",
    "kinkeeper.digest.content",
    "kinkeeper.actions.requests.own_record",
    # Show when something is planned, or count, and tell nothing that was said.
    "kinkeeper.actions.expected",
    "kinkeeper.web.pages.health",
    "kinkeeper.observer.accounts.metrics",
    # Show nothing to anybody: when cards lapse, on which days they are, what a message in the group may answer or replace,
    # from whom a thing is kept already.
    "kinkeeper.actions.lifetime",
    "kinkeeper.actions.written_audience",
    "kinkeeper.observer.settling.case_builder",
    "kinkeeper.observer.settling.group_talk",
    "kinkeeper.observer.replay",
    # The operator's own commands and export.
    "kinkeeper.cli.pending",
    "kinkeeper.bootstrap.household_state",
}
LOWER = (
    "kinkeeper.brain.",
    "kinkeeper.calendar.",
    "kinkeeper.goals.",
    "kinkeeper.memory.",
    "kinkeeper.notes.",
    "kinkeeper.tasks.",
    "kinkeeper.actions.",
    "kinkeeper.background.",
    "kinkeeper.observer.",
    "kinkeeper.bootstrap.",
)


def naming(*wanted: str) -> set[str]:
    """Return the modules that name one of these, or something of it."""
    found = tuple(f"{each}." for each in wanted)
    return {
        name
        for name, module in sources().items()
        if any(f"{each}.".startswith(found) for each in module.names)
    }


def test_rows_with_a_scope_are_read_in_their_own_packages() -> None:
    schema_only = {"kinkeeper.store.schema", "kinkeeper.bootstrap.system"}
    for table, allowed in READERS.items():
        assert naming(table) - {table, *schema_only} <= allowed, table


def test_only_those_read_for_nobody_who_show_nothing() -> None:
    assert naming("kinkeeper.household.viewers.Viewer.whole") == WHOLE


def test_what_waits_is_listed_for_people_in_one_place() -> None:
    """The scope of an action alone does not say who may read it, nor whether others read along."""
    listing = ("open_actions", "list_actions", "restorable_actions")
    found = naming(*(f"kinkeeper.actions.repository.{each}" for each in listing))
    assert found == LISTING_ACTIONS


def test_people_are_shown_actions_that_were_read_for_them() -> None:
    """`load_action` is for those who carry actions out; pages and commands use `read_action`."""
    found = naming("kinkeeper.actions.repository.load_action")
    showing = ("kinkeeper.web.", "kinkeeper.cli.", "kinkeeper.channels.")
    shown = {name for name in found if name.startswith(showing)}
    # A question about an action goes to the person who asked for it, in their own thread.
    assert found
    assert shown <= {"kinkeeper.channels.telegram.private_chat"}


def test_when_events_take_place_is_told_on_somebodys_behalf() -> None:
    found = naming("kinkeeper.calendar.recurrence.expand")
    assert {name for name in found if not name.startswith("kinkeeper.calendar.")} <= EXPANDING


def test_readers_take_the_viewer_of_whoever_asks() -> None:
    found = naming("kinkeeper.household.viewers.Viewer.of")
    assert {name for name in found if name.startswith(LOWER)} <= OWN_VIEWERS


def test_a_reader_with_a_viewer_of_its_own_is_found() -> None:
    """As the brain once had: it knew what everybody may, whoever asked."""
    code = "from kinkeeper.household.viewers import Viewer\nclass Brain:\n    viewer = Viewer.of('miller')"
    assert "kinkeeper.household.viewers.Viewer.of" in read("kinkeeper.brain.sly", code).names


def test_nobody_is_shown_what_was_read_of_all_scopes() -> None:
    found = naming(*OF_ALL_SCOPES)
    assert {
        name for name in found if not name.startswith("kinkeeper.memory.")
    } == READING_ALL_SCOPES
