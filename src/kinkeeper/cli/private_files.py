"""Files that only their owner may read: exports hold everybody's private things."""

import os
from pathlib import Path

from kinkeeper.cli.terminal import notice
from kinkeeper.core.errors import InputError

_FILE, _FOLDER = 0o600, 0o700


def write_private(file: Path, content: bytes) -> None:
    """Write a file that only its owner may read, in the place of one that is there.

    Raises:
        InputError: It cannot be written.
    """
    try:
        descriptor = os.open(file, os.O_CREAT | os.O_WRONLY | os.O_CLOEXEC, _FILE)
        with open(descriptor, "wb") as stream:  # noqa: PTH123 - of a descriptor
            # Before anything is in it; a device has no mode of its own to change.
            if file.is_file():
                os.fchmod(descriptor, _FILE)
                os.ftruncate(descriptor, 0)
            stream.write(content)
    except OSError as error:
        raise InputError(f"cannot write {str(file)!r}: {error.strerror}") from error
    notice(f"wrote {file}")


def make_private_folder(folder: Path) -> None:
    """Make a folder that only its owner may look into; one that exists keeps its mode.

    Raises:
        InputError: It cannot be made.
    """
    try:
        folder.mkdir(mode=_FOLDER, parents=True, exist_ok=True)
    except OSError as error:
        raise InputError(f"cannot create the folder {str(folder)!r}: {error.strerror}") from error
