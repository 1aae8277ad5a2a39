"""Any text at all: routing never raises, a question is no consent, and a request after a yes is none either."""

import asyncio

from hypothesis import given
from hypothesis import strategies as st

from kinkeeper.conversation.model import Branch, Confirmation, Mode
from kinkeeper.conversation.routing.confirmation import read_confirmation
from kinkeeper.conversation.routing.intent import read_social
from kinkeeper.conversation.routing.router import Router
from kinkeeper.conversation.routing.signals import Signals

BRANCHES = {
    Mode.ACT: Branch.ACT,
    Mode.CLARIFY: Branch.CLARIFY,
    Mode.RESPOND: Branch.RESPOND,
    Mode.ACKNOWLEDGE: Branch.SOCIAL,
    Mode.IGNORE: Branch.SOCIAL,
    Mode.CANCEL: Branch.SOCIAL,
}
AFFIRMATIVES = ["yes", "yeah", "yep", "sure", "ok", "go ahead", "absolutely", "of course"]
REQUESTS = [
    "add milk to the shopping list",
    "what is on my calendar on Sunday",
    "remind me to call Priya",
    "cancel the dentist",
    "email the school about the trip",
    "who takes Ida to judo",
]
SOCIAL = ["thanks", "hello", "great", "got it", "ok", "hi there", "perfect", "good morning"]
JOINTS = [", ", " and ", ". ", "! ", " - ", " now "]


@given(st.text(max_size=200), st.booleans())
def test_any_text_is_routed_and_its_branch_fits_its_mode(text: str, is_open: bool) -> None:
    routed = asyncio.run(Router(None).route(text, open_question=is_open))

    assert BRANCHES[routed.triage.mode] is routed.triage.branch
    assert (routed.triage.social is None) == (routed.triage.branch is not Branch.SOCIAL)
    assert is_open or routed.triage.confirmation is None


@given(st.sampled_from(AFFIRMATIVES), st.sampled_from(["?", " ?", "???", "?!"]))
def test_a_yes_that_asks_is_no_consent(word: str, mark: str) -> None:
    assert read_confirmation(word + mark) is None


@given(st.sampled_from(AFFIRMATIVES), st.sampled_from(JOINTS), st.sampled_from(REQUESTS))
def test_a_yes_with_another_request_is_no_consent(yes: str, joint: str, request: str) -> None:
    decision = read_confirmation(f"{yes}{joint}{request}")

    assert decision is None or decision.kind is not Confirmation.YES


@given(st.sampled_from(AFFIRMATIVES), st.sampled_from(["if ", "unless ", "when "]))
def test_a_yes_under_a_condition_is_no_consent(yes: str, condition: str) -> None:
    assert read_confirmation(f"{yes} {condition}Priya agrees") is None


@given(
    st.sampled_from(["don't ", "do not ", "please don't "]),
    st.sampled_from(["do it", "send it", "book it"]),
)
def test_what_is_negated_is_never_consent(negation: str, act: str) -> None:
    decision = read_confirmation(negation + act)

    assert decision is not None
    assert decision.kind is Confirmation.NO


@given(st.sampled_from(SOCIAL), st.sampled_from(JOINTS), st.sampled_from(REQUESTS))
def test_a_request_after_a_kind_word_never_leaves(kind: str, joint: str, request: str) -> None:
    assert read_social(f"{kind}{joint}{request}") is None
    assert read_social(f"{request}{joint}{kind}") is None


counts = st.integers(min_value=0, max_value=50)


@given(counts, counts, counts, st.booleans(), st.floats(min_value=0, max_value=5), st.booleans())
def test_shares_stay_shares(
    turns: int, gists: int, facts: int, has_world: bool, fok: float, is_new: bool
) -> None:
    signals = Signals(
        turns=turns, gists=gists, facts=facts, has_world=has_world, fok=fok, is_new_topic=is_new
    )

    for share in (signals.warmth, signals.density, signals.memory_confidence, signals.fact_density):
        assert 0 <= share <= 1
    assert not (signals.is_cold and signals.is_warm)
