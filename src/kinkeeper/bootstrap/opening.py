"""Opens households and their database by the settings."""

from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import replace
from datetime import datetime, timedelta
from pathlib import Path

from kinkeeper.bootstrap.houses import Houses
from kinkeeper.bootstrap.memory import Recall
from kinkeeper.bootstrap.system import System
from kinkeeper.calendar.seeds import sync_seeds
from kinkeeper.core.errors import ConfigError, Problem
from kinkeeper.core.time import SystemClock
from kinkeeper.household.file import load_households
from kinkeeper.household.model import Household
from kinkeeper.observer.config import ObserverConfig
from kinkeeper.observer.redline.case import RedlineRules
from kinkeeper.observer.redline.phrasing import Limits
from kinkeeper.observer.wording.participants import compile_participants
from kinkeeper.settings.load import data_folder
from kinkeeper.settings.model import Settings
from kinkeeper.store.store import Store


@contextmanager
def open_system(
    settings: Settings,
    *,
    household_file: Path | None,
    database: str | None,
    now: datetime | None = None,
) -> Iterator[System]:
    """Open the household and its database, bring the file's events into the graph, close at the end.

    Args:
        settings: In force.
        household_file: Instead of the one in the settings.
        database: Instead of the one in the settings.
        now: Instant the event graph is extended to; the wall clock's where None.

    Raises:
        ConfigError: There is no household file, it is wrong, or a folder with several is named.
        StoreVersionError: The database is from a newer program.
        UnavailableError: The database cannot be opened.
    """
    path = household_file or settings.family_context or _usual_household_file()
    found = read_households(path, settings)
    if len(found) > 1:
        ids = ", ".join(household.id for household in found)
        raise _refused(path, f"the folder holds several households ({ids}); name one file of it")
    with Store.open(database or database_address(settings)) as store:
        yield _system(settings, found[0], store, now or SystemClock().now(), is_only=True)


@contextmanager
def open_houses(
    settings: Settings,
    *,
    household_file: Path | None = None,
    database: str | None = None,
    now: datetime | None = None,
) -> Iterator[Houses]:
    """Open every household of a folder, or of one file, on one database; close it at the end.

    Args:
        settings: In force.
        household_file: File or folder instead of the one in the settings.
        database: Instead of the one in the settings.
        now: Instant the event graphs are extended to; the wall clock's where None.

    Raises:
        ConfigError: There is no household file, one is wrong, or two claim the same id or chat;
            every problem with its place.
        StoreVersionError: The database is from a newer program.
        UnavailableError: The database cannot be opened.
    """
    path = household_file or settings.family_context or _usual_household_file()
    found = read_households(path, settings)
    with Store.open(database or database_address(settings)) as store:
        instant = now or SystemClock().now()
        yield Houses(
            systems=tuple(
                _system(settings, household, store, instant, is_only=len(found) == 1)
                for household in found
            ),
            file=path,
        )


def database_address(settings: Settings) -> str:
    """Return where the database is: by setting, else a file of the environment in the data folder."""
    if settings.database_url:
        return settings.database_url
    return str(settings.db_path or data_folder() / f"{settings.env}.sqlite")


def observer_config(settings: Settings) -> ObserverConfig:
    """Return the observer's numbers out of the settings."""
    return ObserverConfig(
        tripwire_threshold=settings.tripwire_threshold,
        extraction_threshold=settings.extraction_threshold,
        attribution_threshold=settings.attribution_threshold,
        brain_min_relevance=settings.brain_min_relevance,
        brain_timeout=timedelta(milliseconds=settings.brain_timeout_ms),
        max_brain_queries=settings.max_brain_queries_per_message,
        window_size=settings.context_window_size,
        context_ttl=timedelta(seconds=settings.context_ttl_seconds),
        attribution_window=timedelta(seconds=settings.attribution_window_seconds),
        open_question_window=timedelta(seconds=settings.open_question_window_seconds),
        action_ttl=timedelta(hours=settings.pending_action_ttl_hours),
        max_speak_per_day=settings.max_speak_per_day,
        max_messages_per_minute=settings.max_messages_per_minute,
        rules=RedlineRules(
            temporal_conflict=settings.redline_temporal_conflict,
            resource_conflict=settings.redline_resource_conflict,
            missing_variable=settings.redline_missing_variable,
            speak_on_missing=settings.speak_on_missing_critical,
            default_duration=timedelta(minutes=settings.default_event_minutes),
            travel_buffer=timedelta(minutes=settings.travel_buffer_minutes),
            grace=timedelta(seconds=settings.open_question_grace_seconds),
        ),
        limits=Limits(
            conflict=settings.max_conflict_message_length,
            clarification=settings.max_clarification_length,
            summary=settings.max_summary_length,
        ),
    )


def _system(
    settings: Settings, household: Household, store: Store, now: datetime, *, is_only: bool
) -> System:
    seeds = store.write_now(lambda conn: sync_seeds(conn, household, now))
    return System(
        settings=settings, household=household, participants=compile_participants(household),
        store=store, config=observer_config(settings), seeds=seeds,
        recall=Recall(settings, household, store), is_only=is_only,
    )  # fmt: skip


def read_households(path: Path, settings: Settings) -> Sequence[Household]:
    """Read the households of a file or folder, with the group that the settings name.

    Args:
        path: File or folder.
        settings: In force.

    Raises:
        ConfigError: A file is wrong, or it is not clear whose the group is; every problem with its place.
    """
    found = load_households(path, default_event_minutes=settings.default_event_minutes)
    group = settings.telegram_group_chat_id
    if group is None or any(group in household.chats for household in found):
        return found
    if len(found) > 1:
        raise _refused(
            path,
            f"TELEGRAM_GROUP_CHAT_ID={group} does not say which household it belongs to; "
            "write it into that household's `chats`",
        )
    return [replace(found[0], chats=(*found[0].chats, group))]


def _refused(path: Path, message: str) -> ConfigError:
    return ConfigError([Problem(where=str(path), line=None, message=message)])


def _usual_household_file() -> Path:
    path = Path("household.toml")
    if not path.is_file():
        raise _refused(
            path,
            "no household file here; make one with `kinkeeper init`, or name one "
            "with --household FILE or FAMILY_CONTEXT",
        )
    return path
