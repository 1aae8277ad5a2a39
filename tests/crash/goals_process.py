"""A process to be killed: works on goals, and says which step it is about to do. Not a test itself."""

import sys
from dataclasses import replace
from datetime import datetime
from pathlib import Path

from asking import FAMILY
from goal_home import GoalHome, ToldRunner
from kinkeeper.background.home_search import HomeSearch
from kinkeeper.background.model import Outcome, StepRunner
from kinkeeper.background.model_steps import ModelSteps
from kinkeeper.background.web_looks import WebLooks
from kinkeeper.brain.household_brain import HouseholdBrain
from kinkeeper.core.time import VirtualClock
from kinkeeper.goals.model import Goal, Step
from kinkeeper.memory.finding.search import Finder
from kinkeeper.models.model import ChatReply, ChatRequest
from kinkeeper.store.store import Store
from step_models import EachCall

PAGE, PAGE_WORD = "https://lido.example/times", "lido"
"""A page that has to be allowed, and the word of a goal that needs it."""


class SayingRunner(ToldRunner):
    async def run(self, goal: Goal, step: Step) -> Outcome:
        print(step.id, flush=True)
        outcome = await super().run(goal, step)
        if PAGE_WORD in goal.text:
            is_allowed = PAGE in goal.progress.allowed_pages
            print("fetched" if is_allowed else "asks", flush=True)
            outcome = replace(outcome, pages=() if is_allowed else (PAGE,))
        print(f"{step.id} did", flush=True)
        return outcome


class SayingModel(EachCall):
    """Says before and after each call that there is one."""

    async def complete(self, request: ChatRequest) -> ChatReply:
        print("a call", flush=True)
        reply = await super().complete(request)
        print("an answer", flush=True)
        return reply


class SayingSteps:
    """Has a model do the steps, and says which one is begun."""

    limits = "I looked nowhere else."

    def __init__(self, file: Path, url: str, clock: VirtualClock) -> None:
        store = Store.open(str(file))
        finder = Finder(store, FAMILY.id, zone=FAMILY.zone, embedder=None, locale=FAMILY.locale)
        self._steps = ModelSteps(
            ToldRunner(),
            home=HomeSearch(HouseholdBrain(store, FAMILY, finder, clock), clock),
            web=WebLooks(FAMILY, pages=None, engine=None),
            models=SayingModel(file, url),
            household=FAMILY,
            clock=clock,
        )

    async def run(self, goal: Goal, step: Step) -> Outcome:
        print(step.id, flush=True)
        outcome = await self._steps.run(goal, step)
        print(f"{step.id} did", flush=True)
        return outcome


def main() -> None:
    file, start, end, *model = sys.argv[1:]
    begin = datetime.fromisoformat(start)
    runner: StepRunner = SayingRunner()
    if model:
        runner = SayingSteps(Path(file), model[0], VirtualClock(begin))
    home = GoalHome(Path(file), begin, runner=runner)
    home.take_over()
    home.until(end)
    home.store.close()
    print("done", flush=True)


if __name__ == "__main__":
    main()
