"""Training text in the compact form: what is marked is read where it stands, and mistakes are named with their line."""

from pathlib import Path

import pytest

from training.corpus import CorpusReader, LabelError, Slot

HEAD = "## household moss | Ann (mother), Ida 9 | Leeds, UK\n# group 2026-03-05 18:10\n"


def reader_of(folder: Path, body: str, head: str = HEAD) -> CorpusReader:
    path = folder / "text.txt"
    path.write_text(head + body, encoding="utf-8")
    reader = CorpusReader(path)
    reader.read()
    return reader


def test_clauses_slots_and_links_are_read(tmp_path: Path) -> None:
    reader = reader_of(
        tmp_path,
        "1 Ann | ask.pickup | who gets {f:Ida} {t:at 3}? // i'm stuck\n"
        "  | state.absence not past secret |\n"
        "2 Bob | accept ^1 | me\n"
        "= pickup | Ida | for Ida | by Bob | today 15:00 | agreed | 1 2\n",
    )
    assert reader.mistakes == []
    (talk,) = reader.talks
    first, second = talk.messages
    assert first.text == "who gets Ida at 3? i'm stuck"
    ask, absence = first.clauses
    assert ask.slots == (Slot("who_for", 9, 12), Slot("when", 13, 17))
    assert first.text[ask.start : ask.end] == "who gets Ida at 3? "
    assert (absence.predicate, absence.modality) == ("absence", "past")
    assert absence.is_negated
    assert absence.is_secret
    assert second.clauses[0].link == 1
    assert talk.outcomes[0].evidence == (1, 2)
    assert talk.outcomes[0].who_does == "Bob"


def test_addresses_of_pages_are_no_cuts(tmp_path: Path) -> None:
    reader = reader_of(tmp_path, "1 Ann | none | see https://example.org/a\n")
    assert reader.mistakes == []
    assert reader.talks[0].messages[0].text == "see https://example.org/a"


@pytest.mark.parametrize(
    ("body", "wrong"),
    [
        ("1 Ann | sing | la\n", "unknown act"),
        ("1 Ann | state.dance | la\n", "unknown act or predicate"),
        ("1 Ann | none ^3 | la\n", "no earlier message"),
        ("1 Ann | state.event @1 | la\n", "no open item"),
        ("1 Ann | none | one // two\n", "2 clauses but 1 labels"),
        ("1 Ann | none | {w:la}\n", "carries no slots"),
        ("1 Ann | state.event | {z:la}\n", "unknown slot"),
        ("1 Ann | state.event | {w:la\n", "brace"),
        ("1 Ann | none | la\n3 Ann | none | la\n", "out of order"),
        ("@1 planet | mars\n", "unknown kind"),
        ("= event | la\n", "seven parts"),
        ("1 Ann | none | la\n= event | x | for y | by z | t | agreed | 7\n", "names the messages"),
        ("hello\n", "not a line"),
        ("# sea 2026-03-05 18:10\n", "known surface"),
    ],
)
def test_mistakes_are_named_with_their_line(tmp_path: Path, body: str, wrong: str) -> None:
    (mistake,) = reader_of(tmp_path, body).mistakes
    assert wrong in mistake
    place = mistake.split(":")[1]
    assert 3 <= int(place) <= 4
    assert issubclass(LabelError, ValueError)
