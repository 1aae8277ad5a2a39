"""The words that tell times from look-alikes, read from their file."""

import tomllib
from collections.abc import Mapping
from dataclasses import dataclass
from functools import cache
from importlib.resources import files


@dataclass(frozen=True, slots=True)
class Guards:
    """The words of the data file."""

    follow: frozenset[str]
    cue: frozenset[str]
    shy: frozenset[str]
    naming: frozenset[str]
    street: frozenset[str]
    meeting: frozenset[str]
    daytime: frozenset[str]
    daytime_phrases: tuple[str, ...]
    early: frozenset[str]
    late: frozenset[str]
    evening: frozenset[str]
    morning: frozenset[str]
    morning_phrases: tuple[str, ...]
    rounds: frozenset[str]
    round_phrases: tuple[str, ...]
    complement: frozenset[str]
    reaching: frozenset[str]
    requests: frozenset[str]
    apart: frozenset[str]
    past: frozenset[str]
    present: frozenset[str]
    unsettled: frozenset[str]
    homographs: Mapping[str, tuple[frozenset[str], frozenset[str]]]


@cache
def load_guards() -> Guards:
    """Return the words that tell times from look-alikes; read once."""
    raw = tomllib.loads(files(__package__).joinpath("guards.toml").read_text(encoding="utf-8"))
    homographs = {
        word: (frozenset(sides["before"]), frozenset(sides["after"]))
        for word, sides in raw["homographs"].items()
    }
    return Guards(
        follow=frozenset(raw["follow"]),
        cue=frozenset(raw["cue"]),
        shy=frozenset(raw["shy"]),
        naming=frozenset(raw["naming"]),
        street=frozenset(raw["street"]),
        meeting=frozenset(raw["meeting"]),
        daytime=frozenset(raw["daytime"]),
        daytime_phrases=tuple(raw["daytime_phrases"]),
        early=frozenset(raw["early"]),
        late=frozenset(raw["late"]),
        evening=frozenset(raw["evening"]),
        morning=frozenset(raw["morning"]),
        morning_phrases=tuple(raw["morning_phrases"]),
        rounds=frozenset(raw["rounds"]),
        round_phrases=tuple(raw["round_phrases"]),
        complement=frozenset(raw["complement"]),
        reaching=frozenset(raw["reaching"]),
        requests=frozenset(raw["requests"]),
        apart=frozenset(raw["apart"]),
        past=frozenset(raw["past"]),
        present=frozenset(raw["present"]),
        unsettled=frozenset(raw["unsettled"]),
        homographs=homographs,
    )
