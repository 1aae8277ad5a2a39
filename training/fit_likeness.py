"""Fit what a cosine means for the embedders that are built in, and choose the pairs that are shipped.

    python -m training.fit_likeness --data FOLDER

Needs the embedder's extra. FOLDER holds the public sets; evals/data/likeness/README.md tells which are used.
"""

import argparse
import asyncio
import json
from collections.abc import Sequence
from dataclasses import asdict
from pathlib import Path

import kinkeeper.models.embedding
from evals.likeness import cosines
from evals.likeness_gold import Pair, pairs
from kinkeeper.models.embedding.calibration import fit_calibration
from kinkeeper.models.embedding.embedder import HashingEmbedder
from kinkeeper.models.embedding.minilm import MiniLm, weights_path

SHIPPED = Path(kinkeeper.models.embedding.__path__[0]) / "data"
SHIPPED_PAIRS = 400
NOTE = """\
# Pairs of texts that speak of the same thing, or not, to find out what a model's cosine means.
# From CLINC150 (Larson et al. 2019, CC BY 3.0), HWU64 (Liu et al. 2019, CC BY 4.0) and memory updates (CC0).
"""
HOW = (
    "logistic curve of the cosine, both kinds of pairs weighing the same; memory updates (CC0), pairs "
    "within and across intents of CLINC150 (CC BY 3.0) and HWU64 (CC BY 4.0); 40 % of the attributes "
    "and intents held out; training/fit_likeness.py"
)


def main() -> None:
    """Fit and write."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--data", type=Path, required=True)
    fitted = [pair for pair in pairs(parser.parse_args().data) if not pair.is_held_out]
    weights = weights_path()
    if weights is None:
        raise SystemExit("the embedder's extra is not installed")
    alike = [pair.is_alike for pair in fitted]
    curves = []
    for embedder in (MiniLm(weights), HashingEmbedder()):
        found = asyncio.run(cosines(embedder, fitted))
        curves.append(asdict(fit_calibration(embedder.model, found, alike)))
        print(f"{len(fitted):,} pairs: {curves[-1]}")
    content = {"how": HOW, "pairs": len(fitted), "curves": curves}
    (SHIPPED / "calibrations.json").write_text(f"{json.dumps(content, indent=2)}\n")
    lines = [
        f"{'alike' if pair.is_alike else 'unlike'}\t{pair.first}\t{pair.second}\n"
        for pair in _spread(fitted)
    ]
    (SHIPPED / "likeness_pairs.txt").write_text(NOTE + "".join(lines), encoding="utf-8")


def _spread(fitted: Sequence[Pair]) -> Sequence[Pair]:
    """Return pairs from all over a list, the same ones every time."""
    step = len(fitted) / SHIPPED_PAIRS
    return [fitted[int(number * step)] for number in range(SHIPPED_PAIRS)]


if __name__ == "__main__":
    main()
