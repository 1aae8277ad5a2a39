"""A process to be killed: goes on with a story of memory. Not a test itself."""

import sys

from kinkeeper.store.store import Store
from memory_story import step


def main(address: str, first: int) -> None:
    """Go on with the story from a step, and print each one that is done."""
    with Store.open(address) as store:
        number = first
        while True:
            store.write_now(lambda conn, number=number: step(conn, number))  # type: ignore[misc]  # the loop's value
            print(number, flush=True)
            number += 1


if __name__ == "__main__":
    main(sys.argv[1], int(sys.argv[2]))
