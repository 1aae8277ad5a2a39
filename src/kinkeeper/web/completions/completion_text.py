"""A turn's events as one text: the answer as it comes, then what was found, then what waits for a yes and how to say it."""

from collections.abc import AsyncGenerator, AsyncIterator, Iterator
from dataclasses import dataclass, field

from kinkeeper.conversation.model import EventName, TurnEvent
from kinkeeper.conversation.turn import card_in_words, question_in_words
from kinkeeper.core.errors import UnavailableError

_NOTHING_TO_SAY = "Okay."
_BETWEEN = "\n\n"
_HOW = "Answer “yes” to have this done, or “no” to leave it."
_HOW_SEVERAL = "Each of these waits for your answer: say which, with “yes” or “no”."
_ADULTS_ONLY = "An adult in the household has to approve that."


@dataclass(slots=True)
class Telling:
    """Puts one turn into words.

    Args:
        is_adult: Whether who speaks may say yes.
    """

    is_adult: bool
    told: str = ""
    cards: list[str] = field(default_factory=list)
    questions: list[str] = field(default_factory=list)
    is_over: bool = False

    async def pieces(self, events: AsyncIterator[TurnEvent]) -> AsyncGenerator[str]:
        """Yield the text in pieces; "" where the turn is under way and there is nothing to say yet.

        Args:
            events: Of the turn, to its end.

        Raises:
            UnavailableError: The turn broke down; the same request again takes it up again.
        """
        async for event in events:
            for piece in self._of(event):
                self.told += piece
                yield piece

    def _of(self, event: TurnEvent) -> Iterator[str]:
        data = event.data
        match event.name:
            case EventName.TOKEN:
                yield data["text"]
            case EventName.STATUS:
                yield _BETWEEN if data.get("restart") and self.told else ""
            case EventName.CARD:
                if data["items"]:
                    self.cards.append(card_in_words(data["title"], data["items"]))
            case EventName.CONFIRM:
                action = data["action"]
                self.questions.append(question_in_words(action["summary"], action.get("shown")))
            case EventName.ERROR:
                raise UnavailableError(data["message"])
            case EventName.DONE:
                self.is_over = True
                yield from self._rest(data.get("text") or "")

    def _rest(self, answer: str) -> Iterator[str]:
        """Yield what is left to say once the answer is whole."""
        if answer.startswith(self.told):
            yield answer.removeprefix(self.told)
        elif not self.told.endswith(answer):
            yield f"{_BETWEEN}{answer}"
        more = [*self.cards, *self.questions, *self._how()]
        if more:
            yield (_BETWEEN if answer else "") + _BETWEEN.join(more)
        elif not answer and not self.told:
            yield _NOTHING_TO_SAY

    def _how(self) -> Iterator[str]:
        if self.questions:
            yield (
                _ADULTS_ONLY
                if not self.is_adult
                else (_HOW if len(self.questions) == 1 else _HOW_SEVERAL)
            )
