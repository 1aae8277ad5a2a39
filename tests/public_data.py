"""Where the public data sets are: named by KINKEEPER_DATA, else in a folder `data` beside or near the checkout."""

import os
from pathlib import Path

_ROOT = Path(__file__).parents[1]
_MARK = "coordination_real_dev.jsonl"


def public_data() -> Path:
    """Return their folder; one that does not exist where there are none."""
    named = os.environ.get("KINKEEPER_DATA")
    if named:
        return Path(named)
    near = [_ROOT / "data", _ROOT.parent / "data", *sorted(_ROOT.parent.glob("*/data"))]
    return next((folder for folder in near if (folder / _MARK).is_file()), _ROOT / "data")
