"""Streams of one person that are asked for at the same time are limited like those asked for in turn."""

import asyncio
from collections.abc import AsyncIterator
from types import SimpleNamespace
from typing import cast

from kinkeeper.web.access.model import Person
from kinkeeper.web.live import Listeners

MOST_STREAMS = 20
ASKED = 45


async def _events() -> AsyncIterator[str]:
    yield "begun"
    yield "goes on"


def test_streams_that_begin_together_find_no_more_room_than_others() -> None:
    async def begin_all() -> int:
        listeners = Listeners()
        known = SimpleNamespace(household=SimpleNamespace(id="h"), member=SimpleNamespace(id="m"))
        person = cast(Person, known)
        for _ in range(ASKED):
            listeners.require_room(person)
        streams = [listeners.counted(person, _events()) for _ in range(ASKED)]
        return sum([await anext(each, None) is not None for each in streams])

    assert asyncio.run(begin_all()) == MOST_STREAMS
