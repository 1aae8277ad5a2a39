"""Opens households and their database by the settings."""

from collections.abc import Iterator, Sequence
from contextlib import ExitStack, contextmanager
from dataclasses import replace
from datetime import datetime, timedelta
from pathlib import Path

from sqlalchemy import Connection

from kinkeeper.actions.lifetime import extend_open, keep_days_of_open
from kinkeeper.bootstrap.houses import Houses
from kinkeeper.bootstrap.memory import Recall
from kinkeeper.bootstrap.system import System
from kinkeeper.calendar.seeds import SeedReport, sync_seeds
from kinkeeper.core.errors import ConfigError, Problem
from kinkeeper.core.time import SystemClock
from kinkeeper.digest.model import parse_time
from kinkeeper.household.file import load_households
from kinkeeper.household.model import Household
from kinkeeper.observer.config import ObserverConfig
from kinkeeper.observer.redline.case import RedlineRules
from kinkeeper.observer.redline.phrase_templates import Limits
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
        household_file: Instead of the one in the settings.
        database: Instead of the one in the settings.
        now: Instant the event graph is extended to; the wall clock's where None.

    Raises:
        ConfigError: There is no household file, it is wrong, or a folder with several is named.
        StoreVersionError: The database is from a newer program.
        UnavailableError: The database cannot be opened.
    """
    path = household_path(settings, household_file)
    found = read_households(path, settings)
    if len(found) > 1:
        ids = ", ".join(household.id for household in found)
        raise _refused(
            path, f"the folder contains several households ({ids}); specify one of its files"
        )
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
        household_file: File or folder instead of the one in the settings.
        database: Instead of the one in the settings.
        now: Instant the event graphs are extended to; the wall clock's where None.

    Raises:
        ConfigError: There is no household file, one is wrong, or two claim the same id or chat;
            every problem with its place.
        StoreVersionError: The database is from a newer program.
        UnavailableError: The database cannot be opened.
    """
    path = household_path(settings, household_file)
    found = read_households(path, settings)
    with ExitStack() as after_store, Store.open(database or database_address(settings)) as store:
        instant = now or SystemClock().now()
        yield Houses(
            systems=tuple(
                _system(settings, household, store, instant, is_only=len(found) == 1)
                for household in found
            ),
            file=path,
            after_store=after_store,
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
    own = store.locking(household.id)
    seeds = own.write_now(lambda conn: _brought_up_to_date(conn, household, now))
    return System(
        settings=settings, household=household, participants=compile_participants(household),
        store=own, config=observer_config(settings), seeds=seeds,
        recall=Recall(settings, household, own), is_only=is_only,
    )  # fmt: skip


def _brought_up_to_date(conn: Connection, household: Household, now: datetime) -> SeedReport:
    keep_days_of_open(conn, household, now=now)
    seeds = sync_seeds(conn, household, now)
    extend_open(conn, household, now=now)
    return seeds


def read_households(path: Path, settings: Settings) -> Sequence[Household]:
    """Read the households of a file or folder, with the group that the settings name.

    Raises:
        ConfigError: A file is wrong, or it is not clear whose the group is; every problem with its place.
    """
    ttl = timedelta(hours=settings.pending_action_ttl_hours)
    found = [
        replace(household, pending_ttl=ttl, digest_at=parse_time(settings.digest_at))
        for household in load_households(path, default_event_minutes=settings.default_event_minutes)
    ]
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


def household_path(settings: Settings, named: Path | None) -> Path:
    """Return the household file or folder: the one named, else that of the settings, else household.toml here.

    Raises:
        ConfigError: There is none.
    """
    if named or settings.family_context:
        return named or settings.family_context or Path()
    path = Path("household.toml")
    if not path.is_file():
        raise _refused(
            path,
            "no household file here; create one with `kinkeeper init`, or specify one with --household FILE or FAMILY_CONTEXT",
        )
    return path
