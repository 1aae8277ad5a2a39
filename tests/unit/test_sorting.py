"""Requests go where they belong, with an embedder or without; each label says what gave it."""

import asyncio
import re
import tomllib
from collections.abc import Sequence
from pathlib import Path

import pytest

from kinkeeper.core.errors import InputError, UnavailableError
from kinkeeper.language.sorting.domains import KIND as DOMAINS
from kinkeeper.language.sorting.domains import Domain, DomainRouter, Route, meant_by, parts_of
from kinkeeper.language.sorting.sorter import CUES_ALONE, Kind, load_head
from kinkeeper.memory.model import Category
from kinkeeper.memory.statements.classification import KIND as CATEGORIES
from kinkeeper.memory.statements.classification import StatementClassifier
from kinkeeper.models.embedding.embedder import MODEL as HASHING
from kinkeeper.models.embedding.embedder import HashingEmbedder, Vectors

SOURCE = Path(__file__).parents[2] / "src/kinkeeper"
CUES = [
    SOURCE / "language/sorting/data/domain_cues.toml",
    SOURCE / "memory/statements/data/category_cues.toml",
]


class Unreachable:
    """A model that has a head and cannot be reached."""

    model = "all-MiniLM-L6-v2-int8"
    dimension = 384

    async def embed(self, texts: Sequence[str]) -> Vectors:
        raise UnavailableError("gone")


class Unknown(Unreachable):
    """A model that nothing was fitted to; asking it fails the test."""

    model = "somebody-s-embedder"

    async def embed(self, texts: Sequence[str]) -> Vectors:
        raise AssertionError("asked in vain")


def routed(text: str, embedder: object = None) -> Route:
    (route,) = asyncio.run(DomainRouter(embedder).route([text]))
    return route


@pytest.mark.parametrize("embedder", [None, HashingEmbedder()])
@pytest.mark.parametrize(
    ("text", "domains"),
    [
        ("remind me to water the ferns on Friday", {Domain.TASK}),
        ("what's on my calendar on Sunday?", {Domain.CALENDAR}),
        ("send an email to Priya about the keys", {Domain.EMAIL}),
        ("add oat milk to the shopping list", {Domain.NOTES}),
        ("remember that Ibrahim is allergic to kiwis", {Domain.MEMORY}),
        ("what's the weather in Turin", set()),
        ("hello there", set()),
    ],
)
def test_plain_requests_are_routed_even_without_weights(
    text: str, domains: set[Domain], embedder: object
) -> None:
    assert set(routed(text, embedder).domains) == domains


def test_two_wishes_in_one_message_go_to_two_domains():
    route = routed("check my calendar for tomorrow and email Rana that I'm late", HashingEmbedder())

    assert set(route.domains) == {Domain.CALENDAR, Domain.EMAIL}


@pytest.mark.parametrize(
    ("text", "parts"),
    [
        ("buy milk and call Bo", ("buy milk", "call Bo")),
        ("Do this one. Then do that", ("Do this one", "do that")),
        ("salt and pepper", ()),
        ("just one wish", ()),
        ("", ()),
    ],
)
def test_parts_are_what_may_ask_for_something_alone(text: str, parts: tuple[str, ...]) -> None:
    assert parts_of(text) == parts


def test_the_likeliest_domain_stands_first():
    route = routed("put the vet on the calendar and maybe a note", HashingEmbedder())

    chances = [route.chances[domain] for domain in route.domains]
    assert chances == sorted(chances, reverse=True)


def test_a_wish_that_may_be_for_one_of_two_parts_is_a_wish_for_the_likelier():
    assert meant_by({"task": 0.2, "calendar": 0.22, "notes": 0.01}) == ("calendar",)
    assert meant_by({"task": 0.1, "calendar": 0.12, "notes": 0.01}) == ()


def test_a_label_says_what_gave_it():
    assert routed("hello").stage == CUES_ALONE
    assert routed("hello", HashingEmbedder()).stage == HASHING


def test_hashing_stands_in_for_a_model_that_cannot_be_reached_or_has_no_head():
    assert routed("hello", Unreachable()).stage == HASHING
    assert routed("hello", Unknown()).stage == HASHING


@pytest.mark.parametrize(
    ("text", "category"),
    [
        ("My name is Ottoline", Category.IDENTITY),
        ("My favourite tea is oolong", Category.PREFERENCE),
        ("My sister is called Wanjiru", Category.RELATIONSHIP),
        ("I'm so worried about the exam", Category.EMOTIONAL),
        ("My goal is to learn Welsh", Category.GOAL),
        ("The deadline is on Friday", Category.CONSTRAINT),
        ("The API needs a token", Category.TECHNICAL),
        ("I'm working on the garden shed this week", Category.PROJECT_ACTIVE),
    ],
)
def test_plain_statements_find_their_category_without_weights(
    text: str, category: Category
) -> None:
    (found,) = asyncio.run(StatementClassifier(None).classify([text]))

    assert found.category is category
    assert sum(found.chances.values()) == pytest.approx(1)


@pytest.mark.parametrize(
    ("kind", "model"),
    [
        *((kind, model) for kind in (DOMAINS, CATEGORIES) for model in (CUES_ALONE, HASHING)),
        (DOMAINS, f"all-MiniLM-L6-v2-int8+{HASHING}"),
        (CATEGORIES, "all-MiniLM-L6-v2-int8"),
    ],
)
def test_a_shipped_head_reads_the_cues_that_are_shipped(kind: Kind, model: str) -> None:
    head = load_head(kind, model)

    assert head is not None
    assert head.model == model
    assert head.cues == kind.cue_names


def test_a_vector_of_another_length_is_refused():
    head = load_head(DOMAINS, HASHING)
    assert head is not None

    with pytest.raises(InputError, match="numbers"):
        head.predict({}, head.bias)


@pytest.mark.parametrize("path", CUES)
def test_every_pattern_is_whole_and_every_word_list_used(path: Path) -> None:
    content = tomllib.loads(path.read_text(encoding="utf-8"))
    patterns = [pattern for cue in content["cues"].values() for pattern in cue]

    for pattern in patterns:
        re.compile(re.sub(r"@(\w+)", lambda found: content["words"][found[1]], pattern))
    used = {word for pattern in patterns for word in re.findall(r"@(\w+)", pattern)}
    assert used == set(content["words"])
