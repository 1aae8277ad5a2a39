"""Cards whose day is over stand apart, at the end, on the page of what waits."""

from datetime import timedelta
from pathlib import Path

import httpx

from page_visits import hear, run
from web_server import Served

DENTIST = ("john", "Mia has the dentist tomorrow at 9am")
NEXT_WEEK = ("john", "Leo has an eye test next Friday at 9am")


def test_what_is_over_stands_behind_what_is_to_come(tmp_path: Path):
    async def steps(serving: Served, client: httpx.AsyncClient) -> None:
        await hear(serving, DENTIST, NEXT_WEEK)
        before = (await client.get("/pending")).text
        assert "Already past" not in before
        assert before.index("dentist") < before.index("eye")
        serving.clock.advance_to(serving.clock.now() + timedelta(hours=40))
        after = (await client.get("/pending")).text
        coming, _, past = after.partition("Already past")
        assert "eye" in coming
        assert "dentist" not in coming.partition("<main")[2]
        assert "dentist" in past

    run(tmp_path, steps)
