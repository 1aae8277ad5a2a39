"""An hour said without a day, of an activity with a day of its own, is never guessed to be tomorrow's."""

from datetime import date, datetime, time, timedelta
from itertools import product
from pathlib import Path

import pytest

from kinkeeper.bootstrap import open_system
from kinkeeper.core.messages import InboundMessage
from kinkeeper.settings.model import Settings
from live_household import HOUSEHOLD, ZONE
from talking import on_a_loop

WEEKDAYS = {("Leo", "soccer"): (1, 3), ("Mia", "ballet"): (0, 2), ("Mia", "swimming"): (5,)}
SAID_ON = [date(2026, 3, 2) + timedelta(days=day) for day in range(7)]
HOURS = {"3": time(15), "6:30": time(18, 30), "8am": time(8), "11am": time(11)}
SAYING = (
    "I can take {who} to {what} at {hour}",
    "picking {who} up from {what} at {hour}",
    "can you get {who} from {what} at {hour}?",
)


async def days_read(folder: Path, text: str, sent_at: datetime) -> list[date]:
    """Return the days that the group's reader takes a message to be about."""
    with open_system(
        Settings(),
        household_file=HOUSEHOLD,
        database=str(folder / f"{sent_at:%d}-{text[:-1].replace(' ', '-')}.sqlite"),
        now=sent_at,
    ) as system:
        message = InboundMessage(
            channel="test",
            chat_id="family",
            message_id="m1",
            sender="sarah",
            text=text,
            sent_at=sent_at,
        )
        found = [record async for record in system.replay(sent_at).feed(message)]
    [extraction] = [record["extraction"] for record in found]
    assert extraction["times"], text
    return [date.fromisoformat(day) for day in extraction["dates"]]


@pytest.mark.parametrize(("who", "what"), WEEKDAYS)
@on_a_loop
async def test_the_calendar_decides_on_the_day(tmp_path: Path, who: str, what: str) -> None:
    wrong, named = [], 0
    for day, (number, hour) in product(SAID_ON, enumerate(HOURS)):
        text = SAYING[(number + day.day) % len(SAYING)].format(who=who, what=what, hour=hour)
        sent_at = datetime.combine(day, time(15, 40), ZONE)
        if (number + day.day) % 2:
            continue
        for meant in await days_read(tmp_path, text, sent_at):
            named += 1
            is_its_own = meant.weekday() in WEEKDAYS[who, what] and meant <= day + timedelta(days=7)
            if not is_its_own or datetime.combine(meant, HOURS[hour], ZONE) < sent_at:
                wrong.append((sent_at, text, meant))
    assert not wrong
    assert named > len(SAID_ON)
