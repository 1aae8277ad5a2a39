"""The extractor with a language model: the rules first, and the model where they left something open."""

from collections.abc import Iterable, Mapping
from datetime import timedelta
from typing import Annotated, Any

from pydantic import Field, create_model

from kinkeeper.household.model import Member, Named
from kinkeeper.models.model import ModelGateway, Outcome
from kinkeeper.models.prompts import Data, Prompt, load_prompt
from kinkeeper.models.structured import consult
from kinkeeper.observer.consultation import Answer, Consultation
from kinkeeper.observer.extraction.model_grounding import Doubt, Offer, doubt_about, grounded
from kinkeeper.observer.extraction.prepared import Around, Part
from kinkeeper.observer.model import Extraction, hhmm
from kinkeeper.observer.settling.message_reader import RulesExtractor, offered, reconsidered
from kinkeeper.observer.wording.message_view import Reading
from kinkeeper.observer.wording.participants import Participants

_LONGEST_OF_TALK = 300
"""Characters of a message before, as far as it is shown."""

_PATIENCE = timedelta(seconds=45)
"""Whatever the settings allow a call: a conflict is told within a minute of the message that completes it."""

STAGE = "observer.extraction"
"""Name under which going on without a model is counted."""


def extraction_prompt() -> Prompt:
    """Return the prompt that messages are read with.

    Raises:
        ConfigError: Its file is wrong.
    """
    return load_prompt("kinkeeper.observer", "extract_coordination")


class ModelExtractor(RulesExtractor):
    """Asks a model about what the rules left open; without an answer the rules decide alone.

    Args:
        models: Answer, and count where there was no answer.
        prompt: What they are asked with.
    """

    def __init__(self, models: ModelGateway, prompt: Prompt) -> None:
        self._models = models
        self._prompt = prompt

    async def reconsider(self, part: Part, around: Around) -> Part:
        """Return the arrangement with what the model adds, where the rules left something open."""
        doubt = None if part.corrects else doubt_about(part.reading, part.extraction)
        if doubt is None:
            return part
        offer = offered(part, around)
        return reconsidered(part, around, await self.consult(part, around, offer, doubt), offer)

    async def consult(self, part: Part, around: Around, offer: Offer, doubt: Doubt) -> Consultation:
        """Ask about an arrangement; without a usable answer that is counted, and recorded as such.

        Args:
            around: What is known around it.
        """
        ref = self._prompt.ref
        found = await consult(
            self._models,
            self._prompt,
            prompt_inputs(part, around, offer),
            answer_type(offer),
            household=around.participants.household.id,
            stage=STAGE,
            within=_PATIENCE,
            is_ambient=True,
        )
        if isinstance(found, Outcome):
            return Consultation(part=around.number, doubt=doubt.value, outcome=found, prompt=ref)
        answer, discarded = grounded(found.value, offer)
        return Consultation(
            part=around.number,
            doubt=doubt.value,
            outcome=Outcome.REPAIRED if found.is_repaired else Outcome.OK,
            prompt=ref,
            model=found.reply.model,
            answer=answer,
            discarded=discarded,
        )


def answer_type(offer: Offer) -> type[Answer]:
    """Return the answer's type with a schema that lists what can be chosen.

    Only the schema is narrower: a value from elsewhere is no error of shape, it is discarded later.
    """
    return create_model(
        "Answer",
        __base__=Answer,
        owners=_several(offer.owners),
        children=_several(offer.children),
        activity=_one(offer.activities),
        place=_one(offer.places),
        dates=_several(offer.dates),
        times=_several(offer.times),
    )


def _several(ids: Iterable[str]) -> Any:
    known = list(ids)
    # A server that is held to the schema cannot choose from nothing, so the list is empty then.
    item = Annotated[str, Field(json_schema_extra={"enum": known} if known else {})]
    return Annotated[list[item], Field(json_schema_extra={"maxItems": len(known)})], ...


def _one(ids: Iterable[str]) -> Any:
    known = list(ids)
    item = Annotated[str, Field(json_schema_extra={"enum": known} if known else {})]
    return item | None, ...


def prompt_inputs(part: Part, around: Around, offer: Offer) -> dict[str, Data]:
    """Return what the prompt is filled with: the household first, the message last."""
    reading = part.reading
    sent_at = reading.sent_at
    return {
        "family": _family(around.participants),
        "talk": [
            {"from": each.message.sender, "text": each.message.text[:_LONGEST_OF_TALK]}
            for each in reversed(around.loaded.window)
        ],
        "asked": [
            {"by": each.asker, **_understood(each.extraction)} for each in around.loaded.asked
        ],
        "dates": {key: f"{day:%A} {day.isoformat()}" for key, day in offer.dates.items()},
        "times": {key: hhmm(moment) for key, moment in offer.times.items()},
        "understood": _understood(part.extraction),
        "message": {
            "from": around.loaded.stored.message.sender,
            "sent": f"{sent_at:%A} {sent_at.date().isoformat()} {hhmm(sent_at.time())}",
            "text": _words(reading),
        },
    }


def _family(participants: Participants) -> dict[str, Data]:
    household = participants.household
    return {
        "adults": _names(household.adults),
        "children": _names(household.children),
        "activities": _names(household.activities),
        "places": _names(household.places),
    }


def _names(things: Iterable[Member | Named]) -> Mapping[str, Data]:
    return {each.id: [each.name, *each.aliases] for each in things}


def _understood(extraction: Extraction) -> dict[str, Data]:
    return {
        "stance": extraction.stance.value,
        "task": extraction.task.value if extraction.task else None,
        "owners": list(extraction.owners),
        "children": list(extraction.child),
        "activity": extraction.activity,
        "place": extraction.location,
        "dates": [day.isoformat() for day in extraction.named_dates],
        "times": [hhmm(moment) for moment in extraction.times],
    }


def _words(reading: Reading) -> str:
    """Return the words of one arrangement; of most messages that is all of them."""
    if not reading.symbols:
        return reading.text
    return reading.text[reading.symbols[0].start : reading.symbols[-1].end]
