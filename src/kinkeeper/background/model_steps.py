"""Working on a step of a goal with a model: it says where to look next and which of the lines found answer the step.

It is given numbers and keys to choose from, and writes nothing that people see: what a step comes to are lines that a look
returned, word for word, each with its source. Pages are those that the person named or allowed or that the settings list,
and a search of the web has only words of the goal.
"""

import asyncio
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from datetime import timedelta
from typing import Final

from kinkeeper.background.home_search import HomeSearch
from kinkeeper.background.model import ModelUse, Outcome, StepRunner
from kinkeeper.background.page_match import Sought
from kinkeeper.background.step_answer import StepAnswer, answer_type
from kinkeeper.background.web_looks import (
    MOST_HITS,
    MOST_PAGES,
    PAGE,
    WEB,
    Line,
    WebFound,
    WebLooks,
)
from kinkeeper.background.web_query import public_words, without_addresses, words_of_goal
from kinkeeper.core.effort import MOST_ROUNDS, Effort
from kinkeeper.core.time import Clock
from kinkeeper.goals.model import Goal, GoalKind, Step
from kinkeeper.household.model import Household
from kinkeeper.language.text import shorten
from kinkeeper.models.model import ModelGateway
from kinkeeper.models.prompts import Data, Prompt, load_prompt
from kinkeeper.models.structured import Answer, consult

STAGE: Final = "background.step"
"""Name under which going on without a model is counted."""

_PATIENCE: Final = timedelta(minutes=2)  # for one answer: nobody waits for it
_LONGEST: Final = timedelta(minutes=5)
"""After which it may look no more: a few steps of a cycle must leave the rules their time."""

_REPEATS: Final = 2
"""The same look again shows nothing new."""

_HOME, _SEARCH = "home", "search"
_ROOM: Final = 15_000
_LONGEST_SHOWN: Final = 240
_BY_MODEL, _BY_RULES = ModelUse(by_model=1), ModelUse(by_rules=1)


class ModelSteps:
    """Does the steps of goals as a model chooses; as rules do where it gives no usable answer, or finds nothing.

    What is watched is left to the rules: a model that chose other lines each time would make them look new.

    Args:
        rules: Do what the model does not.
        home: Looks through what there is at home.
        models: Answer, and count where there was no answer.
    """

    def __init__(
        self,
        rules: StepRunner,
        *,
        home: HomeSearch,
        web: WebLooks,
        models: ModelGateway,
        household: Household,
        clock: Clock,
    ) -> None:
        self._rules = rules
        self._home = home
        self._web = web
        self._household = household
        self._clock = clock
        self._models = models
        self._prompt = load_prompt("kinkeeper.background", "work_on_step")

    @property
    def limits(self) -> str:
        """What it cannot look at; empty where there is nothing."""
        return self._rules.limits

    async def run(self, goal: Goal, step: Step) -> Outcome:
        """Return the lines that the model chose, or what the rules find.

        Raises:
            NotFoundError: Its person is no longer in the household.
            UnavailableError: The web could not be reached, and a later try may find more.
        """
        if goal.kind is GoalKind.WATCH:
            return await self._rules.run(goal, step)
        words = public_words(goal.text, self._household, now=self._clock.now())
        work = _Work(
            goal=goal,
            step=step,
            words=words,
            home=self._home,
            web=self._web,
            models=self._models,
            prompt=self._prompt,
            found=WebFound(sought=Sought.of(words)),
        )
        chosen = await work.chosen()
        if chosen:
            return work.outcome(chosen)
        outcome = await self._rules.run(goal, step)
        return replace(outcome, web=outcome.web.with_more(work.found.use), model=_BY_RULES)


@dataclass(slots=True, kw_only=True)
class _Work:
    """The work on one step.

    Attributes:
        words: Of the goal, as the web may see them.
        lines: All that was found, by their fingerprints, in the order in which they are numbered.
        places: At home, where was looked.
        looked: What was looked at, for the model.
        listed: Addresses of results that may be read.
        room: Bytes of lines that can still be shown.
    """

    goal: Goal
    step: Step
    words: str
    home: HomeSearch
    web: WebLooks
    models: ModelGateway
    prompt: Prompt
    found: WebFound
    lines: dict[str, Line] = field(default_factory=dict)
    places: Sequence[str] = ()
    looked: list[str] = field(default_factory=list)
    listed: list[str] = field(default_factory=list)
    room: int = _ROOM
    effort: Effort = field(default_factory=lambda: Effort(repeats=_REPEATS))

    async def chosen(self) -> Sequence[Line]:
        """Look until the model has enough, or may look no more; return the lines that it chose.

        Raises:
            UnavailableError: The web could not be reached, and a later try may find more.
        """
        await self._look_at_what_is_named()
        answers: Sequence[int] = ()
        ends_at = self._now() + _LONGEST.total_seconds()
        for number in range(MOST_ROUNDS):
            is_last = number == MOST_ROUNDS - 1 or self.effort.is_spent or self._now() >= ends_at
            answer = await self._asked({} if is_last else self._looks())
            if answer is None:
                return ()
            answers = answer.answers
            if not answer.look or self.effort.why_not(f"{answer.look} {answer.words}"):
                break
            self.effort.add(1.0, number=number)
            await self._look(answer)
            self._take(self.found.lines)
        self.found.require_reached(self.step)
        lines = [*self.lines.values()]
        return [lines[each - 1] for each in dict.fromkeys(answers)]

    def outcome(self, chosen: Sequence[Line]) -> Outcome:
        """Return what the step came to."""
        found, told = self.found, [*chosen, *self.found.failures]
        is_of_page = any(source.id in found.read for _, source, _ in chosen)
        return Outcome(
            lines=[line for line, _, _ in told],
            sources=[source for _, source, _ in told],
            digests=[digest for _, _, digest in told],
            places=(*self.places, WEB) if found.read or found.searches else self.places,
            web=found.use,
            pages=() if is_of_page else tuple(dict.fromkeys(found.unnamed)),
            model=_BY_MODEL,
        )

    async def _look_at_what_is_named(self) -> None:
        """Look where nobody need choose: for the step's own words at home, and at pages of its person's."""
        await self._look_home(self.step.description)
        await self.web.read_named(self.goal, self.found, with_others=True)
        self.found.require_reached(self.step)
        self.looked += sorted(self.found.tried)
        self._take(self.found.lines)

    def _take(self, lines: Iterable[Line]) -> None:
        """Give the lines that are new the next numbers, as long as the prompt has room for them."""
        for each in lines:
            size = len(shorten(each[0], _LONGEST_SHOWN).encode())
            if each[2] not in self.lines and size <= self.room:
                self.lines[each[2]] = each
                self.room -= size

    @staticmethod
    def _now() -> float:
        return asyncio.get_running_loop().time()

    def _looks(self) -> Mapping[str, str]:
        """Return where may be looked, with what each is, by its key."""
        looks = {_HOME: "calendar, notes, memory and mail, for other words than those of the step"}
        if self.web.can_search and self.words:
            looks[_SEARCH] = f"a search of the web, with words of: {self.words}"
        pages = [each for each in self.listed if each not in self.found.tried]
        if sum(each in self.found.tried for each in self.listed) < MOST_PAGES:
            looks |= {self._key(each): f"the page {each}" for each in pages}
        return looks

    def _key(self, address: str) -> str:
        return f"page{self.listed.index(address) + 1}"

    async def _asked(self, looks: Mapping[str, str]) -> StepAnswer | None:
        """Ask the model; None where it gives no usable answer, which is counted."""
        lines = [*self.lines.values()]
        inputs: dict[str, Data] = {
            "goal": self.goal.text,
            "step": self.step.description,
            "lines": {
                str(at): shorten(line, _LONGEST_SHOWN) for at, (line, _, _) in enumerate(lines, 1)
            },
            "looks": looks,
            "looked": self.looked,
        }
        answer = await consult(
            self.models,
            self.prompt,
            inputs,
            answer_type(len(lines), looks),
            household=self.goal.household,
            stage=STAGE,
            within=_PATIENCE,
            # Mails and much of memory were not said to the assistant.
            is_ambient=any(source.kind != PAGE for _, source, _ in lines),
        )
        return answer.value if isinstance(answer, Answer) else None

    async def _look(self, answer: StepAnswer) -> None:
        if answer.look == _HOME:
            await self._look_home(answer.words)
        elif answer.look == _SEARCH:
            await self._search(words_of_goal(answer.words, self.words))
        else:
            address = next(each for each in self.listed if self._key(each) == answer.look)
            if self._is_new(answer.look, address):
                await self.web.read(address, self.found, with_others=True)

    def _is_new(self, look: str, what: str) -> bool:
        """Whether something was not looked at before, which is noted."""
        is_new = (name := f"{look}: {what}") not in self.looked
        if is_new:
            self.looked.append(name)
        return is_new

    async def _look_home(self, words: str) -> None:
        words = without_addresses(words.strip() or self.step.description)
        if not self._is_new(_HOME, words):
            return
        known = await self.home.run(self.goal, replace(self.step, description=words))
        self.places = known.places
        self._take(zip(known.lines, known.sources, known.digests, strict=True))

    async def _search(self, words: str) -> None:
        if not self._is_new(_SEARCH, words):
            return
        found = self.found
        hits = await self.web.search(words, self.goal, found)
        for hit in hits[: MOST_HITS * 2]:
            if not found.sought.bounds.allow(f"{hit.title}. {hit.text}"):
                continue
            found.take_hit(hit)
            if self.web.is_listed(hit.address) and hit.address not in self.listed:
                self.listed.append(hit.address)
        if self.web.can_read:
            fitting = [each for each in hits if found.sought.allows(each)][:MOST_HITS]
            found.leave_to_person([each for each in fitting if each.address not in self.listed])
