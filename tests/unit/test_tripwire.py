"""The tripwire decides by what a message says and where it stands, for any household's words."""

from pathlib import Path

import pytest

from kinkeeper.core.errors import ConfigError
from kinkeeper.language.lexicon import Lexicon, Term
from kinkeeper.observer.model import Tier1Decision
from kinkeeper.observer.tripwire.gate import (
    DEFAULT_THRESHOLD,
    Evidence,
    Tripwire,
    load_tripwire,
    makes_coordination,
    with_context,
)
from kinkeeper.observer.tripwire.model import Pattern, PatternSet, load_patterns


def _household(child: str, sibling: str, adult: str, sport: str, art: str) -> Tripwire:
    return load_tripwire(
        Lexicon(
            [
                Term("child", child.lower(), (child,)),
                Term("child", sibling.lower(), (sibling,)),
                Term("adult", adult.lower(), (adult,)),
                Term("activity", sport, (sport,)),
                Term("activity", art, (art,)),
                Term("generic_activity", "practice", ("practice", "training")),
                Term("generic_activity", "dentist", ("dentist",)),
            ]
        )
    )


HOUSEHOLDS = {
    "miller": ("Leo", "Mia", "Sarah", "soccer", "ballet"),
    "adeyemi": ("Tunde", "Folake", "Kemi", "fencing", "trombone"),
    "sorensen": ("Åse", "Mikkel", "Birgitte", "handball", "pottery"),
}

ALONE = [
    "I'll pick up {child} from school tomorrow at 3pm and take him to {sport}",
    "Who's picking up {child} Thursday after {sport}?",
    "I can cover Tuesday pickup",
    "I'll get the kids Tuesday after work",
    "{child} has the dentist Thursday at 4pm",
    "{sport} tmrw 4",
    "wk pickup",
    "pratice is cancled",
    "{sibling} has {art} monday",
    "{child} dentist 2mrw??",
    "omw",
    "Both kids Tuesday",
    "{sibling} {art} Monday",
    "can u grab {sibling} from {art}",
    "I’ll take {child}",
    "{adult} is getting {sibling} at 5",
    "{sport} moved to friday",
]
IN_THREAD = ["yeah 3pm", "4:30 work for me", "i'll do it", "👍", "🙋‍♀️", "🙋🏾", "sure", "me"]
CHATTER = [
    "Got the oil changed today. Next due in July.",
    "thx!",
    "u sure?",
    "kk",
    "n/m",
    "lol",
    "❤️",
    "good morning all",
    "how was {sport}?",
    "{child} lost another tooth 😂",
    "did you see the game last night",
    "who ate the last cookie",
]


@pytest.fixture(scope="module", params=sorted(HOUSEHOLDS))
def household(request: pytest.FixtureRequest) -> tuple[Tripwire, dict[str, str]]:
    names = HOUSEHOLDS[request.param]
    words = dict(zip(("child", "sibling", "adult", "sport", "art"), names, strict=True))
    return _household(*names), words


@pytest.fixture(scope="module")
def tripwire() -> Tripwire:
    return _household(*HOUSEHOLDS["miller"])


@pytest.mark.parametrize("template", ALONE)
def test_coordination_is_queued_without_context(
    household: tuple[Tripwire, dict[str, str]], template: str
) -> None:
    tripwire, words = household
    evidence = tripwire.evidence(template.format(**words))
    assert evidence.score >= DEFAULT_THRESHOLD, evidence


@pytest.mark.parametrize("text", IN_THREAD)
def test_short_answers_are_queued_in_a_live_thread_or_as_answers(
    tripwire: Tripwire, text: str
) -> None:
    evidence = tripwire.evidence(text)
    verdict = tripwire.decide(evidence, in_coordination_thread=True, answers_open_question=False)
    assert verdict.decision is Tier1Decision.QUEUE, evidence


@pytest.mark.parametrize("template", CHATTER)
def test_chatter_is_dropped(household: tuple[Tripwire, dict[str, str]], template: str) -> None:
    tripwire, words = household
    evidence = tripwire.evidence(template.format(**words))
    verdict = tripwire.decide(evidence, in_coordination_thread=False, answers_open_question=False)
    assert verdict.decision is Tier1Decision.DROP, evidence


@pytest.mark.parametrize("text", ["thx!", "thank you so much", "n/m", "lol", "u sure?", "kk"])
def test_noise_is_dropped_even_in_a_live_thread(tripwire: Tripwire, text: str) -> None:
    verdict = tripwire.decide(
        tripwire.evidence(text), in_coordination_thread=True, answers_open_question=False
    )
    assert verdict.decision is Tier1Decision.DROP


def test_an_answer_to_an_open_question_is_queued_whatever_its_score(tripwire: Tripwire) -> None:
    evidence = tripwire.evidence("kk")
    verdict = tripwire.decide(evidence, in_coordination_thread=False, answers_open_question=True)
    assert (verdict.decision, verdict.override) == (Tier1Decision.QUEUE, "attribution")
    assert verdict.confidence == evidence.score


def test_without_an_open_question_no_override_is_named(tripwire: Tripwire) -> None:
    evidence = tripwire.evidence("I'll pick up Leo at 3pm")
    verdict = tripwire.decide(evidence, in_coordination_thread=True, answers_open_question=False)
    assert (verdict.decision, verdict.override) == (Tier1Decision.QUEUE, None)


def _evidence(score: float, word_count: int) -> Evidence:
    return Evidence(score=score, families=(), contributions=(), word_count=word_count)


@pytest.mark.parametrize(
    ("score", "words", "in_thread", "expected"),
    [
        (0.4, 3, False, 0.4),
        (0.4, 6, True, 0.55),
        (0.4, 5, True, 0.75),
        (0.35, 5, True, 0.7),
        (0.9, 2, True, 1.0),
    ],
)
def test_a_live_thread_adds_its_boosts(
    score: float, words: int, in_thread: bool, expected: float
) -> None:
    found = with_context(_evidence(score, words), in_coordination_thread=in_thread)
    assert found == pytest.approx(expected)


def test_a_score_that_lacks_exactly_the_boost_passes(tripwire: Tripwire) -> None:
    verdict = tripwire.decide(
        _evidence(0.55, 9), in_coordination_thread=True, answers_open_question=False
    )
    assert verdict.decision is Tier1Decision.QUEUE


def test_questions_and_claims_open_a_thread_and_thanks_do_not(tripwire: Tripwire) -> None:
    assert makes_coordination(tripwire.evidence("who's getting Leo?"))
    assert makes_coordination(tripwire.evidence("I can cover Tuesday pickup"))
    assert not makes_coordination(tripwire.evidence("thanks ❤️"))


def test_misspelt_household_words_count(tripwire: Tripwire) -> None:
    assert "activities" in tripwire.evidence("socer tmrw").families


def test_adding_a_child_is_all_it_takes() -> None:
    stranger = load_tripwire(Lexicon([])).evidence("Xiomara tuesday")
    child = load_tripwire(Lexicon([Term("child", "x", ("Xiomara",))])).evidence("Xiomara tuesday")
    assert child.score > stranger.score
    assert "people" in child.families
    assert "people" not in stranger.families


def test_contributions_name_what_weighs_most(tripwire: Tripwire) -> None:
    contributions = tripwire.evidence("can you pick up Leo tomorrow at 4?").contributions
    sizes = [abs(weight) for _, weight in contributions]
    assert sizes == sorted(sizes, reverse=True)
    assert all(":" in name for name, _ in contributions)


def test_every_shipped_pattern_matches_its_example() -> None:
    assert "noise" in load_patterns().families


def test_a_pattern_that_misses_its_example_is_refused() -> None:
    with pytest.raises(ConfigError, match="does not match its example"):
        PatternSet({}, [Pattern(family="f", match="ride", example="walk")])


def test_an_invalid_expression_is_refused_by_name() -> None:
    with pytest.raises(ConfigError, match="'broken'"):
        PatternSet({}, [Pattern(family="broken", match="(", example="(")])


def test_a_pattern_file_of_ones_own_replaces_the_shipped_one(tmp_path: Path) -> None:
    path = tmp_path / "patterns.toml"
    path.write_text(
        '[spellings]\nride = ["lift"]\n[families.transport]\npatterns = [{match = "ride", example = "lift"}]\n'
    )
    assert load_tripwire(Lexicon([]), path).evidence("a lift please").families == ("transport",)


def test_a_missing_or_incomplete_pattern_file_is_named(tmp_path: Path) -> None:
    path = tmp_path / "patterns.toml"
    with pytest.raises(ConfigError, match=r"patterns\.toml"):
        load_patterns(path)
    path.write_text("[families.temporal]\npattern = []\n")
    with pytest.raises(ConfigError, match="patterns"):
        load_patterns(path)
