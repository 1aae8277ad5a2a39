"""On both databases, several processes that are due at the same moment send each person one digest."""

import os
import subprocess
import sys
from collections import Counter

import pytest
from sqlalchemy import select

import digest_process
from digest_process import READY
from kinkeeper.conversation.tables import turns
from kinkeeper.digest.repository import digests
from kinkeeper.store.store import Store
from pending_presses import put
from pending_samples import FAMILY, proposal

PROCESSES = 3


@pytest.mark.slow
def test_processes_that_are_due_at_once_send_each_person_one_digest(
    address: str, store: Store
) -> None:
    put(store, proposal("m1"))
    others = [
        subprocess.Popen(
            [sys.executable, digest_process.__file__, address],
            env={**os.environ, "PYTHONPATH": os.pathsep.join(sys.path)},
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            text=True,
        )
        for _ in range(PROCESSES)
    ]
    for each in others:
        assert each.stdout is not None
        assert each.stdout.readline().strip() == READY
    for each in others:
        assert each.stdin is not None
        each.stdin.write("\n")
        each.stdin.flush()
    sent = [int(each.communicate(timeout=60)[0].splitlines()[-1]) for each in others]
    assert [each.returncode for each in others] == [0] * PROCESSES
    adults = {each.id for each in FAMILY.adults}
    assert sum(sent) == len(adults)
    told = store.read_now(lambda conn: conn.execute(select(turns.c.member)).scalars().all())
    noted = store.read_now(lambda conn: conn.execute(select(digests.c.member)).scalars().all())
    assert Counter(told) == Counter(noted) == Counter(adults)
