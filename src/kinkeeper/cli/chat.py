"""`kinkeeper chat`: a conversation with the assistant in the terminal."""

import asyncio
import signal
import sys
import threading
from collections.abc import AsyncIterator, Callable, Mapping
from contextlib import AsyncExitStack, asynccontextmanager, suppress
from dataclasses import replace
from secrets import token_hex
from typing import Annotated, Any

import typer

from kinkeeper.actions.payload import shown_lines
from kinkeeper.bootstrap import Houses
from kinkeeper.cli.located import AsOption, JsonOption, Where, located
from kinkeeper.cli.opener import acting, log_to_stderr, opened
from kinkeeper.cli.terminal import answer, answer_json, notice, shown
from kinkeeper.conversation.conversation import Conversation, Said
from kinkeeper.conversation.model import EventName, TurnEvent
from kinkeeper.conversation.threads import usual_thread_id
from kinkeeper.core.errors import ConflictError, InputError
from kinkeeper.core.time import SystemClock
from kinkeeper.household.model import Member
from kinkeeper.observability.log import ERROR

_CHANNEL = "cli"
_PROMPT = "> "

app = typer.Typer()


@app.command()
@located
def chat(
    where: Where,
    text: Annotated[
        list[str] | None,
        typer.Argument(
            metavar="[TEXT]", help="A single message; starts a conversation if omitted."
        ),
    ] = None,
    as_: AsOption = None,
    thread: Annotated[
        str | None, typer.Option("--thread", metavar="ID", help="Continue this conversation.")
    ] = None,
    new: Annotated[bool, typer.Option("--new", help="Start a new conversation.")] = False,
    json_: JsonOption = False,
) -> None:
    """Talk to the assistant. Ctrl-C stops an answer, Ctrl-D quits."""
    message = " ".join(text or ())
    if thread is not None and new:
        raise InputError("use either --thread, to continue a conversation, or --new, to start one")
    with opened(where) as system:
        member = acting(system.household, as_)
        thread_id = token_hex(16) if new else thread
        if not message and not json_ and sys.stdin.isatty():
            # It would stand between what the two say; what fell back is counted in the metrics, too.
            log_to_stderr(level=ERROR)
        with asyncio.Runner() as runner:
            is_well = runner.run(
                _converse(Houses.of(system), member, message, thread_id, as_json=json_)
            )
    if not is_well:
        raise typer.Exit(1)


async def _converse(
    houses: Houses, member: Member, text: str, thread_id: str | None, *, as_json: bool
) -> bool:
    show: Callable[[TurnEvent], None] = _show_json if as_json else Screen().show
    async with _talking(houses) as conversation:
        speaker = _Speaker(conversation, member, thread_id, show)
        with _stopped_by_interrupt(speaker):
            if text:
                await speaker.say(text)
            else:
                async with speaker.hearing_late_ones(houses.systems[0].household.id):
                    await _read_and_say(speaker)
        return not speaker.failures


@asynccontextmanager
async def _talking(houses: Houses) -> AsyncIterator[Conversation]:
    """Yield the conversation; this process also does the work that comes of it, if no other does: an answer may wait for it."""
    clock = SystemClock()
    async with AsyncExitStack() as opened_:
        talking = await opened_.enter_async_context(houses.talking(clock))
        with suppress(ConflictError):  # a running server does the work
            await opened_.enter_async_context(houses.working(talking=talking, clock=clock))
        (talk,) = talking.talks.values()
        yield talk.conversation


class _Speaker:
    """Says one message after the other in one thread.

    Args:
        member: Who speaks.
        thread_id: Where; the usual thread where None.

    Attributes:
        failures: How many messages were not answered.
        under_way: The thread in which an answer is awaited, if one is.
    """

    def __init__(
        self,
        conversation: Conversation,
        member: Member,
        thread_id: str | None,
        show: Callable[[TurnEvent], None],
    ) -> None:
        self._conversation = conversation
        self._member = member
        self._thread_id = thread_id
        self._show = show
        self._telling = asyncio.Lock()
        self._late: set[asyncio.Task[None]] | None = None
        self.failures = 0
        self.under_way: str | None = None

    async def say(self, text: str) -> None:
        """Say something, and show the answer to its end, or until it says that it takes a while."""
        said = await self._conversation.say(
            self._member, text, channel=_CHANNEL, thread_id=self._thread_id
        )
        self._thread_id = self.under_way = said.thread_id
        async with self._telling:
            async for event in self._events(said):
                self._tell(event)
                if self._late is not None and event.data.get("stage") == "aside":
                    self._expect(self._late, replace(said, after=event.number))
                    break
        self.under_way = None

    @asynccontextmanager
    async def hearing_late_ones(self, household: str) -> AsyncIterator[None]:
        """Show answers that take a while once they are there: of this block, and those an earlier one has left."""
        thread = self._thread_id or usual_thread_id(household, self._member.id, _CHANNEL, None)
        self._late = late = set[asyncio.Task[None]]()
        try:
            for said in await self._conversation.left_open(self._member, thread):
                self._expect(late, said)
            yield
            await asyncio.gather(*late)
        finally:
            for task in late:
                task.cancel()
            await asyncio.gather(*late, return_exceptions=True)

    def _expect(self, late: set[asyncio.Task[None]], said: Said) -> None:
        late.add(asyncio.get_running_loop().create_task(self._tell_later(said)))

    async def _tell_later(self, said: Said) -> None:
        """Show an answer at once when it is whole, and while no other is shown."""
        told = [event async for event in self._events(said)]
        async with self._telling:
            for event in told:
                if event.name is not EventName.STATUS:
                    self._tell(event)

    def _events(self, said: Said) -> AsyncIterator[TurnEvent]:
        return self._conversation.events(
            self._member, said.thread_id, after=said.after, turn_id=said.turn_id
        )

    def _tell(self, event: TurnEvent) -> None:
        self._show(event)
        if event.name is EventName.ERROR:
            self.failures += 1

    async def stop(self) -> None:
        """Stop what is under way."""
        if self.under_way is not None:
            await self._conversation.stop(self._member, self.under_way)


async def _read_and_say(speaker: _Speaker) -> None:
    """Say every line of stdin, until it ends or somebody at a prompt wants no more."""
    is_terminal = sys.stdin.isatty()
    if is_terminal:
        notice("Ctrl-C stops an answer, Ctrl-D ends.")
    while (line := await _next_line(_PROMPT if is_terminal else "")) is not None:
        if line.strip():
            await speaker.say(line.strip())


async def _next_line(prompt: str) -> str | None:
    """Return a line; None at the end. A thread of its own waits for it, and holds up nobody's leaving."""
    loop = asyncio.get_running_loop()
    found: asyncio.Future[str | None] = loop.create_future()

    def put(line: str | None) -> None:
        if not found.done():
            found.set_result(line)

    def read() -> None:
        try:
            line = input(prompt)
        except EOFError:
            line = None
        # The loop may be gone by the time somebody presses a key.
        with suppress(RuntimeError):
            loop.call_soon_threadsafe(put, line)

    threading.Thread(target=read, daemon=True).start()
    return await found


class _stopped_by_interrupt:  # noqa: N801 - reads as what it does in a with statement
    """Let Ctrl-C stop an answer while one is under way; at the prompt it ends the conversation as usual."""

    def __init__(self, speaker: _Speaker) -> None:
        self._speaker = speaker
        self._stopping: set[asyncio.Task[None]] = set()

    def __enter__(self) -> None:
        loop, main = asyncio.get_running_loop(), asyncio.current_task()

        def interrupted() -> None:
            if self._speaker.under_way is None:
                if main is not None:
                    main.cancel()
                return
            task = loop.create_task(self._speaker.stop())
            self._stopping.add(task)
            task.add_done_callback(self._stopping.discard)

        loop.add_signal_handler(signal.SIGINT, interrupted)

    def __exit__(self, *_: object) -> None:
        asyncio.get_running_loop().remove_signal_handler(signal.SIGINT)


class Screen:
    """Writes what is told for people: the answer on stdout as it comes, all else beside it."""

    def __init__(self) -> None:
        self._said = ""
        self._shows: Mapping[EventName, Callable[[Mapping[str, Any]], None]] = {
            EventName.STATUS: self._status,
            EventName.TOKEN: self._token,
            EventName.CARD: self._card,
            EventName.CONFIRM: self._question,
            EventName.ERROR: self._trouble,
            EventName.DONE: self._end,
        }

    def show(self, event: TurnEvent) -> None:
        """Write one event."""
        self._shows[event.name](event.data)

    def _status(self, data: Mapping[str, Any]) -> None:
        notice(f"… {data['text']}")

    def _token(self, data: Mapping[str, Any]) -> None:
        self._said += data["text"]
        sys.stdout.write(shown(data["text"]))
        sys.stdout.flush()

    def _card(self, data: Mapping[str, Any]) -> None:
        self._line_ends()
        answer(data["title"])
        for item in data["items"]:
            words = (str(item[name]) for name in ("when", "text", "detail") if item.get(name))
            answer(f"  {'  '.join(words)}")

    def _question(self, data: Mapping[str, Any]) -> None:
        self._line_ends()
        action = data["action"]
        answer(f"? {action['summary']}")
        for name, value in shown_lines(action.get("shown") or {}):
            answer(f"    {name}: {value}")

    def _trouble(self, data: Mapping[str, Any]) -> None:
        self._line_ends()
        notice(data["message"])

    def _end(self, data: Mapping[str, Any]) -> None:
        text = data.get("text") or ""
        if self._said != text and not text.startswith(self._said):
            self._line_ends()
            self._said = ""
        sys.stdout.write(shown(text.removeprefix(self._said)))
        self._said = self._said or text
        self._line_ends()

    def _line_ends(self) -> None:
        if self._said:
            sys.stdout.write("\n")
            sys.stdout.flush()
        self._said = ""


def _show_json(event: TurnEvent) -> None:
    answer_json(
        {"event": event.name.value, "number": event.number, "turn": event.turn_id, **event.data}
    )
