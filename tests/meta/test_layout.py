"""The formatter lays out the code; only tables of data may stand as they were typed."""

from pathlib import Path

ROOT = Path(__file__).parents[2]
FOLDERS = ("src", "tests", "bench", "evals", "training")
OPT_OUT = "# fmt: " + "skip"
MOST_OPT_OUTS = 60


def test_only_tables_of_data_keep_their_own_layout() -> None:
    texts = (
        path.read_text(encoding="utf-8") for each in FOLDERS for path in (ROOT / each).rglob("*.py")
    )
    assert sum(text.count(OPT_OUT) for text in texts) <= MOST_OPT_OUTS
