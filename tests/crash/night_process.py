"""A process to be killed: one night of memory, which says what it is about to do. Not a test itself."""

import asyncio
import sys
from datetime import datetime

from kinkeeper.core.errors import ConflictError
from kinkeeper.memory.upkeep.consolidation import consolidate
from kinkeeper.store.store import Store
from memory_nights import HOUSE, tools_of_tests


def main() -> None:
    database, now = sys.argv[1:]
    with Store.open(database) as store:
        try:
            asyncio.run(
                consolidate(
                    store,
                    HOUSE,
                    tools_of_tests(),
                    now=datetime.fromisoformat(now),
                    is_agreed=True,
                    progress=lambda step: print(step, flush=True),
                )
            )
        except ConflictError:
            print("overtaken", flush=True)
        else:
            print("done", flush=True)


if __name__ == "__main__":
    main()
