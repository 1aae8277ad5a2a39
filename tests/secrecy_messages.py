"""Messages that tell a secret and ask to keep it, generated from lists of secrets, wishes, positions and people."""

import random
import tomllib
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

LISTS = Path(__file__).parents[1] / "evals" / "data" / "audience"
PRONOUNS = {"he": ("he", "him", "his"), "she": ("she", "her", "her")}
POSITIONS = ("after", "sentence", "before", "label", "within", "next")
TOGETHER = ("after", "sentence", "before", "label", "within", "comma")
"""Where a wish stands in the same message as the secret."""


@dataclass(frozen=True)
class Secret:
    """A secret as somebody tells it.

    Attributes:
        messages: One, or two where the wish comes right afterwards.
        word: Occurs in what is secret, and nowhere else.
        teller: Member id.
        kept_from: Member ids of those it must not be shown; None where it is nobody's but the teller's.
        how: Which wish, at which position.
    """

    messages: tuple[str, ...]
    word: str
    teller: str
    kept_from: str | None
    how: str


def secrets(
    names: Mapping[str, tuple[str, str]],
    tellers: tuple[str, ...],
    *,
    name: str,
    count: int,
    seed: int,
    positions: Sequence[str] = POSITIONS,
    with_presents: bool = False,
) -> Iterator[Secret]:
    """Yield messages, each with a word of its own.

    Args:
        names: Display name and pronoun by member id.
        tellers: Member ids of those who tell.
        name: Of the lists: "dev" or "heldout".
        count: How many.
        seed: Of the choice.
        positions: Where the wish stands.
        with_presents: Whether secrets about whom they are kept from are among them ("we are getting him a kite").
    """
    wishes: Mapping[str, list[str]] = _read(f"wishes_{name}.toml")
    told: list[Mapping[str, str]] = _read(f"secrets_{name}.toml")["secrets"]
    if with_presents:
        told = [*told, *_read("presents.toml")["secrets"]]
    seen: set[tuple[str, ...]] = set()
    draw = random.Random(seed)  # noqa: S311 - a sample, no secret
    kinds = [(kind, wish) for kind, listed in wishes.items() for wish in listed]
    while len(seen) < count:
        kind, wish = draw.choice(kinds)
        secret, teller = draw.choice(told), draw.choice(tellers)
        whom = draw.choice([each for each in names if each != teller])
        position = draw.choice(positions)
        shown, pronoun = names[whom]
        she, her, own = PRONOUNS[pronoun]
        said = wish.format(x=shown, she=she, She=she.capitalize(), her=her)
        word = secret["word"] + _letters(len(seen))
        text = secret["text"].replace(secret["word"], word)
        text = text.format(x=shown, she=she, her=her, own=own) if "{" in text else text
        messages = _placed(text, said, position)
        seen.add(messages)
        kept_from = None if kind == "alone" else whom
        yield Secret(messages, word, teller, kept_from, f"{position}: {wish}")


def _letters(number: int) -> str:
    """Return an ending that tells a word from all others."""
    return "".join(chr(ord("a") + int(digit)) for digit in f"{number:03}")


def _placed(secret: str, wish: str, position: str) -> tuple[str, ...]:
    own = secret if secret.startswith(("I ", "I'")) else secret[0].lower() + secret[1:]
    capital = wish[0].upper() + wish[1:]
    match position:
        case "after":
            return (f"{secret}, {wish}",)
        case "sentence":
            return (f"{secret}. {capital}.",)
        case "before":
            return (f"{capital}, but {own}",)
        case "comma":
            return (f"{capital}, {own}",)
        case "label":
            return (f"{capital}: {own}",)
        case "within":
            return (f"So {own}, {wish}, and that is all there is to say",)
        case _:
            return (secret, f"oh and {wish}")


def _read(file: str) -> Any:
    return tomllib.loads((LISTS / file).read_text(encoding="utf-8"))
