"""Where reminders are said: in the conversation they were asked for in, and to those whose task it is."""

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from datetime import datetime, timedelta
from functools import partial

from sqlalchemy import Connection

from kinkeeper.channels.telegram.families import CHANNEL as TELEGRAM
from kinkeeper.conversation.threads import Thread, load_thread, open_thread, usual_thread_id
from kinkeeper.conversation.turn import PROGRAMS
from kinkeeper.conversation.turns import post_to_thread
from kinkeeper.core.errors import UnavailableError
from kinkeeper.core.time import Clock
from kinkeeper.household.model import Household
from kinkeeper.household.viewers import HOUSEHOLD_SCOPE, is_hidden_from
from kinkeeper.messaging import outbox
from kinkeeper.messaging.addresses import former_chats, private_chat_of
from kinkeeper.messaging.outbound import Outbound
from kinkeeper.observability.findings import Finding, ok, warning
from kinkeeper.store.engines import translated
from kinkeeper.store.store import Store
from kinkeeper.tasks.model import Reminder
from kinkeeper.tasks.reminders import Reminding, reminder_text
from kinkeeper.tasks.repository import next_due

_WEB = "web"
_CHECK = "reminders"
_OVERDUE = timedelta(minutes=5)


def reminding(store: Store, household: Household, clock: Clock) -> Reminding:
    """Return what says one household's reminders when they are due."""
    return Reminding(store, household.id, deliver=ReminderPost(household, clock), clock=clock)


class Post:
    """Says to members of one household what they asked to be told, in their conversations."""

    def __init__(self, household: Household, clock: Clock) -> None:
        self._household = household
        self._clock = clock

    def is_read(self, conn: Connection, thread: Thread) -> bool:
        """Whether the household, and nobody else, still reads what is said in a thread."""
        household, chat_id = self._household, thread.chat_id
        if thread.channel == PROGRAMS:
            return False
        if chat_id is None:
            return household.member(thread.member) is not None
        names = {chat_id, *former_chats(conn, household.id, thread.channel, chat_id)}
        if not names.isdisjoint(household.chats):
            return True
        own = private_chat_of(conn, household.id, thread.channel, thread.member)
        return own == chat_id and household.member(thread.member) is not None

    def own_thread(self, conn: Connection, member: str) -> Thread:
        """Return where a member is told something alone: their private chat, else their web conversation."""
        return own_thread(conn, self._household.id, member, now=self._clock.now())

    def say(
        self,
        conn: Connection,
        thread: Thread,
        text: str,
        *,
        key: str,
        is_alarm: bool,
        used: Sequence[Mapping[str, str]] = (),
        asks: Sequence[str] = (),
    ) -> None:
        """Say something in a conversation, once under its key.

        Args:
            asks: Ids of the actions that it asks about.
            used: What it rests on, each {"kind", "id", "text"}.
            is_alarm: Whether somebody asked to be told at this very time, be it a quiet one.
        """
        household, now = self._household.id, self._clock.now()
        post_to_thread(conn, household, thread.id, text, key=key, now=now, used=used, asks=asks)
        if thread.channel == TELEGRAM and thread.chat_id is not None:
            message = Outbound(
                channel=TELEGRAM,
                chat_id=thread.chat_id,
                body=text,
                dedupe_key=key,
                is_unprompted=False,
                is_alarm=is_alarm,
            )
            outbox.put(conn, household, message, now=now)


class ReminderPost:
    """Says one household's reminders, each under its key: once, however often it is handed over."""

    def __init__(self, household: Household, clock: Clock) -> None:
        self._household = household
        self._clock = clock
        self._post = Post(household, clock)

    def __call__(self, conn: Connection, reminder: Reminder) -> Sequence[Exception]:
        """Put a reminder where it was asked for, and to those whose task it is and who do not read there.

        Each of these places is on its own: what goes wrong with one is returned.
        """
        thread_id = reminder.task.place.thread_id
        thread = None if thread_id is None else load_thread(conn, self._household.id, thread_id)
        if thread is not None and not self._post.is_read(conn, thread):
            thread = None
        if thread is not None and self._is_heard_by_all(thread, reminder):
            thread = None
        told = [] if thread is None else [partial(self._say, conn, thread, reminder)]
        told += [
            partial(self._say_to, conn, each, reminder) for each in self._absent(thread, reminder)
        ]
        return [error for error in map(partial(_error_of, conn), told) if error is not None]

    def _say_to(self, conn: Connection, member: str, reminder: Reminder) -> None:
        self._say(conn, self._post.own_thread(conn, member), reminder)

    def _is_heard_by_all(self, thread: Thread, reminder: Reminder) -> bool:
        """Whether others would read in the thread of what is private to one member."""
        scope = reminder.task.scope
        if scope == HOUSEHOLD_SCOPE:
            return False
        return thread.chat_id in self._household.chats or is_hidden_from(scope, thread.member)

    def _absent(self, thread: Thread | None, reminder: Reminder) -> Iterator[str]:
        """Yield the members who are to hear it and do not read what is said in the thread."""
        if thread is not None and thread.chat_id in self._household.chats:
            return
        task = reminder.task
        wanted = (
            task.who or tuple(each for each in (task.asked_by, self._household.owner) if each)[:1]
        )
        reached = None if thread is None else thread.member
        for member in wanted:
            is_theirs = not is_hidden_from(task.scope, member)
            if is_theirs and member != reached and self._household.member(member) is not None:
                yield member

    def _say(self, conn: Connection, thread: Thread, reminder: Reminder) -> None:
        household, now = self._household, self._clock.now()
        is_shared = thread.chat_id in household.chats
        text = reminder_text(reminder, household, to=None if is_shared else thread.member, now=now)
        self._post.say(conn, thread, text, key=f"{reminder.key}:{thread.id}", is_alarm=True)


def own_thread(conn: Connection, household: str, member: str, *, now: datetime) -> Thread:
    """Return where a member is told something alone: their private chat, else their web conversation."""
    chat_id = private_chat_of(conn, household, TELEGRAM, member)
    channel = _WEB if chat_id is None else TELEGRAM
    wanted = Thread(
        household=household,
        id=usual_thread_id(household, member, channel, chat_id),
        member=member,
        channel=channel,
        chat_id=chat_id,
        created_at=now,
        last_at=now,
    )
    return open_thread(conn, wanted)


def _error_of(conn: Connection, tell: Callable[[], None]) -> Exception | None:
    """Tell one person something; what goes wrong undoes nothing but that."""
    try:
        with translated(), conn.begin_nested():
            tell()
    except UnavailableError:
        raise
    except Exception as error:  # noqa: BLE001 - one person's trouble must not keep the others from hearing it
        return error
    return None


def reminder_findings(
    store: Store, households: Iterable[Household], *, now: datetime
) -> Sequence[Finding]:
    """Tell whether reminders are said when they are due. Blocks."""
    names = [each.id for each in households]
    due = store.read_now(lambda conn: [next_due(conn, name) for name in names])
    overdue = [each for each in due if each is not None and each < now - _OVERDUE]
    if overdue:
        remedy = (
            "they are sent while `kinkeeper serve` or `kinkeeper worker` is running; see its log"
        )
        since = min(overdue).strftime("%Y-%m-%d %H:%M UTC")
        return [warning(_CHECK, f"reminders have been waiting to be sent since {since}", remedy)]
    waiting = sum(each is not None for each in due)
    return [ok(_CHECK, "some are scheduled, none is overdue" if waiting else "none is scheduled")]
