"""What is private is kept so in one place: proven from the source code.

Rows with a scope are read by their own packages' reading functions, which take on whose behalf. Who reads
for nobody's eyes says so with `Viewer.whole`; the modules that may are listed here, with why.
"""

from source_names import sources

# Which modules may name a table with a scope, and so write a query of their own about it.
READERS = {
    "kinkeeper.tasks.tables": {"kinkeeper.tasks.repository"},
    "kinkeeper.notes.tables": {"kinkeeper.notes.repository"},
    "kinkeeper.calendar.tables": {
        "kinkeeper.calendar.repository", "kinkeeper.calendar.rows", "kinkeeper.calendar.search",
        "kinkeeper.calendar.occurrences", "kinkeeper.calendar.journal",
        # Counts and takes back changes by their ids; shows none.
        "kinkeeper.observer.accounts.rewinding", "kinkeeper.benchmarks.calendar",
    },
    "kinkeeper.actions.tables": {
        "kinkeeper.actions.repository", "kinkeeper.actions.writing", "kinkeeper.actions.audience", "kinkeeper.actions.purging", "kinkeeper.actions.journal",
        "kinkeeper.actions.press_tokens",
        # Counts, instants and states; no words.
        "kinkeeper.observer.accounts.metrics", "kinkeeper.observer.feedback", "kinkeeper.observer.accounts.trace", "kinkeeper.observer.accounts.rewinding",
        "kinkeeper.web.live", "kinkeeper.benchmarks.serving.soak",
        # Of open actions that were read for somebody: which messages they rest on.
        "kinkeeper.web.pages.records",
    },
}  # fmt: skip
WHOLE = {
    # They write, and must find what they write over.
    "kinkeeper.actions.effects.calendar", "kinkeeper.actions.effects.notes", "kinkeeper.actions.effects.tasks",
    "kinkeeper.actions.importing", "kinkeeper.calendar.changes", "kinkeeper.calendar.occurrences",
    "kinkeeper.calendar.repository", "kinkeeper.calendar.seeds", "kinkeeper.calendar.undo", "kinkeeper.notes.changes",
    "kinkeeper.tasks.changes",
    # Reads others' private events to tell that they are busy, and nothing else of them.
    "kinkeeper.calendar.search",
    # Says reminders to those whose they are.
    "kinkeeper.tasks.reminders",
    # Leaves out what is private here, but for what came from there.
    "kinkeeper.connectors.caldav.events", "kinkeeper.connectors.caldav.todos",
    # Counts.
    "kinkeeper.observer.accounts.metrics",
    # Everything, for whoever may read the database file.
    "kinkeeper.cli.exporting", "kinkeeper.cli.calendar_view",
}  # fmt: skip


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
    assert naming("kinkeeper.household.viewing.Viewer.whole") == WHOLE


def test_people_are_shown_actions_that_were_read_for_them() -> None:
    """`load_action` is for those who carry actions out; pages and commands use `read_action`."""
    found = naming("kinkeeper.actions.repository.load_action")
    showing = ("kinkeeper.web.", "kinkeeper.cli.", "kinkeeper.channels.")
    shown = {name for name in found if name.startswith(showing)}
    # A question about an action goes to the person who asked for it, in their own thread.
    assert found
    assert shown <= {"kinkeeper.channels.telegram.conversing"}
