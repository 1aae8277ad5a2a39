"""What a model may say: nothing that was not done, in whatever words, and nothing that no receipt has."""

import asyncio
from collections.abc import AsyncGenerator, Sequence
from dataclasses import dataclass, field
from pathlib import Path

import pytest

from answered_turns import outcome, shown, turn
from asking import NOW
from evals.answers import read_lines
from kinkeeper.actions.requests.model import ResultStatus
from kinkeeper.conversation.answering.answerer import Answerer
from kinkeeper.conversation.answering.claims import deeds_of, sentences
from kinkeeper.conversation.answering.guard import Guard
from kinkeeper.conversation.answering.relevance import relevance_of
from kinkeeper.conversation.answering.responder import Responder
from kinkeeper.conversation.answering.templates import told
from kinkeeper.conversation.model import AnswerContext, Exchange, Mode, Source
from kinkeeper.models.model import ChatReply, ChatRequest, Finish, ModelError, Outcome, Usage

ROOT = Path(__file__).parents[2]
LIES = read_lines(ROOT / "evals/data/answers/lies_dev.txt")
WORDS = {"person": "Bo", "thing": "dentist", "when": "on Friday at 5pm"}


@dataclass
class Spoken:
    """A model that says these pieces, and may break off."""

    pieces: Sequence[str]
    breaks: bool = False
    finish: Finish = Finish.STOP
    requests: list[ChatRequest] = field(default_factory=list)
    fallbacks: list[Outcome] = field(default_factory=list)
    stages: list[str] = field(default_factory=list)

    async def complete(self, request: ChatRequest) -> ChatReply:
        raise NotImplementedError

    async def stream(self, request: ChatRequest) -> AsyncGenerator[str | ChatReply]:
        self.requests.append(request)
        for piece in self.pieces:
            yield piece
            await asyncio.sleep(0)
        if self.breaks:
            raise ModelError("gone", outcome=Outcome.UNREACHABLE)
        usage = Usage(input_tokens=1, output_tokens=1)
        yield ChatReply(text="".join(self.pieces), model="m", usage=usage, finish=self.finish)

    async def note_fallback(self, household: str, *, stage: str, outcome: Outcome) -> None:
        assert household == "larch"
        self.fallbacks.append(outcome)
        self.stages.append(stage)


def says(context: AnswerContext, *pieces: str, **more: bool) -> tuple[str, Source, Spoken]:
    """What reaches the person of what a model says, and who is told to have said it."""
    model = Spoken(pieces, **more)
    text, answer = shown(context, Answerer(responder=Responder(model)))
    return text, answer.source, model


WORLD = turn("what do penguins eat?")
ASKED = turn("please cancel the dentist")


@pytest.mark.parametrize("lie", LIES)
def test_a_known_lie_is_never_shown_where_something_was_asked(lie: str) -> None:
    said = lie.format(**WORDS)
    text, source, model = says(ASKED, said)
    assert source is Source.RULES
    assert said not in text
    assert model.stages == ["conversation.guard"]


def test_in_talk_sentences_are_shown_one_by_one_until_one_claims_a_deed() -> None:
    text, source, _ = says(
        WORLD, "Penguins eat fish", ". I sent the ma", "il to Bo. ", "They swim."
    )
    assert text.startswith("Penguins eat fish.")
    assert "mail to Bo" not in text
    assert "swim" not in text
    assert text.endswith("I have not changed or sent anything.")
    assert source is Source.RULES


def test_an_honest_answer_to_a_question_about_the_world_is_shown() -> None:
    text, source, model = says(
        WORLD, "Penguins eat fish and krill. ", "They catch them in the sea."
    )
    assert text == "Penguins eat fish and krill. They catch them in the sea."
    assert source is Source.MODEL
    assert model.requests[0].household == "larch"
    assert not model.requests[0].is_ambient


@pytest.mark.parametrize("noise", ["[" * 5_000, "{" * 40 + "}" * 40, "— — — — — —"])
def test_noise_is_not_shown(noise: str) -> None:
    text, source, model = says(turn("I had a long day"), noise)
    assert noise[:9] not in text
    assert source is Source.RULES
    assert model.stages == ["conversation.guard"]


@pytest.mark.parametrize("status", ResultStatus)
def test_what_was_done_or_not_is_told_by_receipts_alone(status: ResultStatus) -> None:
    context = turn("x", outcome("task.create", status, result={"title": "stamps"}, error="why?"))
    text, source, model = says(context, "Done!")
    assert (text, source, model.requests) == (told(context).text, Source.RULES, [])


def test_a_state_may_be_told_where_memory_tells_it() -> None:
    world = turn("what is a dentist?", memories=["Ivo's dentist moved to Elm Street"])
    assert Guard.of(world).first_fault("The dentist moved to Elm Street.") is None
    assert (
        Guard.of(turn("what is a dentist?")).first_fault("The dentist is on your calendar.")
        is not None
    )


def test_an_answer_in_another_language_cannot_be_checked_and_is_not_shown() -> None:
    for said in (
        "He enviado el correo a Bo esta mañana con todos los detalles.",
        "Я отправил письмо.",
    ):
        _, source, _ = says(ASKED, said)
        assert source is Source.RULES


@pytest.mark.parametrize("breaks", [True, False])
def test_a_model_that_fails_is_replaced_and_counted(breaks: bool) -> None:
    text, source, model = says(WORLD, breaks=breaks)
    assert (text, source) == (told(WORLD).text, Source.RULES)
    assert model.stages == ["conversation.answer"]
    assert model.fallbacks == [Outcome.UNREACHABLE if breaks else Outcome.INVALID_OUTPUT]


def test_what_a_model_says_to_itself_is_not_shown() -> None:
    text, _, _ = says(WORLD, "<think>The user. I sent", " a mail.</think>", "Penguins eat fish.")
    assert text == "Penguins eat fish."


def test_only_parts_that_bear_on_a_message_go_into_the_prompt() -> None:
    history = (Exchange(text="the tent leaks", answer="Oh.", at=NOW, mode=Mode.RESPOND),)
    context = turn(
        "what do penguins eat?",
        history=history,
        memories=["Ivo loves penguins", "the tent is green"],
        gists=["“the tent leaks”"],
    )
    _, _, model = says(context, "Penguins eat fish.")
    prompt = model.requests[0].messages[1].text
    assert "Ivo loves penguins" in prompt
    assert relevance_of(context, ()).parts["gists"] < 0.3
    assert "leaks”" not in prompt


@pytest.mark.parametrize(
    "text",
    [
        "I could add it.",
        "Shall I send it?",
        "I have not sent anything.",
        "Would you like a reminder?",
        "I'm sorry, I can't do that.",
        "If you like, I can book it.",
    ],
)
def test_offers_questions_and_denials_are_no_claims(text: str) -> None:
    assert not any(deeds_of(sentence) for sentence in sentences(text))
