"""What may be done about a thought: plug-ins with a score, a priority, and how they are run."""

from typing import Final

from kinkeeper.background.drift.cycle import (
    BETWEEN_PLANS,
    MOST_THREADS,
    PLANNING,
    SIGNALS,
    THREADS_A_DAY,
    TOLD_FROM,
    Action,
    Context,
    Doing,
)
from kinkeeper.background.drift.model import Matter
from kinkeeper.goals.model import MOST_ACTIVE, GoalKind, same_goal

COMMUNICATE, SUGGEST, NURTURE = "COMMUNICATE", "SUGGEST", "NURTURE"
SEED_THREAD, REFLECT, NOTHING = "SEED_THREAD", "REFLECT", "NOTHING"

_SUGGESTED: Final = frozenset({Matter.BY_HAND})
_ASKED_AFTER: Final = frozenset({Matter.FEELING})


def _told(context: Context, matters: frozenset[Matter]) -> float:
    """Return the worth of a thought of some matters, where it is enough and its person may be told."""
    thought = context.thought
    is_fit = thought is not None and thought.matter in matters and context.worth >= TOLD_FROM
    return context.worth if is_fit and context.may_speak else 0.0


class Communicate:
    """Tells the person what the household's rows show."""

    name, priority = COMMUNICATE, 10

    def score(self, context: Context) -> float:
        """Return the worth of the thought."""
        return _told(context, frozenset(Matter) - _SUGGESTED - _ASKED_AFTER)

    def run(self, doing: Doing) -> str:
        """Tell it."""
        return doing.tell()


class Suggest:
    """Recommends what the assistant can do for something that the person does by hand."""

    name, priority = SUGGEST, 8

    def score(self, context: Context) -> float:
        """Return the worth of the thought."""
        return _told(context, _SUGGESTED)

    def run(self, doing: Doing) -> str:
        """Tell it."""
        return doing.tell()


class Nurture:
    """Asks the person how they are, where something weighed on them."""

    name, priority = NURTURE, 7

    def score(self, context: Context) -> float:
        """Return the worth of the thought."""
        return _told(context, _ASKED_AFTER)

    def run(self, doing: Doing) -> str:
        """Ask."""
        return doing.tell()


class Plan:
    """Proposes to look for something, because of what comes to mind day after day and could not be told."""

    name, priority = PLANNING, 7

    def score(self, context: Context) -> float:
        """Return 0.6 where looking could help, and the person has room for it and was not asked lately."""
        thought, given = context.thought, context.given
        if thought is None or not thought.goal or given.presence.wants_quiet:
            return 0.0
        history, active = given.history, [each for each in given.goals if each.is_active]
        is_signalled = history.days.get(thought.news, 0) + 1 >= SIGNALS
        has_rested = history.planned_at is None or given.now - history.planned_at >= BETWEEN_PLANS
        is_new = thought.news not in history.planned
        is_new = is_new and same_goal(thought.goal, GoalKind.FIND, given.goals) is None
        has_room = len(active) < MOST_ACTIVE
        return 0.6 if is_signalled and has_rested and is_new and has_room else 0.0

    def run(self, doing: Doing) -> str:
        """Propose it."""
        return doing.propose_goal()


class SeedThread:
    """Keeps a thought that is not worth telling yet, to look at it again."""

    name, priority = SEED_THREAD, 6

    def score(self, context: Context) -> float:
        """Return 0.5 where there is room for it today."""
        thought, given = context.thought, context.given
        if thought is None or context.worth >= TOLD_FROM:
            return 0.0
        zone, today = given.snapshot.household.zone, given.snapshot.today
        questions = given.history.questions
        open_ = [each for each in questions if each.settled_at is None]
        planted = [each for each in questions if each.planted_at.astimezone(zone).date() == today]
        is_known = any(each.news == thought.news for each in questions)
        has_room = len(open_) < MOST_THREADS and len(planted) < THREADS_A_DAY
        return 0.5 if has_room and not is_known else 0.0

    def run(self, doing: Doing) -> str:
        """Keep it."""
        return doing.keep()


class Reflect:
    """Brings memory's map of concepts up to date with its facts."""

    name, priority = REFLECT, 5

    def score(self, context: Context) -> float:
        """Return 0.3 where the map is behind."""
        return 0.3 if context.given.is_map_behind else 0.0

    def run(self, doing: Doing) -> str:
        """Follow the facts."""
        return doing.follow_facts()


class Nothing:
    """Lets it be."""

    name, priority = NOTHING, 0

    def score(self, context: Context) -> float:
        """Return 0.1: always there, and less than anything that fits."""
        return 0.1

    def run(self, doing: Doing) -> str:
        """Do nothing."""
        return ""


ACTIONS: Final[tuple[Action, ...]] = (
    Communicate(),
    Suggest(),
    Nurture(),
    Plan(),
    SeedThread(),
    Reflect(),
    Nothing(),
)
