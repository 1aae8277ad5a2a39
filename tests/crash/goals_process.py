"""A process to be killed: works on goals, and says which step it is about to do. Not a test itself."""

import sys
from datetime import datetime
from pathlib import Path

from goal_home import GoalHome, ToldRunner
from kinkeeper.background.model import Outcome
from kinkeeper.goals.model import Goal, Step


class SayingRunner(ToldRunner):
    async def run(self, goal: Goal, step: Step) -> Outcome:
        print(step.id, flush=True)
        outcome = await super().run(goal, step)
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
