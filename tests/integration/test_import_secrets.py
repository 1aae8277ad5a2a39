"""What is imported is seen by those whom its author would have let see the same words, and by no more than its line says."""

import json
import random
from collections.abc import Iterable, Sequence
from datetime import timedelta
from functools import partial
from pathlib import Path

import pytest
from typer.testing import CliRunner

from growth import cpu_seconds, grows_too_fast
from kinkeeper.cli.main import app
from kinkeeper.cli.memory_import import Audiences, episode_of, fact_of, read_lines
from kinkeeper.household.file import load_household
from kinkeeper.household.viewers import HOUSEHOLD_SCOPE, is_hidden_from, person_scope
from kinkeeper.memory.ingest import ImportedFact
from kinkeeper.memory.model import Episode
from kinkeeper.memory.statements.secrecy import audience_of
from live_household import HOUSEHOLD, MONDAY
from secrecy_messages import TOGETHER, Secret, secrets

MILLER = load_household(HOUSEHOLD)
JOHN, SARAH = MILLER.members[:2]
NAMES = {
    "john": ("John", "he"),
    "sarah": ("Sarah", "she"),
    "leo": ("Leo", "he"),
    "mia": ("Mia", "she"),
}
OF_THE_HOUSE = (
    "The stopcock is behind the washing machine",
    "Leo is allergic to peanuts",
    "The bins go out on Wednesday",
    "Mia's teacher is called Ms Ode",
    "The plumber comes on Friday at nine",
    "Grandma's birthday is on 4 May",
    "We moved here in 2019",
    "Leo takes the bus to school",
    "Mia has a new bike",
    "John told Sarah about the boiler",
)


def lines(rows: Iterable[object]) -> list[bytes]:
    return [json.dumps(row).encode() for row in rows]


def at(minutes: float = 0) -> str:
    return (MONDAY + timedelta(minutes=minutes)).isoformat()


def episodes(rows: Sequence[dict[str, str]], audiences: Audiences | None = None) -> list[Episode]:
    asked = audiences or Audiences(MILLER, JOHN)
    read = partial(episode_of, household="miller", zone=MILLER.zone, audiences=asked)
    return asked.kept_afterwards(
        [each for each in read_lines(lines(rows), read) if isinstance(each, Episode)]
    )


def facts(rows: Sequence[dict[str, str]], importer: str = "john") -> list[ImportedFact]:
    member = next(each for each in MILLER.members if each.id == importer)
    read = partial(fact_of, zone=MILLER.zone, audiences=Audiences(MILLER, member))
    return [each for each in read_lines(lines(rows), read) if isinstance(each, ImportedFact)]


def chats(told: Iterable[Secret]) -> list[dict[str, str]]:
    return [
        {
            "id": f"{number}-{place}",
            "text": text,
            "speaker": NAMES[each.teller][0],
            "at": at(number * 60 + place),
            "session": str(number),
        }
        for number, each in enumerate(told)
        for place, text in enumerate(each.messages)
    ]


def test_a_secret_in_an_imported_chat_is_its_tellers() -> None:
    told = [*secrets(NAMES, ("john", "sarah"), name="heldout", count=120, seed=5)]
    found = episodes(chats(told))
    shown = [
        (secret.how, each.text)
        for each in found
        for secret in [told[int(str(each.session))]]
        for other in ([secret.kept_from] if secret.kept_from else set(NAMES) - {secret.teller})
        if not is_hidden_from(each.scope, other) or is_hidden_from(each.scope, secret.teller)
    ]
    assert len(shown) <= len(found) // 50, shown


def test_what_is_imported_has_the_audience_of_the_same_words_said() -> None:
    told = [*secrets(NAMES, ("john", "sarah"), name="dev", count=60, seed=6, positions=TOGETHER)]
    texts = [*(each.messages[0] for each in told), *OF_THE_HOUSE]
    rows = [
        {"id": str(n), "text": text, "speaker": "Sarah", "at": at()} for n, text in enumerate(texts)
    ]
    assert [each.scope for each in episodes(rows)] == [
        audience_of(each, MILLER, "sarah") for each in texts
    ]


@pytest.mark.parametrize("importer", ["john", "sarah"])
def test_a_fact_is_kept_from_whom_its_words_keep_it_whoever_imports_it(importer: str) -> None:
    told = [
        each
        for each in secrets(
            NAMES, ("john", "sarah"), name="heldout", count=80, seed=7, positions=TOGETHER
        )
        if each.kept_from
    ]
    found = facts(
        [{"id": str(n), "text": each.messages[0], "at": at()} for n, each in enumerate(told)],
        importer,
    )
    shown = [
        (secret.how, fact.text, fact.scope)
        for secret, fact in zip(told, found, strict=True)
        if fact.scope == HOUSEHOLD_SCOPE
        or (
            NAMES[str(secret.kept_from)][0] in secret.how
            and not is_hidden_from(fact.scope, str(secret.kept_from))
        )
    ]
    assert shown == []


def test_what_is_of_the_house_and_what_says_who_may_see_it_stays_so() -> None:
    rows = [{"id": str(n), "text": text, "at": at()} for n, text in enumerate(OF_THE_HOUSE)]
    assert {each.scope for each in (*facts(rows), *episodes(rows))} == {HOUSEHOLD_SCOPE}
    text = "don't tell Sarah: I moved 5000"
    for scope in (HOUSEHOLD_SCOPE, person_scope("sarah"), person_scope("john"), "project:attic"):
        said = {"id": "x", "text": text, "at": at(), "scope": scope}
        assert [each.scope for each in (*facts([said]), *episodes([said]))] == [scope] * 2


@pytest.mark.parametrize(("minutes", "is_kept"), [(2, True), (14, True), (40, False)])
def test_a_wish_holds_for_what_its_author_says_next_in_an_imported_chat(
    minutes: int, is_kept: bool
) -> None:
    rows = [
        {
            "id": "1",
            "text": "don't tell Sarah any of this",
            "speaker": "John",
            "at": at(),
            "session": "s",
        },
        {
            "id": "2",
            "text": "The hotel is called Bellarosa",
            "speaker": "Mia",
            "at": at(1),
            "session": "s",
        },
        {
            "id": "3",
            "text": "The hotel is called Bellarosa",
            "speaker": "John",
            "at": at(minutes),
            "session": "s",
        },
        {
            "id": "4",
            "text": "The hotel is called Bellarosa",
            "speaker": "John",
            "at": at(2),
            "session": "other",
        },
    ]
    hidden = [is_hidden_from(each.scope, "sarah") for each in episodes(rows)]
    assert hidden == [True, False, is_kept, False]


def test_the_command_says_how_many_it_kept_and_a_fact_no_wider_than_what_it_rests_on(
    tmp_path: Path,
) -> None:
    where = ["--household", str(HOUSEHOLD), "--db", str(tmp_path / "family.sqlite")]
    said = [
        {"id": "e1", "text": "don't tell Sarah: I moved 5000", "speaker": "John", "at": at()},
        {"id": "e2", "text": "The bins go out on Wednesday", "speaker": "John", "at": at()},
    ]
    told = [
        {"id": "f1", "text": "There are 5000 in another account", "at": at(), "evidence": ["e1"]},
        {"id": "f2", "text": "don't tell Leo: the kite is in the attic", "at": at()},
        {"id": "f3", "text": "The boiler is twelve years old", "at": at(), "evidence": ["e2"]},
    ]
    runner = CliRunner()
    for kind, rows, hidden in (("episodes", said, 1), ("facts", told, 2), ("facts", told, 0)):
        file = tmp_path / f"{kind}.jsonl"
        file.write_bytes(b"\n".join(lines(rows)))
        ran = runner.invoke(
            app, ["import", str(file), "--as", kind, "--no-wait", *where], env={"EMBEDDER": "none"}
        )
        assert ran.exit_code == 0, ran.output
        assert (f"{hidden} kept from some of the household" in ran.output) == bool(hidden)


def test_reading_whom_facts_are_kept_from_costs_no_more_for_each() -> None:
    draw = random.Random(3)  # noqa: S311 - a sample, no secret

    def cost(count: int) -> float:
        rows = [
            {
                "id": str(n),
                "text": f"{draw.choice(OF_THE_HOUSE)} and number {draw.random()} too",
                "at": at(),
            }
            for n in range(count)
        ]
        return cpu_seconds(lambda: facts(rows))

    assert not grows_too_fast(cost, 250)
