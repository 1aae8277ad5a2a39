"""A process to be killed: works on goals, and says which step it is about to do. Not a test itself."""

import sys
from dataclasses import replace
from datetime import datetime
from pathlib import Path

from goal_home import GoalHome, ToldRunner
from kinkeeper.background.model import Outcome
from kinkeeper.goals.model import Goal, Step

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


def main() -> None:
    file, start, end = sys.argv[1:]
    home = GoalHome(Path(file), datetime.fromisoformat(start), runner=SayingRunner())
    home.take_over()
    home.until(end)
    home.store.close()
    print("done", flush=True)


if __name__ == "__main__":
    main()
