"""What a server does not load before it is needed: an idle one is to hold little memory."""

import subprocess
import sys

import pytest


@pytest.mark.parametrize(
    ("module", "spared"),
    [
        (
            "kinkeeper.cli.serve",
            (
                "telegram",
                "httpx",
                "cryptography",
                "onnxruntime",
                "hdbscan",
                "scipy",
                "mcp",
                "caldav",
                "PIL",
                "llama_cpp",
                "tokenizers",
            ),
        ),
        (
            "kinkeeper.bootstrap.conversation",
            ("icalendar", "uvicorn", "fastapi", "prometheus_client"),
        ),
    ],
)
def test_what_only_some_need_is_not_loaded_at_the_start(module: str, spared: tuple[str, ...]):
    code = f"import sys, {module}\nprint([name for name in {spared!r} if name in sys.modules])"
    done = subprocess.run([sys.executable, "-c", code], check=True, capture_output=True, text=True)
    assert done.stdout.strip() == "[]"
