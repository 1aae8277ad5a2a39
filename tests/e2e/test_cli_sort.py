"""`kinkeeper sort`, and what doctor says of the embedder, as a person at a terminal sees them."""

import pytest

from cli_program import Program, Ran
from kinkeeper.models.embedding.embedder import MODEL as HASHING
from kinkeeper.models.embedding.minilm import MODEL as MINILM
from kinkeeper.models.embedding.minilm import weights_path

HAS_WEIGHTS = weights_path() is not None


def ran(program: Program, *words: str, **settings: str) -> Ran:
    return program.run(*words, settings=settings)


def finding(program: Program, **settings: str) -> dict[str, str]:
    checks = ran(program, "doctor", "--json", **settings).value["checks"]
    (found,) = [each for each in checks if each["check"] == "embedder"]
    return dict(found)


@pytest.mark.parametrize(
    ("choice", "stage"),
    [
        ("none", "cues"),
        ("hashing", HASHING),
        pytest.param(
            "auto",
            f"{MINILM}+{HASHING}",
            marks=pytest.mark.skipif(not HAS_WEIGHTS, reason="NOT TESTED: no extra `embedder`"),
        ),
    ],
)
def test_a_text_is_sorted_by_what_the_settings_choose(
    program: Program, choice: str, stage: str
) -> None:
    words = ["email", "Tariq", "about", "the", "keys", "and", "add", "tape", "to", "the", "list"]
    found = ran(program, "sort", "--json", *words, EMBEDDER=choice).value

    assert set(found["domains"]) == {"email", "notes"}
    assert found["stage"] == stage


def test_a_table_marks_what_is_meant(program: Program) -> None:
    shown = ran(program, "sort", "remind", "me", "to", "call", "mom", EMBEDDER="hashing").out

    assert "* task" in shown
    assert "* calendar" not in shown


def test_a_server_that_is_gone_is_a_warning_and_texts_are_still_sorted(program: Program) -> None:
    gone = {"EMBEDDER": "ollama", "EMBEDDER_URL": "http://127.0.0.1:9", "EMBEDDER_MODEL": "nomic"}

    found = finding(program, **gone)
    assert found["health"] == "warning"
    assert "refused the connection" in found["found"]
    sorted_ = ran(program, "sort", "--json", "what's", "on", "my", "calendar", **gone)
    assert sorted_.value["domains"] == ["calendar"]
    assert "sorting.unfitted" in sorted_.err  # hashing judged, and nobody is led to think otherwise


def test_a_choice_that_says_too_little_or_too_much_is_refused(program: Program) -> None:
    assert "EMBEDDER_URL" in ran(program, "sort", "hi", EMBEDDER="openai").err
    assert "EMBEDDER" in ran(program, "sort", "hi", EMBEDDER_URL="http://127.0.0.1:9").err


def test_doctor_says_which_embedder_there_is(program: Program) -> None:
    assert HASHING in finding(program, EMBEDDER="hashing")["found"]
    assert finding(program, EMBEDDER="none")["health"] == "ok"
