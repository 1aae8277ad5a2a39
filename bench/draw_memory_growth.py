"""Draws how memory's search grows, from what `kinkeeper bench memory --rows N --json` printed."""

import json
import math
import re
import sys
from dataclasses import dataclass
from pathlib import Path

PICTURE = Path(__file__).parents[1] / "docs" / "images" / "memory-growth.svg"
_WIDTH, _HEIGHT = 640, 360
_LEFT, _RIGHT, _TOP, _BOTTOM = 70, 490, 24, 312
_SEARCH = re.compile(r"a search among ([\d,]+) episodes")
_STYLE = """
  text { font: 13px sans-serif; fill: #333 } .grid { stroke: #8886 }
  .own, .peer { fill: none; stroke-width: 2.5 } .own { stroke: #0a7d5a } .peer { stroke: #b3541e }
  @media (prefers-color-scheme: dark) {
    text { fill: #ddd } .own { stroke: #4fd1a5 } .peer { stroke: #f0a070 }
  }
"""


@dataclass(frozen=True)
class Scale:
    """Powers of ten along one side of the picture."""

    low: float
    high: float
    start: int
    end: int

    def place(self, value: float) -> float:
        """Return where a value lies."""
        share = (math.log10(value) - self.low) / max(self.high - self.low, 1)
        return self.start + share * (self.end - self.start)


def main(measured: Path) -> None:
    """Draw the median searches of both over the number of episodes."""
    found = json.loads(measured.read_text(encoding="utf-8"))
    rows = [
        (int(match[1].replace(",", "")), each["microseconds"], each["peer_microseconds"])
        for each in found
        if (match := _SEARCH.match(each["name"]))
    ]
    times = [value for _, *both in rows for value in both]
    across = Scale(math.log10(rows[0][0]), math.log10(rows[-1][0]), _LEFT, _RIGHT)
    low, high = math.floor(math.log10(min(times))), math.ceil(math.log10(max(times)))
    up = Scale(low, high, _BOTTOM, _TOP)
    parts = [f"<style>{_STYLE}</style>"]
    for power in range(low, high + 1):
        y = up.place(10**power)
        parts.append(f'<line class="grid" x1="{_LEFT}" x2="{_RIGHT}" y1="{y:.0f}" y2="{y:.0f}"/>')
        parts.append(_text(_LEFT - 8, y + 4, f"{10 ** (power - 3):g} ms", anchor="end"))
    parts += [
        _text(across.place(size), _BOTTOM + 20, f"{size:,}", anchor="middle") for size, *_ in rows
    ]
    parts.append(_text(_LEFT, _HEIGHT - 8, "episodes; CPU of the median search"))
    for column, kind, name in ((1, "own", "words and meaning"), (2, "peer", "FTS5, words only")):
        points = [(across.place(row[0]), up.place(row[column])) for row in rows]
        line = " ".join(f"{x:.1f},{y:.1f}" for x, y in points)
        parts.append(f'<polyline class="{kind}" points="{line}"/>')
        parts.append(_text(points[-1][0] + 8, points[-1][1] + 4, name))
    label = "CPU time of a search over the number of episodes"
    PICTURE.write_text(
        f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {_WIDTH} {_HEIGHT}" role="img" '
        f'aria-label="{label}">{"".join(parts)}</svg>\n',
        encoding="utf-8",
    )
    print(f"wrote {PICTURE}")


def _text(x: float, y: float, words: str, *, anchor: str = "start") -> str:
    return f'<text x="{x:.0f}" y="{y:.0f}" text-anchor="{anchor}">{words}</text>'


if __name__ == "__main__":
    main(Path(sys.argv[1]))
