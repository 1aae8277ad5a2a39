"""Draws the picture of the demo in the documentation, from a real run."""

import io
import re
from pathlib import Path

from rich.console import Console

from kinkeeper.cli.demo import demonstrate
from kinkeeper.cli.located import Where

PICTURE = Path(__file__).parents[1] / "docs" / "images" / "demo.svg"
WIDTH = 112
_FONT_FACE = re.compile(r"@font-face \{[^}]*\}\s*")


def main() -> None:
    """Run the demo on a recording console and write what it shows as SVG."""
    screen = Console(
        record=True,
        width=WIDTH,
        file=io.StringIO(),
        force_terminal=True,
        highlight=False,
        emoji=False,
        markup=False,
        legacy_windows=False,
    )
    demonstrate(Where(), as_json=False, screen=screen)
    PICTURE.parent.mkdir(parents=True, exist_ok=True)
    drawing = screen.export_svg(title="kinkeeper demo", unique_id="demo")
    # Viewers have monospace fonts of their own; the picture must not ask another machine for one.
    drawing = _FONT_FACE.sub("", drawing).replace("Fira Code, monospace", "monospace")
    PICTURE.write_text(drawing, encoding="utf-8")
    print(f"wrote {PICTURE}")


if __name__ == "__main__":
    main()
