"""Speed of tier 2 with many cards that nobody has decided on, beside the same messages with few."""

import asyncio
from collections.abc import Sequence
from contextlib import ExitStack
from datetime import timedelta
from itertools import cycle, islice
from pathlib import Path
from statistics import median
from tempfile import TemporaryDirectory
from zoneinfo import ZoneInfo

from sqlalchemy import Connection

from bench.cost import p99_of
from bench.report import Ratio
from bench.suites.observer import (
    APART,
    COORDINATION,
    HOUSEHOLD,
    START,
    Cost,
    bench_system,
    time_tier_2,
    understanding_job,
)
from kinkeeper.actions import proposals
from kinkeeper.actions.effects.calendar import AddEvent
from kinkeeper.actions.model import ActionType, Proposal
from kinkeeper.bootstrap import System
from kinkeeper.calendar.model import Event, EventKind, Provenance, SourceType
from kinkeeper.core.messages import InboundMessage
from kinkeeper.core.time import VirtualClock
from kinkeeper.household.model import Household
from kinkeeper.observer.model import Extraction, Task, extraction_record
from kinkeeper.observer.speaker import REPLAY

_FEW, _MANY = 5, 500
_MESSAGES = 42
_ROUNDS = 3
_WARM_UP = 7
_DAYS_AHEAD = 60
_LARGEST_RATIO = 1.5
_ZONE = ZoneInfo("America/Chicago")


def measure() -> tuple[Ratio, ...]:
    """Settle the same messages in two families, one of which has a hundred times as many open cards.

    Returns:
        CPU time of a message with many open cards as a ratio to that with few; each message counts
        with its best round.
    """
    rounds = [_round() for _ in range(_ROUNDS)]
    with_few, with_many = (
        [min(each) for each in zip(*costs, strict=True)] for costs in zip(*rounds, strict=True)
    )
    return (
        Ratio(
            name=f"tier 2 of a queued message with {_MANY} open cards, CPU",
            microseconds=median(with_many),
            p99_microseconds=p99_of(with_many),
            peer=f"the same with {_FEW}",
            peer_microseconds=median(with_few),
            target=_LARGEST_RATIO,
        ),
    )


def _round() -> tuple[Sequence[float], Sequence[float]]:
    """Return the CPU time of each message with few and with many open cards, on new databases."""
    with ExitStack() as held:
        folder = Path(held.enter_context(TemporaryDirectory()))
        (folder / "household.toml").write_text(HOUSEHOLD, encoding="utf-8")
        few, many = (held.enter_context(bench_system(folder, name)) for name in ("few", "many"))
        few.store.write_now(lambda conn: _fill(conn, few.household, _FEW))
        many.store.write_now(lambda conn: _fill(conn, many.household, _MANY))
        return asyncio.run(_settle_in_turn(few, many))


def _fill(conn: Connection, household: Household, count: int) -> None:
    for number in range(count):
        proposals.propose(conn, _card(number), household=household, now=START)


def _card(number: int) -> Proposal:
    """Return a card for an appointment on one of the coming days, spread evenly."""
    day = START.astimezone(_ZONE) + timedelta(days=number * 17 % _DAYS_AHEAD, hours=number % 9)
    event = Event(
        id=f"card-{number}",
        household="bench",
        kind=EventKind.BOOKING,
        summary=f"Visit {number}",
        who=("ida" if number % 2 else "emil",),
        start=day,
        duration=timedelta(hours=1),
        tz=_ZONE.key,
        provenance=Provenance(source_type=SourceType.OBSERVER, source_id=str(number)),
    )
    extraction = Extraction(
        is_coordination=True, task=Task.APPOINTMENT, dates=(day.date(),), child=event.who
    )
    return Proposal(
        household="bench",
        type=ActionType.EVENT_CREATE,
        source_type="CHAT",
        source_id=f"card {number}",
        slot="0",
        chat_id=None,
        extraction=extraction_record(extraction),
        extraction_confidence=0.9,
        summary=event.summary,
        effects=(AddEvent(event=event).frozen(),),
        choices=(),
        merge_key=None,
    )


async def _settle_in_turn(few: System, many: System) -> tuple[Sequence[float], Sequence[float]]:
    """Return the CPU time of each message in both families, settled one after the other."""
    clock = VirtualClock(START)
    runs = [
        (system, system.intake(refuses_chats=False), understanding_job(system, clock), Cost([], []))
        for system in (few, many)
    ]
    for number, text in enumerate(islice(cycle(COORDINATION), _MESSAGES)):
        message = InboundMessage(
            channel=REPLAY,
            chat_id="chat",
            message_id=f"m{number}",
            text=text,
            sender="nadia" if number % 2 else "viktor",
            sent_at=START + number * APART,
        )
        clock.advance_to(message.sent_at)
        for system, intake, job, cost in runs:
            received = await system.store.write(
                lambda conn, intake=intake, message=message: intake.receive(  # type: ignore[misc]  # the loop's values
                    conn, message, now=message.sent_at
                )
            )
            if received.is_queued:
                await time_tier_2(system, job, received.row_id, cost, now=clock.now())
    return runs[0][3].cpu[_WARM_UP:], runs[1][3].cpu[_WARM_UP:]
