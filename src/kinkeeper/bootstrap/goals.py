"""The work on one household's goals by the settings: what looks for things, and where people are told of it."""

from sqlalchemy import Connection

from kinkeeper.background.goal_work import GoalWork
from kinkeeper.background.home_search import HomeSearch
from kinkeeper.background.model import StepRunner
from kinkeeper.background.outside import PageReader, WebSearch
from kinkeeper.background.outside_search import OutsideSearch
from kinkeeper.background.page_questions import PageQuestions, page_action
from kinkeeper.background.web_looks import WebLooks
from kinkeeper.bootstrap.reminders import Post
from kinkeeper.brain.household_brain import HouseholdBrain
from kinkeeper.conversation.answering.names_and_times import plain
from kinkeeper.conversation.threads import load_thread
from kinkeeper.core.time import Clock
from kinkeeper.goals.model import Goal, GoalKind
from kinkeeper.household.model import Household
from kinkeeper.jobs.job import Pace
from kinkeeper.mail.model import MailReader
from kinkeeper.memory.finding.search import Finder
from kinkeeper.messaging.outbound import QuietHours
from kinkeeper.models.model import ModelGateway
from kinkeeper.observer.quiet_requests import quiet_until
from kinkeeper.settings.model import Settings
from kinkeeper.store.store import Store


def goal_work(
    settings: Settings,
    household: Household,
    store: Store,
    finder: Finder,
    *,
    mailbox: MailReader | None,
    gateway: ModelGateway | None,
    clock: Clock,
    pace: Pace,
) -> GoalWork:
    """Return what works on one household's goals: it looks through what is at home, and on the web where the settings let it.

    Args:
        mailbox: The household's; None where none is set up.
        gateway: The way to the models that choose for steps; None where the rules do all.
    """
    brain = HouseholdBrain(store, household, finder, clock)
    return GoalWork(
        store,
        household.id,
        runner=_runner(
            settings, household, HomeSearch(brain, clock, mailbox=mailbox), clock, gateway=gateway
        ),
        tell=GoalPost(household, clock),
        quiet_hours=QuietHours.parse(settings.quiet_hours, household.zone),
        is_quiet=lambda conn, now: quiet_until(conn, household.id, now=now) is not None,
        questions=PageQuestions(household),
        clock=clock,
        pace=pace,
    )


def _runner(
    settings: Settings,
    household: Household,
    home: HomeSearch,
    clock: Clock,
    *,
    gateway: ModelGateway | None,
) -> StepRunner:
    pages: PageReader | None = None
    engine: WebSearch | None = None
    # Loads the library for HTTP: only where there is something to be asked.
    if settings.web_reading:
        from kinkeeper.connectors.pages.page_fetch import PageFetch  # noqa: PLC0415

        pages = PageFetch(hosts=settings.web_hosts, private_hosts=settings.web_private_hosts)
    if settings.web_search_url is not None:
        from kinkeeper.connectors.pages.web_search import SearxSearch  # noqa: PLC0415

        engine = SearxSearch(settings.web_search_url, language=household.locale)
    web = WebLooks(household, pages=pages, engine=engine)
    has_web = web.can_read or web.can_search
    rules: StepRunner = OutsideSearch(home, web, household, clock) if has_web else home
    if gateway is None:
        return rules
    from kinkeeper.background.model_steps import ModelSteps  # noqa: PLC0415 - loads the templates' library

    return ModelSteps(rules, home=home, web=web, models=gateway, household=household, clock=clock)


class GoalPost:
    """Tells people how their goals stand, where nobody else reads it."""

    def __init__(self, household: Household, clock: Clock) -> None:
        self._household = household
        self._clock = clock
        self._post = Post(household, clock)

    def __call__(self, conn: Connection, goal: Goal, text: str, key: str) -> None:
        """Say it in the conversation it was asked for in, where that is its person's alone, else in their own."""
        household, asked_in = self._household, goal.thread_id
        thread = None if asked_in is None else load_thread(conn, household.id, asked_in)
        is_own = (
            thread is not None
            and thread.member == goal.member
            and thread.chat_id not in household.chats
            and self._post.is_read(conn, thread)
        )
        if thread is None or not is_own:
            if household.member(goal.member) is None:
                return
            thread = self._post.own_thread(conn, goal.member)
        # So that what rests on a memory is not handed on once that holds no more.
        used = [
            {"kind": each.kind, "id": each.id, "text": plain(each.text)}
            for step in goal.progress.steps
            if step.answer
            for each in step.sources
        ]
        is_alarm = goal.kind is GoalKind.ASK
        now = self._clock.now()
        asked = (page_action(conn, goal, each.asks, now=now) for each in goal.progress.asking)
        asks = [each.id for each in asked if each is not None]
        self._post.say(conn, thread, text, key=key, is_alarm=is_alarm, used=used, asks=asks)
