"""Runs `kinkeeper` as on a machine that has none of its extras: `python bare_program.py ARGUMENT...`."""

import sys

from kinkeeper.core.extras import EXTRAS

for modules in EXTRAS.values():
    for module in modules:
        sys.modules[module] = None  # type: ignore[assignment]  # as if it were not installed

if __name__ == "__main__":
    from kinkeeper.cli.main import main

    main()
